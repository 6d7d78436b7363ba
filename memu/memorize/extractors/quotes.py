"""From a piece of a block to a candidate: exact lines, bounded size, verbatim text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from operator import attrgetter

from memu.ingest.document import Block, BlockKind
from memu.memorize.candidate import MAX_CHARS, MAX_WORDS, BlockForm, Candidate
from memu.memorize.extractors.opaque import is_endless
from memu.memorize.forget.marks import find_unmarked
from memu.memorize.sentences import Slice, are_within, cut_pieces, split_sentences
from memu.records import LineSpan

__all__ = [
    "bound",
    "bound_slice",
    "cut_fence",
    "fits",
    "form_of",
    "locate",
    "locate_words",
    "order_by_source",
    "quote",
    "quote_pieces",
    "shape_like",
]

_START = attrgetter("start")
# In these, a line of ``text`` is a line of the source; elsewhere (chats, captions) it may not be.
_LINE_TRUE = frozenset(
    {
        BlockKind.PARAGRAPH,
        BlockKind.BULLET,
        BlockKind.STEP,
        BlockKind.QUOTE,
        BlockKind.FENCE,
        BlockKind.CODE,
        BlockKind.COMMENT,
        BlockKind.LOG_LINE,
        BlockKind.ROW,
        BlockKind.TABLE,
        BlockKind.DATA,
    }
)


def locate(block: Block, start: int, end: int) -> LineSpan | None:
    """The lines of ``block.text[start:end]``: exact where its reader or its line breaks tell, else the block's."""
    span = block.lines
    if span is not None and block.rows:
        first = bisect_right(block.rows, start, key=_START) - 1
        last = bisect_right(block.rows, max(start, end - 1), key=_START) - 1
        return LineSpan(block.rows[max(0, first)].first, block.rows[max(0, last)].last)
    if span is None or block.kind not in _LINE_TRUE:
        return span
    extra = (span.end - span.start) - block.text.count("\n")
    # A fence's span holds its two marker lines as well.
    offset = 1 if block.kind is BlockKind.FENCE and extra == 2 else 0
    if extra != 2 * offset:
        return span
    first = span.start + offset + block.text.count("\n", 0, start)
    return LineSpan(first, first + block.text.count("\n", start, end))


def locate_words(block: Block, start: int, end: int) -> LineSpan | None:
    """As ``locate``, without the marks of forgotten words at both ends."""
    first, last = find_unmarked(block.text[start:end])
    return locate(block, start + first, start + last) if first < last else locate(block, start, end)


def quote(block: Block, piece: Slice, like: Candidate) -> Candidate:
    """A candidate with this piece's words and place, and everything else from ``like``."""
    return replace(like, text=piece.text, lines=locate_words(block, piece.start, piece.end), place=block.place)


def quote_pieces(block: Block, pieces: Iterable[Slice], like: Candidate) -> list[Candidate]:
    """A candidate for each piece; what does not fit into a step goes on below it as a paragraph."""
    made = [quote(block, piece, like) for piece in pieces]
    if like.block is not BlockForm.STEP:
        return made
    rest = (replace(part, block=BlockForm.PARAGRAPH, number=None, depth=0) for part in made[1:])
    return [*made[:1], *rest]


def shape_like(block: Block, like: Candidate) -> Candidate:
    """``like`` in the block's own form: with a step's number, an item's nesting, a fence's language."""
    form = form_of(block)
    depth = block.depth if form in (BlockForm.STEP, BlockForm.BULLET) else 0
    number = block.number if form is BlockForm.STEP else None
    return replace(like, block=form, number=number, depth=depth, language=block.language)


def bound(text: str) -> Iterator[Slice]:
    """Whole ``text`` if one candidate may hold it, else groups of its sentences that each may."""
    whole = Slice(text.strip(), len(text) - len(text.lstrip()), len(text.rstrip()))
    if not whole.text:
        return
    if fits(whole.text):
        yield whole
        return
    group: Slice | None = None
    for sentence in split_sentences(text):
        joined = None if group is None else _span(text, group.start, sentence.end)
        if joined is not None and fits(joined.text):
            group = joined
            continue
        if group is not None:
            yield group
        pieces = cut_pieces(sentence.text, MAX_WORDS, MAX_CHARS)
        for piece in pieces[:-1]:
            yield _span(text, sentence.start + piece.start, sentence.start + piece.end)
        last = pieces[-1]
        group = _span(text, sentence.start + last.start, sentence.start + last.end)
    if group is not None:
        yield group


def bound_slice(whole: Slice) -> Iterator[Slice]:
    """``bound`` for a slice: the pieces keep their places in the text that ``whole`` was cut from.

    Words without an end are no sentence, and no piece of them is one.
    """
    if is_endless(whole.text):
        return
    if whole.text == whole.text.strip() and fits(whole.text):
        if whole.text:
            yield whole
        return
    for piece in bound(whole.text):
        yield Slice(piece.text, whole.start + piece.start, whole.start + piece.end)


def fits(text: str) -> bool:
    """Whether ``text`` is within a candidate's bounds."""
    return are_within(text, MAX_WORDS, MAX_CHARS)


def cut_fence(text: str) -> tuple[Slice, ...] | None:
    """A fence whole or in pieces of whole lines; None if a single line is longer than a candidate may be."""
    pieces: list[Slice] = []
    start, end, at = 0, 0, 0
    for line in text.split("\n"):
        if not fits(line):
            return None
        stop = at + len(line)
        if not fits(text[start:stop]):
            pieces.append(_span(text, start, end))
            start = at
        end, at = stop, stop + 1
    pieces.append(_span(text, start, end))
    if "\n" not in text:
        # The indentation of a single line carries no meaning.
        return tuple(bound(text))
    return tuple(piece for piece in pieces if piece.text.strip())


def order_by_source(found: list[tuple[int, Candidate]]) -> tuple[Candidate, ...]:
    """Candidates in the order of their blocks; ``found`` pairs each with its block's index."""
    return tuple(candidate for _, candidate in sorted(found, key=lambda pair: pair[0]))


def form_of(block: Block) -> BlockForm:
    """The form that a block's words keep on a page."""
    return _FORMS.get(block.kind, BlockForm.PARAGRAPH)


_FORMS = {
    BlockKind.BULLET: BlockForm.BULLET,
    BlockKind.STEP: BlockForm.STEP,
    BlockKind.FENCE: BlockForm.FENCE,
    BlockKind.CODE: BlockForm.FENCE,
    BlockKind.QUOTE: BlockForm.QUOTE,
}


def _span(text: str, start: int, end: int) -> Slice:
    return Slice(text[start:end], start, end)
