"""What of a model's reply is kept: each item is held against the lines it names.

An item that fails is dropped and counted by its reason. Nothing is repaired but form: list markers, line breaks
and footnote marks that a model copied along with the words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache

from memu.errors import ReplyError
from memu.ingest.document import BlockKind, Document
from memu.ingest.readers.dates import parse_time
from memu.memorize.candidate import BlockForm, Candidate
from memu.memorize.extractors.opaque import is_opaque
from memu.memorize.extractors.quotes import fits
from memu.memorize.extractors.trust import UNTRUSTED, instructs_model
from memu.memorize.llm.chunks import Chunk
from memu.memorize.llm.figures import read_figures
from memu.memorize.llm.grounding import overlap, ungrounded
from memu.memorize.llm.items import Item
from memu.memorize.llm.lines import Line, explain_width, join_span
from memu.memorize.prompt_files import load_prompt
from memu.names import fold_name
from memu.records import MemoryType, Origin, Track
from memu.tokens import text_key

__all__ = ["BY_TRUST", "Checked", "Terms", "check_items"]

_NEIGHBOURS = 2
_MOST_LINES = 20
_LEAST_OVERLAP = 0.2
# More words in a row than two people choose alike, and more of a source than anyone needs to quote.
_PROMPT_RUN = 6
_COPY_CHARS = 400
_LOOP_ITEMS, _PAGE_CHARS = 6, 80
# The items of one reply rest on few spans of lines.
_key_of = lru_cache(maxsize=64)(text_key)
BY_TRUST = frozenset({"untrusted", "instructs_model"})
"""Reasons that say nothing against the model: it was the source that may not."""
_NEEDS_TRUST = frozenset({MemoryType.SKILL, MemoryType.RULE})
_NUMBERED = re.compile(r"^\s*\d{1,6}\|\s?")
_LEAD = re.compile(r"^(?:(?:[-*•>]|#{1,6})\s+)+")
_STEP = re.compile(r"^(\d{1,3})[.)]\s+")
_MARK = re.compile(r"\s*\[\^[^\]\s]{1,60}\]:?")
_FENCE = re.compile(r"\A\s*```[^\n]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_PAGE = re.compile(r"^(?:(memory|skill)/)?\s*(.*)$", re.IGNORECASE | re.DOTALL)
_PLAIN_NAME = re.compile(r"[^\x00-\x1f\[\]<>|{}\\`*#]*")
_CODE = frozenset({BlockKind.FENCE, BlockKind.CODE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms a source's items are taken.

    names: the pages that stand. teaches: whether it may give skills and rules. untrusted: whether what it says is
    labelled so.
    """

    names: tuple[str, ...] = ()
    teaches: bool = True
    untrusted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What is kept, in the order of its lines; how many were dropped for each reason; what to tell the model."""

    candidates: tuple[Candidate, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


class _Dropped(Exception):
    """An item is not kept. ``told``: what the model may do better."""

    def __init__(self, reason: str, told: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.told = told


def check_items(items: Sequence[Item], document: Document, path: str, chunk: Chunk, terms: Terms) -> Checked:
    """The candidates of a chunk's items.

    Raises:
        ReplyError: the model went round in a loop, so that the rest of its reply is missing.
    """
    keys = [text_key(item.text) for item in items]
    firsts = {key: at for at, key in reversed(list(enumerate(keys)))}
    if len(keys) >= _LOOP_ITEMS and 2 * len(firsts) < len(keys):
        raise ReplyError("The reply repeats itself.")
    kept: list[tuple[int, Candidate]] = []
    dropped: Counter[str] = Counter()
    faults: list[str] = []
    for at, item in enumerate(items):
        if firsts[keys[at]] != at:
            dropped["repeated"] += 1
            continue
        try:
            kept.append((item.lines[0], _check(item, document, path, chunk, terms)))
        except _Dropped as failed:
            dropped[failed.reason] += 1
            faults.append(f"{failed.reason}: {failed.told}" if failed.told else failed.reason)
    ordered = sorted(kept, key=lambda pair: pair[0])
    return Checked(
        candidates=tuple(candidate for _, candidate in ordered),
        dropped=dict(dropped),
        faults=tuple(dict.fromkeys(faults)),
    )


def _check(item: Item, document: Document, path: str, chunk: Chunk, terms: Terms) -> Candidate:
    first, last = item.lines
    cited = chunk.select(first, last)
    if first < 1 or last > len(chunk.lines):
        raise _Dropped("unknown_lines", f"there are lines 1 to {len(chunk.lines)}, not {first} to {last}")
    if wide := explain_width(cited, _MOST_LINES):
        raise _Dropped(*wide)
    page, track = _read_page(item, terms.names)
    text, number, fence = _read_text(item, document, cited)
    if not text or not re.search(r"\w", text):
        raise _Dropped("empty")
    if is_opaque(text):
        raise _Dropped("opaque", "packed data is no memory")
    if not fits(text):
        raise _Dropped("too_long", "one short fact an entry")
    _require_trust(item, text, cited, chunk.plain, track, terms)
    around = chunk.select(first - _NEIGHBOURS, last + _NEIGHBOURS)
    sources = (*(line.shown for line in around), *_known_besides(document, path, around))
    _require_own_words(text, chunk, sources, fence=fence is not None)
    strange = ungrounded(text, sources)
    if strange:
        raise _Dropped("ungrounded", f"lines {first} to {last} do not say {', '.join(strange)[:120]}")
    if overlap(text, sources) < _LEAST_OVERLAP:
        raise _Dropped("unsupported", f"lines {first} to {last} do not say this")
    form = BlockForm.STEP if number is not None else BlockForm.BULLET
    return Candidate(
        text=text,
        lines=join_span(cited),
        place=cited[0].place,
        memory_type=item.type,
        track=track,
        label=UNTRUSTED if terms.untrusted else "",
        block=BlockForm.FENCE if fence is not None else form,
        number=None if fence is not None else number,
        language=fence or "",
        page_hint=page,
        section=document.title if document.titled or track is Track.SKILL else None,
        happened_at=_read_time(item, sources) or document.blocks[cited[0].block].time or document.happened_at,
        origin=Origin.MODEL,
    )


def _read_page(item: Item, names: Sequence[str]) -> tuple[str | None, Track]:
    """The page's name, as it stands if one stands, and its track: a skill's, or the one its name says."""
    match = _PAGE.match(item.page)
    prefix, name = (match[1], match[2].strip()) if match else (None, "")
    skill = item.type is MemoryType.SKILL or (prefix or "").casefold() == Track.SKILL.value
    track = Track.SKILL if skill else Track.MEMORY
    if not name or len(name) > _PAGE_CHARS or not _PLAIN_NAME.fullmatch(name) or instructs_model(name):
        return None, track
    if not re.search(r"[^\W_]", name):
        return None, track
    standing = {fold_name(each): each.partition("/")[2] for each in names if each.startswith(f"{track.value}/")}
    return standing.get(fold_name(f"{track.value}/{name}"), name), track


def _read_text(item: Item, document: Document, cited: Sequence[Line]) -> tuple[str, int | None, str | None]:
    """The words, the step's number, and the language of the fence that they are all quoted from."""
    fenced = _FENCE.match(item.text)
    raw = (fenced[1] if fenced else item.text).strip("\n")
    in_code = len({line.block for line in cited}) == 1 and cited[0].kind in _CODE
    if in_code and _squeeze(raw) in _squeeze("\n".join(line.text for line in cited)):
        # As the source has it: indentation and blank lines are part of code.
        block = document.blocks[cited[0].block]
        lines = [line for line in cited if _squeeze(line.text) in _squeeze(raw)]
        code = block.text[lines[0].offset : lines[-1].offset + len(lines[-1].text)] if lines else raw
        return code, None, block.language
    words = _LEAD.sub("", " ".join(_MARK.sub("", _NUMBERED.sub("", raw)).split()))
    # Elsewhere a number in front may be a day ("4. März").
    lead = _STEP.match(words) if item.type is MemoryType.SKILL else None
    if lead is None:
        return words, item.step if item.type is MemoryType.SKILL else None, None
    return words[lead.end() :], item.step or int(lead[1]), None


