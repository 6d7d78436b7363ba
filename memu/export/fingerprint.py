"""Whether a tree still is as it was published, told from file names, sizes and times alone: no file is opened."""

from __future__ import annotations

import hashlib
import importlib.metadata
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memu.export.disk import Disk, FileStat
from memu.export.naming import COPIES

__all__ = ["Standing", "conditions_of", "look_over", "parse_count", "render_fingerprint", "walk"]

# Grows when the same rows give other bytes than before.
_FORMAT = 1
_ASIDE = re.compile(r"(?P<stem>.*)\.memu(?:-\d+)?(?P<suffix>\.[^./]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A tree at a glance: a digest of every file's name, size, time and inode, and the user's files in our way."""

    digest: str
    kept: tuple[str, ...]


def look_over(disk: Disk, tree: Path) -> Standing:
    """Look at every file of the tree; symbolic links are not followed. May raise OSError."""
    lines: list[str] = []
    paths: set[str] = set()
    for path, found in walk(disk, tree):
        paths.add(path)
        lines.append(f"{path}\0{found.sort}\0{found.size}\0{found.mtime_ns}\0{found.inode}")
    digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    return Standing(digest=digest, kept=tuple(sorted(_stood_in_the_way(paths))))


def conditions_of(extractor: str, resources: str) -> str:
    """What besides the rows decides a tree's bytes."""
    try:
        version = importlib.metadata.version("memu")
    except importlib.metadata.PackageNotFoundError:
        version = ""
    return f"{_FORMAT} {version} {extractor} {resources}"


def render_fingerprint(standing: Standing, conditions: str, count: int) -> str:
    """What a publication keeps: a digest and the number of memu's own files, 64 characters at most."""
    digest = hashlib.sha256(f"{conditions}\n{standing.digest}".encode()).hexdigest()[:40]
    return f"{digest}.{count}"


def parse_count(fingerprint: str) -> int:
    """The number of memu's own files in a fingerprint; 0 where it is not one of ours."""
    _, _, count = fingerprint.partition(".")
    return int(count) if count.isdecimal() else 0


def walk(disk: Disk, tree: Path, folder: str = "") -> Iterator[tuple[str, FileStat]]:
    """Every file below ``folder`` of the tree, its path in the tree first. May raise OSError."""
    for name in disk.list_names(tree / folder):
        path = posixpath.join(folder, name)
        found = disk.stat(tree / path)
        if found is not None and found.sort == "folder":
            yield from walk(disk, tree, path)
        elif found is not None:
            yield path, found


def _stood_in_the_way(paths: Iterable[str]) -> set[str]:
    """The files beside which a file of ours stands aside."""
    known = set(paths)
    kept: set[str] = set()
    for path in known:
        match = None if path.startswith(f"{COPIES}/") else _ASIDE.fullmatch(path)
        if match and (beside := f"{match['stem']}{match['suffix']}") in known:
            kept.add(beside)
    return kept
