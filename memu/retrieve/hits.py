"""From scored passages to hits: rolled up to what they belong to, without saying a thing twice, within a budget.

An entry and the passage that holds its lines are one hit, that of the better score. A page takes the score of
its own passage or of the best entry it rests on, and shows its best entries. Of one source at most a few hits are
given while others are left.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from memu.ingest.chats.conversation import read_conversation
from memu.records import Hit, Layer, LineSpan, RecallEntry, Track
from memu.retrieve.turns import Cards, mark_turn, turn_key
from memu.storage.owners import FoundPassage, PageName

__all__ = ["choose", "fit_words", "roll_up"]

_ENTRIES_ON_A_PAGE = 3
_ENTRIES_THAT_MAKE_A_PAGE = 2
_WORDS_A_HIT = 200


def roll_up(
    found: Mapping[str, FoundPassage],
    scores: Mapping[str, float],
    ranks: Mapping[str, Mapping[str, int]],
    layers: frozenset[Layer],
    tracks: frozenset[Track],
    cards: Cards = MappingProxyType({}),
    parts: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    earlier: frozenset[str] = frozenset(),
) -> tuple[Hit, ...]:
    """The hits of ``layers``, best first; equals by path, line, text. Scores, ranks and parts are by passage.

    earlier: the passages whose place something takes that was said later.
    """
    best_first = sorted(scores, key=lambda each: (-scores[each], _place_of(found[each])))
    hits: dict[tuple[Layer, str], tuple[str, Hit]] = {}
    for each in best_first:
        hit = _hit_of(found[each], scores[each], ranks.get(each, {}), parts.get(each, {}))
        hit = replace(mark_turn(hit, turn_key(found[each]), cards), earlier=each in earlier)
        if hit.layer in layers and hit.layer is not Layer.FILE:
            resource = found[each].resource
            key = (hit.layer, hit.id if hit.layer is Layer.ENTRY else each)
            hits.setdefault(key, (resource.id if resource else "", hit))
    joined = _join(list(hits.values()))
    pages = _pages(best_first, found, scores, (ranks, parts), layers, tracks) if Layer.FILE in layers else []
    return tuple(sorted((*joined, *pages), key=_order))


def choose(hits: Sequence[Hit], limit: int, per_source: int) -> tuple[Hit, ...]:
    """The best ``limit`` hits, of one source at most ``per_source`` while others are left; order is by score."""
    taken: Counter[str] = Counter()
    within: list[int] = []
    over: list[int] = []
    for at, hit in enumerate(hits):
        source = hit.path if hit.path is not None else f"page {hit.id}"
        taken[source] += 1
        (within if taken[source] <= per_source else over).append(at)
    return tuple(hits[at] for at in sorted((within + over)[: max(0, limit)]))


def fit_words(hits: Sequence[Hit], max_words: int | None) -> tuple[Hit, ...]:
    """The first hits whose texts keep to ``max_words`` together; the very first is cut rather than left out."""
    if max_words is None:
        return tuple(hits)
    kept: list[Hit] = []
    left = max_words
    for hit in hits:
        if kept and len(hit.text.split()) > left:
            break
        kept.append(replace(hit, text=_cut(hit.text, left)))
        left -= len(kept[-1].text.split())
        told = _words_of_card(kept)
        if told > left:
            kept[-1] = replace(kept[-1], card="")
        else:
            left -= told
    return tuple(kept) if max_words > 0 else ()


def _words_of_card(kept: Sequence[Hit]) -> int:
    """The words of the last hit's card; none where it stands above already, or is the hit itself."""
    hit, before = kept[-1], kept[-2] if len(kept) > 1 else None
    same = before is not None and (before.path, before.turn, before.card) == (hit.path, hit.turn, hit.card)
    return 0 if same or hit.text == hit.card else len(hit.card.split())


def _hit_of(found: FoundPassage, score: float, ranks: Mapping[str, int], parts: Mapping[str, float]) -> Hit:
    passage, resource, entry = found.passage, found.resource, found.entry
    text = _entry_text(entry) if entry else passage.text
    layer = Layer.ENTRY if entry else Layer.RESOURCE if resource else Layer.FILE
    owner = entry or resource
    return Hit(
        layer=layer,
        score=score,
        text=_cut(text, _WORDS_A_HIT),
        title=resource.title if resource else found.pages[0].name if found.pages else "",
        track=passage.track,
        heading=passage.heading,
        path=resource.path if resource else None,
        lines=passage.lines,
        place=passage.place,
        time=passage.happened_at,
        id=owner.id if owner else passage.file_id or "",
        ranks=dict(ranks),
        scores=parts,
    )


