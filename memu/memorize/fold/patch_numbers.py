"""The names by which a model speaks of a page: b1, b2 … for its blocks, e1, e2 … for what is to be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memu.memorize.fold.entries import PageEntry
from memu.memorize.fold.patch_earlier import is_earlier
from memu.memorize.fold.patch_reading import Reading
from memu.memorize.fold.patch_sheet import Block
from memu.memorize.fold.patch_words import plain_text, terms_of
from memu.providers.prices import estimate_tokens

__all__ = ["Numbers", "number_page"]

Each = TypeVar("Each")

# What a name, a date and a heading around a text cost, about.
_AROUND = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """blocks: name → place in the sections: (section, block). entries: name → entry. Either in page order.

    Superseded blocks have no name, nor have those that only stand until their entries are said together again.
    """

    blocks: Mapping[str, tuple[int, int]]
    entries: Mapping[str, PageEntry]


def number_page(reading: Reading, tokens: int) -> Numbers:
    """Names for what fits into a prompt of about ``tokens``: the first entries, and of the blocks those that share
    most with them. What has no name is left as it is."""
    waiting = [*reading.gained, *(reading.said[identity][0] for identity in reading.open)]
    waiting.sort(key=lambda entry: entry.place_key)
    entries = _fit(waiting, [entry.text for entry in waiting], tokens // 2) or waiting[:1]
    places = [
        (at, index)
        for at, section in enumerate(reading.sections)
        if not is_earlier(section)
        for index, block in enumerate(section.blocks)
        if not reading.open.keys() & set(block.cites)
    ]
    chosen = _choose(reading, places, entries, tokens // 2)
    return Numbers(
        blocks={f"b{number}": place for number, place in enumerate(chosen, 1)},
        entries={f"e{number}": entry for number, entry in enumerate(entries, 1)},
    )


def _choose(
    reading: Reading, places: Sequence[tuple[int, int]], entries: Sequence[PageEntry], tokens: int
) -> list[tuple[int, int]]:
    texts = {place: plain_text(_block_at(reading, place)) for place in places}
    said = frozenset().union(*(terms_of(entry.text) for entry in entries))
    ranked = sorted(places, key=lambda place: (-len(terms_of(texts[place]) & said), place))
    return sorted(_fit(ranked, [texts[place] for place in ranked], tokens))


def _fit(each: Sequence[Each], texts: Sequence[str], tokens: int) -> list[Each]:
    """The first of them whose texts fit."""
    fitting: list[Each] = []
    for one, text in zip(each, texts, strict=True):
        tokens -= estimate_tokens(text) + _AROUND
        if tokens < 0:
            break
        fitting.append(one)
    return fitting


def _block_at(reading: Reading, place: tuple[int, int]) -> Block:
    return reading.sections[place[0]].blocks[place[1]]
