"""Agent sessions: what people said, the notes that a stretch was handed over with, and what worked.

What worked feeds the skill track: commands that ended well in a turn that a person asked for, and what a person
said to correct the agent. memu's own runs, and commands that run it, teach nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memu.ingest.document import Block, Document
from memu.ingest.readers.runs import shorten
from memu.ingest.sessions.events import EventKind, Outcome
from memu.memorize.candidate import BlockForm, Candidate, Extraction
from memu.memorize.extractors.chats import extract_chat, prose_lines
from memu.memorize.extractors.command_proofs import proves_all, split_steps
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.extractors.own_words import bears_mark, repeats_memory
from memu.memorize.extractors.quotes import bound_slice, fits, quote
from memu.memorize.extractors.trust import instructs_model, vouches_for_nothing
from memu.memorize.sentences import Slice, count_words, split_sentences
from memu.records import LineSpan, MemoryType, Track

__all__ = ["COMMANDS_PAGE", "CORRECTIONS_PAGE", "EPISODE", "Earlier", "did_something", "extract_session"]

COMMANDS_PAGE = "Commands that worked"
CORRECTIONS_PAGE = "Corrections"
EPISODE = "Episode"
"""The label of a note that a stretch was handed over with."""
_MOST_PIECES = 6
_MOST_COMMANDS, _MOST_IN_ALL = 8, 200
_LONGEST_COMMAND, _MOST_LINES = 400, 4
_LABEL = 90
_LONGEST_CORRECTION = 60
_LEAST_WORDS = 3
# They look at things and change none; that they worked teaches nothing.
_LOOKING = re.compile(
    r"(?:cd|ls|cat|head|tail|sed -n|grep|rg|find|fd|pwd|echo|which|type|wc|tree|less|file|stat|env|printenv|date"
    r"|true|export|source|set|sleep|git (?:status|diff|log|show|branch|ls-files|rev-parse|blame))\b"
)
_OWN = re.compile(r"(?:[\w./~-]*/)?(?:memu\b|python[\d.]* -m memu\b|(?:uvx|pipx run|uv run) memu\b)")
_REDACTED = "[redacted:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What the turns before the document's had to say, where the document is the end of a session.

    said: how many statements. commands: those that were taught, each time. acted: whether the last of these turns
    did anything that may be corrected. closed: whether a text in them closed the skill track.
    """

    said: int = 0
    commands: tuple[str, ...] = ()
    acted: bool = False
    closed: bool = False


_NOTHING = Earlier()


def extract_session(document: Document, earlier: Earlier = _NOTHING) -> Extraction:
    """The candidates of a session, in the order of their last lines."""
    if document.own_run:
        return Extraction(dropped={"own_run": len(document.blocks)})
    said = extract_chat(document, earlier.said)
    dropped = Counter(said.dropped)
    turns = _by_turn(document.blocks)
    found = [*said.candidates, *_extract_notes(document, dropped)]
    if not (earlier.closed or vouches_for_nothing(document)):
        stopped = {turn.number for turn in document.turns if turn.outcome is Outcome.INTERRUPTED}
        taught = _extract_commands(document, turns, stopped, set(earlier.commands))
        found += islice(taught, max(0, _MOST_IN_ALL - len(earlier.commands)))
        found += _extract_corrections(document, turns, acted=earlier.acted)
    return Extraction(candidates=tuple(sorted(found, key=_end)), dropped=dict(dropped))


def _end(candidate: Candidate) -> int:
    return candidate.lines.end if candidate.lines else 0


def _extract_notes(document: Document, dropped: Counter[str]) -> Iterator[Candidate]:
    """Episodes: a note in its own words, on the lines of all that it covers."""
    for block in _of_kind(document.blocks, EventKind.NOTE):
        if instructs_model(block.text) or bears_mark(block.text):
            dropped["instructs_model" if instructs_model(block.text) else "own_words"] += 1
            continue
        like = Candidate(
            text="",
            lines=None,
            memory_type=MemoryType.EVENT,
            block=BlockForm.PARAGRAPH,
            label=EPISODE,
            happened_at=block.time or document.happened_at,
        )
        pieces = list(bound_slice(Slice(block.text, 0, len(block.text))))
        dropped["long_note"] += max(0, len(pieces) - _MOST_PIECES)
        for piece in pieces[:_MOST_PIECES]:
            yield _over_stretch(quote(block, piece, like), block)


