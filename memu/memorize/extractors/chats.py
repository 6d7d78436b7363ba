"""Chats and agent sessions: what people said of themselves and their work, and what an assistant did.

People's words are kept by default; picking them by cue words loses a quarter of the facts. Dropped are
greetings, acknowledgements, questions, requests to the listener, bare remarks and anything under three words.
Neighbouring sentences of one turn stay together, up to some forty words, because the second often leans on
the first ("Getting 800 ms when we need 200").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from memu.ingest.chats.conversation import read_conversation
from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import Candidate, Extraction
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.extractors.imperatives import is_imperative
from memu.memorize.extractors.memory_types import classify_personal
from memu.memorize.extractors.noise import is_noise
from memu.memorize.extractors.own_words import bears_mark, repeats_memory
from memu.memorize.extractors.quotes import bound_slice, quote
from memu.memorize.extractors.trust import instructs_model
from memu.memorize.sentences import Slice, count_words, split_sentences
from memu.records import Kind, MemoryType

__all__ = ["extract_chat", "prose_lines"]

STATEMENT_WORDS = 40
_MIN_WORDS = 3
_MAX_PER_TURN = 10
_MAX_PER_ASSISTANT_TURN = 3
_MAX_PER_CONVERSATION = 400
_PASTED_CHARS = 1500
_ASSISTANTS = frozenset({"assistant", "model", "ai", "bot"})
_MACHINES = frozenset({"system", "tool", "function", "developer"})
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_LIST_MARK = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_QUESTION = re.compile(r"[?？][\"'”’)\]*_\s]*$")
_PLACEHOLDER = re.compile(r"^\s*[\[<(][^\])>]{1,60}[\])>]\s*$")
_CODE = re.compile(
    r"^\s*(?:[$%>]\s|#+\s|[{}|]|//|/\*|</?\w+[\s>]|import\s+[\w.]+;?\s*$|def\s+\w+\(|class\s+\w+[:({]|function\s+\w*\("
    r"|(?:const|let|var)\s+\w+\s*=|return\s.*;\s*$)|[{};]\s*$|^(?:\s{4,}|\t)\S"
)


def extract_chat(document: Document, said: int = 0) -> Extraction:
    """The statements of a chat, source order. Labels are speakers' names where there are any.

    ``said``: so many statements were found before, where the document is the end of a session.
    """
    found: list[Candidate] = []
    dropped: Counter[str] = Counter()
    limits: Counter[str | None] = Counter({None: said})
    for block in document.blocks:
        talk = read_conversation(block.place) if document.conversations else None
        if limits[talk] >= _MAX_PER_CONVERSATION:
            dropped["over_source_limit"] += 1
            continue
        before = len(found)
        if block.kind is not BlockKind.TURN or block.role in _MACHINES:
            dropped["machine_turn" if block.kind is BlockKind.TURN else "no_turn"] += 1
        elif block.role in _ASSISTANTS:
            found += _extract_done(document, block, dropped)
        else:
            found += _extract_said(document, block, dropped)
        limits[talk] += len(found) - before
    return Extraction(candidates=tuple(found), dropped=dict(dropped))


def _extract_said(document: Document, block: Block, dropped: Counter[str]) -> list[Candidate]:
    if document.kind is Kind.SESSION and len(block.text) > _PASTED_CHARS:
        dropped["pasted"] += 1
        return []
    if bears_mark(block.text):
        dropped["own_words"] += 1
        return []
    statements: list[Slice] = []
    for line in prose_lines(block.text):
        if repeats_memory(line.text):
            dropped["own_words"] += 1
            continue
        statements += _group(block.text, line, dropped, document.kind)
        if len(statements) > _MAX_PER_TURN:
            dropped["long_turn"] += 1
            break
    like = _like(document, block)
    pieces = (piece for whole in statements[:_MAX_PER_TURN] for piece in bound_slice(whole))
    return [_typed(quote(block, piece, like)) for piece in pieces]


def _like(document: Document, block: Block) -> Candidate:
    return Candidate(
        text="",
        lines=block.lines,
        label=block.speaker or "",
        section=document.title if document.titled else None,
        # What was said in one conversation stands together, whatever else the file holds.
        page_hint=block.heading[0] if document.conversations and block.heading else None,
        happened_at=block.time or document.happened_at,
    )


def _typed(candidate: Candidate) -> Candidate:
    return replace(candidate, memory_type=classify_personal(candidate.text))


def _group(text: str, line: Slice, dropped: Counter[str], kind: Kind) -> list[Slice]:
    """The kept sentences of one line; neighbours joined while they stay within one statement's words."""
    groups: list[Slice] = []
    open_group: Slice | None = None
    for sentence in split_sentences(line.text):
        reason = _why_dropped(sentence.text) or _find_task(sentence.text, kind)
        if reason is not None:
            dropped[reason] += 1
            groups += [open_group] if open_group else []
            open_group = None
            continue
        start, end = line.start + sentence.start, line.start + sentence.end
        joined = Slice(text[open_group.start : end], open_group.start, end) if open_group else None
        stays = not load_phrases("topic_shifts").open(sentence.text)
        if stays and joined is not None and count_words(joined.text) <= STATEMENT_WORDS:
            open_group = joined
            continue
        groups += [open_group] if open_group else []
        open_group = Slice(text[start:end], start, end)
    return [*groups, open_group] if open_group else groups


