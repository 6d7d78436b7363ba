"""What lies in a tree before publishing: the manifest, and whatever stands where a file of ours belongs."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memu.errors import ConfigurationError, UnavailableError
from memu.export.disk import Disk, FileStat
from memu.export.manifest import MANIFEST, Manifest, parse_manifest
from memu.records import Scope

__all__ = ["Found", "Survey", "alternates", "folders_of", "is_leftover", "survey_tree", "temporary_name"]

_TEMPORARY = re.compile(r"\.memu-[0-9a-f]{16}\.tmp")
_ALWAYS_LISTED = ("", "memory", "skill")


@dataclass(frozen=True, slots=True)
class Found:
    """Something that lies in the tree; ``digest`` is a regular file's SHA-256, None for anything else."""

    stat: FileStat
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The tree as found.

    ``found`` covers every path that is wanted or that the manifest names, and the other names that a wanted
    file may get; what is not in it does not exist. ``written`` are the manifest's bytes. ``leftovers`` are
    temporary files of a publish that was killed.
    """

    exists: bool = False
    manifest: Manifest = field(default_factory=Manifest)
    written: bytes | None = None
    found: Mapping[str, Found] = field(default_factory=dict)
    leftovers: tuple[str, ...] = ()

    def is_ours(self, path: str) -> bool:
        """Whether what lies there is just what memu wrote."""
        found = self.found.get(path)
        return found is not None and found.digest is not None and self.manifest.owns(path, found.digest)


def survey_tree(disk: Disk, tree: Path, scope: Scope, wanted: Iterable[str]) -> Survey:
    """Look at the tree; nothing is written.

    Raises:
        ConfigurationError: the tree holds another scope's memory, or something that is no folder (a symbolic
            link among them) stands where the tree or one of its folders belongs.
        UnavailableError: the disk refused.
    """
    try:
        return _survey(disk, tree, scope, list(wanted))
    except OSError as error:
        raise UnavailableError(f"Cannot read the export tree {tree}: {error}.") from error


def _survey(disk: Disk, tree: Path, scope: Scope, wanted: list[str]) -> Survey:
    if not _check_folder(disk, tree):
        return Survey()
    lying = disk.stat(tree / MANIFEST)
    written = disk.read(tree / MANIFEST) if lying and lying.sort == "file" else None
    if lying and written is None:
        raise ConfigurationError(f"{tree / MANIFEST} is no regular file; move it away or give another --out.")
    manifest = parse_manifest(written, scope) if written is not None else Manifest()
    needed = folders_of(wanted)
    folders = {
        folder
        for folder in sorted({*_ALWAYS_LISTED, *needed, *folders_of(manifest.paths)})
        if _is_usable(disk, tree, folder, needed=folder in needed)
    }
    found: dict[str, Found] = {}
    for path in sorted({*wanted, *(path for path in manifest.paths if posixpath.dirname(path) in folders)}):
        if here := _look(disk, tree / path):
            found[path] = here
    survey = Survey(exists=True, manifest=manifest, written=written, found=found)
    for path in wanted:
        if path in found and not survey.is_ours(path):
            found.update(_look_aside(disk, tree, path))
    return Survey(
        exists=True,
        manifest=manifest,
        written=written,
        found=found,
        leftovers=tuple(_leftovers(disk, tree, folders)),
    )


def alternates(path: str) -> Iterator[str]:
    """The names beside ``path`` for a file of ours: ``x.memu.md``, then ``x.memu-2.md`` and so on."""
    stem, suffix = posixpath.splitext(path)
    yield f"{stem}.memu{suffix}"
    number = 2
    while True:
        yield f"{stem}.memu-{number}{suffix}"
        number += 1


def folders_of(paths: Iterable[str]) -> set[str]:
    """Every folder that these paths lie in, the tree itself ("") left out."""
    folders: set[str] = set()
    for path in paths:
        folder = posixpath.dirname(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = posixpath.dirname(folder)
    return folders


def temporary_name(path: str) -> str:
    """The temporary file, in the same folder, that becomes ``path``."""
    name = f".memu-{hashlib.sha256(path.encode('utf-8')).hexdigest()[:16]}.tmp"
    return posixpath.join(posixpath.dirname(path), name)


def is_leftover(name: str) -> bool:
    """Whether a file name is one of ``temporary_name``."""
    return _TEMPORARY.fullmatch(name) is not None


def _check_folder(disk: Disk, path: Path) -> bool:
    here = disk.stat(path)
    if here is not None and here.sort != "folder":
        raise ConfigurationError(
            f"{path} is a file or a symbolic link where a folder of the export belongs; "
            "move it away or give another --out."
        )
    return here is not None


def _is_usable(disk: Disk, tree: Path, folder: str, *, needed: bool) -> bool:
    """Whether the folder is there, and no link on the way. What only an old manifest names is passed over."""
    try:
        return all(_check_folder(disk, tree / part) for part in sorted(folders_of([f"{folder}/x"])))
    except ConfigurationError:
        if needed:
            raise
        return False


def _look(disk: Disk, path: Path) -> Found | None:
    here = disk.stat(path)
    if here is None:
        return None
    return Found(here, hashlib.sha256(disk.read(path)).hexdigest() if here.sort == "file" else None)


def _look_aside(disk: Disk, tree: Path, path: str) -> dict[str, Found]:
    found: dict[str, Found] = {}
    for other in alternates(path):
        here = _look(disk, tree / other)
        if here is None:
            break
        found[other] = here
    return found


def _leftovers(disk: Disk, tree: Path, folders: Iterable[str]) -> Iterator[str]:
    for folder in sorted({"", *folders}):
        yield from (posixpath.join(folder, name) for name in disk.list_names(tree / folder) if is_leftover(name))
