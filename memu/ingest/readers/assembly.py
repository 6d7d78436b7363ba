"""The last step of every reader: blocks made clean, bounded and within the file, and a title found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import overload

from memu.ingest.document import Block, Document, Source
from memu.ingest.readers.dates import find_path_date
from memu.ingest.readers.runs import LIMIT, shorten, split_long
from memu.ingest.sessions.events import SessionTurn
from memu.records import Kind, LineSpan

__all__ = ["HEAD", "TERMINAL", "assemble", "clean", "count_odd", "find_suffix", "make_readable_stem"]

HEAD = 65_536
"""How many characters of a source ``recognises`` looks at."""

_LABEL_LIMIT = 300
_TITLE_LIMIT = 200
_HEADINGS_LIMIT = 12
_LINKS_LIMIT = 1_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
"""What a terminal obeys and does not show: colours, titles, movements."""
# They end a line or a page for some programs, so words on both sides stay two.
_ENDS = re.compile("[\v\f\x1c-\x1f\x85]")
# Other controls, byte order marks inside a text, and what turns the direction of all that follows.
_UNSEEN = re.compile("[\x01-\x08\x0d\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\u202a-\u202e\u2066-\u2069]")
_ANY_ODD = re.compile(f"{_UNSTORABLE.pattern}|{_ENDS.pattern}|{_UNSEEN.pattern}")


def clean(text: str) -> str:
    """The text as pages may hold it: no letter or digit of it is another or missing.

    NUL and lone surrogates, which no database stores, become U+FFFD; other controls, and marks that change the
    order in which a line is shown, are left out, with what a terminal takes as an order.
    """
    if _ANY_ODD.search(text) is None:
        return text
    plain = TERMINAL.sub("", text) if "\x1b" in text else text
    return _UNSTORABLE.sub("\ufffd", _UNSEEN.sub("", _ENDS.sub(" ", plain)))


def find_suffix(path: str) -> str:
    """The lower-case suffix with its dot, or ""."""
    return PurePosixPath(path).suffix.lower()


def make_readable_stem(path: str) -> str:
    """The file's name without suffix, its separators as spaces: a title that nobody wrote."""
    name = PurePosixPath(path).name
    stem = PurePosixPath(name).stem.strip("._- ") or name
    return " ".join(re.sub(r"[_\-.]+", " ", stem).split()) or name or "untitled"


def assemble(
    source: Source,
    *,
    kind: Kind,
    blocks: Iterable[Block],
    title: str | None = None,
    titled: bool = True,
    tags: Iterable[str] = (),
    category: str | None = None,
    description: str = "",
    happened_at: datetime | None = None,
    links: Iterable[str] = (),
    damage: Mapping[str, int] | None = None,
    turns: Iterable[SessionTurn] = (),
    own_run: bool = False,
    conversations: bool = False,
    before: int = 0,
) -> Document:
    """The document. A missing title becomes the file's stem, a missing date the path's.

    ``before``: so many lines of the file stand before the source's text.
    """
    counts = Counter(damage or {})
    total = before + max(1, source.text.count("\n") + (not source.text.endswith("\n")))
    ready = [part for block in blocks for part in _settle(block, total, counts)]
    written = shorten(clean(title or ""), _TITLE_LIMIT)
    return Document(
        kind=kind,
        title=written or clean(make_readable_stem(source.path)),
        titled=bool(written) and titled,
        blocks=tuple(ready),
        tags=tuple(dict.fromkeys(filter(None, (shorten(clean(tag), _LABEL_LIMIT) for tag in tags)))),
        category=(shorten(clean(category), _LABEL_LIMIT) or None) if category else None,
        description=shorten(clean(description), LIMIT // 4),
        happened_at=happened_at or find_path_date(source.path),
        links=tuple(dict.fromkeys(clean(link) for link in links))[:_LINKS_LIMIT],
        damage=tuple(sorted((name, count) for name, count in counts.items() if count)),
        turns=tuple(turns),
        own_run=own_run,
        conversations=conversations,
    )


def count_odd(blocks: Iterable[Block]) -> Counter[str]:
    """What ``assemble`` counts as damage in the texts of blocks."""
    counts: Counter[str] = Counter()
    for block in blocks:
        _count_odd(block.text, clean(block.text), counts)
    return counts


def _count_odd(text: str, cleaned: str, counts: Counter[str]) -> None:
    if cleaned != text:
        counts["bad_character"] += len(_UNSTORABLE.findall(text))
        counts["control_character"] += len(_UNSEEN.findall(text))


def _settle(block: Block, total: int, counts: Counter[str]) -> tuple[Block, ...]:
    text = clean(block.text)
    _count_odd(block.text, text, counts)
    text = text.strip("\n").rstrip()
    lines = _clamp(block.lines, total)
    heading = tuple(map(_make_label, block.heading[:_HEADINGS_LIMIT]))
    parent, speaker = _make_label(block.parent), _make_label(block.speaker)
    if not text.strip():
        return ()
    if (text, lines, heading, parent, speaker) != (
        block.text,
        block.lines,
        block.heading,
        block.parent,
        block.speaker,
    ):
        rows = block.rows if lines == block.lines else ()
        block = replace(
            replace(block, rows=rows).retold(text),
            lines=lines,
            heading=heading,
            parent=parent or None,
            speaker=speaker or None,
        )
    if len(text) <= LIMIT:
        return (block,)
    return tuple(replace(block, text=part, rows=()) for part in split_long(text))


@overload
def _make_label(text: str) -> str: ...
@overload
def _make_label(text: None) -> None: ...
def _make_label(text: str | None) -> str | None:
    return None if text is None else shorten(clean(text), _LABEL_LIMIT)


def _clamp(lines: LineSpan | None, total: int) -> LineSpan | None:
    if lines is None:
        return None
    if 1 <= lines.start <= lines.end <= total:
        return lines
    start = min(max(lines.start, 1), total)
    return LineSpan(start, min(max(lines.end, start), total))