def _over_stretch(candidate: Candidate, block: Block) -> Candidate:
    since = block.event.since if block.event is not None else 0
    if candidate.lines is None or not 0 < since <= candidate.lines.start:
        return candidate
    return replace(candidate, lines=LineSpan(since, candidate.lines.end))


def _extract_commands(
    document: Document, turns: Mapping[int, Sequence[Block]], stopped: set[int], known: set[str]
) -> Iterator[Candidate]:
    """Commands that ended with 0 in a turn that somebody asked for and did not stop, each once and new."""
    for number, blocks in turns.items():
        request = next(_of_kind(blocks, EventKind.PROMPT), None)
        if request is None or number in stopped or bears_mark(request.text):
            continue
        worked = [block for block in _of_kind(blocks, EventKind.COMMAND) if _may_teach(block, known)]
        for block in worked[:_MOST_COMMANDS]:
            known.add(block.text)
            like = _skill(document, block, COMMANDS_PAGE)
            label = shorten(request.text, _LABEL)
            like = replace(like, block=BlockForm.FENCE, language="sh", label=label)
            yield quote(block, Slice(block.text, 0, len(block.text)), like)


def _may_teach(block: Block, known: set[str]) -> bool:
    text = block.text
    mark = block.event
    if mark is None or mark.exit != 0 or mark.late or text in known or _REDACTED in text:
        return False
    if len(text) > _LONGEST_COMMAND or text.count("\n") >= _MOST_LINES or not fits(text):
        return False
    steps = split_steps(text)
    named = [step for step, _ in steps]
    if all(map(_LOOKING.match, named)) or any(map(_OWN.match, named)):
        return False
    return proves_all(steps, _LOOKING)


def _extract_corrections(
    document: Document, turns: Mapping[int, Sequence[Block]], *, acted: bool
) -> Iterator[Candidate]:
    """What a person said against what had just been done (``acted``): the sentences that say how it should be."""
    for blocks in turns.values():
        if acted:
            for block in _of_kind(blocks, EventKind.PROMPT):
                like = _skill(document, block, CORRECTIONS_PAGE)
                yield from (quote(block, piece, like) for piece in _find_corrections(block.text))
        acted = did_something(blocks)


def _find_corrections(text: str) -> Iterator[Slice]:
    if count_words(text) > _LONGEST_CORRECTION or bears_mark(text):
        return
    for line in prose_lines(text):
        for sentence in () if repeats_memory(line.text) else split_sentences(line.text):
            if _corrects(sentence.text):
                start = line.start + sentence.start
                yield from bound_slice(Slice(sentence.text, start, start + len(sentence.text)))


def _corrects(sentence: str) -> bool:
    if count_words(sentence) < _LEAST_WORDS or sentence.rstrip().endswith(("?", "？")):
        return False
    if instructs_model(sentence):
        return False
    return load_phrases("corrections").open(sentence) or load_phrases("lasting").open(sentence)


def _skill(document: Document, block: Block, page: str) -> Candidate:
    return Candidate(
        text="",
        lines=None,
        memory_type=MemoryType.SKILL,
        track=Track.SKILL,
        page_hint=page,
        happened_at=block.time or document.happened_at,
    )


def did_something(blocks: Iterable[Block]) -> bool:
    """Whether anything in the blocks of a turn may be corrected by the next."""
    return any(map(_is_deed, blocks))


def _is_deed(block: Block) -> bool:
    return block.event is not None and block.event.kind in (EventKind.COMMAND, EventKind.WRITE, EventKind.ANSWER)


def _of_kind(blocks: Iterable[Block], kind: EventKind) -> Iterator[Block]:
    return (block for block in blocks if block.event is not None and block.event.kind is kind)


def _by_turn(blocks: Iterable[Block]) -> Mapping[int, Sequence[Block]]:
    turns: dict[int, list[Block]] = {}
    for block in blocks:
        if block.event is not None:
            turns.setdefault(block.event.turn, []).append(block)
    return turns
