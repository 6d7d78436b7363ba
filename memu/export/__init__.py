"""From rows to a tree of Markdown: ``render`` is pure, ``publish`` is the only part that touches the disk."""
