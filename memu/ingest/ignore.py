"""Ignore rules: gitignore patterns from the folder itself, with git's meaning for directories.

A pattern is translated by pathspec. What is added here is how git applies them: every path is judged by itself
on the way down, the last pattern of the nearest file decides, and nothing below an ignored directory is looked
at, so a file in there cannot be brought back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pathspec.patterns.gitignore import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

__all__ = ["DEFAULT_IGNORES", "IgnoreRule", "IgnoreRules", "IgnoreStack", "default_rules", "parse_rules"]

_ANYWHERE = "^(?:.+/)?"
_DIRECTORY_MARK = "(?P<ps_d>/)"

_TEMPORARY = "temporary file"
_LOCK = "lock of a running program"
_DEPENDENCIES = "dependencies, not sources"
_CACHE = "cache or build state"
_GENERATED = "generated file"
_SYSTEM = "file of the operating system or an editor"

DEFAULT_IGNORES: tuple[tuple[str, str], ...] = tuple(
    (pattern, reason)
    for reason, patterns in (
        (
            _TEMPORARY,
            "*.tmp *.temp ~$* .*.sw[a-p] *~ .~* \\#*# *.part *.partial *.crdownload *.download *.bak *.orig *.rej",
        ),
        (_LOCK, ".#* .~lock.* *.lock *.lck *.pid"),
        # A package manager's are no lock of anything: they say which versions are in use.
        (_LOCK, "!yarn.lock !bun.lock !deno.lock !poetry.lock !uv.lock !pdm.lock !Pipfile.lock !pixi.lock"),
        (_LOCK, "!Cargo.lock !Gemfile.lock !composer.lock !flake.lock !mix.lock !pubspec.lock !Podfile.lock"),
        (_LOCK, "!paket.lock !requirements.lock"),
        (_DEPENDENCIES, "node_modules/ bower_components/ jspm_packages/ .pnpm-store/ .yarn/ site-packages/"),
        (_DEPENDENCIES, ".venv/ venv/ virtualenv/ .bundle/ Pods/ .eggs/ *.egg-info/ *.dist-info/"),
        (
            _CACHE,
            "__pycache__/ .mypy_cache/ .pytest_cache/ .ruff_cache/ .tox/ .nox/ .hypothesis/ .ipynb_checkpoints/",
        ),
        (_CACHE, ".cache/ .gradle/ .terraform/ .next/ .nuxt/ .svelte-kit/ .parcel-cache/ .turbo/ .sass-cache/"),
        (_CACHE, ".nyc_output/ .coverage htmlcov/ .dart_tool/ .stack-work/ .ccls-cache/ .direnv/"),
        (_GENERATED, "*.min.js *.min.css *.js.map *.css.map"),
        (_SYSTEM, ".DS_Store ._* Thumbs.db desktop.ini .idea/ .vscode/ .vs/ .obsidian/ .trash/ .Trash/ .Trash-*/"),
        (_SYSTEM, "$RECYCLE.BIN/ .Spotlight-V100/ .fseventsd/ .stfolder/ .stversions/ lost+found/"),
    )
    for pattern in patterns.split()
)
"""Pattern and reason of what nobody means as memory. ``!pattern`` in an ignore file brings a thing back."""


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One pattern. ``by_name`` marks a pattern without a slash, which looks at the last part of a path only."""

    regex: re.Pattern[str]
    ignored: bool
    reason: str
    by_name: bool

    def matches(self, path: str, name: str) -> bool:
        """Whether it speaks of this very path (not of one above it). A directory's path ends in ``/``."""
        return self.regex.fullmatch(name if self.by_name else path) is not None


class IgnoreRules:
    """The patterns of one directory, later ones stronger. ``base`` is that directory ("" or ending in ``/``)."""

    def __init__(self, rules: Sequence[IgnoreRule], base: str = "") -> None:
        self._rules = tuple(reversed(rules))
        self._start = len(base)
        self.names = _union(rule.regex.pattern for rule in rules if rule.by_name)
        self.paths = _union(rule.regex.pattern for rule in rules if not rule.by_name)

    def decide(self, path: str, name: str) -> IgnoreRule | None:
        """The rule that decides on this path, or None where none speaks of it.

        Args:
            path: relative to the root, ``/`` between parts, with a ``/`` at the end for a directory.
            name: its last part, with the same ending.
        """
        below = path[self._start :]
        # One search over all patterns at once; nearly every file ends here.
        found = self.names is not None and self.names.match(name) is not None
        if not found and (self.paths is None or self.paths.match(below) is None):
            return None
        for rule in self._rules:
            if rule.matches(below, name):
                return rule
        return None

    def covers(self, path: str) -> bool:
        """Whether a file, or a directory above it, is ignored by these patterns alone."""
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            ending = "/" if depth < len(parts) else ""
            rule = self.decide("/".join(parts[:depth]) + ending, parts[depth - 1] + ending)
            if rule is not None and rule.ignored:
                return True
        return False


