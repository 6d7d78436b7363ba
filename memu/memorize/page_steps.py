"""The steps of assign (which entry stands on which page) and of fold (a page's new content).

What decides and renders is loaded with the first page that needs it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from memu.memorize.assign.records import AssignCandidate, Assignment, AssignSource
from memu.memorize.retries import is_due
from memu.memorize.source_rows import page_passages
from memu.memorize.states import AssignState, FoldState
from memu.names import choose_display_name
from memu.records import RecallEntry, RecallFile, RecallFileEntry, Resource
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.session import Session

__all__ = ["ApplyAssignment", "LoadCandidates", "LoadPage", "SavePage", "check_page", "settle_pages"]


@dataclass(frozen=True, slots=True)
class LoadCandidates:
    """Load what all sources of the workspace have to say."""

    database: Database

    async def __call__(self, state: AssignState) -> AssignState:
        def work(session: Session) -> AssignState:
            repository = session.within(state.scope)
            workspace = repository.workspaces.get(state.workspace_id)
            resources = repository.resources.of_workspace(state.workspace_id)
            paths = {resource.id: resource.path for resource in resources}
            entries = repository.entries.of_workspace(state.workspace_id)
            return replace(
                state,
                version=workspace.version if workspace else 0,
                standing=frozenset((page.track, page.name) for page in repository.pages.list() if page.content),
                sources=tuple(map(_to_source, resources)),
                candidates=tuple(_to_candidate(entry, paths[entry.resource_id]) for entry in entries),
            )

        return await self.database.read(work)


async def settle_pages(state: AssignState) -> AssignState:
    """Decide over all of them where each entry stands, and which are not shown."""
    from memu.memorize.assign.assignment import assign

    return replace(state, assignment=await asyncio.to_thread(assign, state.sources, state.candidates))


@dataclass(frozen=True, slots=True)
class ApplyAssignment:
    """Write the links that differ and queue the pages left and joined."""

    database: Database

    async def __call__(self, state: AssignState) -> AssignState:
        assignment = state.assignment
        assert assignment is not None

        def work(session: Session) -> int:
            repository = session.within(state.scope)
            queued = _apply(repository, state.workspace_id, assignment)
            repository.entries.set_shown(sorted(assignment.hidden), shown=False)
            repository.entries.set_shown(
                [entry for page in assignment.pages for entry in page.entry_ids], shown=True
            )
            repository.workspaces.mark_assigned(state.workspace_id, state.version)
            return queued

        return replace(state, queued=await self.database.write(work))


def _apply(repository: Repository, workspace_id: str, assignment: Assignment) -> int:
    known = {(page.track, page.folded_name): page.id for page in repository.pages.list()}
    wanted: dict[tuple[str, str], str] = {}
    for page in assignment.pages:
        file_id = known.get((page.track, page.folded_name)) or repository.pages.ensure(page.track, page.name).id
        wanted.update(((entry, file_id), page.name) for entry in page.entry_ids)
    standing = {(link.entry_id, link.file_id): link for link in repository.pages.links_of_workspace(workspace_id)}
    left, joined = _compare(standing, wanted)
    for file_id, entries in left.items():
        repository.pages.unlink(file_id, entries)
    for file_id, spellings in joined.items():
        repository.pages.link(file_id, list(spellings), spellings)
    touched = sorted({*left, *joined})
    repository.queue.add(touched)
    return len(touched)


def _compare(
    standing: Mapping[tuple[str, str], RecallFileEntry], wanted: Mapping[tuple[str, str], str]
) -> tuple[dict[str, list[str]], dict[str, dict[str, str]]]:
    """Entries to take off each page, and to put on each page with the spelling they give its name."""
    left: dict[str, list[str]] = defaultdict(list)
    joined: dict[str, dict[str, str]] = defaultdict(dict)
    for entry, file_id in standing:
        if (entry, file_id) not in wanted:
            left[file_id].append(entry)
    for (entry, file_id), spelling in wanted.items():
        link = standing.get((entry, file_id))
        if link is None or link.spelling != spelling:
            joined[file_id][entry] = spelling
    return left, joined


def _to_source(resource: Resource) -> AssignSource:
    return AssignSource(
        path=resource.path,
        kind=resource.kind,
        title=resource.title,
        content_hash=resource.content_hash,
        facts=resource.facts,
    )


def _to_candidate(entry: RecallEntry, path: str) -> AssignCandidate:
    return AssignCandidate(
        id=entry.id,
        path=path,
        ordinal=entry.ordinal,
        text_key=entry.text_key,
        lines=entry.lines,
        track=entry.track,
        memory_type=entry.memory_type,
        page_hint=entry.page_hint,
        section=entry.section,
        origin=entry.origin,
    )


@dataclass(frozen=True, slots=True)
class LoadPage:
    """Load the page as it stands, with its version, and the entries that it rests on now."""

    database: Database

    async def __call__(self, state: FoldState) -> FoldState:
        from memu.memorize.fold.render import PageEntry

        def work(session: Session) -> FoldState:
            repository = session.within(state.scope)
            links = repository.pages.entries_of(state.file_id)
            spellings = [link.spelling for link in links]
            page = repository.pages.get(state.file_id)
            tried, at = repository.patches.failures(state.file_id)
            return replace(
                state,
                page=page,
                tried=tried,
                due=state.insist or is_due(tried, at, session.now),
                name=choose_display_name(filter(None, spellings)) if any(spellings) else page.name if page else "",
                marks={link.entry_id: link.mark for link in links},
                entries=tuple(
                    PageEntry.of(found.entry, found.resource, found.workspace.name or found.workspace.root)
                    for found in repository.entries.of_page(state.file_id)
                ),
            )

        return await self.database.read(work)


async def check_page(state: FoldState) -> FoldState:
    """Hold the new content to P4: every block cites an entry of this page, every entry is cited."""
    from memu.memorize.fold.blocks import parse_blocks

    assert state.rendered is not None
    known = set(state.rendered.marks.values())
    cited: set[str] = set()
    for block in parse_blocks(state.rendered.content):
        if not block.marks or not known.issuperset(block.marks):
            raise ValueError(
                f"Page {state.name!r}: the block at line {block.start + 1} cites nothing that stands."
            )
        cited.update(block.marks)
    if cited != known:
        raise ValueError(f"Page {state.name!r}: {len(known - cited)} entries are cited by no block.")
    return state


@dataclass(frozen=True, slots=True)
class SavePage:
    """Save content, marks and the page's passage if the page is still as it was loaded; remove an empty page."""

    database: Database

    async def __call__(self, state: FoldState) -> FoldState:
        saved, change = await self.database.write(lambda session: _save(session.within(state.scope), state))
        return replace(state, saved=saved, change=change)


