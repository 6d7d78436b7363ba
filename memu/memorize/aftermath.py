"""What stands after a removal that did not come to its end: it is stored before all that follows from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from memu.errors import MemuError, StoreError, UnavailableError
from memu.records import Scope, Workspace
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["telling_what_stands"]

_STORED = (
    "The removal itself is stored: what was named is gone from the store for good. Pages, vectors and trees that "
    "it leaves behind are brought up to date by the next sync; nothing has to be forgotten again."
)
_UNTOUCHED = "Nothing was forgotten."


@asynccontextmanager
async def telling_what_stands(
    database: Database, scope: Scope, workspace: Workspace | None = None
) -> AsyncIterator[None]:
    """Let each error of memu's that leaves the block say whether something was removed before it.

    Args:
        workspace: what is to be removed; None where it is words, and the scope's syncs are kept out meanwhile.

    Raises:
        MemuError: what the block raised, of the type that it was.
    """

    def look(session: Session) -> object:
        repository = session.within(scope)
        if workspace is not None:
            return repository.workspaces.get(workspace.id) is None
        # Not the version: pages that an earlier sync left unfolded are folded as well.
        return repository.tombstones.list(), repository.entries.count()

    before = await database.read(look)
    try:
        yield
    except MemuError as error:
        with suppress(StoreError):
            # Even a full disk can be read.
            told = _STORED if await database.read(look) != before else _UNTOUCHED
            if told == _STORED or isinstance(error, UnavailableError):
                error.args = (f"{error} {told}", *error.args[1:])
        raise
