"""What forgetting, importing and encoding anew say that they did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memu.records.plain import plain
from memu.records.reports import FileProblem, PageChanges, Usage

__all__ = ["ForgetReceipt", "ImportReport", "ReindexReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """What was forgotten, or with ``dry_run`` what would be. Only a dry run quotes anything.

    what: "entry", "page", "source", "match", "workspace", "scope"; "undo" and "purge" for those alone.
    texts: the statements, in a dry run. entries: how many entries say them.
    sources: those cut, as paths; removed: those that went whole. unread: cut sources that could not be read anew,
        with the reason. stays: where other sources say what a removed one said, as ``PATH#L10``.
    trees: the exported trees brought up to date. kept_files: files there that the user wrote or edited: memu
        leaves them, whatever they say.
    purged: the store's file was rewritten, no byte is left in it. vacuumed: a server's tables were; their files
        may hold old bytes until these are written over. unpurged: why neither could be, and what to do.
    unpatched: pages that a model was to word anew and did not, with the reason; the next sync asks again.
    left: where it is still said, though it was to go, as ``PATH#L10`` or ``memory/NAME``; names do not count.
    usage: what models and the encoder were asked for.
    """

    what: str
    dry_run: bool = False
    entries: int = 0
    texts: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    unread: tuple[FileProblem, ...] = ()
    pages: PageChanges = PageChanges()
    trees: tuple[str, ...] = ()
    kept_files: tuple[str, ...] = ()
    purged: bool = False
    vacuumed: bool = False
    unpurged: str = ""
    unpatched: tuple[FileProblem, ...] = ()
    left: tuple[str, ...] = ()
    usage: Usage = Usage()

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        return {"schema": 1, **plain(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What was brought over from a database of memU, counted over all scopes.

    source: the database, without its password. scopes: those with rows in it. pages, entries, sources, links: what
        came to be. changed: sources whose text was another at the last import; unchanged: those as they were.
    vectors_kept: of passages that keep theirs; vectors_missing: passages that words alone find until they are
        encoded. unplaced: what was not brought over, and why. notes: what was, but not as it was.
    trees: the exported trees brought up to date.
    """

    source: str
    scopes: int = 0
    pages: int = 0
    entries: int = 0
    sources: int = 0
    links: int = 0
    changed: int = 0
    unchanged: int = 0
    vectors_kept: int = 0
    vectors_missing: int = 0
    unplaced: tuple[FileProblem, ...] = ()
    notes: tuple[FileProblem, ...] = ()
    trees: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything found a place."""
        return not self.unplaced

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        problems = {name: [each.to_dict() for each in getattr(self, name)] for name in ("unplaced", "notes")}
        return {"schema": 1, "ok": self.ok, **plain(self), **problems}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexReport:
    """What encoding a store anew came to; counts are read back from its rows, over all scopes.

    previous: whose vectors were searched before; None where there were none. switched: those of ``encoder`` are
        searched since this run. encoded: passages that this run gave a vector; vectors: those that have one now.
    missing: passages that words alone find. removed: vectors of other encoders that were dropped.
    degraded: why it had to stop before the end; the next run goes on.
    """

    encoder: str
    previous: str | None = None
    switched: bool = False
    encoded: int = 0
    vectors: int = 0
    missing: int = 0
    removed: int = 0
    degraded: str | None = None
    usage: Usage = Usage()

    @property
    def ok(self) -> bool:
        """Whether the encoder's vectors are the ones that are searched."""
        return self.degraded is None

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON form (``"schema": 1``)."""
        return {"schema": 1, "ok": self.ok, **plain(self)}
