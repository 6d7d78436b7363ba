"""What shows that a text is a meeting: headings that minutes have, or lines that say who spoke."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.runs import NumberedLine

__all__ = ["SPOKEN", "is_meeting", "is_transcript"]

_MINUTES = re.compile(
    r"^\W*(?:(attendees|participants|present|apologies|与会(?:人员|者)|参会(?:人员|者)?|出席|teilnehmer(?:innen)?|"
    r"asistentes|participantes)|(agenda|议程|tagesordnung|orden del día)|"
    r"(action items?|actions|action points|to-?dos?|待办(?:事项)?|行动项|aufgaben|acciones)|"
    r"(minutes|meeting notes|会议(?:纪要|记录)|protokoll)|(decisions(?: made)?|决议|决定|beschlüsse))\W*$",
    re.IGNORECASE,
)
_MEETING_TITLE = re.compile(
    r"\b(minutes|meeting|stand-?up|retro(?:spective)?|sync|1:1|one-on-one|call)\b|会议|例会|周会|纪要",
    re.IGNORECASE,
)
SPOKEN = re.compile(
    r"(?:\[?\(?\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?\)?\]?\s+)?"
    r"(?:\*\*|__)?([^\W\d_][^\W_]*(?:[ .'’\-][^\W_]+){0,3}\.?(?: ?\([^()\n]{1,30}\))?)"
    r"(?:\*\*|__)?\s?[:：](?:\*\*|__)?\s+(?=\S)"
)
"""A line that says who spoke: group 1 is the name, what follows the match is what was said."""

_LEAST_TURNS = 4
_LONGEST_NAME = 40


def is_meeting(title: str, blocks: Sequence[Block]) -> bool:
    """Whether these are minutes: two sorts of heading that minutes have, attendees or agenda among them, or
    one below a title that says so."""
    found: set[int] = set()
    for block in blocks:
        head = block.text.split(":", 1)[0] if block.kind is not BlockKind.HEADING else block.text
        if len(head) > _LONGEST_NAME or block.kind in (BlockKind.FENCE, BlockKind.TABLE, BlockKind.DATA):
            continue
        if block.kind is not BlockKind.HEADING and ":" not in block.text:
            continue
        if match := _MINUTES.match(head.strip("*_ ")):
            found.add(match.lastindex or 0)
    gathered = bool(found & {1, 2})
    return (len(found) > 1 and gathered) or (bool(found) and bool(_MEETING_TITLE.search(title)))


def is_transcript(lines: Sequence[NumberedLine]) -> bool:
    """Whether most lines open with a speaker's name, few names each coming back."""
    names: Counter[str] = Counter()
    filled = 0
    for line in lines:
        text = line.text.strip()
        if not text:
            continue
        filled += 1
        match = SPOKEN.match(text[:200])
        if match and len(match[1]) <= _LONGEST_NAME and len(text) - match.end() > 0:
            names[match[1]] += 1
    turns = names.total()
    return turns >= _LEAST_TURNS and turns >= 0.5 * filled and 2 <= len(names) <= turns // 2
