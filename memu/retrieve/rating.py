"""How likely a hit answers: the order's scores, which hold within one answer only, on a scale from 0 to 1.

The best candidate is rated by what speaks for it whatever else was found: the share of the question's words in
it, weighed by how rare they are (its BM25 over the most that these words can give), and its cosine. The others
follow it by how far they fall behind in the order:

    rating = 1 / (1 + exp(−(bias + words·share + cosine·cosine + fall·(score − best score))))

share and cosine are those of the best candidate, so that ratings never contradict the order. The constants are a
logistic regression (``benchmarks/ratings.py``) of "this hit is among the answers" over questions whose answers are
in the store and the same questions with the answers taken out; docs/retrieval.md says what that came to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from memu.retrieve.ranking import Candidate, Evidence

__all__ = ["rate", "share_of_words"]

_FAR = 700.0


def rate(
    candidates: Sequence[Candidate], scores: Mapping[str, float], most_words: float, evidence: Evidence
) -> dict[str, float]:
    """Id → rating of each of ``scores``, in the same order. ``most_words``: the most that BM25 can come to."""
    best = max(
        (each for each in candidates if each.id in scores),
        key=lambda each: (scores[each.id], each.id),
        default=None,
    )
    if best is None:
        return {}
    told = evidence.bias + evidence.words * share_of_words(best, most_words)
    told += evidence.cosine * (best.cosine or 0.0)
    return {each: _squash(told + evidence.fall * (score - scores[best.id])) for each, score in scores.items()}


def share_of_words(candidate: Candidate, most_words: float) -> float:
    """From 0.0, none of the question's words, to 1.0."""
    return min(1.0, candidate.words / most_words) if most_words > 0 else 0.0


def _squash(number: float) -> float:
    return 1 / (1 + math.exp(-max(-_FAR, min(_FAR, number))))
