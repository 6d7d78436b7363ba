"""What a scope was told to forget, as a value: a key and the hashes under it. The words themselves are nowhere."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from memu.ingest.moves import fold_file_name
from memu.memorize.forget.marks import MARK
from memu.records import Workspace
from memu.tokens import text_key

if TYPE_CHECKING:
    from memu.memorize.forget.openings import Openings
    from memu.storage.repository import Repository

__all__ = ["MARK", "REASON", "Forgotten", "is_telling", "read_forgotten", "statement_keys"]

REASON = "forgotten"
"""Why a forgotten file is skipped."""

_LABEL = re.compile(r"^\s*(?:[-*+>]\s+|\d{1,3}[.)]\s+|\[[^\]\n]{1,40}\]\s*)*[^\s:：][^:：\n]{0,40}[:：]\s+(?=\S)")
_TELLING_WORDS = 3
_TELLING_CHARS = 12


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The tombstones of one scope. ``salt`` is its key in hex; false where nothing was ever forgotten."""

    salt: str = ""
    hashes: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.hashes)

    def covers(self, text: str) -> bool:
        """Whether this text, whole, is a forgotten statement; case and punctuation do not matter."""
        key = text_key(text)
        return bool(key) and self.hash_statement(key) in self.hashes

    def covers_run(self, run: str) -> bool:
        """Whether these letters are those of a forgotten statement, however its words are parted."""
        return self._hash("run", run) in self.hashes

    @property
    def openings(self) -> Openings:
        """How forgotten statements begin, as far as it is known."""
        from memu.memorize.forget.openings import read_notes

        return read_notes(self.hashes, self.salt)

    def tombstones(self, keys: Iterable[str]) -> frozenset[str]:
        """What to remember of statements, given by their keys, so that they are known again."""
        from memu.memorize.forget.openings import note_of, run_of

        keys = frozenset(keys)
        runs = (self._hash("run", run) for run in map(run_of, keys) if run)
        return frozenset({*map(self.hash_statement, keys), *runs, *(note_of(key, self.salt) for key in keys)})

    def covers_path(self, workspace: Workspace, path: str) -> bool:
        """Whether this file of the workspace was forgotten."""
        return not self.hashes.isdisjoint(self.hash_path(workspace, path))

    def covers_content(self, content_hash: str, workspace: Workspace, path: str) -> bool:
        """Whether a file with these bytes was forgotten, and the one at this path is none that was to stay."""
        if self.hash_content(content_hash) not in self.hashes:
            return False
        return self.hashes.isdisjoint(self.hash_copy(content_hash, workspace, path))

    def is_named(self, content_hash: str, path: str) -> bool:
        """Whether a file with these bytes was forgotten that had this one's name, in any folder."""
        return self.hash_name(content_hash, path) in self.hashes

    def hash_statement(self, key: str) -> str:
        """The tombstone of a statement's ``text_key``."""
        return self._hash("statement", key)

    def hash_path(self, workspace: Workspace, path: str) -> frozenset[str]:
        """The tombstones of a file. A workspace that moves keeps its name or its folder's: they stand for it."""
        return frozenset(self._hash("path", f"{name}\0{path}") for name in _names_of(workspace))

    def hash_content(self, content_hash: str) -> str:
        """The tombstone of a file's bytes, given their SHA-256."""
        return self._hash("content", content_hash)

    def hash_copy(self, content_hash: str, workspace: Workspace, path: str) -> frozenset[str]:
        """What tells that a copy of a forgotten file was to stay at this path."""
        return frozenset(self._hash("copy", f"{content_hash}\0{name}\0{path}") for name in _names_of(workspace))

    def hash_name(self, content_hash: str, path: str) -> str:
        """The tombstone of a forgotten file's name, by which it is told from its copies when both are moved."""
        return self._hash("name", f"{content_hash}\0{fold_file_name(path)}")

    def _hash(self, kind: str, value: str) -> str:
        message = f"{kind}\0{value}".encode("utf-8", errors="surrogatepass")
        return hmac.digest(bytes.fromhex(self.salt), message, "sha256").hex()


def _names_of(workspace: Workspace) -> frozenset[str]:
    names = {f"folder {PurePosixPath(workspace.root).name}"}
    return frozenset(names | {f"name {workspace.name}"} if workspace.name else names)


def read_forgotten(repository: Repository) -> Forgotten:
    """The scope's tombstones."""
    return Forgotten(repository.tombstones.salt(), repository.tombstones.list())


def statement_keys(text: str) -> frozenset[str]:
    """The keys by which a statement is known again: its own, and those of its sentences and lines.

    Both as they are written and as they are seen. A part that says too little by itself ("Yes.", "}") is left
    out: it would be cut from everywhere.
    """
    from memu.memorize.forget.visible import list_views
    from memu.memorize.sentences import split_lines, split_sentences

    views = list_views(text)
    parts = [part.text for view in views for part in (*split_sentences(view), *split_lines(view))]
    # A file that grows into a chat loses its labels ("Alice: …") to the speakers: what follows them is known too.
    parts += [_LABEL.sub("", part, count=1) for part in parts]
    keys = set(map(text_key, parts))
    return frozenset({*map(text_key, views), *filter(is_telling, keys)} - {""})


def is_telling(key: str) -> bool:
    """Whether a part of a statement says something by itself: three words, or twelve characters."""
    return len(key.split()) >= _TELLING_WORDS or len(key) >= _TELLING_CHARS
