"""Every source cut into passages, the unit of search: 80 to 120 words, whole sentences, with a header.

All blocks are cut, also those of sources that give no memory. Nothing is dropped: each word of each block
stands in the text of a passage, or in its header where it is a heading above it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.conversation_languages import find_languages, language_at
from memu.memorize.extractors.quotes import locate
from memu.memorize.sentences import Slice, are_within, cut_pieces, measure, split_lines, split_sentences
from memu.memorize.turn_cards import make_cards
from memu.records import LineSpan, Passage

__all__ = ["MAX_PASSAGE_CHARS", "MAX_PASSAGE_WORDS", "MIN_PASSAGE_WORDS", "cut_passages"]

MIN_PASSAGE_WORDS = 80
MAX_PASSAGE_WORDS = 120
MAX_PASSAGE_CHARS = 1080
# A heading change ends a passage that has this much; smaller sections join their neighbours.
_SECTION_WORDS = 40
_TINY_WORDS = 20
_MAJORITY = 0.6
_WHOLE_BLOCK_WORDS = 60
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
    """A sentence or line of a block. ``path`` is the heading path it stands under, a heading's own name included;
    ``block_words`` is the size of its whole block."""

    block: Block
    part: Slice
    words: int
    path: tuple[str, ...]
    block_words: int


def cut_passages(document: Document, path: str, language: str | None = None) -> tuple[Passage, ...]:
    """The passages of ``document``, without ids and owner; the commit fills those.

    Args:
        document: what the reader made of the source.
        path: its workspace-relative POSIX path.
        language: ISO 639-1 code of the source, or None if unsure.
    """
    languages = find_languages(document)
    groups = _group([piece for block in document.blocks for piece in _cut_block(block, document.title)])
    cut = (
        (
            _turn_of(group),
            _to_passage(document, path, language_at(languages, group[0].block.place, language), group),
        )
        for group in groups
    )
    passages = (
        _with_cards(cut, make_cards(document, path, language)) if document.turns else (each for _, each in cut)
    )
    return tuple(replace(passage, ordinal=ordinal) for ordinal, passage in enumerate(passages))


def _turn_of(group: Sequence[_Piece]) -> int:
    mark = group[0].block.event
    return mark.turn if mark is not None else 0


def _with_cards(cut: Iterable[tuple[int, Passage]], cards: Mapping[int, Passage]) -> Iterator[Passage]:
    """The passages, those of a session's turn after its card."""
    before = 0
    for turn, passage in cut:
        if turn != before and turn in cards:
            yield cards[turn]
        before = turn
        yield passage


def _cut_block(block: Block, title: str) -> list[_Piece]:
    path = block.heading
    if block.kind is BlockKind.HEADING and (path or block.text != title):
        path = (*path, block.text)
    parts = [(part, measure(part.text)) for part in _cut_text(block)]
    total = sum(words for _, words in parts)
    return [_Piece(block, part, words, path, total) for part, words in parts]


def _cut_text(block: Block) -> Iterator[Slice]:
    """Sentences (or lines, where lines matter), each within a passage's bounds."""
    units = split_lines(block.text) if block.kind in _LINE_KINDS else split_sentences(block.text)
    for unit in units:
        if are_within(unit.text, MAX_PASSAGE_WORDS, MAX_PASSAGE_CHARS):
            yield unit
            continue
        for part in cut_pieces(unit.text, MAX_PASSAGE_WORDS, MAX_PASSAGE_CHARS):
            yield Slice(part.text, unit.start + part.start, unit.start + part.end)


def _group(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    held: list[_Piece] = []
    words = 0
    for at, piece in enumerate(pieces):
        if held and _ends_before(held, words, pieces, at):
            yield held
            held, words = [], 0
        held.append(piece)
        words += piece.words
    if held:
        yield held


def _ends_before(held: list[_Piece], words: int, pieces: Sequence[_Piece], at: int) -> bool:
    """Whether the passage that is being gathered, of so many ``words``, ends before ``pieces[at]``."""
    piece, last = pieces[at], held[-1]
    if piece.block is last.block:
        return words + piece.words > MAX_PASSAGE_WORDS
    if BlockKind.TURN in {piece.block.kind, last.block.kind} or piece.block.place != last.block.place:
        return True
    if piece.path != last.path and not _heads_only(held):
        related = piece.path[:1] == last.path[:1] or min(words, _words_ahead(pieces, at)) < _TINY_WORDS
        if words >= _SECTION_WORDS or not related:
            return True
    if words + piece.block_words <= MAX_PASSAGE_WORDS:
        return words >= MIN_PASSAGE_WORDS
    # A block is not begun at a passage's end when it fits the next one whole.
    return words + piece.words > MAX_PASSAGE_WORDS or words >= (
        _WHOLE_BLOCK_WORDS if piece.block_words <= MAX_PASSAGE_WORDS else MIN_PASSAGE_WORDS
    )


def _heads_only(held: Sequence[_Piece]) -> bool:
    return all(piece.block.kind is BlockKind.HEADING for piece in held)


def _words_ahead(pieces: Sequence[_Piece], at: int) -> int:
    """The words of the section that begins at ``at``, as far as it matters."""
    words = 0
    for piece in pieces[at : at + 8]:
        if words and piece.block.kind is BlockKind.HEADING and piece.block is not pieces[at].block:
            break
        words += piece.words
    return words


def _to_passage(document: Document, path: str, language: str | None, group: Sequence[_Piece]) -> Passage:
    shared = _choose_path(group)
    first = group[0].block
    time = first.time or document.happened_at
    heading = " > ".join(" ".join(part.split()) for part in shared)
    speaker = first.speaker or first.role
    header = (document.title, heading, path, time.date().isoformat() if time else "", speaker)
    return Passage(
        id="",
        ordinal=0,
        header="\n".join(" ".join(line.split()) for line in header if line),
        text=_join_text(group, shared),
        heading=heading,
        kind=document.kind,
        language=language,
        lines=_span([locate(piece.block, piece.part.start, piece.part.end) for piece in group]),
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


def _choose_path(group: Sequence[_Piece]) -> tuple[str, ...]:
    """The path of the section that most of the passage belongs to, else the part that all sections share."""
    sizes: Counter[tuple[str, ...]] = Counter()
    for piece in group:
        if piece.block.kind is not BlockKind.HEADING:
            sizes[piece.path] += piece.words
    if not sizes:
        return _shared_path([piece.path for piece in group])
    path, words = sizes.most_common(1)[0]
    return path if words > _MAJORITY * sizes.total() else _shared_path(list(sizes))


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
