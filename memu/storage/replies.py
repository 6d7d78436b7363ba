"""What models answered in a run and what is not committed yet, and how pages were patched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Table

from memu.records import OverviewSentence, Track
from memu.storage.scoped import Group
from memu.storage.tables import overview, patch, recall_file, reply, resource

__all__ = ["Overviews", "Patches", "Replies"]

_KEPT = 20


class Replies(Group):
    """Rows of ``reply``: each belongs to the source or the page that it was asked for, and goes with it."""

    def get(self, key: str) -> str | None:
        """The text that was answered."""
        text: str | None = self._scoped.find((reply.c.text,), reply, key=key).scalar_one_or_none()
        return text

    def keep(self, key: str, text: str, *, resource_id: str | None = None, file_id: str | None = None) -> None:
        """Store a reply for a source or a page. Where that is gone meanwhile, nothing is stored."""
        owner = (resource, resource_id) if resource_id is not None else (recall_file, file_id)
        if not self._stands(*owner):
            return
        row = {
            "key": key,
            "resource_id": resource_id,
            "file_id": file_id,
            "text": text,
            "created_at": self._scoped.now,
        }
        self._scoped.upsert(reply, [row], ("resource_id", "file_id", "text", "created_at"))

    def _drop_for(self, column: str, owner: str, but: Collection[str]) -> None:
        if not but:
            self._scoped.delete_ids(reply, [owner], column)
            return
        statement = self._scoped.delete(reply).where(reply.c[column] == owner)
        self._connection.execute(statement.where(reply.c.key.not_in(sorted(but))))

    def _stands(self, table: Table, owner: str | None) -> bool:
        return self._scoped.find((table.c.id,), table, id=owner).first() is not None

    def drop(self, key: str) -> None:
        """Forget one reply."""
        self._scoped.delete_ids(reply, [key], "key")

    def drop_for_resource(self, resource_id: str, *, but: Collection[str] = ()) -> None:
        """Forget a source's replies, but those of the keys that are still waited for."""
        self._drop_for("resource_id", resource_id, but)

    def drop_for_page(self, file_id: str, *, but: Collection[str] = ()) -> None:
        """Forget a page's replies, but those of the keys that are still waited for."""
        self._drop_for("file_id", file_id, but)

    def drop_all(self) -> None:
        """Forget every reply of the scope."""
        self._connection.execute(self._scoped.delete(reply))


class Patches(Group):
    """Rows of ``patch``: by which model, from which prompt and with how many operations a page was written."""

    def add(self, file_id: str, version: int, *, prompt_hash: str, model: str, counts: Mapping[str, int]) -> None:
        """Note the patch that made a version of a page; old ones are dropped."""
        row = {
            "file_id": file_id,
            "version": version,
            "prompt_hash": prompt_hash,
            "model": model,
            "counts": dict(counts),
            "created_at": self._scoped.now,
        }
        self._scoped.upsert(patch, [row], ("prompt_hash", "model", "counts", "created_at"))
        old = self._scoped.delete(patch).where(patch.c.file_id == file_id, patch.c.version <= version - _KEPT)
        self._connection.execute(old)

    def failures(self, file_id: str) -> tuple[int, datetime | None]:
        """How many times in a row a model gave no use for a page, and when it was last asked."""
        columns = patch.c.counts, patch.c.created_at
        found = self._scoped.select(*columns, of=patch).where(patch.c.file_id == file_id)
        last = self._connection.execute(found.order_by(patch.c.version.desc()).limit(1)).first()
        return (int(last[0].get("failed", 0)), last[1]) if last else (0, None)

    def list(self, file_id: str) -> tuple[tuple[int, str, Mapping[str, int]], ...]:
        """A page's patches as (version, model, counts), oldest first."""
        columns = patch.c.version, patch.c.model, patch.c.counts
        found = self._scoped.select(*columns, of=patch).where(patch.c.file_id == file_id)
        rows = self._connection.execute(found.order_by(patch.c.version))
        return tuple((version, model, counts) for version, model, counts in rows)


class Overviews(Group):
    """Rows of ``overview``: what a model wrote above the list of a track's pages."""

    def get(self, track: Track) -> tuple[OverviewSentence, ...] | None:
        """Its sentences; None where there is no overview."""
        statement = self._scoped.select(overview.c.sentences, of=overview)
        found = self._connection.execute(statement.where(overview.c.track == track.value)).scalar_one_or_none()
        if found is None:
            return None
        return tuple(OverviewSentence(text=each["text"], pages=tuple(each["pages"])) for each in found)

    def set(self, track: Track, prompt_hash: str, sentences: Sequence[OverviewSentence]) -> None:
        """Store an overview in the place of another."""
        row = {
            "track": track.value,
            "prompt_hash": prompt_hash,
            "sentences": [{"text": each.text, "pages": list(each.pages)} for each in sentences],
            "created_at": self._scoped.now,
        }
        self._scoped.upsert(overview, [row], ("prompt_hash", "sentences", "created_at"))
        self._scoped.bump()

    def remove(self, track: Track) -> None:
        """Remove an overview; where there is none, nothing is written."""
        gone = self._scoped.delete(overview).where(overview.c.track == track.value)
        if self._connection.execute(gone).rowcount:
            self._scoped.bump()
