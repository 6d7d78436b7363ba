"""How the workspaces of a scope stand: what the last sync did, what failed, what waits."""

from __future__ import annotations

from memu.providers.protocols import Encoder
from memu.records import FileProblem, State, Workspace, WorkspaceStatus
from memu.storage.repository import Repository
from memu.storage.session import Session

__all__ = ["count_unplaced", "describe_workspaces"]


def count_unplaced(repository: Repository, workspace_id: str) -> int:
    """How many of a workspace's entries no page cites yet; its next sync goes on with them."""
    workspace = repository.workspaces.get(workspace_id)
    behind = workspace is not None and workspace.assigned != workspace.version
    # Nothing is counted where nothing can be found: a sync with nothing to do asks too.
    return repository.entries.count_unplaced(workspace_id) if behind or repository.queue.count() else 0


def describe_workspaces(
    session: Session, repository: Repository, encoder: Encoder | None, extractor: str
) -> tuple[WorkspaceStatus, ...]:
    """The status of each workspace, by name. Missing vectors are those of the store's active encoder, or of
    ``encoder`` while nothing was ever encoded."""
    active = session.encoders.active()
    identity = active.identity if active else encoder.identity if encoder else None
    missing = 0
    if identity is not None:
        missing = repository.passages.count_without_vector(
            active.id if active else "", languages=identity.languages
        )
    return tuple(
        _describe(repository, workspace, missing, encoder.identity.name if encoder else None, extractor)
        for workspace in repository.workspaces.list()
    )


def _describe(
    repository: Repository, workspace: Workspace, missing: int, encoder: str | None, extractor: str
) -> WorkspaceStatus:
    rows = repository.resources.in_state(workspace.id, State.FAILED, State.PARTIAL, State.SKIPPED)
    problems = {
        state: tuple(FileProblem(path=row.path, reason=row.reason or "") for row in rows if row.state is state)
        for state in (State.FAILED, State.PARTIAL, State.SKIPPED)
    }
    return WorkspaceStatus(
        workspace=workspace,
        last_run=repository.runs.last(workspace.id),
        last_good_run=repository.runs.last_good(workspace.id),
        sources={state.value: count for state, count in repository.resources.counts(workspace.id).items()},
        failed=(*problems[State.FAILED], *problems[State.PARTIAL]),
        skipped=problems[State.SKIPPED],
        entries=repository.entries.count(workspace.id, shown=True),
        pages={track.value: count for track, count in repository.pages.counts().items()},
        queued=repository.queue.count(),
        unplaced=count_unplaced(repository, workspace.id),
        vectors_missing=missing,
        extractor=extractor,
        encoder=encoder,
    )
