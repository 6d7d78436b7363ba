"""Which of the containers that stood open before a break in JSON those behind it are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from memu.ingest.readers.json_scan import Json
from memu.ingest.readers.json_walk import Walk

__all__ = ["find_place", "find_targets", "part_keys", "part_strangers"]

_SAMPLE = 5
_KEYS = 50


def find_place(stack: Sequence[Json], walk: Walk, *, trusting: bool) -> int | None:
    """Which of the containers in ``stack`` the last level of a walk is; None where nothing tells.

    ``trusting``: brackets may tell it alone, without keys.
    """
    levels = walk.levels[::-1]
    if walk.damage is None:
        return 0 if _count_fitting(stack, 0, levels) else None
    fitting = {place: _count_fitting(stack, place, levels) for place in range(len(stack))}
    possible = [place for place, count in fitting.items() if count]
    scores = {place: _count_known(stack[: place + fitting[place]], place, levels) for place in possible}
    best = max(possible, key=lambda place: (scores[place], fitting[place], place), default=None)
    if best is None or scores[best]:
        return best
    sure = trusting and len(possible) == 1 and fitting[best] == len(levels) > 1
    return best if sure else None


def find_targets(stack: Sequence[Json], place: int, levels: Sequence[Json]) -> list[Json]:
    """The containers that the levels, the outermost first, go on with from ``stack[place]`` inwards.

    There may be more levels than stood open: a bracket too many has closed one, or that which opens one is lost.
    """
    targets = list(stack[place : place + _count_fitting(stack, place, levels)])
    for level in levels[len(targets) :] if place + len(targets) == len(stack) else ():
        found = _reopen(targets[-1], level)
        if found is None:
            break
        targets.append(found)
    return targets


def part_strangers(root: Json) -> None:
    """Gives what is like the items of an outer array back to it, where a lost bracket left it in an inner one."""
    arrays: list[Json] = []
    each = root
    while each.items:
        arrays += [each] if each.form == "array" else []
        each = each.items[-1]
    for depth, inner in enumerate(arrays):
        for outer in arrays[:depth]:
            at = next((at for at, each in enumerate(inner.items) if at and _is_stranger(each, inner, outer)), None)
            if at is not None:
                outer.items += inner.items[at:]
                del inner.items[at:]
                inner.end = inner.items[-1].end
                break


def part_keys(stack: Sequence[Json], place: int) -> None:
    """The same for keys, where a lost brace left those of an outer object in its last value."""
    chain = list(stack)
    while chain[-1].items and chain[-1].items[-1].form == "object":
        chain.append(chain[-1].items[-1])
    for holder, outer, inner in zip(chain[place:], chain[place + 1 :], chain[place + 2 :], strict=False):
        if not outer.keys or outer.items[-1] is not inner:
            continue
        siblings = [
            each for each in (*_sample(holder.items), *_sample(reversed(holder.items))) if each is not outer
        ]
        cousins = [each for sibling in siblings if (each := sibling.get(outer.keys[-1].text)) is not None]
        known = _gather_keys(siblings) - _gather_keys(cousins) - _gather_keys([outer]) if cousins else set()
        at = next((at for at, key in enumerate(inner.keys) if at and key.text in known), None)
        if at is not None:
            outer.keys += inner.keys[at:]
            outer.items += inner.items[at:]
            del inner.keys[at:], inner.items[at:]
            inner.end = inner.items[-1].end


def _gather_keys(values: Iterable[Json]) -> set[str]:
    return {key.text for each in values for key in each.keys[:_KEYS]}


def _is_stranger(value: Json, inner: Json, outer: Json) -> bool:
    foreign, own = outer.items[0], inner.items[0]
    return _are_alike(value, foreign) and _count_shared(value, foreign) > _count_shared(value, own)


def _count_fitting(stack: Sequence[Json], place: int, levels: Sequence[Json]) -> int:
    """How many levels, from the outermost on, have the form of what stands open there."""
    pairs = zip(stack[place:], levels, strict=False)
    return next(
        (count for count, (old, new) in enumerate(pairs) if old.form != new.form),
        min(len(stack) - place, len(levels)),
    )


def _count_known(stack: Sequence[Json], place: int, levels: Sequence[Json]) -> int:
    return sum(_is_known(stack, index, level) for index, level in enumerate(levels[: len(stack) - place], place))


def _is_known(stack: Sequence[Json], index: int, level: Json) -> bool:
    """Whether a level goes on with a container: by the keys of the container's siblings, or of what both hold."""
    old = stack[index]
    if index and level.keys:
        siblings = _sample(each for each in reversed(stack[index - 1].items) if each is not old)
        known, own = _gather_keys(siblings), _gather_keys([level])
        if 2 * len(own & known) >= len(own):
            return True
    return _hold_alike(old.items, level.items)


def _hold_alike(items: Sequence[Json], others: Sequence[Json]) -> bool:
    held = [*_sample(items), *_sample(reversed(items))]
    return any(_are_alike(new, each) for new in _sample(others) for each in held)


def _sample(values: Iterable[Json]) -> list[Json]:
    return list(islice((each for each in islice(values, 10 * _SAMPLE) if each.form == "object"), _SAMPLE))


def _are_alike(one: Json, other: Json) -> bool:
    shared = _count_shared(one, other)
    return shared > 0 and 2 * shared >= min(len(one.keys), len(other.keys), _KEYS)


def _count_shared(one: Json, other: Json) -> int:
    return len(_gather_keys([one]) & _gather_keys([other]))


def _reopen(holder: Json, level: Json) -> Json | None:
    last = holder.items[-1] if holder.items else None
    if last is not None and last.form == level.form and not _share_keys(last, level):
        return last
    if holder.form == "array":
        holder.items.append(Json(level.form, level.start, level.end))
        return holder.items[-1]
    if last is None or level.form != "array":
        return None
    if _hold_alike([last], level.items):
        holder.items[-1] = Json("array", last.start, level.end, items=[last])
        return holder.items[-1]
    arrays = (each for each in holder.items[-_SAMPLE:] if each.form == "array")
    return next((each for each in arrays if _hold_alike(each.items, level.items)), None)


def _share_keys(one: Json, other: Json) -> bool:
    return not {key.text for key in one.keys}.isdisjoint(key.text for key in other.keys)