def _join(hits: Sequence[tuple[str, Hit]]) -> list[Hit]:
    """What a better hit of the other layer already says is left out, and its ranks go over.

    ``hits`` come best first, each with the id of its source.
    """
    kept: list[Hit] = []
    of_source: dict[str, list[int]] = defaultdict(list)
    for source, hit in hits:
        places = of_source[source]
        twin = next((at for at in places if _overlap(kept[at], hit)), None)
        if twin is None:
            places.append(len(kept))
            kept.append(hit)
        else:
            kept[twin] = replace(kept[twin], ranks=_best_ranks(kept[twin].ranks, hit.ranks))
    return kept


def _overlap(one: Hit, other: Hit) -> bool:
    """Whether one is an entry and the other the passage that it stands in."""
    if one.layer is other.layer:
        return False
    entry, passage = (one, other) if one.layer is Layer.ENTRY else (other, one)
    # Of an export all messages may stand on one line.
    if read_conversation(entry.place) and read_conversation(passage.place):
        return entry.place == passage.place
    if entry.lines and passage.lines:
        return passage.lines.start <= entry.lines.start and entry.lines.end <= passage.lines.end
    return entry.place == passage.place and not entry.lines and not passage.lines


def _pages(
    best_first: Sequence[str],
    found: Mapping[str, FoundPassage],
    scores: Mapping[str, float],
    told: tuple[Mapping[str, Mapping[str, int]], Mapping[str, Mapping[str, float]]],
    layers: frozenset[Layer],
    tracks: frozenset[Track],
) -> list[Hit]:
    """A page is a hit by its own passage or by several of its entries; by a single one where these are no hits."""
    names: dict[str, PageName] = {}
    own: dict[str, str] = {}
    resting: dict[str, list[str]] = defaultdict(list)
    for each in best_first:
        for page in found[each].pages:
            names[page.id] = page
            if found[each].entry is None:
                own.setdefault(page.id, each)
            else:
                resting[page.id].append(each)
    least = _ENTRIES_THAT_MAKE_A_PAGE if Layer.ENTRY in layers else 1
    hits: list[Hit] = []
    for page_id, page in names.items():
        speaking = [own[page_id]] if page_id in own else []
        speaking += resting[page_id][:1] if len(resting[page_id]) >= least else []
        if page.track not in tracks or not speaking:
            continue
        best = max(speaking, key=scores.__getitem__)
        hits.append(
            Hit(
                layer=Layer.FILE,
                score=scores[best],
                text=_page_text(page, [found[each] for each in resting[page_id]]),
                title=page.name,
                track=page.track,
                id=page_id,
                ranks=dict(told[0].get(best, {})),
                scores=told[1].get(best, {}),
            )
        )
    return hits


def _page_text(page: PageName, entries: Sequence[FoundPassage]) -> str:
    """The page's description and its best entries, each once."""
    best = [each.entry for each in entries[:_ENTRIES_ON_A_PAGE] if each.entry is not None]
    told = [_entry_text(entry) for entry in best if entry.text not in page.description]
    return _cut("\n\n".join(filter(None, (page.description, *told))), _WORDS_A_HIT)


def _entry_text(entry: RecallEntry) -> str:
    return f"{entry.label}: {entry.text}" if entry.label else entry.text


def _cut(text: str, words: int) -> str:
    """At most so many words, line breaks kept."""
    if len(text.split()) <= words:
        return text
    end = 0
    for word in text.split()[: max(0, words)]:
        end = text.index(word, end) + len(word)
    return f"{text[:end]}…"


def _best_ranks(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    sides = sorted({*one, *other})
    return {side: min(ranks[side] for ranks in (one, other) if side in ranks) for side in sides}


def _order(hit: Hit) -> tuple[float, str, int, str, str]:
    return -hit.score, hit.path or "", _start(hit.lines), hit.layer.value, hit.text


def _place_of(found: FoundPassage) -> tuple[str, int, int, str]:
    passage = found.passage
    path = found.resource.path if found.resource else ""
    return path, _start(passage.lines), passage.ordinal, passage.text


def _start(lines: LineSpan | None) -> int:
    return lines.start if lines else 0
