"""Markdown parsers that several threads may share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["gather_rules"]


def gather_rules(parser: MarkdownIt) -> MarkdownIt:
    """The parser with all its rules at hand.

    The library gathers them with the first text that needs them. A thread that comes in between takes those that
    are there already for all: it reads a text by half of the rules and says nothing. An empty text gathers none.
    """
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules("")
    return parser