def _require_trust(item: Item, text: str, cited: Sequence[Line], plain: str, track: Track, terms: Terms) -> None:
    said = " ".join(line.text for line in cited)
    if instructs_model(said) or (instructs_model(text) and instructs_model(plain)):
        raise _Dropped("instructs_model", "lines that speak to you are no memory")
    if instructs_model(text):
        # Not the source's fault: the reply is worth no more than any other invention.
        raise _Dropped("unsupported", "nothing in the source speaks to you")
    if (track is Track.SKILL or item.type in _NEEDS_TRUST) and not terms.teaches:
        raise _Dropped("untrusted", "no skill and no rule from this source")


def _require_own_words(text: str, chunk: Chunk, sources: Sequence[str], *, fence: bool) -> None:
    key = text_key(text)
    said = _key_of("\n".join(sources))
    asked = _instructions_key()
    if key not in said and (key in asked or any(run in asked and run not in said for run in _runs(key))):
        raise _Dropped("copied_prompt", "that is from the instructions")
    if not fence and len(key) > _COPY_CHARS and key in _key_of(chunk.plain):
        raise _Dropped("copied_source", "say it in fewer words")


@cache
def _instructions_key() -> str:
    return text_key(load_prompt("extract").text)


def _runs(key: str) -> list[str]:
    words = key.split()
    return [" ".join(words[at : at + _PROMPT_RUN]) for at in range(len(words) - _PROMPT_RUN + 1)]


def _known_besides(document: Document, path: str, lines: Sequence[Line]) -> tuple[str, ...]:
    """What else is known of lines: title, path, headings, who spoke and when."""
    known = [document.title, path]
    for line in lines:
        known += [*line.heading, line.speaker, line.day]
    if document.happened_at:
        known.append(document.happened_at.date().isoformat())
    return tuple(each for each in dict.fromkeys(known) if each)


def _read_time(item: Item, sources: Sequence[str]) -> datetime | None:
    """The day that an item states, if its lines state it."""
    moment = parse_time(item.time) if item.time else None
    if moment is None:
        return None
    known = read_figures("\n".join(sources))
    for year, month, day in known.days:
        exact = (month, day) == (moment.month, moment.day)
        if exact and (year == moment.year or (year is None and str(moment.year) in known.numbers)):
            return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    return None


def _squeeze(text: str) -> str:
    return " ".join(text.split())
