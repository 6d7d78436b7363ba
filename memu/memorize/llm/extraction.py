"""The extractor that asks a model, chunk by chunk; the source's own words stand in where the model fails."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

from memu.errors import CapReached, ProviderError, ReplyError
from memu.ingest.document import Document
from memu.memorize.asking import Ask
from memu.memorize.candidate import Candidate, Extraction
from memu.memorize.extractors.protocol import NO_CONTEXT, ExtractContext, Extractor
from memu.memorize.llm.asked import is_worth_asking, may_give_skills
from memu.memorize.llm.chunks import Chunk, cut_chunks, halve
from memu.memorize.llm.evidence import BY_TRUST, Terms, check_items
from memu.memorize.llm.items import Item
from memu.memorize.llm.prompt import SCHEMA, ask_about
from memu.memorize.llm.standing_in import share_out
from memu.memorize.prompt_files import load_prompt
from memu.providers.protocols import ChatMessage
from memu.providers.refusals import ContextExceeded, RequestRefused
from memu.providers.replies import parse_items

__all__ = ["LlmExtractor"]

CONTEXT_TOKENS = 16_000
# Small models lose the thread of more; a reply is about as long as its chunk, and instructions are in front.
_MOST_TOKENS, _LEAST_TOKENS, _INSTRUCTIONS = 4000, 200, 800
_AT_ONCE = 4
_TRIES = 2
# An empty list may stand in a few words, but not in an essay.
_PLAIN_REPLY = 300
_FAULTS = 3


@dataclass(frozen=True, slots=True)
class LlmExtractor:
    """Entries in a model's words, each held against the lines it names.

    fallback: gives what no model is needed for, and what stands in for what one lost.
    context_tokens: how many tokens the model reads and writes at once.
    """

    fallback: Extractor
    context_tokens: int = CONTEXT_TOKENS

    name: ClassVar[str] = "llm"

    async def extract(self, document: Document, path: str, context: ExtractContext = NO_CONTEXT) -> Extraction:
        """The candidates of ``document``, one call for each chunk and one more for each bad reply.

        Raises:
            CapReached: the run may make no more calls.
        """
        if context.ask is None or not is_worth_asking(document, path):
            return await self.fallback.extract(document, path, context)
        chunks = cut_chunks(document, self._chunk_tokens())
        teaches = may_give_skills(document, untrusted=context.untrusted)
        terms = Terms(names=context.names, teaches=teaches, untrusted=context.untrusted)
        reading = _Reading(document=document, path=path, terms=terms, ask=context.ask)
        outcomes = await reading.read_all(chunks)
        if all(outcome.lost is None for outcome in outcomes):
            return _gather(outcomes, [()] * len(outcomes))
        quoted = await self.fallback.extract(document, path, context)
        return _gather(outcomes, share_out(quoted.candidates, [outcome.chunk for outcome in outcomes]))

    def count_chunks(self, document: Document, path: str) -> int:
        """How many prompts ``extract`` makes of it, each reply being of use; 0 where the model is not asked."""
        return len(cut_chunks(document, self._chunk_tokens())) if is_worth_asking(document, path) else 0

    def _chunk_tokens(self) -> int:
        """Half of what is left for source and reply."""
        return min(_MOST_TOKENS, max(_LEAST_TOKENS, (self.context_tokens - _INSTRUCTIONS) // 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What became of one chunk. ``lost``: why the model's words are missing, None where they are not."""

    chunk: Chunk
    candidates: tuple[Candidate, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    lost: str | None = None


class _Worthless(ReplyError):
    """A reply of which nothing is kept. ``told``: what the model may do better; only it reads that."""

    def __init__(self, told: str, dropped: Mapping[str, int]) -> None:
        super().__init__("Nothing in the reply could be backed by the source.")
        self.told = told
        self.dropped = dropped


@dataclass(slots=True, kw_only=True)
class _Reading:
    """One source while it is asked about. ``ended``: why nothing more is asked."""

    document: Document
    path: str
    terms: Terms
    ask: Ask
    ended: ProviderError | None = None
    gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def read_all(self, chunks: Sequence[Chunk]) -> tuple[_Outcome, ...]:
        """The outcomes in the order of the chunks, some asked at once.

        A reply that is under way when the caps are reached is waited for: it is paid for, and remembered.
        """
        found = await asyncio.gather(*map(self._read_in_turn, chunks), return_exceptions=True)
        errors = [each for each in found if isinstance(each, BaseException)]
        # Anything else than a cap is a mistake of ours and says more.
        for error in sorted(errors, key=lambda each: isinstance(each, CapReached)):
            raise error
        return tuple(chain.from_iterable(each for each in found if not isinstance(each, BaseException)))

    async def _read_in_turn(self, chunk: Chunk) -> tuple[_Outcome, ...]:
        async with self.gate:
            return await self._read(chunk)

    async def _read(self, chunk: Chunk) -> tuple[_Outcome, ...]:
        """The chunk's outcome; those of its halves where it is too long for the model."""
        bad: ReplyError | None = None
        asked: list[tuple[ChatMessage, ...]] = []
        for _ in range(_TRIES):
            if isinstance(self.ended, CapReached):
                raise CapReached(str(self.ended))
            if self.ended is not None:
                return (_Outcome(chunk=chunk, lost=str(self.ended)),)
            try:
                fault = _fault_of(bad)
                asked.append(self._word(chunk, (), fault))
                return (await self._ask_once(chunk, self._word(chunk, self.terms.names, fault), asked[-1]),)
            except ReplyError as error:
                bad = error
            except ContextExceeded as error:
                halves = halve(chunk)
                read = [await self._read(half) for half in halves]
                return tuple(chain.from_iterable(read)) or (_Outcome(chunk=chunk, lost=str(error)),)
            except RequestRefused as error:
                # It refused these words; it may take others.
                return (_Outcome(chunk=chunk, lost=str(error)),)
            except CapReached as error:
                self.ended = error
                raise
            except ProviderError as error:
                self.ended = error
                return (_Outcome(chunk=chunk, lost=str(error)),)
        template = load_prompt("extract").template
        if await self.ask.forget_recalled(asked, template=template):
            return await self._read(chunk)
        for messages in asked:
            await self.ask.reject(messages, template=template)
        dropped = bad.dropped if isinstance(bad, _Worthless) else {}
        return (_Outcome(chunk=chunk, lost=str(bad), dropped=dropped),)

    def _word(self, chunk: Chunk, names: Sequence[str], fault: str) -> tuple[ChatMessage, ...]:
        return ask_about(self.document, self.path, chunk, names, teaches=self.terms.teaches, fault=fault)

    async def _ask_once(
        self, chunk: Chunk, messages: tuple[ChatMessage, ...], known_by: tuple[ChatMessage, ...]
    ) -> _Outcome:
        """What a reply is worth. It is known by the chunk: where others of the source are lost, pages that came to
        be meanwhile make it no other.

        Raises:
            ReplyError: it cannot be used.
        """
        template = load_prompt("extract").template
        text = await self.ask(messages, template=template, schema=SCHEMA, known_by=known_by)
        parsed = parse_items(text, Item)
        # Beside the loop: what waits for other replies must not wait for this.
        checked = await asyncio.to_thread(check_items, parsed.items, self.document, self.path, chunk, self.terms)
        dropped = Counter(checked.dropped)
        if parsed.dropped:
            dropped["malformed"] += parsed.dropped
        if not checked.candidates and dropped.keys() - BY_TRUST:
            raise _Worthless("; ".join(checked.faults[:_FAULTS]) or "no entry had the form asked for", dropped)
        if not checked.candidates and not dropped and len(text.rpartition("</think>")[2]) > _PLAIN_REPLY:
            raise ReplyError("The reply holds no entries, but words beside them.")
        return _Outcome(chunk=chunk, candidates=checked.candidates, dropped=dropped)


def _fault_of(bad: ReplyError | None) -> str:
    if bad is None:
        return ""
    return bad.told if isinstance(bad, _Worthless) else str(bad)


def _gather(outcomes: Sequence[_Outcome], stand_ins: Sequence[tuple[Candidate, ...]]) -> Extraction:
    """One extraction, the stand-ins of lost chunks in their places."""
    candidates: list[Candidate] = []
    dropped: Counter[str] = Counter()
    for outcome, own_words in zip(outcomes, stand_ins, strict=True):
        candidates += outcome.candidates if outcome.lost is None else own_words
        dropped.update(outcome.dropped)
    lost = tuple(outcome.lost for outcome in outcomes if outcome.lost is not None)
    return Extraction(candidates=tuple(candidates), dropped=dict(dropped), lost=lost, chunks=len(outcomes))
