"""Links inside quoted text: they were written where the source lies and must hold where the page lies.

A source's own words are kept; only where a link leads is restated. A link to another known source is led
there, one that would lead nowhere is shown as the characters it was written with.
"""

from __future__ import annotations

import functools
import html
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memu.export.markdown import path_url
from memu.export.places import Places
from memu.export.snapshot import Citation, SourceKey
from memu.markdown_rules import gather_rules

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["relink"]

_MARKS = re.compile(r"(?:[ \t]*\[\^[a-z0-9]+\])+")
_FENCE = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
# A code span never reaches over a blank line.
_CODE = re.compile(r"(?<![`\\])(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_OWN_NOTE = re.compile(r"(?<!\\)\[\^(?=[^\]\s]+\])")
_DEFINITION = re.compile(r"^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)\[(?=[^\]\n]+\]:)", re.MULTILINE)
_OPENING = re.compile(r"(?P<escape>\\*)\]\(")
_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_GAP = re.compile(r"[ \t]*\n?[ \t]*")
_ANGLED = re.compile(r"<((?:[^<>\\\n]|\\.)*)>")
_CLOSE = re.compile(r"""(?:\s+(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?\s*\)""", re.DOTALL)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{1,40});")
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{-~])")


def relink(content: str, citations: Mapping[str, tuple[Citation, ...]], places: Places, at: str) -> str:
    """``content`` with the links of each block led from the page ``at`` instead of from its source.

    A block reaches from the marks of the one before it to its own marks, which name its sources.
    """
    parts: list[str] = []
    position = 0
    for match in _MARKS.finditer(content):
        marks = [mark for mark in re.findall(r"\[\^([a-z0-9]+)\]", match.group()) if mark in citations]
        if not marks:
            continue
        cited = [citation for mark in marks for citation in citations[mark]]
        parts += [_relink_block(content[position : match.start()], cited, places, at), match.group()]
        position = match.end()
    return "".join([*parts, content[position:]])


def _relink_block(text: str, cited: Iterable[Citation], places: Places, at: str) -> str:
    if "[" not in text:
        return text
    sources = sorted({citation.key for citation in cited})
    made: set[str] = set()
    changed = "".join(
        piece if is_code else _relink_prose(piece, sources, places, at, made)
        for piece, is_code in _split_code(text)
    )
    # Brackets, code and tags can be tangled so that only a parser tells what is a link; such a block has none.
    return changed if _leads_only_to(changed, made) else _OPENING.sub(_close_off, changed)


def _leads_only_to(text: str, urls: Iterable[str]) -> bool:
    if "](" not in text:
        return True
    parser = _parser()
    allowed = {parser.normalizeLink(url) for url in urls}
    tokens = [child for token in parser.parse(text.lstrip("\n")) for child in token.children or ()]
    led = [str(token.attrs[name]) for token in tokens for name in ("href", "src") if name in token.attrs]
    return all(url in allowed or _SCHEME.match(url) for url in led)


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return gather_rules(MarkdownIt("commonmark"))


def _close_off(match: re.Match[str]) -> str:
    return match.group() if len(match["escape"]) % 2 else f"{match['escape']}\\]("


def _split_code(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is code (a fence or a code span)."""
    position = 0
    while position < len(text):
        found = [match for match in (_FENCE.search(text, position), _CODE.search(text, position)) if match]
        if not found:
            break
        first = min(found, key=lambda match: match.start())
        yield text[position : first.start()], False
        yield first.group(), True
        position = first.end()
    yield text[position:], False


def _relink_prose(text: str, sources: list[SourceKey], places: Places, at: str, made: set[str]) -> str:
    text = _DEFINITION.sub(r"\1\\[", _OWN_NOTE.sub(r"\\[^", text))
    parts: list[str] = []
    position = 0
    while (index := text.find("](", position)) >= 0:
        opened = index + 2
        found = _find_destination(text, index)
        if found is None:
            parts.append(text[position:opened])
            position = opened
            continue
        start, end = found
        url = _lead(text[start:end], sources, places, at)
        if url is not None:
            made.add(url)
        # A backslash before the bracket makes the link plain text that reads as it was written.
        parts.append(text[position:index] + ("\\](" if url is None else f"]({text[opened:start]}{url}"))
        position = opened if url is None else end
    return "".join([*parts, text[position:]])


def _find_destination(text: str, bracket: int) -> tuple[int, int] | None:
    """Where the destination behind the ``](`` at ``bracket`` starts and ends; None where that is no link."""
    opened = _GAP.match(text, bracket + 2)
    if opened is None or not _closes_a_bracket(text, bracket):
        return None
    start = opened.end()
    if text[start : start + 1] == "<":
        angled = _ANGLED.match(text, start)
        end = angled.end() if angled else -1
    else:
        end = _bare_end(text, start)
    return (start, end) if end >= 0 and _CLOSE.match(text, end) else None


def _closes_a_bracket(text: str, bracket: int) -> bool:
    """Whether the ``]`` at ``bracket`` is none that stands for itself, and ends what an open ``[`` began."""
    depth = 0
    for match in _BRACKET.finditer(text, 0, bracket + 1):
        if match.start() == bracket:
            return depth > 0
        depth = max(depth + {"[": 1, "]": -1}.get(match.group(), 0), 0)
    return False


def _bare_end(text: str, start: int) -> int:
    """Where a destination without angle brackets ends: at white space or the parenthesis that closes the link."""
    end, depth = start, 0
    while end < len(text) and text[end] > " ":
        if text[end] == "\\" and text[end + 1 : end + 2] > " ":
            end += 2
            continue
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth < 0:
            break
        end += 1
    return end


def _lead(written: str, sources: list[SourceKey], places: Places, at: str) -> str | None:
    """Where the link leads from the page: as written when it names a scheme, None when nothing known is there."""
    angled = _ANGLED.fullmatch(written)
    destination = _ENTITY.sub(lambda match: html.unescape(match.group()), angled.group(1) if angled else written)
    destination = _BACKSLASH.sub(r"\1", destination)
    if _SCHEME.match(destination):
        return None if destination.lower().startswith("file:") else written
    path, mark, fragment = destination.partition("#")
    path = _stored(path.partition("?")[0])
    for workspace_id, source in sources:
        base = "" if path.startswith("/") else posixpath.dirname(source)
        target = posixpath.normpath(posixpath.join(base, path.lstrip("/"))) if path else source
        url = _url_of((workspace_id, target), places, at)
        if url is not None:
            return f"{url}{mark}{path_url(unquote(fragment))}"
    return None


def _url_of(key: SourceKey, places: Places, at: str) -> str | None:
    if key in places.known:
        return places.link_source(key, at=at)
    return places.link_folder(*key, at=at)


def _stored(path: str) -> str:
    """A path from a link as rows write it: decoded, but for bytes that are no text."""
    decoded = unquote(path, errors="surrogateescape")
    marked = re.sub(r"%(?=25|[89A-F][0-9A-F])", "%25", decoded)
    return re.sub("[\udc80-\udcff]", lambda match: f"%{ord(match[0]) - 0xDC00:02X}", marked)
