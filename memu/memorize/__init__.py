"""From documents to pages: extract, assign, fold, embed, and the sync that frames them."""
