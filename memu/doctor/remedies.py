"""What to do about a finding, as commands that work from any folder."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL

from memu.records import IMPORTED, Scope
from memu.storage.engine import store_path

__all__ = ["IMPORT", "NOTHING_TO_DO", "RESTORE", "Remedies", "begin_anew"]

_MOST = 5
NOTHING_TO_DO = "Nothing to do."
IMPORT = "Run `memu db import-memu URL` again with the database that it came from."
RESTORE = (
    "Restore a backup of the store, or move its file away and sync each folder again; the folders hold all but "
    "what memu was told to forget."
)


def begin_anew(url: URL, folders: Sequence[tuple[Scope, str]]) -> str:
    """What to do about a store that no command mends: a backup, or a new store of these folders."""
    path = store_path(url)
    if path is None:
        return RESTORE
    store = path.resolve()
    away = shlex.join(["mv", str(store), f"{store}.damaged"])
    syncs = [Remedies(scope=scope, url=url).sync(root) for scope, root in folders if root]
    told = " ".join([f"`{away}`.", *syncs[:_MOST]])
    more = f" And so on, for {len(syncs) - _MOST} more folders." if len(syncs) > _MOST else ""
    return f"Restore a backup, or begin anew, which knows nothing of what memu was told to forget: {told}{more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedies:
    """Commands for one scope of the store at ``url``. A server's URL is left out, for its password's sake.

    find_out: where the pages of a folder go, if somebody named the place.
    """

    scope: Scope
    url: URL
    find_out: Callable[[str], Path] | None = None

    def sync(self, root: str, *options: str) -> str:
        """Sync a workspace; of one that was imported, import it again."""
        if not root:
            return IMPORT
        return f"Run `{self._sync(root, *options)}`."

    def let_go(self, root: str) -> str:
        """Let a workspace go whose folder is not there any more."""
        gone = self._command("workspace", "remove", root, "--yes")
        return f"If it was moved, sync it where it is now. If the workspace is listed still, or is gone: `{gone}`."

    def export(self, out: Path, *options: str) -> str:
        """Publish the tree in ``out`` again."""
        return f"Run `{self._command('export', '--out', str(out), *options)}`."

    def rebuild(self, root: str) -> str:
        """Make every row of a workspace anew."""
        if not root:
            return f"Run `{self._command('workspace', 'remove', IMPORTED, '--yes')}`. {IMPORT}"
        remove, sync = self._command("workspace", "remove", root, "--yes"), self._sync(root)
        return f"Make the workspace's rows anew: `{remove}`, then `{sync}`."

    def _sync(self, root: str, *options: str) -> str:
        elsewhere = ("--out", str(self.find_out(root).absolute())) if self.find_out is not None else ()
        return self._command("sync", root, *options, *elsewhere)

    def _command(self, *words: str) -> str:
        user = [word for name, value in self.scope.fields.items() for word in ("--user", f"{name}={value}")]
        path = store_path(self.url)
        store = ["--db", f"sqlite:///{path.resolve()}"] if path else []
        return shlex.join(["memu", *words, *user, *store])
