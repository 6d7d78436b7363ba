"""The extract step of memorize: what is worth remembering of one source, by a model where there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memu.memorize.candidate import BlockShape, Candidate
from memu.memorize.extractors.protocol import ExtractContext, Extractor
from memu.memorize.page_bounds import bound_names, most_names
from memu.memorize.states import MemorizeState
from memu.memorize.trust_rules import is_anybodys
from memu.records import RecallEntry, Resource, State
from memu.storage.database import Database
from memu.storage.session import Session

if TYPE_CHECKING:
    from memu.memorize.asking import Asker
    from memu.providers.models import ChatModels

__all__ = ["Extract", "still_holds"]


@dataclass(frozen=True, slots=True)
class Extract:
    """Find what is worth remembering. A file that only moved keeps what a model once made of it."""

    database: Database
    extractor: Extractor
    models: ChatModels | None

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        document = state.document
        if document is None:
            return state
        untrusted = state.untrusted or is_anybodys(document.kind, state.file.path)
        resource, entries = await self._recall(state) if self.models else (None, ())
        ask: Asker | None = None
        if self.models is None or resource is None:
            context = ExtractContext(names=state.offered, untrusted=untrusted)
        elif still_holds(resource, state, untrusted=untrusted):
            read_by = str(resource.facts["read_by"])
            return replace(
                state,
                untrusted=untrusted,
                read_by=read_by,
                extractor=self.extractor.name,
                candidates=tuple(map(_to_candidate, entries)),
            )
        else:
            from memu.memorize import asking

            ask = asking.Asker(
                self.database, state.scope, self.models.extract, state.meter, "extract", resource_id=resource.id
            )
            context = ExtractContext(names=state.offered, untrusted=untrusted, ask=ask)
        found = await self.extractor.extract(document, state.file.path, context)
        return replace(
            state,
            untrusted=untrusted,
            candidates=bound_names(found.candidates, most_names(document, found.chunks)),
            dropped=found.dropped if found.chunks else {},
            lost=found.lost,
            chunks=found.chunks,
            extractor=self.extractor.name if self.models else "",
            prompts=tuple(ask.prompts) if ask else (),
            read_by=self.models.extract.name if self.models and found.chunks and not found.lost else "",
        )

    async def _recall(self, state: MemorizeState) -> tuple[Resource | None, tuple[RecallEntry, ...]]:
        def work(session: Session) -> tuple[Resource | None, tuple[RecallEntry, ...]]:
            repository = session.within(state.scope)
            resource = repository.resources.by_path(state.workspace_id, state.file.path)
            return resource, repository.entries.of_resource(resource.id) if resource else ()

        return await self.database.read(work)


def still_holds(resource: Resource, state: MemorizeState, *, untrusted: bool) -> bool:
    """Whether a model has read these very bytes to the end: only the path is new."""
    same = resource.content_hash == state.content_hash and resource.state in (State.PENDING, State.DONE)
    trusted_alike = bool(resource.facts.get("untrusted")) is untrusted
    return (
        same
        and bool(resource.facts.get("read_by"))
        and trusted_alike
        and not (state.forgotten and resource.facts.get("forgotten"))
    )


def _to_candidate(entry: RecallEntry) -> Candidate:
    shape = BlockShape.parse(entry.block)
    return Candidate(
        text=entry.text,
        lines=entry.lines,
        place=entry.place,
        memory_type=entry.memory_type,
        track=entry.track,
        label=entry.label,
        block=shape.form,
        number=shape.number,
        depth=shape.depth,
        language=shape.language,
        page_hint=entry.page_hint,
        section=entry.section,
        happened_at=entry.happened_at,
        origin=entry.origin,
    )
