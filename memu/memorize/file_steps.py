"""The memorize workflow's steps: one file from its bytes to its rows.

What reads, redacts and extracts is loaded with the first file that needs it, so that a sync that finds nothing new
is quick.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from memu.ingest.office.forms import Finder
from memu.languages import NO_LANGUAGE
from memu.memorize.candidate import Candidate
from memu.memorize.file_survey import nanoseconds
from memu.memorize.large_logs import read_large
from memu.memorize.source_rows import entry_passage, index_new, store_source, to_entry
from memu.memorize.spoken import sample_language
from memu.memorize.states import MemorizeState, Outcome
from memu.records import Kind, Resource, State
from memu.storage.database import Database
from memu.storage.session import Session
from memu.tokens import detect_language

if TYPE_CHECKING:
    from memu.memorize.facts import JSON

__all__ = ["Commit", "Parse", "Read", "describe_source", "redact_text"]


@dataclass(frozen=True, slots=True)
class Read:
    """Read the file's bytes and decode or open them; a file without text in it is skipped with its reason.

    Raises ReadError when the file is there and cannot be read: it failed, and is tried again.
    ``find`` tells whether the libraries that open documents are there.
    """

    max_size: int
    find: Finder = find_spec

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        from memu.memorize.file_contents import read_contents

        if state.file.size > self.max_size:
            return await asyncio.to_thread(read_large, state, self.max_size)
        return await asyncio.to_thread(read_contents, state, self.max_size, self.find)


async def redact_text(state: MemorizeState) -> MemorizeState:
    """Put marks in the place of secrets, before anything else sees the text."""
    from memu.ingest.office.redaction import redact_document
    from memu.memorize.cleaning import redact_source

    if state.skipped:
        return replace(state, data=b"")
    if state.document is not None:
        document, counts = await asyncio.to_thread(redact_document, state.document, state.file.path)
        return replace(state, data=b"", document=document, redactions=counts)
    text, counts, lines = await asyncio.to_thread(redact_source, state.text, state.file.path)
    # The raw bytes go too: nothing after this step may see a secret.
    log = replace(state.log, lined=True, redacted=lines.by_line) if lines is not None else state.log
    return replace(state, data=b"", text=text, redactions=counts, log=log)


@dataclass(frozen=True, slots=True)
class Parse:
    """Read a text as a document, cut its passages, and redact once more what its encoding had hidden."""

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        return state if state.skipped else await asyncio.to_thread(self._parse, state)

    def _parse(self, state: MemorizeState) -> MemorizeState:
        from memu.memorize import cleaning
        from memu.memorize.extractors.noise import is_lock_file
        from memu.memorize.passages import cut_passages

        path = state.file.path
        read = state.document or cleaning.read_clean(state.text, path, as_log=state.log.lined)
        document, counts = cleaning.clean_document(read, path)
        log = cleaning.note_border(state.log, read, state.text, path)
        if state.damage:
            document = replace(document, damage=tuple(sorted({**dict(document.damage), **state.damage}.items())))
        # What a program wrote for itself is found by its words; thousands of vectors of it would help nobody.
        language = NO_LANGUAGE if is_lock_file(path) else detect_language(sample_language(document))
        return replace(
            state,
            text="",
            redactions=dict(counts + Counter(state.redactions)),
            document=document,
            language=language,
            passages=cut_passages(document, path, language),
            log=log,
        )


@dataclass(frozen=True, slots=True)
class Commit:
    """Replace the source's rows in one transaction; its words are searchable from then on.

    ``keeps``: files of more bytes are read as a stream; None where no log is ever read on.
    """

    database: Database
    keeps: int | None = None

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        wanted = await self._keep_point(state, describe_source(state))
        entries = tuple(to_entry(ordinal, each) for ordinal, each in enumerate(_kept(state)))
        found = [entry_passage(entry, wanted) for entry in entries]
        passages, entry_passages = await index_new(self.database, state.scope, wanted, state.passages, found)

        def work(session: Session) -> None:
            repository = session.within(state.scope)
            known = repository.resources.by_path(state.workspace_id, state.file.path) if state.lost else None
            tried = replace(wanted, attempts=known.attempts + 1 if known else 1) if state.lost else wanted
            stored = store_source(repository, tried, entries, passages, entry_passages)
            # What the model answered is used up; of a file that it left in part, the rest is asked for later, and
            # only what it answered to the file as it is now may be kept so long.
            kept = (*state.perceived, *(state.prompts if state.lost else ()))
            repository.replies.drop_for_resource(stored.id, but=kept)

        await self.database.write(work)
        ended = Outcome(path=wanted.path, state=wanted.state, reason=wanted.reason, dropped=state.dropped)
        damage = wanted.facts.get("damage", {})
        return replace(state, outcome=replace(ended, redactions=state.redactions, damage=damage))

    async def _keep_point(self, state: MemorizeState, wanted: Resource) -> Resource:
        if self.keeps is None or wanted.kind is not Kind.SESSION or wanted.state is not State.DONE:
            return wanted
        from memu.memorize.kept_points import KEPT_POINT, write_kept_point
        from memu.memorize.log_keeping import find_kept_point

        point = await asyncio.to_thread(find_kept_point, state, self.keeps)
        return replace(wanted, facts={**wanted.facts, KEPT_POINT: write_kept_point(point)}) if point else wanted


def _kept(state: MemorizeState) -> tuple[Candidate, ...]:
    if not state.forgotten:
        return state.candidates
    from memu.memorize.forget.cutting import sift

    return sift(state.candidates, state.forgotten)


def describe_source(state: MemorizeState) -> Resource:
    """The row of a file as it was read, without what was forgotten."""
    resource = _to_resource(state)
    if not state.forgotten:
        return resource
    from memu.memorize.forget.cutting import cut_resource

    return cut_resource(resource, state.forgotten)


def _to_resource(state: MemorizeState) -> Resource:
    from memu.memorize.extractors.captions import caption
    from memu.memorize.facts import facts_of

    document = state.document
    known = Resource(
        id="",
        workspace_id=state.workspace_id,
        path=state.file.path,
        kind=document.kind if document else Kind.DOCUMENT,
        title=document.title if document else state.file.path.rsplit("/", 1)[-1],
        content_hash=state.content_hash,
        size=state.file.size,
        mtime_ns=state.file.mtime_ns,
        stamp=state.file.stamp,
        state=_state_of(state),
        reason=state.skipped or _losses(state),
        seen_ns=nanoseconds(state.began),
        tried_at=state.began,
        redactions=state.redactions,
    )
    if document is None:
        return known
    return replace(
        known,
        caption=caption(document),
        language=state.language,
        happened_at=document.happened_at,
        facts=facts_of(document, state.file.path) | _model_facts(state) | _mark_fact(state),
    )


def _state_of(state: MemorizeState) -> State:
    if state.skipped:
        return State.SKIPPED
    if not state.lost:
        return State.DONE
    return State.FAILED if len(state.lost) >= state.chunks else State.PARTIAL


def _losses(state: MemorizeState) -> str | None:
    """What the model did not give, each reason once."""
    if not state.lost:
        return None
    share = "nothing" if len(state.lost) >= state.chunks else f"{len(state.lost)} of {state.chunks} parts not"
    return f"{share} read by the model, quotes stand in: {' '.join(dict.fromkeys(state.lost))}"


def _model_facts(state: MemorizeState) -> dict[str, JSON]:
    told: dict[str, JSON] = {"extractor": state.extractor, "read_by": state.read_by, "untrusted": state.untrusted}
    return {name: value for name, value in told.items() if value}


def _mark_fact(state: MemorizeState) -> dict[str, JSON]:
    """Whether words of it were cut: then the file itself, and copies of it, say more than memory may."""
    if not state.forgotten:
        return {}
    from memu.memorize.forget.forgotten import MARK

    return {"forgotten": True} if any(MARK in f"{each.header} {each.text}" for each in state.passages) else {}