def _why_dropped(sentence: str) -> str | None:
    if _QUESTION.search(sentence):
        return "question"
    if instructs_model(sentence):
        return "instructs_model"
    if is_noise(sentence) or _PLACEHOLDER.match(sentence):
        return "noise"
    if count_words(sentence) < _MIN_WORDS:
        return "short"
    rest = load_phrases("greetings", "acknowledgements").strip_from(sentence)
    if _gives_name(rest):
        return None
    if count_words(rest.strip(" \t,.!;:—–-")) < _MIN_WORDS:
        return "greeting"
    if load_phrases("requests").open(sentence) or load_phrases("requests").open(rest):
        return "request"
    return "remark" if load_phrases("remarks").open(sentence) else None


def _find_task(sentence: str, kind: Kind) -> str | None:
    """What an agent is told to do now is over once it is done; what holds from now on is kept."""
    if kind is not Kind.SESSION or load_phrases("lasting").are_in(sentence):
        return None
    return "task" if is_imperative(sentence) else None


def _gives_name(text: str) -> bool:
    after = load_phrases("self_naming").strip_from(text)
    name = after.lstrip(" ,")[:1]
    return after != text and name != "" and name.upper() == name and name.isalpha()


def _extract_done(document: Document, block: Block, dropped: Counter[str]) -> list[Candidate]:
    """Only what an assistant reports as done; its advice is not a fact about anyone."""
    done: list[Slice] = []
    for line in prose_lines(block.text):
        done += [
            Slice(sentence.text, line.start + sentence.start, line.start + sentence.end)
            for sentence in split_sentences(line.text)
            if load_phrases("done").open(sentence.text) and _why_dropped(sentence.text) is None
        ]
    if not done:
        dropped["assistant_turn"] += 1
    like = _like(document, block)
    kept = [piece for whole in done[:_MAX_PER_ASSISTANT_TURN] for piece in bound_slice(whole)]
    return [replace(quote(block, piece, like), memory_type=MemoryType.ACTION) for piece in kept]


def prose_lines(text: str) -> Iterator[Slice]:
    """Runs of prose: paragraphs' lines joined, list items alone; code, quotes and pasted output left out."""
    at, fenced = 0, False
    start: int | None = None
    end = 0
    for line in text.split("\n"):
        stop = at + len(line)
        is_fence = _FENCE.match(line) is not None
        mark = _LIST_MARK.match(line)
        prose = not (fenced or is_fence) and bool(line.strip()) and not _CODE.search(line)
        if start is not None and (not prose or mark):
            yield Slice(text[start:end], start, end)
            start = None
        if prose:
            start = at + (mark.end() if mark else 0) if start is None else start
            end = stop
        fenced = fenced != is_fence
        at = stop + 1
    if start is not None:
        yield Slice(text[start:end], start, end)
