"""What the word index keeps of a passage: its terms with their weighted frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memu.records import Kind, Passage
from memu.tokens import index_terms

__all__ = ["HEADER_WEIGHT", "KIND_CODES", "IndexedPassage", "index_passage"]

# Measured: a header column that counts double beats pasting the header into the text.
HEADER_WEIGHT = 2

# What postings hold for a kind. Codes are stored: new kinds get new ones, none is ever changed.
KIND_CODES: Mapping[Kind | None, int] = {
    None: 0,
    Kind.DOCUMENT: 1,
    Kind.CHAT: 2,
    Kind.MEETING: 3,
    Kind.SESSION: 4,
    Kind.MAIL: 5,
    Kind.RULES: 6,
    Kind.CODE: 7,
    Kind.TABLE: 8,
    Kind.LOG: 9,
    Kind.IMAGE: 10,
    Kind.AUDIO: 11,
    Kind.VIDEO: 12,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPassage:
    """A passage with its terms: what one occurrence in the text counts once, in the header twice."""

    passage: Passage
    terms: Mapping[str, int]

    @property
    def length(self) -> int:
        """Weighted number of terms."""
        return sum(self.terms.values())


def index_passage(passage: Passage) -> IndexedPassage:
    """Find a passage's terms. Stemming takes a millisecond or so: do it before a transaction, not inside."""
    terms = index_terms(passage.text, passage.language)
    for term, count in index_terms(passage.header, passage.language).items():
        terms[term] += HEADER_WEIGHT * count
    return IndexedPassage(passage=passage, terms=terms)
