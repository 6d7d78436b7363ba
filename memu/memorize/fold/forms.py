"""The Markdown form of one block: a quote, what stands in front of it, and its marks."""

from __future__ import annotations

import re

from memu.memorize.fold.inline import escape, escape_label

__all__ = ["format_fence", "format_heading", "format_item", "format_paragraph", "format_quote"]

_DASH = " — "


def format_heading(level: int, title: str) -> str:
    """A heading of one line."""
    text = escape_label(title)
    # A row of # at the end would be read as the heading's close.
    return f"{'#' * level} {re.sub(r'(#+)$', lambda found: chr(92) + found[1], text)}"


def format_item(text: str, marks: str, *, label: str = "", marker: str = "- ") -> str:
    """A bullet, or with a marker such as "2. " a numbered step; further lines are indented under it."""
    return f"{marker}{_indent(_statement(text, marks, label), ' ' * len(marker))}"


def format_paragraph(text: str, marks: str, *, label: str = "") -> str:
    """A paragraph."""
    return _statement(text, marks, label)


def format_quote(text: str, marks: str, *, label: str = "") -> str:
    """A quotation; its label stands inside, in front of the words."""
    return f"> {_indent(_statement(text, marks, label), '> ')}"


def format_fence(text: str, marks: str, *, label: str = "", language: str = "") -> str:
    """Fenced code, byte for byte, under its label if it has one; the marks stand on the line below.

    The fence is longer than any run of backticks in the code.
    """
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    lead = f"**{escape_label(label)}**\n\n" if label.strip() else ""
    code = re.sub(r"\r\n?", "\n", text).strip("\n")
    return f"{lead}{fence}{language}\n{code}\n{fence}\n{marks}"


def _statement(text: str, marks: str, label: str) -> str:
    """``**label** — text [^mark]``: the label is set apart, for it is not part of the quote."""
    shown = escape_label(label)
    words = escape(text, at_line_start=not shown)
    parts = [part for part in (f"**{shown}**{_DASH}{words}" if shown else words, marks) if part]
    return " ".join(parts)


def _indent(text: str, prefix: str) -> str:
    return text.replace("\n", f"\n{prefix}")