def _save(repository: Repository, state: FoldState) -> tuple[bool, str | None]:
    page, rendered = state.page, state.rendered
    assert rendered is not None
    stands = {link.entry_id for link in repository.pages.entries_of(state.file_id)}
    rests_on = {entry.id for entry in state.entries}
    if page is None or stands != rests_on:
        # Gone, or what it rests on changed since it was loaded: nothing to save, or to be folded again.
        return page is None, None
    if (page.name, page.content) != (state.name, rendered.content):
        # What a model wrote about the pages may have rested on what is gone now.
        repository.overviews.remove(page.track)
    if not rests_on:
        repository.pages.remove(page.id)
        return True, "removed" if page.content else None
    wanted = replace(
        page,
        name=state.name,
        description=rendered.description,
        described_by=rendered.described_by,
        content=rendered.content,
    )
    if not repository.pages.save(wanted, page.version):
        return False, None
    _store_what_follows(repository, state, wanted)
    if not page.content:
        return True, "created"
    return True, "changed" if (page.content, page.name) != (wanted.content, wanted.name) else None


def _store_what_follows(repository: Repository, state: FoldState, page: RecallFile) -> None:
    """What goes with a page's content: its marks and passages, how a model wrote it, what is used up."""
    rendered = state.rendered
    assert rendered is not None
    marks = dict.fromkeys((entry.id for entry in state.entries), "")
    repository.pages.set_marks(page.id, {**marks, **rendered.marks})
    repository.passages.replace_for_page(page.id, page_passages(page, rendered.written))
    failed = state.failed is not None
    if state.prompts and not state.waiting:
        version = repository.pages.get(page.id)
        repository.patches.add(
            page.id,
            version.version if version else page.version,
            prompt_hash=state.prompts[0],
            model=state.model,
            counts={**rendered.counts, **({"failed": state.tried + 1} if failed else {})},
        )
    # A reply to what would be asked now is waited for; others may hold words of sources that are gone.
    repository.replies.drop_for_page(page.id, but=state.prompts if state.waiting else ())
    # A page that was folded without its model is folded again when that is due.
    if not state.waiting and not failed:
        repository.queue.remove(page.id, state.ticket)
