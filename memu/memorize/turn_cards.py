"""Cards of an agent session's turns: what was asked and what became of it, made without a model.

A card is made of the blocks that the session was read into, so what was redacted or cut from them is in no card.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memu.ingest.document import Block, Document
from memu.ingest.readers.runs import shorten
from memu.ingest.sessions.events import EventKind, SessionTurn
from memu.memorize.sentences import cut_pieces, measure
from memu.records import Passage

__all__ = ["MAX_CARD_CHARS", "MAX_CARD_WORDS", "make_cards", "write_card"]

MAX_CARD_WORDS = 120
MAX_CARD_CHARS = 1080
_ASKED, _ANSWERED, _NOTED = 240, 240, 160
_LISTED = 5
_PATH, _COMMAND, _ERROR, _STEP = 80, 70, 100, 50
_DONE = "[x]"
# Its output has not come, or it waits for a person: whether it was done nobody knows.
_OPEN = " (no result)"


def make_cards(document: Document, path: str, language: str | None) -> Mapping[int, Passage]:
    """The cards of a session by the turn's number, each a passage without ids that stands on its turn's lines."""
    cards: dict[int, Passage] = {}
    held = _by_turn(document.blocks)
    for turn in document.turns:
        blocks = held.get(turn.number, ())
        if not blocks:
            continue
        time = turn.began or document.happened_at
        header = (document.title, path, time.date().isoformat() if time else "")
        cards[turn.number] = Passage(
            id="",
            ordinal=0,
            header="\n".join(" ".join(line.split()) for line in header if line),
            text=write_card(turn, blocks),
            kind=document.kind,
            language=language,
            lines=turn.lines,
            place=turn.place,
            happened_at=time,
        )
    return cards


def write_card(turn: SessionTurn, blocks: Sequence[Block]) -> str:
    """The card's text, at most 120 words and 1,080 characters; a line is left out where it would say nothing."""
    told = "\n".join(line for line in _lines(turn, blocks) if line)
    answer = _say("Answer", _last_answer(blocks), _ANSWERED)
    # What was done may be long; the answer keeps its place.
    room, length = MAX_CARD_WORDS - measure(answer), MAX_CARD_CHARS - len(answer) - 2
    pieces = cut_pieces(told, room, length)
    kept = told if len(pieces) == 1 else f"{pieces[0].text}…"
    return f"{kept}\n{answer}" if answer else kept


def _lines(turn: SessionTurn, blocks: Sequence[Block]) -> Iterator[str]:
    yield _headline(turn)
    yield _say("Asked", _first(blocks, EventKind.PROMPT), _ASKED)
    yield _tell_plan(_last(blocks, EventKind.PLAN))
    yield _enumerate("Wrote", dict.fromkeys(_tell_writes(blocks)), ", ")
    yield _enumerate("Ran", _tell_commands(blocks), "; ")
    yield _enumerate("Refused", _tell_refused(blocks), "; ")
    yield _tell_tools(blocks)
    yield _enumerate("Errors", _tell_errors(blocks), "; ")
    yield _say("Note", _first(blocks, EventKind.NOTE), _NOTED)


def _headline(turn: SessionTurn) -> str:
    parts = [f"Turn {turn.number}", turn.outcome.value]
    if turn.began is not None and turn.ended is not None and turn.ended > turn.began:
        parts.append(_tell_seconds(int((turn.ended - turn.began).total_seconds())))
    if turn.cost > 0:
        parts.append(f"${turn.cost:.2f}" if turn.cost >= 0.01 else "under $0.01")
    return ", ".join(part for part in parts if part)


def _tell_seconds(seconds: int) -> str:
    hours, minutes = divmod(seconds // 60, 60)
    parts = [f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes)
    return " ".join([*parts, f"{seconds % 60} s"] if not hours else parts)


def _say(label: str, text: str, limit: int) -> str:
    said = _cut(text, limit)
    return f"{label}: {said}" if said else ""


def _cut(text: str, limit: int) -> str:
    """The beginning of a text as one line, with a mark where more of it follows."""
    said = shorten(text, limit)
    more = "…" if len(" ".join(text[: 4 * limit].split())) > len(said) else ""
    return f"{said}{more}" if said else ""


def _enumerate(label: str, items: Iterable[str], joint: str) -> str:
    listed = list(items)
    shown = joint.join(listed[:_LISTED])
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return f"{label}: {shown}{more}" if listed else ""


def _tell_plan(text: str) -> str:
    steps = [line for line in text.split("\n") if line.strip()]
    left = [shorten(step[len(_DONE) :], _STEP) for step in steps if not step.startswith(_DONE)]
    done = f"{len(steps) - len(left)} of {len(steps)} done"
    return f"Plan: {done}{_more_of(left)}" if steps else ""


def _more_of(left: Sequence[str]) -> str:
    shown = "; ".join(left[:3])
    return f"; open: {shown}" + (f" and {len(left) - 3} more" if len(left) > 3 else "") if left else ""


def _tell_writes(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        mark = block.event
        if mark is not None and mark.kind is EventKind.WRITE and not (mark.failed or mark.refused):
            yield f"{_cut(block.text, _PATH)}{_OPEN if mark.open else ''}"


def _tell_commands(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        mark = block.event
        if mark is not None and mark.kind is EventKind.COMMAND and not mark.refused:
            ended = _OPEN if mark.open else f" (exit {mark.exit})" if mark.exit is not None else ""
            ended = ended or (" (failed)" if mark.failed else "")
            yield f"{_cut(block.text, _COMMAND)}{ended}"


def _tell_refused(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        mark = block.event
        if mark is not None and mark.refused and mark.kind in (EventKind.COMMAND, EventKind.WRITE):
            yield _cut(block.text, _COMMAND)


def _tell_tools(blocks: Sequence[Block]) -> str:
    names = Counter(
        block.heading[0].partition(",")[0]
        for block in blocks
        if block.event is not None and block.event.kind is EventKind.TOOL and block.heading
    )
    return _enumerate("Used", (f"{name} {count}×" for name, count in sorted(names.items())), ", ")


def _tell_errors(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        mark = block.event
        if mark is not None and mark.kind is EventKind.OUTPUT and mark.failed:
            lines = [line for line in block.text.split("\n") if line.strip()]
            # A program says last what went wrong.
            yield _cut(lines[-1], _ERROR)


def _first(blocks: Iterable[Block], kind: EventKind) -> str:
    return next((block.text for block in blocks if block.event is not None and block.event.kind is kind), "")


def _last(blocks: Sequence[Block], kind: EventKind) -> str:
    return _first(reversed(blocks), kind)


def _last_answer(blocks: Sequence[Block]) -> str:
    """The beginning of the last answer; a long one is several blocks."""
    last = next((block.event for block in reversed(blocks) if _is_answer(block)), None)
    return next((block.text for block in blocks if block.event == last and last is not None), "")


def _is_answer(block: Block) -> bool:
    return block.event is not None and block.event.kind is EventKind.ANSWER


def _by_turn(blocks: Iterable[Block]) -> Mapping[int, Sequence[Block]]:
    held: dict[int, list[Block]] = {}
    for block in blocks:
        if block.event is not None:
            held.setdefault(block.event.turn, []).append(block)
    return held
