"""One pass over a folder: which files are sources, and why each of the others is not.

Only directories are listed and files stated; nothing is opened but ignore files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from stat import S_ISLNK, S_ISREG

from memu.errors import ReadError, RootError
from memu.ingest.formats import explain_mode, explain_size, explain_suffix
from memu.ingest.found import FoundFile, found_file
from memu.ingest.ignore import IgnoreRule, IgnoreRules, IgnoreStack, default_rules, parse_rules
from memu.ingest.marks import MANIFEST_NAME, OWN_EXPORT
from memu.ingest.paths import read_source, stored_path
from memu.ingest.project_file import PROJECT_FILE
from memu.records import FileProblem

__all__ = ["DEFAULT_MAX_SIZE", "IGNORE_FILES", "MAX_LOG_SIZE", "FoundFile", "Scan", "ScanRules", "scan"]

DEFAULT_MAX_SIZE = 8 << 20
MAX_LOG_SIZE = 1 << 30
_LOG_SUFFIXES = (".jsonl", ".ndjson")
IGNORE_FILES = (".gitignore", ".memuignore")
"""Read in this order, so that a pattern of ours can undo one of git's."""

_STORE_NAME = ".memu"
_VERSION_CONTROL = frozenset([".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "_darcs", "CVS", ".fslckout"])
_OWN_NAMES = frozenset([MANIFEST_NAME, PROJECT_FILE, *IGNORE_FILES, *_VERSION_CONTROL])
_MAX_IGNORE_FILE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRules:
    """What a scan leaves out beside what it always leaves out.

    ignore: gitignore patterns of the caller, stronger than any file's.
    project_ignore: those of ``memu.toml``; an ignore file in the folder can undo them.
    outputs: export trees and stores, as absolute paths, whether or not they lie inside the root.
    max_size: files of more bytes are skipped.
    """

    ignore: tuple[str, ...] = ()
    project_ignore: tuple[str, ...] = ()
    outputs: tuple[Path, ...] = ()
    max_size: int = DEFAULT_MAX_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What a folder holds, each row in order of path. A directory's path ends in ``/``.

    unlistable: directories that could not be listed and files that could not be stated. What is known below
        them says nothing about whether it still exists.
    """

    files: tuple[FoundFile, ...]
    skipped: tuple[FileProblem, ...]
    unlistable: tuple[FileProblem, ...]


def scan(root: Path, rules: ScanRules | None = None) -> Scan:
    """The sources in a folder, in order of path, and everything that was passed over with its reason.

    An ignored directory is one record; nothing in it is looked at. No symbolic link is followed: one that stays
    inside leads to a file that is found under its own path anyway.

    Raises:
        RootError: the root is missing, no directory or cannot be listed.
    """
    walk = _Walk(*_resolve(root), rules or ScanRules())
    walk.run()
    return Scan(
        files=tuple(sorted(walk.files, key=itemgetter(0))),
        skipped=tuple(sorted(walk.skipped, key=lambda problem: problem.path)),
        unlistable=tuple(sorted(walk.unlistable, key=lambda problem: problem.path)),
    )


def _resolve(root: Path) -> tuple[Path, list[os.DirEntry[str]]]:
    try:
        real = root.resolve(strict=True)
        return real, _list(real)
    except FileNotFoundError as error:
        raise RootError(f"{root}: there is no such folder.") from error
    except NotADirectoryError as error:
        raise RootError(f"{root} is no folder.") from error
    except (OSError, RuntimeError) as error:
        # RuntimeError is how Python before 3.13 reports a loop of links.
        raise RootError(f"{root} cannot be listed: {getattr(error, 'strerror', None) or error}.") from error


def _list(folder: Path | str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


@dataclass(slots=True)
class _Walk:
    """The state of one scan. Paths in here are as the system spells them; they are stored only at the end."""

    root: Path
    top: list[os.DirEntry[str]]
    rules: ScanRules
    files: list[FoundFile] = field(default_factory=list)
    skipped: list[FileProblem] = field(default_factory=list)
    unlistable: list[FileProblem] = field(default_factory=list)
    outputs: frozenset[str] = frozenset()
    own_names: frozenset[str] = _OWN_NAMES
    # Of files that are read, as they are written: nearly every file has one of a few.
    suffixes: set[str] = field(default_factory=set)
    pending: list[tuple[str, list[os.DirEntry[str]], IgnoreStack]] = field(default_factory=list)

    def run(self) -> None:
        self.outputs = frozenset(os.path.realpath(output) for output in self.rules.outputs)
        given = tuple(parse_rules(self.rules.ignore, "ignored by the caller"))
        self.own_names = _OWN_NAMES.union(map(os.path.basename, self.outputs))
        self.pending.append(("", self.top, IgnoreStack((IgnoreRules(given),) if given else ())))
        # A stack and no recursion: a folder may be nested deeper than Python calls may.
        while self.pending:
            self._visit(*self.pending.pop())

    def _visit(self, base: str, entries: list[os.DirEntry[str]], above: IgnoreStack) -> None:
        """Everything in one directory. ``above`` are the rules that hold around it."""
        try:
            rules = above.within(self._own_rules(entries, base), base)
        except ReadError as error:
            if not base:
                raise RootError(f"{self.root}: {error}.") from error
            # Without its rules nobody knows what in here was meant to stay out.
            self._note(self.unlistable, base, str(error))
            return
        take, own_names, speaks, most = self.files.append, self.own_names, rules.speaks, self.rules.max_size
        read = self.suffixes
        for entry in entries:
            name = entry.name
            path = base + name
            try:
                if entry.is_dir(follow_symlinks=False):
                    self._enter(entry, path + "/", rules)
                    continue
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                # Gone since the directory was listed: as good as never seen.
                continue
            except OSError as error:
                self._note(self.unlistable, path, f"cannot be looked at: {error.strerror or error}")
                continue
            # Nearly every file is plain in all of this; the other reasons are asked for where one may be found.
            plain = S_ISREG(status.st_mode) and status.st_size <= most and name not in own_names
            stem, _, suffix = name.rpartition(".")
            if plain and not speaks(name):
                reason = None if stem and suffix in read else explain_suffix(name)
                if stem and reason is None:
                    read.add(suffix)
            else:
                reason = self._explain(entry, path, status, rules)
            if reason:
                self._note(self.skipped, path, reason)
            else:
                take(found_file(path if path.isascii() and "%" not in path else stored_path(path), status))

    def _own_rules(self, entries: list[os.DirEntry[str]], base: str) -> list[IgnoreRule]:
        # A link could bring in rules from outside the folder; git does not follow one here either.
        present = {entry.name for entry in entries if entry.name in IGNORE_FILES and not entry.is_symlink()}
        rules: list[IgnoreRule] = []
        if not base:
            rules.extend(default_rules())
            rules.extend(parse_rules(self.rules.project_ignore, f"ignored by {PROJECT_FILE}"))
        for name in IGNORE_FILES:
            if name in present:
                rules.extend(self._read_rules(stored_path(base + name)))
        return rules

    def _read_rules(self, path: str) -> Iterator[IgnoreRule]:
        try:
            data = read_source(self.root, path, max_size=_MAX_IGNORE_FILE)
        except ReadError as error:
            raise ReadError(f"{path}: {error}") from error
        text = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
        return parse_rules(text.split("\n"), f"ignored by {path}")

    def _enter(self, entry: os.DirEntry[str], path: str, rules: IgnoreStack) -> None:
        reason = self._directory_reason(entry) or rules.explain(path, entry.name + "/")
        if reason:
            self._note(self.skipped, path, reason)
            return
        try:
            entries = _list(entry.path)
        except FileNotFoundError:
            return
        except OSError as error:
            self._note(self.unlistable, path, f"directory cannot be listed: {error.strerror or error}")
            return
        self.pending.append((path, entries, rules))

    def _directory_reason(self, entry: os.DirEntry[str]) -> str | None:
        if entry.name == _STORE_NAME:
            return "memu's own store"
        if entry.name in _VERSION_CONTROL:
            return "version control"
        return "memu's own output" if self.outputs and entry.path in self.outputs else None

    def _explain(
        self, entry: os.DirEntry[str], path: str, status: os.stat_result, rules: IgnoreStack
    ) -> str | None:
        """Why this file is skipped, if it is."""
        return (
            self._kind_reason(entry.path, status.st_mode)
            or self._own_reason(entry, path)
            or rules.explain(path, entry.name)
            or explain_suffix(entry.name)
            or explain_size(status.st_size, self._limit(entry.name))
        )

    def _limit(self, name: str) -> int:
        """What may be a session's log is read as a stream, so it may be far larger; its content decides then."""
        return MAX_LOG_SIZE if name.lower().endswith(_LOG_SUFFIXES) else self.rules.max_size

    def _kind_reason(self, path: str, mode: int) -> str | None:
        return self._link_reason(path) if S_ISLNK(mode) else explain_mode(mode)

    def _own_reason(self, entry: os.DirEntry[str], path: str) -> str | None:
        if entry.name == MANIFEST_NAME:
            return OWN_EXPORT
        if entry.name in IGNORE_FILES or path == PROJECT_FILE:
            return "settings of the sync itself"
        if entry.name in _VERSION_CONTROL:
            return "version control"
        return "memu's own output" if self.outputs and entry.path in self.outputs else None

    def _link_reason(self, path: str) -> str:
        try:
            target = Path(path).resolve(strict=True)
        except FileNotFoundError:
            return "symbolic link to nothing"
        except (OSError, RuntimeError):
            return "symbolic link that leads round in a loop"
        if target == self.root or self.root in target.parents:
            return "symbolic link; what it points at is found under its own path"
        return "symbolic link that leads out of the workspace"

    def _note(self, problems: list[FileProblem], path: str, reason: str) -> None:
        problems.append(FileProblem(path=stored_path(path), reason=reason))
