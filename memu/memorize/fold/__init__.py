"""A page's content: Markdown blocks that end in footnote marks, rendered from entries and cut as text."""
