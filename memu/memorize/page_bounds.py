"""To how many pages a source may give something: so calls can be foreseen, and no fact gets a page of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from memu.ingest.document import BlockKind, Document
from memu.memorize.candidate import Candidate
from memu.memorize.sentences import split_sentences
from memu.records import Origin, Track

__all__ = ["bound_names", "most_names"]

_PER_CHUNK = 16
# One sentence may be about two things, and seldom about more.
_PER_SENTENCE = 2

_Page = tuple[Track, str | None]


def most_names(document: Document, chunks: int) -> int:
    """How many pages a model may name for a document that it read in so many chunks: at least one a track."""
    if not chunks:
        return 0
    said = sum(
        max(1, len(split_sentences(block.text)))
        for block in document.blocks
        if block.kind is not BlockKind.HEADING
    )
    return max(len(Track), min(_PER_CHUNK * chunks, _PER_SENTENCE * said))


def bound_names(candidates: Sequence[Candidate], most: int) -> tuple[Candidate, ...]:
    """The candidates with at most so many pages named among those that a model gave.

    The pages that most of them are on stay; what was to be on others goes to the first of its track.
    """
    counted = Counter(map(_page_of, (each for each in candidates if each.origin is Origin.MODEL)))
    if len(counted) <= most:
        return tuple(candidates)
    # The first of each track, then by how much is on them; equal ones in the order of the source.
    ordered = [page for page, _ in counted.most_common()]
    first = {track: next((page for page in ordered if page[0] is track), None) for track in Track}
    leading = [page for page in first.values() if page is not None]
    kept = {*leading, *[page for page in ordered if page not in leading][: most - len(leading)]}
    return tuple(_rehung(each, kept, first) for each in candidates)


def _rehung(candidate: Candidate, kept: set[_Page], first: dict[Track, _Page | None]) -> Candidate:
    onto = first[candidate.track]
    if candidate.origin is not Origin.MODEL or onto is None or _page_of(candidate) in kept:
        return candidate
    return replace(candidate, page_hint=onto[1])


def _page_of(candidate: Candidate) -> _Page:
    return candidate.track, candidate.page_hint
