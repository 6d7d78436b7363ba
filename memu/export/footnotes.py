"""The footnotes of a page: what each mark stands for, as links to the lines of the sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from memu.export.markdown import escape_text, link
from memu.export.places import Places
from memu.export.snapshot import Citation

__all__ = ["MARK", "list_marks", "render_footnotes"]

MARK = re.compile(r"\[\^([a-z0-9]+)\]")


def list_marks(content: str, known: Iterable[str]) -> list[str]:
    """The known marks that stand in ``content``, in the order in which they first appear."""
    wanted = set(known)
    return list(dict.fromkeys(mark for mark in MARK.findall(content) if mark in wanted))


def render_footnotes(content: str, citations: Mapping[str, tuple[Citation, ...]], places: Places, at: str) -> str:
    """One definition a line, one for each mark; "" when there are none."""
    return "".join(
        f"[^{mark}]: {_definition(citations[mark], places, at)}\n" for mark in list_marks(content, citations)
    )


def _definition(cited: Iterable[Citation], places: Places, at: str) -> str:
    # To a parser that knows no footnotes a definition must not read as a link reference definition: then every
    # mark would become a link. "[^k]: [path L3](url)" cannot be one, for its second word is no title.
    ordered = sorted(set(cited), key=lambda citation: _order(citation, places))
    return "; ".join(_source(citation, places, at) for citation in ordered)


def _source(citation: Citation, places: Places, at: str) -> str:
    text = f"{places.name_source(citation.key)} {_where(citation)}"
    url = places.link_source(citation.key, at=at)
    if url is None:
        return f"in {escape_text(text)}"
    return link(text, url + places.anchor(citation))


def _where(citation: Citation) -> str:
    if citation.lines is None:
        return citation.place or "(whole)"
    start, end = citation.lines.start, citation.lines.end
    lines = f"L{start}" if start == end else f"L{start}–L{end}"
    return f"{lines}, {citation.place}" if citation.place else lines


def _order(citation: Citation, places: Places) -> tuple[str, str, int, int, str]:
    start, end = (citation.lines.start, citation.lines.end) if citation.lines else (0, 0)
    return (places.labels.get(citation.workspace_id, ""), citation.path, start, end, citation.place or "")
