"""What is shown of a source, whole or by its lines: the file's own text, else what was stored of it.

The raw lines of a file are redacted. Where they would still show a secret to whoever undoes their escapes, what a
reader makes of them is shown instead, by the lines that it stands on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from memu.errors import NotFound, ReadError
from memu.ingest.document import Block, BlockKind, Row, Source
from memu.records import Kind, LineSpan, Passage

__all__ = ["DISGUISED", "FORGOTTEN", "GONE", "OPENED", "show_file", "show_kept", "show_stored"]

DISGUISED = "a secret is disguised in its raw lines; shown is what was read of them"
FORGOTTEN = "words of it were forgotten; shown is what was kept of it"
OPENED = "the file is no text; shown is what was read of it"
GONE = "the file cannot be read now; shown is what was stored of it"

_SPOKEN = frozenset({Kind.CHAT, Kind.MEETING})
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# These say again what stands in the code itself.
_AGAIN = frozenset({BlockKind.SIGNATURE, BlockKind.COMMENT, BlockKind.DOCSTRING})


def show_file(root: Path, path: str, span: LineSpan | None, max_size: int) -> tuple[str | None, str | None]:
    """The text of a file, or of some of its lines, and why it is not the raw text if it is not.

    The text is None where the store has to be asked: the file is gone or no text, or it is asked for whole while
    its raw lines hide a secret.

    Raises:
        NotFound: the file has no such lines.
    """
    # Loaded here, for a search uses none of them.
    from memu.ingest.disguises import hides_secret
    from memu.ingest.plain_files import read_text
    from memu.ingest.redact import redact

    try:
        raw = read_text(root, path, max_size=max_size)
    except ReadError:
        return None, GONE
    if raw is None:
        return None, OPENED
    text = redact(raw, path=path).text
    lines = text.removesuffix("\n").split("\n") if text else []
    if span is not None:
        _require(span, len(lines), path)
    if hides_secret(text, path):
        return (_read_lines(text, path, span) if span else None), DISGUISED
    return (text if span is None else "\n".join(lines[span.start - 1 : span.end])), None


def show_kept(text: str, path: str, span: LineSpan | None) -> str:
    """The text that was kept of an imported source, or some of its lines; "" where words of it were cut.

    Raises:
        NotFound: it has no such lines.
    """
    if span is None or not text:
        return text
    lines = text.removesuffix("\n").split("\n")
    _require(span, len(lines), path)
    return "\n".join(lines[span.start - 1 : span.end])


def show_stored(passages: Sequence[Passage], path: str, span: LineSpan | None, title: str = "") -> str:
    """What the store kept of a source: its passages, those that touch the lines.

    Without lines they stand below ``title`` and their headings, and what was said bears its speaker's name.

    Raises:
        NotFound: nothing was kept of lines so far down.
    """
    from memu.ingest.disguises import redact_disguised

    if span is not None:
        last = max((passage.lines.end for passage in passages if passage.lines), default=0)
        # Where nothing was kept of any line, only lines that no file has are refused.
        if last or not 1 <= span.start <= span.end:
            _require(span, last, path)
    if span is None:
        parts = [*([f"# {title}"] if title else []), *_under_headings(passages, path)]
    else:
        parts = [one.text for one in passages if one.lines and _touches(one.lines, span)]
    return "\n\n".join(redact_disguised(part).text for part in parts)


def _under_headings(passages: Sequence[Passage], path: str) -> Iterator[str]:
    """The passages' texts, the headings above each where they change, and who said what."""
    above: list[str] = []
    before: tuple[str, str | None] = ("", None)
    for passage in passages:
        names = [name for name in passage.heading.split(" > ") if name]
        same = next((at for at, name in enumerate(above) if names[at : at + 1] != [name]), len(above))
        first_line = passage.text.split("\n", 1)[0].strip()
        # A heading that nothing follows in its passage is the passage's text.
        yield from (
            f"{'#' * min(6, at + 2)} {names[at]}" for at in range(same, len(names)) if names[at] != first_line
        )
        said = (_find_speaker(passage, path), passage.place)
        yield f"{said[0]}: {passage.text}" if said[0] and (said != before or names != above) else passage.text
        above, before = names, said


def _find_speaker(passage: Passage, path: str) -> str:
    """Who said a passage of a chat or a meeting: the last line of its header, after the path and the date."""
    if passage.kind not in _SPOKEN:
        return ""
    lines = passage.header.split("\n")
    folded = " ".join(path.split())
    after = lines[len(lines) - lines[::-1].index(folded) :] if folded in lines else []
    return after[-1] if after and not _DATE.fullmatch(after[-1]) else ""


def _require(span: LineSpan, count: int, path: str) -> None:
    if not 1 <= span.start <= min(span.end, count):
        raise NotFound(f"{path} has {count} lines, counted from 1; it has no {span}.")


def _touches(lines: LineSpan, span: LineSpan) -> bool:
    return lines.start <= span.end and lines.end >= span.start


def _read_lines(text: str, path: str, span: LineSpan) -> str:
    """What a reader makes of these lines, its secrets redacted as they are when it is stored."""
    from memu.ingest.disguises import redact_disguised
    from memu.ingest.reader import find_reader
    from memu.ingest.redact import redact

    source = Source(path=path, text=text)
    document = find_reader(source).read(source).map_text(lambda part: redact_disguised(redact(part).text).text)
    has_code = any(block.kind is BlockKind.CODE for block in document.blocks)
    blocks = (block for block in document.blocks if not (has_code and block.kind in _AGAIN))
    return "\n".join(part for block in blocks for part in _parts(block, lambda lines: _touches(lines, span)))


def _parts(block: Block, wanted: Callable[[LineSpan], bool]) -> Iterator[str]:
    """The part of a block that stands on wanted lines; the whole block where its lines cannot be told apart."""
    if block.lines is None or not wanted(block.lines):
        return
    rows = [row for row in _rows_of(block) if wanted(LineSpan(row.first, row.last))]
    if not rows:
        return
    after = next((row.start for row in _rows_of(block) if row.start > rows[-1].start), len(block.text))
    yield block.text[rows[0].start : after].rstrip()


def _rows_of(block: Block) -> Sequence[Row]:
    first, last = (block.lines.start, block.lines.end) if block.lines else (0, 0)
    if block.rows or block.text.count("\n") != last - first:
        return block.rows or (Row(0, first, last),)
    starts = [0, *(match.end() for match in re.finditer("\n", block.text))]
    return tuple(Row(start, first + at, first + at) for at, start in enumerate(starts))
