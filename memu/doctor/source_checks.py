"""Sources read once more: whether their rows tell what the files give. Only a thorough examination opens files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memu.doctor.checked import Checked
from memu.doctor.remedies import Remedies
from memu.errors import MemuError
from memu.ingest.found import FoundFile
from memu.memorize.file_steps import describe_source
from memu.memorize.states import MemorizeState
from memu.providers.meter import Meter
from memu.records import Finding, Passage, Resource, Scope, Severity, State, Workspace
from memu.storage.database import Database
from memu.storage.session import Session
from memu.workflow import LocalRunner, Workflow

__all__ = ["SourceCheck"]

# What follows reads no file any more: it asks models, and writes.
_FIRST_AFTER = "extract"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCheck:
    """Reads each source that stands as done, as a sync would, and compares. Files that changed or are gone since
    are left alone: the next sync finds them.

    find_workflow: gives the memorize workflow.
    """

    database: Database
    find_workflow: Callable[[], Workflow[MemorizeState]]

    async def run(self, scope: Scope, workspaces: Sequence[Workspace], remedies: Remedies) -> Checked:
        """One finding for each source whose rows tell something else than its file. Nothing is written."""
        findings: list[Finding] = []
        reading = _reading(self.find_workflow())
        for workspace in workspaces if reading else ():
            for path in await self._read_paths(scope, workspace):
                faults = await self._compare(reading, scope, workspace, path) if reading else ()
                if faults:
                    findings.append(_report(path, faults, remedies.rebuild(workspace.root)))
        return Checked(check="sources", count=0, findings=tuple(findings))

    async def _read_paths(self, scope: Scope, workspace: Workspace) -> tuple[str, ...]:
        if not workspace.root:
            return ()

        def work(session: Session) -> tuple[str, ...]:
            done = session.within(scope).resources.in_state(workspace.id, State.DONE)
            return tuple(each.path for each in done)

        return await self.database.read(work)

    async def _compare(
        self, reading: Workflow[MemorizeState], scope: Scope, workspace: Workspace, path: str
    ) -> tuple[str, ...]:
        def load(session: Session) -> tuple[Resource | None, tuple[Passage, ...]]:
            repository = session.within(scope)
            found = repository.resources.by_path(workspace.id, path)
            return found, repository.passages.of_resource(found.id) if found else ()

        stored, passages = await self.database.read(load)
        if stored is None or stored.state is not State.DONE:
            return ()
        state = MemorizeState(
            scope=scope,
            workspace_id=workspace.id,
            root=Path(workspace.root),
            file=FoundFile(path, stored.size, stored.mtime_ns, stored.stamp),
            began=datetime.now(UTC),
            # Nobody is asked anything: what was told of an image is kept.
            meter=Meter(max_calls=0),
        )
        try:
            read = await LocalRunner().run(reading, state)
        except MemuError:
            return ()
        if read.content_hash != stored.content_hash or read.document is None:
            return ()
        return tuple(_faults(stored, passages, read))


def _reading(workflow: Workflow[MemorizeState]) -> Workflow[MemorizeState] | None:
    """The steps that make a document of a file; None where somebody's own workflow has no such part."""
    names = [step.name for step in workflow.steps]
    if _FIRST_AFTER not in names:
        return None
    steps = workflow.steps[: names.index(_FIRST_AFTER)]
    return Workflow(workflow.name, workflow.state_type, workflow.inputs, steps)


def _faults(stored: Resource, passages: Sequence[Passage], read: MemorizeState) -> Iterator[str]:
    """What of a source's rows is not what its file gives."""
    given = describe_source(read)
    for name in ("kind", "title", "caption", "language", "happened_at"):
        if getattr(stored, name) != getattr(given, name):
            yield name.replace("happened_at", "time")
    if [_told(each) for each in passages] != [_told(each) for each in read.passages]:
        yield "passages"


def _told(passage: Passage) -> tuple[object, ...]:
    """What a passage tells, whoever owns it."""
    named = (passage.header, passage.heading, passage.text, passage.lines, passage.place)
    return (*named, passage.kind, passage.language, passage.happened_at)


def _report(path: str, faults: Sequence[str], remedy: str) -> Finding:
    *most, last = faults
    named = f"{', '.join(most)} and {last}" if most else last
    return Finding(
        check="sources",
        severity=Severity.ERROR,
        subject=path,
        message=f"Read once more, the file does not give what is stored as its {named}.",
        remedy=remedy,
    )
