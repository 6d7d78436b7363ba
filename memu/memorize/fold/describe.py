"""One line on what a page holds, from rows alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["describe_memory", "describe_skill"]

_MAX_LENGTH = 200
_MAX_TITLE = 60


def describe_memory(statements: int, titles: Sequence[str]) -> str:
    """Such as "12 statements from 4 sources: A; B; C; D". ``titles``: the sources' in page order."""
    return _describe(_plural(statements, "statement"), titles)


def describe_skill(steps: int, commands: int, notes: int, titles: Sequence[str]) -> str:
    """Such as "How to, 6 steps from 1 source: A", or "How to: 2 commands and 1 note from …" where none is a step.

    commands: fences; notes: all other blocks; titles: the sources' in page order.
    """
    if steps:
        return f"How to, {_describe(_plural(steps, 'step'), titles)}"
    counts = ((commands, "command"), (notes, "note"))
    return f"How to: {_describe(' and '.join(_plural(n, noun) for n, noun in counts if n), titles)}"


def _describe(counts: str, titles: Sequence[str]) -> str:
    head = f"{counts} from {_plural(len(titles), 'source')}: "
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
