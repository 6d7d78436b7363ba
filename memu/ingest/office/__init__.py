"""Office files, PDF and books: what they say, by page, sheet or slide."""
