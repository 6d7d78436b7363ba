"""The last step of sync: what happened, stored as a run and said as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memu.memorize.standing import count_unchanged
from memu.memorize.states import SyncState
from memu.memorize.status import count_unplaced
from memu.memorize.trust_rules import TRUST_RULES, number_rules
from memu.providers.protocols import Encoder
from memu.records import FileProblem, Resource, State, SyncReport, SyncRun
from memu.storage.database import Database
from memu.storage.runs import names_of
from memu.storage.session import Session

__all__ = ["WriteReport"]


@dataclass(frozen=True, slots=True)
class WriteReport:
    """Note how the sync ended, and say so."""

    database: Database
    encoder: Encoder | None
    extractor: str

    async def __call__(self, state: SyncState) -> SyncState:
        workspace = state.workspace
        assert workspace is not None

        def load(session: Session) -> tuple[Sequence[Resource], bool, int]:
            repository = session.within(state.scope)
            run = repository.runs.last(workspace.id)
            before = repository.runs.before(run) if run is not None else None
            rows = repository.resources.in_state(workspace.id, State.SKIPPED, State.FAILED, State.PARTIAL)
            resumed = before is not None and before.state == "interrupted"
            return rows, resumed, count_unplaced(repository, workspace.id)

        rows, resumed, unplaced = await self.database.read(load)
        report = _to_report(state, rows, self.encoder, self.extractor)
        report = replace(report, resumed=resumed, unplaced=unplaced)

        def work(session: Session) -> None:
            runs = session.within(state.scope).runs
            run = runs.last(workspace.id)
            if run is not None and run.id == state.run_id:
                ended = _ended(run, report, capped=state.meter.stopped is not None)
                rules = number_rules(state.untrusted)
                kept = names_of(run.counts) | ({TRUST_RULES: rules} if rules else {})
                runs.finish(replace(ended, counts={**ended.counts, **kept}))

        await self.database.write(work)
        return replace(state, report=report)


def _to_report(state: SyncState, rows: Sequence[Resource], encoder: Encoder | None, extractor: str) -> SyncReport:
    compared, scanned, workspace = state.diff, state.scan, state.workspace
    assert compared is not None
    assert scanned is not None
    assert workspace is not None
    added, modified = _added_and_modified(state)
    redactions = _sum_up(outcome.redactions for outcome in state.outcomes)
    problems = {
        wanted: [FileProblem(path=row.path, reason=row.reason or "") for row in rows if row.state is wanted]
        for wanted in (State.SKIPPED, State.FAILED, State.PARTIAL)
    }
    undone = (*scanned.unlistable, *problems[State.FAILED], *problems[State.PARTIAL])
    failed = {problem.path: problem for problem in undone}
    skipped = {problem.path: problem for problem in (*scanned.skipped, *problems[State.SKIPPED])}
    return SyncReport(
        workspace=workspace.name or workspace.root,
        added=added,
        modified=modified,
        moved=tuple((move.old, move.new.path) for move in compared.moved),
        deleted=compared.deleted,
        unchanged=count_unchanged(compared, scanned, _waiting(state, rows)),
        skipped=tuple(skipped[path] for path in sorted(skipped)),
        failed=tuple(failed[path] for path in sorted(failed)),
        waiting=tuple(outcome.path for outcome in state.outcomes if outcome.state is State.PENDING),
        pages=state.pages,
        unpatched=state.unpatched,
        stopped=state.meter.stopped,
        dropped=_sum_up(outcome.dropped for outcome in state.outcomes),
        damaged=_damaged(state),
        usage=state.meter.usage,
        by_step=state.meter.by_step,
        vectors_missing=state.vectors_missing,
        redactions=redactions,
        degraded=state.degraded,
        extractor=extractor,
        encoder=encoder.identity.name if encoder else None,
        export=state.export,
    )


def _sum_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found = Counter[str]()
    for each in counts:
        found.update(each)
    return dict(found)


def _damaged(state: SyncState) -> dict[str, Mapping[str, int]]:
    return {outcome.path: outcome.damage for outcome in state.outcomes if outcome.damage}


def _waiting(state: SyncState, rows: Sequence[Resource]) -> set[str]:
    """The paths of what stands as failed and was not tried now."""
    failing = {row.path for row in rows if row.state in (State.FAILED, State.PARTIAL)}
    return failing - {outcome.path for outcome in state.outcomes}


def _added_and_modified(state: SyncState) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths of what was read for the first time, and of what was read anew: it differs, or had failed.

    What was skipped for its content, or could not be read, is neither. A first sync that was interrupted leaves
    rows without content; what is read for them is new, whether the sync that read it found the row or made it.
    """
    compared = state.diff
    assert compared is not None
    ended = {outcome.path: outcome.state for outcome in state.outcomes}
    late = [file.path for file in compared.again if ended.get(file.path) in (State.DONE, State.PARTIAL)]
    changed = [file.path for file in compared.modified]
    first = [path for path in (*changed, *late) if path in state.never_read]

    unread = {outcome.path for outcome in state.outcomes if outcome.unread}

    def kept(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(path for path in paths if ended.get(path) is not State.SKIPPED and path not in unread))

    added = kept([*(file.path for file in compared.added), *first])
    return added, kept(path for path in (*changed, *late) if path not in state.never_read)


def _ended(run: SyncRun, report: SyncReport, *, capped: bool) -> SyncRun:
    counts = {
        "added": len(report.added),
        "modified": len(report.modified),
        "moved": len(report.moved),
        "deleted": len(report.deleted),
        "unchanged": report.unchanged,
        "skipped": len(report.skipped),
        "failed": len(report.failed),
        "waiting": len(report.waiting),
        "unplaced": report.unplaced,
        "calls": report.usage.calls,
        "texts": report.usage.texts,
        "prompt_tokens": report.usage.prompt_tokens,
        "completion_tokens": report.usage.completion_tokens,
        "unanswered": report.usage.unanswered,
        "degraded": int(report.degraded is not None),
        "vectors_missing": report.vectors_missing,
        "pages_created": len(report.pages.created),
        "pages_changed": len(report.pages.changed),
        "pages_removed": len(report.pages.removed),
        "unpatched": sum(problem.reason != report.stopped for problem in report.unpatched),
        "dropped": sum(report.dropped.values()),
        "damaged": len(report.damaged),
    }
    whole = report.ok and not (report.waiting or report.unplaced or capped)
    return replace(
        run, state="done" if whole else "partial", counts=counts, failed=report.failed, usage=report.by_step
    )
