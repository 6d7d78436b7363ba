"""Why an answer is as it is: how its parts scored, what it was taken from and what was cut. Never the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime

from memu.records import Hit
from memu.retrieve.states import RetrieveState
from memu.storage.search import SearchFilter

__all__ = ["explain", "scores_of_lists"]

Told = str | int | float | list[str]


def scores_of_lists(state: RetrieveState) -> dict[str, Mapping[str, float]]:
    """Passage id → its BM25, its cosine where there is one, and what both came to in the order."""
    told: dict[str, Mapping[str, float]] = {}
    for each in state.candidates:
        if each.id in state.scores:
            near = {} if each.cosine is None else {"cosine": each.cosine}
            told[each.id] = {"words": each.words, **near, "fused": state.scores[each.id]}
    return told


def explain(
    state: RetrieveState, rated: Sequence[Hit], chosen: Sequence[Hit], kept: Sequence[Hit]
) -> dict[str, Mapping[str, Told]]:
    """The account of one answer.

    ``rated``: the hits that reach ``min_score``; ``chosen``: those within ``max_hits``; ``kept``: those within
    ``max_words``.
    """
    lists = Counter(side for each in state.candidates for side in each.ranks)
    return {
        "filters": _filters(state),
        "found": {
            **{side: lists[side] for side in sorted(lists)},
            "candidates": len(state.candidates),
            "answers": len(state.scores),
            "hits": len(state.hits),
        },
        "most": {"words": round(state.most_words, 6)},
        "cuts": {
            "no_answer": len(state.candidates) - len(state.scores),
            "min_score": len(state.hits) - len(rated),
            "max_hits": len(rated) - len(chosen),
            "max_words": len(chosen) - len(kept),
        },
    }


def _filters(state: RetrieveState) -> dict[str, Told]:
    """What the answer was bounded by; what was left open is not there."""
    told: dict[str, Told] = {
        "scopes": len(state.scopes),
        "layers": sorted(state.layers),
        "tracks": sorted(state.tracks),
    }
    for field in fields(SearchFilter):
        value = getattr(state.within, field.name)
        if value is None or field.name in ("layers", "tracks", "among"):
            continue
        if isinstance(value, datetime):
            told[field.name] = value.isoformat()
        else:
            told[field.name] = value if isinstance(value, str) else sorted(value)
    return told
