"""The records of the syncs of a scope."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, select

from memu.records import SyncRun
from memu.storage.ids import new_id
from memu.storage.rows import RUN, to_run
from memu.storage.scoped import Group
from memu.storage.statements import within
from memu.storage.tables import sync_run

__all__ = ["Runs", "names_of"]

_KEPT = 200
_NAMES_FAILED, _NAMES_ASKED = "names_failed", "names_asked"


def names_of(counts: Mapping[str, int]) -> dict[str, int]:
    """What a run's counts say of names of pages that nobody settled."""
    return {name: count for name, count in counts.items() if name in (_NAMES_FAILED, _NAMES_ASKED)}


class Runs(Group):
    """Rows of ``sync_run``."""

    def start(self, workspace_id: str, *, extractor: str, encoder: str | None = None) -> SyncRun:
        """Note that a sync begins. A run that never ended was killed: whoever begins holds the lock."""
        interrupted = self._scoped.update(sync_run).where(
            sync_run.c.workspace_id == workspace_id, sync_run.c.state == "running"
        )
        now = self._scoped.now
        self._connection.execute(interrupted.values(state="interrupted", ended_at=now))
        last = self.last(workspace_id)
        run = SyncRun(
            id=new_id(),
            workspace_id=workspace_id,
            state="running",
            started_at=now,
            extractor=extractor,
            encoder=encoder,
            counts=names_of(last.counts) if last else {},
        )
        self._scoped.insert(
            sync_run,
            [
                {
                    "id": run.id,
                    "workspace_id": workspace_id,
                    "state": run.state,
                    "extractor": extractor,
                    "encoder": encoder,
                    "counts": dict(run.counts),
                    "failed": [],
                    "error": None,
                    "names": None,
                    "usage": None,
                    "started_at": now,
                    "ended_at": None,
                }
            ],
        )
        return run

    def offer_names(self, run_id: str, names: Sequence[str]) -> tuple[str, ...]:
        """The names of pages that this run offers to a model, kept until it ends.

        Where the run before was killed they are that one's, so that no prompt changes; else ``names``.
        """
        run = self._scoped.select(sync_run.c.workspace_id, of=sync_run).where(sync_run.c.id == run_id)
        workspace_id = self._connection.execute(run).scalar_one()
        statement = self._scoped.select(sync_run.c.names, of=sync_run).where(
            sync_run.c.workspace_id == workspace_id, sync_run.c.state == "interrupted"
        )
        newest = statement.order_by(sync_run.c.started_at.desc(), sync_run.c.id.desc()).limit(1)
        offered = self._connection.execute(newest).scalar_one_or_none()
        chosen = tuple(names if offered is None else offered)
        self._scoped.update_ids(sync_run, [(run_id, {"names": list(chosen)})])
        return chosen

    def finish(self, run: SyncRun) -> SyncRun:
        """Store how a run ended (its ``state``, counts, failed files, error); returns it with its time.

        What earlier runs said of files is cleared, for those files may be gone since; old runs are dropped.
        """
        ended = self._scoped.now
        values = {
            "state": run.state,
            "extractor": run.extractor,
            "encoder": run.encoder,
            "counts": dict(run.counts),
            "failed": [problem.to_dict() for problem in run.failed],
            "error": run.error,
            "names": None,
            "usage": {step: asdict(spent) for step, spent in run.usage.items()} or None,
            "ended_at": ended,
        }
        self._scoped.update_ids(sync_run, [(run.id, values)])
        self._forget_earlier(run)
        return SyncRun(
            id=run.id,
            workspace_id=run.workspace_id,
            state=run.state,
            started_at=run.started_at,
            ended_at=ended,
            extractor=run.extractor,
            encoder=run.encoder,
            counts=run.counts,
            failed=run.failed,
            error=run.error,
            usage=run.usage,
        )

    def note_names(self, workspace_id: str, *, failed: bool) -> None:
        """Note with the newest run whether a model failed to say which names of pages mean one thing.

        Later runs keep it until one did say it.
        """
        run = self.last(workspace_id)
        if run is None:
            return
        counts = {name: count for name, count in run.counts.items() if name not in (_NAMES_FAILED, _NAMES_ASKED)}
        if failed:
            tried = run.counts.get(_NAMES_FAILED, 0) + 1
            counts |= {_NAMES_FAILED: tried, _NAMES_ASKED: int(self._scoped.now.timestamp())}
        if counts != run.counts:
            self._scoped.update_ids(sync_run, [(run.id, {"counts": counts})])

    def names_failures(self, workspace_id: str) -> tuple[int, datetime | None]:
        """How many times in a row that failed, and when it was last asked."""
        run = self.last(workspace_id)
        if run is None or _NAMES_FAILED not in run.counts:
            return 0, None
        return run.counts[_NAMES_FAILED], datetime.fromtimestamp(run.counts[_NAMES_ASKED], UTC)

    def forget_paths(self, paths: Collection[str]) -> None:
        """Take these files out of what runs said of failed ones."""
        statement = self._scoped.select(*RUN, of=sync_run)
        runs = [to_run(row) for row in self._connection.execute(statement)]
        telling = [run for run in runs if any(problem.path in paths for problem in run.failed)]
        rows = [
            (run.id, {"failed": [each.to_dict() for each in run.failed if each.path not in paths]})
            for run in telling
        ]
        self._scoped.update_ids(sync_run, rows)

    def last(self, workspace_id: str) -> SyncRun | None:
        """The run that began last."""
        return self._newest(_last(), workspace_id)

    def before(self, run: SyncRun) -> SyncRun | None:
        """The newest run of the same workspace that began before this one."""
        return self._newest(_before(), run.workspace_id, run_id=run.id)

    def last_good(self, workspace_id: str) -> SyncRun | None:
        """The run that began last of those that ended with every file done."""
        return self._newest(_last_good(), workspace_id)

    def _newest(self, newest: Select[Any], workspace_id: str, **values: str) -> SyncRun | None:
        row = self._scoped.run(newest, workspace_id=workspace_id, **values).first()
        return to_run(row) if row else None

    def _forget_earlier(self, run: SyncRun) -> None:
        earlier = self._scoped.run(_earlier(), workspace_id=run.workspace_id, run_id=run.id).all()
        telling = [each for each in earlier if each.failed or each.error is not None]
        cleared: dict[str, object] = {"failed": [], "error": None}
        offering = self._scoped.update(sync_run).where(
            sync_run.c.workspace_id == run.workspace_id, sync_run.c.names.is_not(None)
        )
        self._connection.execute(offering.values(names=None))
        self._scoped.update_ids(sync_run, [(each.id, cleared) for each in telling])
        good = self.last_good(run.workspace_id)
        old = [each.id for each in earlier[_KEPT:] if good is None or each.id != good.id]
        self._scoped.delete_ids(sync_run, old)


def _newest_first(*columns: Any) -> Select[Any]:
    """The runs of ``workspace_id``."""
    statement = select(*columns).where(within(sync_run), sync_run.c.workspace_id == bindparam("workspace_id"))
    return statement.order_by(sync_run.c.started_at.desc(), sync_run.c.id.desc())


@cache
def _last() -> Select[Any]:
    return _newest_first(*RUN).limit(1)


@cache
def _last_good() -> Select[Any]:
    return _last().where(sync_run.c.state == "done")


@cache
def _before() -> Select[Any]:
    return _last().where(sync_run.c.id != bindparam("run_id"))


@cache
def _earlier() -> Select[Any]:
    """What runs but ``run_id`` tell of files."""
    return _newest_first(sync_run.c.id, sync_run.c.failed, sync_run.c.error).where(
        sync_run.c.id != bindparam("run_id")
    )