class IgnoreStack:
    """The patterns that hold in one directory: the ``strongest``, then those of directories, the nearest first.

    ``speaks(name)`` is false where no pattern of all of them can speak of a thing of this name (with a ``/`` at
    its end for a directory): for nearly every file that one search is all.
    """

    def __init__(self, strongest: tuple[IgnoreRules, ...], nearest: tuple[IgnoreRules, ...] = ()) -> None:
        self._strongest, self._nearest = strongest, nearest
        self._layers = strongest + nearest
        names = _union(layer.names.pattern for layer in self._layers if layer.names is not None)
        by_path = any(layer.paths is not None for layer in self._layers)
        self.speaks: Callable[[str], object] = bool if by_path else names.match if names else _silent

    def within(self, rules: Sequence[IgnoreRule], base: str) -> IgnoreStack:
        """These patterns with those of a directory below."""
        return IgnoreStack(self._strongest, (IgnoreRules(rules, base), *self._nearest)) if rules else self

    def explain(self, path: str, name: str) -> str | None:
        """Why this path is ignored, or None; ``path`` and ``name`` as for ``IgnoreRules.decide``."""
        for layer in self._layers:
            rule = layer.decide(path, name)
            if rule is not None:
                return rule.reason if rule.ignored else None
        return None


def parse_rules(lines: Iterable[str], reason: str) -> Iterator[IgnoreRule]:
    """The rules in the lines of an ignore file. Blank lines, comments and what git would discard give none.

    Args:
        reason: what a skipped file is reported with ("ignored by docs/.gitignore").
    """
    for line in lines:
        rule = _parse_rule(line, reason)
        if rule is not None:
            yield rule


@cache
def default_rules() -> tuple[IgnoreRule, ...]:
    """The rules of ``DEFAULT_IGNORES``."""
    return tuple(rule for pattern, reason in DEFAULT_IGNORES for rule in parse_rules([pattern], reason))


def _parse_rule(line: str, reason: str) -> IgnoreRule | None:
    try:
        pattern = GitIgnoreSpecPattern(line)
    except (GitIgnorePatternError, re.error):
        return None
    if pattern.regex is None or pattern.include is None:
        return None
    source = pattern.regex.pattern.replace(_DIRECTORY_MARK, "/")
    body = line.removeprefix("!").rstrip()
    if source in (".", "/"):
        # So pathspec writes the patterns that match everything, meant for a search.
        source = r"[^/]+/" if source == "/" or body.endswith("/") else r"[^/]+/?"
        return IgnoreRule(re.compile(source), pattern.include, reason, by_name=True)
    if body.endswith(("/**", "/**/")):
        # What is in ``x``, and never ``x`` itself.
        return IgnoreRule(
            re.compile(source + (".*/" if body.endswith("/") else ".+")), pattern.include, reason, False
        )
    by_name = source.startswith(_ANYWHERE) and "/" not in body.rstrip("/")
    source = source.removeprefix(_ANYWHERE) if by_name else source
    return IgnoreRule(re.compile(source), pattern.include, reason, by_name)


def _silent(_name: str) -> bool:
    return False


# How nearly every pattern that begins with a star is translated: any name, then a dot or the like.
_SHARED_START = re.compile(r"\[\^/\]\*\\\W")


def _union(sources: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern that matches what any of these does, and perhaps more: who is found by it is asked once more.

    Patterns with the same start share it. Else each of ``*.tmp``, ``*.bak`` and so on would walk through every
    name to its end and back; so the way back stops at dots only, and once for all of them.
    """
    endings: dict[str, list[str]] = {}
    for source in sources:
        start = _SHARED_START.match(source)
        shared = start.group() if start else ""
        endings.setdefault(shared, []).append(source.removeprefix(shared))
    joined = [f"{start}(?:{'|'.join(f'(?:{end})' for end in ends)})" for start, ends in endings.items()]
    # In brackets, since it may be one of several in another union.
    return re.compile(f"(?:{'|'.join(joined)})") if joined else None
