"""What the word index keeps of a passage: its terms with their weighted frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memu.records import Passage
from memu.tokens import index_terms

__all__ = ["HEADER_WEIGHT", "IndexedPassage", "index_passage"]

# Measured: a header column that counts double beats pasting the header into the text.
HEADER_WEIGHT = 2


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
