"""Every source cut into passages, the unit of search: 80 to 120 words, whole sentences, with a header.

All blocks are cut, also those of sources that give no memory. Nothing is dropped: each word of each block
stands in the text of a passage, or in its header where it is a heading above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.sentences import Slice, cut_pieces, measure, split_lines, split_sentences
from memu.records import LineSpan, Passage

__all__ = ["MAX_PASSAGE_WORDS", "MIN_PASSAGE_WORDS", "cut_passages"]

MIN_PASSAGE_WORDS = 80
MAX_PASSAGE_WORDS = 120
_MAX_PASSAGE_CHARS = 1080
# A heading change ends a passage that has this much; smaller sections join their neighbours.
_SECTION_WORDS = 40
_LINE_KINDS = frozenset(
    {
        BlockKind.FENCE,
        BlockKind.CODE,
        BlockKind.TABLE,
        BlockKind.ROW,
        BlockKind.LOG_LINE,
        BlockKind.DATA,
        BlockKind.SIGNATURE,
        BlockKind.COMMENT,
    }
)
_TIGHT = frozenset({BlockKind.BULLET, BlockKind.STEP, BlockKind.TABLE, BlockKind.ROW, BlockKind.LOG_LINE})


@dataclass(frozen=True, slots=True)
class _Piece:
    """A slice of one block that fits a passage; ``path`` is the heading path it stands under."""

    block: Block
    part: Slice
    words: int
    path: tuple[str, ...]


def cut_passages(document: Document, path: str, language: str | None = None) -> tuple[Passage, ...]:
    """The passages of ``document``, without ids and owner; the commit fills those.

    Args:
        document: what the reader made of the source.
        path: its workspace-relative POSIX path.
        language: ISO 639-1 code of the source, or None if unsure.
    """
    groups = _group([piece for block in document.blocks for piece in _cut_block(block)])
    return tuple(_to_passage(document, path, language, ordinal, group) for ordinal, group in enumerate(groups))


def _cut_block(block: Block) -> Iterator[_Piece]:
    path = (*block.heading, block.text) if block.kind is BlockKind.HEADING else block.heading
    for part in _join_parts(block.text, _cut_text(block)):
        yield _Piece(block, part, measure(part.text), path)


def _cut_text(block: Block) -> Iterator[Slice]:
    """Sentences (or lines, where lines matter), each within a passage's bounds."""
    units = split_lines(block.text) if block.kind in _LINE_KINDS else split_sentences(block.text)
    for unit in units:
        for part in cut_pieces(unit.text, MAX_PASSAGE_WORDS, _MAX_PASSAGE_CHARS):
            yield Slice(part.text, unit.start + part.start, unit.start + part.end)


def _join_parts(text: str, units: Iterator[Slice]) -> Iterator[Slice]:
    """Neighbouring units as one slice while that stays within a passage."""
    held: Slice | None = None
    size = 0
    for unit in units:
        more = measure(unit.text)
        if held is not None and size + more <= MAX_PASSAGE_WORDS and unit.end - held.start <= _MAX_PASSAGE_CHARS:
            held = Slice(text[held.start : unit.end], held.start, unit.end)
            size += more
            continue
        if held is not None:
            yield held
        held, size = unit, more
    if held is not None:
        yield held


def _group(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    held: list[_Piece] = []
    words = 0
    for at, piece in enumerate(pieces):
        if held and _ends_before(held, words, piece, _words_ahead(pieces, at)):
            yield held
            held, words = [], 0
        held.append(piece)
        words += piece.words
    if held:
        yield held


def _ends_before(held: list[_Piece], words: int, piece: _Piece, ahead: int) -> bool:
    """Whether the passage that is being gathered ends before ``piece``."""
    last = held[-1]
    if BlockKind.TURN in {piece.block.kind, last.block.kind} or piece.block.place != last.block.place:
        return True
    if words + piece.words > MAX_PASSAGE_WORDS:
        return True
    if piece.block.kind is BlockKind.HEADING:
        if all(one.block.kind is BlockKind.HEADING for one in held):
            return False
        related = piece.path[:1] == last.path[:1] or min(words, ahead) < _SECTION_WORDS // 2
        return words >= _SECTION_WORDS or not related
    return words >= MIN_PASSAGE_WORDS


def _words_ahead(pieces: Sequence[_Piece], at: int) -> int:
    """The words of the section that begins at ``at``, as far as it matters."""
    words = 0
    for piece in pieces[at : at + 8]:
        if words and piece.block.kind is BlockKind.HEADING:
            break
        words += piece.words
    return words


def _to_passage(
    document: Document, path: str, language: str | None, ordinal: int, group: Sequence[_Piece]
) -> Passage:
    shared = _shared_path([piece.path for piece in group])
    first = group[0].block
    time = first.time or document.happened_at
    heading = " > ".join(" ".join(part.split()) for part in shared)
    speaker = first.speaker or first.role
    header = (document.title, heading, path, time.date().isoformat() if time else "", speaker)
    return Passage(
        id="",
        ordinal=ordinal,
        header="\n".join(" ".join(line.split()) for line in header if line),
        text=_join_text(group, shared),
        heading=heading,
        kind=document.kind,
        language=language,
        lines=_span([piece.block.lines for piece in group]),
        place=first.place,
        happened_at=time,
    )


def _join_text(group: Sequence[_Piece], shared: tuple[str, ...]) -> str:
    body = [piece for piece in group if not _is_above(piece, shared)] or list(group)
    text = body[0].part.text
    for before, piece in pairwise(body):
        if piece.block is before.block:
            joint = before.block.text[before.part.end : piece.part.start]
        else:
            joint = "\n" if {piece.block.kind, before.block.kind} <= _TIGHT else "\n\n"
        text += joint + piece.part.text
    return text


def _is_above(piece: _Piece, shared: tuple[str, ...]) -> bool:
    """Whether a heading already stands in the header of its passage."""
    return piece.block.kind is BlockKind.HEADING and shared[: len(piece.path)] == piece.path


def _shared_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    shared = paths[0]
    for path in paths[1:]:
        length = next(
            (at for at, (one, other) in enumerate(zip(shared, path, strict=False)) if one != other),
            min(len(shared), len(path)),
        )
        shared = shared[:length]
    return shared


def _span(spans: Sequence[LineSpan | None]) -> LineSpan | None:
    known = [span for span in spans if span is not None]
    if not known:
        return None
    return LineSpan(min(span.start for span in known), max(span.end for span in known))
