"""Reading on behind the breaks of a JSON text, so that one fault costs no more than what it stands in.

What follows a break is read outwards (``json_walk``) and put into the containers that stood open before it. Where
the text ends with the last that is closed, that is the root and the others follow from it; where another break
comes first, the keys tell, which must be like those of the neighbours.
"""

from __future__ import annotations

import re
from collections import Counter

from memu.ingest.readers.json_alignment import find_place, find_targets, part_keys, part_strangers
from memu.ingest.readers.json_scan import BAD_SYNTAX, DEEPEST, TRUNCATED, Json, Scan, decode_string, skip_space
from memu.ingest.readers.json_walk import Walk, find_anchors, walk_on

__all__ = ["Mending"]

_MOST_BREAKS = 1_000
_MOST_TRIES = 10_000


class Mending:
    """One text that is read over its breaks.

    ``faults`` counts what is wrong, ``gaps`` are the stretches that were passed over, ``at`` is where it stopped.
    """

    def __init__(self, text: str, base: int, scan: Scan, damage: str | None) -> None:
        self.at = scan.at
        self.damage = damage
        self.faults: Counter[str] = Counter()
        self.gaps: list[tuple[int, int]] = []
        self._text, self._base = text, base
        self._root, self._open, self._last = scan.root, scan.open, scan.last
        self._start = self._tries = 0

    def run(self) -> None:
        """Reads to the end, or to where it cannot go on."""
        while self.damage in (None, BAD_SYNTAX):
            if self.damage is None and skip_space(self._text, self.at) >= len(self._text):
                break
            closed = self.damage is None
            resumed = self._resume()
            if resumed or not closed:
                self.faults[BAD_SYNTAX] += 1
            if not resumed:
                break
        else:
            self.faults[self.damage or BAD_SYNTAX] += 1
        for container in self._open:
            container.close(self._base + self.at)
        if self.damage == TRUNCATED and self._root is not None:
            part_strangers(self._root)

    def _resume(self) -> bool:
        root = self._root
        if root is None or len(self.gaps) >= _MOST_BREAKS:
            return False
        # Where nothing was read, much that is no JSON begins so too.
        bare = not (root.keys or root.items)
        if bare and root.form != "object":
            return False
        stack = self._open or [root]
        anchors = find_anchors(self._text, self._search_start())
        anchor = next(anchors, None)
        while anchor is not None and self._tries < _MOST_TRIES:
            self._tries += 1
            walk = walk_on(self._text, self._base, anchor, max(1, DEEPEST - len(stack)))
            place = find_place(stack, walk, trusting=bool(self._open))
            if place is not None and not (bare and walk.damage):
                self._put(stack, place, walk, self._cut_string(anchor))
                self._start = anchor.end()
                return True
            try:
                anchor = anchors.send(walk.at)
            except StopIteration:
                break
        return False

    def _search_start(self) -> int:
        """A string that ran on, because a quote was lost, ends in what may be the next key."""
        last = self._last
        if last is None or skip_space(self._text, last.end - self._base) < self.at:
            return max(self.at, self._start)
        before = last.start - self._base
        while before > 0 and self._text[before - 1] in " \t\r\n":
            before -= 1
        return max(before - 1, self._start)

    def _cut_string(self, anchor: re.Match[str]) -> int:
        """Where what was read ends for certain, once the last string has lost what is a key."""
        last, key = self._last, anchor.start(2) + self._base
        holder = self._open[-1] if self._open else None
        if last is None or key >= last.end or holder is None:
            return self.at
        held = bool(holder.items) and holder.items[-1] is last
        if key == last.start:
            if held:
                holder.items.pop()
            return last.start - self._base
        # No JSON has a line's end in a string, so what stands on the next line was none of it.
        start = last.start - self._base + 1
        kept = self._text[start : anchor.start()].split("\n")[0].rstrip().removesuffix(",")
        if held:
            last.text, last.end = decode_string(kept), self._base + start + len(kept)
        return start + len(kept)

    def _put(self, stack: list[Json], place: int, walk: Walk, end: int) -> None:
        """Gives what a walk read to the containers that stood open; those that it closed stand open no more."""
        if walk.orphan is not None and len(walk.levels) == len(stack) - place:
            _give_orphan(stack[-1], walk.orphan)
        for container in stack[place:]:
            container.close(self._base + end)
        levels = walk.levels[::-1]
        targets = find_targets(stack, place, levels)
        for target, level in zip(targets, levels, strict=False):
            target.keys += level.keys
            target.items += level.items
            target.end = level.end
        if place + len(targets) < len(stack):
            part_keys(stack, place)
        self.gaps.append((self._base + end, max(levels[len(targets) - 1].start, self._base + end)))
        self._open = [*stack[:place], targets[0], *walk.inside[1:]] if walk.inside else list(stack[:place])
        self.at, self.damage, self._last = walk.at, walk.damage, walk.last


def _give_orphan(holder: Json, value: Json) -> None:
    """A value whose key was read before the break has it back."""
    if holder.form == "object" and len(holder.keys) > len(holder.items):
        holder.items.append(value)
