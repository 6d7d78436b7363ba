"""What publishing will do to a tree, decided before anything is touched. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from memu.errors import ConfigurationError
from memu.export.manifest import Manifest
from memu.export.survey import Survey, alternates

__all__ = ["Plan", "Render", "make_plan"]

Render = Callable[[Mapping[str, str]], Mapping[str, bytes]]
"""From the other names of files to the files, by their own names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Paths are relative to the tree. ``writes`` is in order: root pages last.

    before: the manifest while writing; after: the one in the end. kept: the user's files that stand where ours
    would.
    """

    writes: tuple[tuple[str, bytes], ...]
    removes: tuple[str, ...]
    kept: tuple[str, ...]
    unchanged: int
    before: Manifest
    after: Manifest


def make_plan(survey: Survey, render: Render, force: Collection[str] = ()) -> Plan:
    """Settle which places are ours, render with the names that follow, and compare.

    A file that the manifest does not vouch for is ours all the same when it holds the very bytes that we would
    write, so a tree that lost its manifest is taken up again.

    Raises:
        ConfigurationError: ``force`` names a path that is no file of this tree, or a folder.
    """
    files = render({})
    _check_force(survey, files, force)
    taken = {path for path in files if path in survey.found and not survey.is_ours(path)} - set(force)
    while True:
        # Links change with every name that changes, so what is equal is looked for anew each time.
        taken -= {path for path in taken if survey.found[path].digest == _digest(files[path])}
        renames = {path: _step_aside(path, survey, files) for path in sorted(taken)}
        files = render(renames)
        if not any(survey.found[path].digest == _digest(files[path]) for path in taken):
            break
    return _compare(survey, {renames.get(path, path): data for path, data in files.items()}, renames)


def _compare(survey: Survey, files: Mapping[str, bytes], renames: Mapping[str, str]) -> Plan:
    digests = {path: _digest(data) for path, data in files.items()}
    lying = {path: found.digest for path, found in survey.found.items() if found.digest is not None}
    writes = tuple((path, data) for path, data in files.items() if lying.get(path) != digests[path])
    old = sorted(survey.manifest.paths - files.keys())
    aside = {other for path in renames for other in _passed_over(path, renames[path])}
    ours = {path: digest for path, digest in lying.items() if survey.is_ours(path)}
    same = {path: digest for path, digest in digests.items() if lying.get(path) == digest}
    # Remembered until the end: a killed publish may have made a folder for what never came.
    absent = {path: digest for path, digest in survey.manifest.digests if path not in survey.found}
    orphans = {path for path in old if path in survey.found and path not in ours}
    return Plan(
        writes=writes,
        removes=tuple(path for path in old if path in ours),
        kept=tuple(sorted({*renames, *aside, *orphans})),
        unchanged=len(same),
        before=Manifest(files=absent | ours | same, pending={path: digests[path] for path, _ in writes}),
        after=Manifest(files=digests),
    )


def _step_aside(path: str, survey: Survey, files: Mapping[str, bytes]) -> str:
    """The first name beside ``path`` that is free or ours."""
    data = _digest(files[path])
    for other in alternates(path):
        found = survey.found.get(other)
        if other not in files and (found is None or survey.is_ours(other) or found.digest == data):
            return other
    raise AssertionError("the names never end")


def _passed_over(path: str, chosen: str) -> list[str]:
    passed: list[str] = []
    for other in alternates(path):
        if other == chosen:
            break
        passed.append(other)
    return passed


def _check_force(survey: Survey, files: Mapping[str, bytes], force: Collection[str]) -> None:
    for path in sorted(force):
        if path not in files:
            raise ConfigurationError(f"memu writes no {path!r} in this tree, so there is nothing to take over.")
        if path in survey.found and survey.found[path].stat.sort == "folder":
            raise ConfigurationError(f"{path!r} is a folder; move it away before memu can write its file there.")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
