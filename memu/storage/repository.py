"""The repository: everything that may be read and written of one scope (or read of several)."""

from __future__ import annotations

from memu.storage.entries import Entries
from memu.storage.inspection import Inspection
from memu.storage.pages import Pages
from memu.storage.passages import Passages
from memu.storage.publications import Publications
from memu.storage.queue import Queue
from memu.storage.replies import Overviews, Patches, Replies
from memu.storage.resources import Resources
from memu.storage.runs import Runs
from memu.storage.scoped import Scoped
from memu.storage.search import Search
from memu.storage.search_sqlite import SqliteSearch
from memu.storage.tombstones import Tombstones
from memu.storage.workspaces import Workspaces

__all__ = ["Repository"]


class Repository:
    """The groups of rows of one scope. It is made by ``Session.within`` or ``Session.across`` only."""

    def __init__(self, scoped: Scoped) -> None:
        self.workspaces = Workspaces(scoped)
        self.resources = Resources(scoped)
        self.entries = Entries(scoped)
        self.pages = Pages(scoped)
        self.passages = Passages(scoped)
        self.queue = Queue(scoped)
        self.runs = Runs(scoped)
        self.publications = Publications(scoped)
        self.replies = Replies(scoped)
        self.patches = Patches(scoped)
        self.overviews = Overviews(scoped)
        self.tombstones = Tombstones(scoped)
        self.inspection = Inspection(scoped)
        self.search = _make_search(scoped)


def _make_search(scoped: Scoped) -> Search:
    if scoped.connection.dialect.name != "postgresql":
        return SqliteSearch(scoped)
    # Loaded only where there is a server.
    from memu.storage.search_postgres import PostgresSearch

    return PostgresSearch(scoped)
