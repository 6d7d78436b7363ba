"""Copies of a forgotten file that were to stay: they are known again where they are moved."""

from __future__ import annotations

from collections.abc import Collection

from memu.ingest.diff import Move
from memu.ingest.moves import fold_file_name
from memu.memorize.forget.forgotten import read_forgotten
from memu.records import Workspace
from memu.storage.repository import Repository

__all__ = ["find_copies"]


def find_copies(
    repository: Repository, workspace: Workspace, moves: Collection[tuple[str, Move]]
) -> frozenset[str]:
    """What to remember of the copies among these moves, so that they stay under their new paths.

    moves: each with the content hash that its row has.
    """
    forgotten = read_forgotten(repository) if moves else None
    if not forgotten:
        return frozenset()
    found: set[str] = set()
    for content_hash, move in moves:
        old, new = move.old, move.new.path
        was_to_stay = not forgotten.hashes.isdisjoint(forgotten.hash_copy(content_hash, workspace, old))
        is_same = fold_file_name(old) == fold_file_name(new) or not forgotten.is_named(content_hash, new)
        if was_to_stay and is_same:
            found |= forgotten.hash_copy(content_hash, workspace, new)
    return frozenset(found)
