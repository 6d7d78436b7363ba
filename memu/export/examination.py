"""How a published tree stands: at a glance from names, sizes and times, or file by file against its manifest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from memu.errors import ConfigurationError
from memu.export.disk import Disk, FileStat
from memu.export.exporter import name_extractor
from memu.export.fingerprint import conditions_of, look_over, parse_count, render_fingerprint, walk
from memu.export.manifest import MANIFEST, Manifest, parse_manifest
from memu.export.survey import is_leftover
from memu.records import Scope, TreeStatus
from memu.storage.publications import Publication
from memu.storage.repository import Repository

__all__ = ["PublishedState", "TreeExamination", "describe_tree", "examine_tree", "load_published"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedState:
    """What the store knows of a scope's trees: its own version, and how each was published."""

    version: int
    extractor: str
    publications: dict[str, Publication]


def load_published(repository: Repository) -> PublishedState:
    """Read it in one transaction."""
    publications = repository.publications
    return PublishedState(
        version=publications.scope_version(),
        extractor=name_extractor(repository),
        publications={each.tree: each for each in publications.list()},
    )


def describe_tree(disk: Disk, tree: Path, known: PublishedState, resources: str) -> TreeStatus:
    """How the tree stands; no file of it is opened. ``resources`` is "link" or "copy"."""
    published = known.publications.get(str(tree))
    try:
        here = disk.stat(tree)
        if here is None or published is None:
            return TreeStatus(
                tree=str(tree),
                state="missing" if published else "unpublished",
                published_at=published.published_at if published else None,
            )
        standing = look_over(disk, tree)
    except OSError:
        return TreeStatus(tree=str(tree), state="unreadable")
    conditions = conditions_of(known.extractor, resources)
    told = render_fingerprint(standing, conditions, parse_count(published.fingerprint))
    behind = known.version - published.version
    state = "stale" if behind else "current" if told == published.fingerprint else "changed"
    return TreeStatus(tree=str(tree), state=state, behind=behind, published_at=published.published_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeExamination:
    """A tree against its manifest; paths are relative to the tree.

    owned: the files that the manifest names. missing: those that are gone; changed: those that hold other bytes.
    extra: files that it does not name. leftovers: temporary files of a publish that was killed.
    unfinished: whether a publish was killed before its end. trouble: why nothing can be said, or None.
    unmarked: whether that is a manifest that is gone or damaged; the next publish takes up what is byte for byte
        what it would write, and writes the manifest anew.
    """

    owned: int = 0
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    unfinished: bool = False
    trouble: str | None = None
    unmarked: bool = False


def examine_tree(disk: Disk, tree: Path, scope: Scope) -> TreeExamination:
    """Read every file of memu's in the tree; nothing is written."""
    try:
        found = dict(walk(disk, tree))
        if MANIFEST not in found:
            told = f"there is no {MANIFEST}, so no file in it is known to be memu's"
            return TreeExamination(trouble=told, unmarked=True)
        manifest = parse_manifest(disk.read(tree / MANIFEST), scope)
        if not manifest.paths:
            return TreeExamination(trouble=f"{MANIFEST} is damaged or empty", unmarked=True)
        return _compare(disk, tree, found, manifest)
    except ConfigurationError as error:
        return TreeExamination(trouble=str(error))
    except OSError as error:
        return TreeExamination(trouble=f"it cannot be read ({error.strerror or error})")


def _compare(disk: Disk, tree: Path, found: dict[str, FileStat], manifest: Manifest) -> TreeExamination:
    ours = {path for path in manifest.files if path in found}
    leftovers = {path for path in found if is_leftover(path.rpartition("/")[2])}
    return TreeExamination(
        owned=len(manifest.files),
        missing=tuple(sorted(manifest.files.keys() - ours)),
        changed=tuple(path for path in sorted(ours) if not _is_ours(disk, tree, path, found[path], manifest)),
        extra=tuple(sorted(found.keys() - manifest.paths - leftovers - {MANIFEST})),
        leftovers=tuple(sorted(leftovers)),
        unfinished=bool(manifest.pending),
    )


def _is_ours(disk: Disk, tree: Path, path: str, here: FileStat, manifest: Manifest) -> bool:
    return here.sort == "file" and manifest.owns(path, hashlib.sha256(disk.read(tree / path)).hexdigest())
