"""One line on what a page holds, from rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["describe_memory", "describe_skill"]

_MAX_LENGTH = 200
_MAX_TITLE = 60


def describe_memory(statements: int, titles: Sequence[str]) -> str:
    """Such as "12 statements from 4 sources: A; B; C; D". ``titles``: the sources' in page order."""
    return _describe(statements, "statement", titles)


def describe_skill(steps: int, titles: Sequence[str]) -> str:
    """Such as "How to, 6 steps from 1 source: A". ``titles``: the sources' in page order."""
    return f"How to, {_describe(steps, 'step', titles)}"


def _describe(count: int, noun: str, titles: Sequence[str]) -> str:
    head = f"{_plural(count, noun)} from {_plural(len(titles), 'source')}: "
    return head + _list_titles(titles, _MAX_LENGTH - len(head))


def _list_titles(titles: Iterable[str], room: int) -> str:
    """Distinct titles while there is room, then how many more there are."""
    distinct = list(dict.fromkeys(_clip(title) for title in titles))
    shown: list[str] = []
    for title in distinct:
        if shown and len("; ".join([*shown, title])) > room:
            return f"{'; '.join(shown)}; and {len(distinct) - len(shown)} more"
        shown.append(title)
    return "; ".join(shown)


def _clip(title: str) -> str:
    return title if len(title) <= _MAX_TITLE else f"{title[: _MAX_TITLE - 1].rstrip()}…"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
