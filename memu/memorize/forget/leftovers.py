"""What is still shown of what was to be forgotten, once everything was cut and read again; it should be nothing.

Names stay whatever they say: paths, pages, speakers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memu.memorize.forget.marks import MARK
from memu.memorize.forget.selection import Selection, is_said, list_placed, select_again
from memu.records import Passage, RecallFile
from memu.storage.entries import PlacedEntry
from memu.storage.repository import Repository
from memu.tokens import text_key

__all__ = ["find_left"]

_FOOTNOTE = re.compile(r"\s*\[\^[^\]\s]{1,60}\]:")
_HEADING = re.compile(r"^\s*#{1,6}\s+")


def find_left(repository: Repository, selection: Selection) -> tuple[str, ...]:
    """Where what was selected is still said: ``PATH#L10``, ``memory/NAME``; each once, in order."""
    if selection.says is None:
        again = select_again(repository, selection).entries
        return tuple(sorted(set(map(_place_of, again))))
    left = {*_find_in_sources(repository, selection.says), *_find_on_pages(repository, selection.says)}
    return tuple(sorted(left))


def _find_in_sources(repository: Repository, says: Callable[[str], bool]) -> Iterator[str]:
    for each in list_placed(repository):
        if is_said(each.entry, says):
            yield _place_of(each)
    for workspace in repository.workspaces.list():
        for resource in repository.resources.of_workspace(workspace.id):
            if _says_unmarked(resource.title, says) or _says_unmarked(resource.caption, says):
                yield resource.path
            for passage in repository.passages.of_resource(resource.id):
                if _is_shown(passage, says):
                    yield f"{resource.path}#{passage.lines or passage.place or ''}"


def _place_of(placed: PlacedEntry) -> str:
    return f"{placed.resource.path}#{placed.entry.lines or placed.entry.place or ''}"


def _is_shown(passage: Passage, says: Callable[[str], bool]) -> bool:
    steps = passage.heading.split(" > ")
    shown = (passage.text, passage.heading, f"{steps[-1]} {passage.text}")
    return any(_says_unmarked(each, says) for each in shown)


def _find_on_pages(repository: Repository, says: Callable[[str], bool]) -> Iterator[str]:
    for page in repository.pages.list():
        if any(_says_unmarked(line, says) for line in _list_shown_lines(page)):
            yield f"{page.track.value}/{page.name}"


def _list_shown_lines(page: RecallFile) -> Iterator[str]:
    """What a page says: not the name that it has, nor where it has it from."""
    for line in page.content.split("\n"):
        named = text_key(_HEADING.sub("", line, count=1)) == text_key(page.name)
        if not named and not _FOOTNOTE.match(line):
            yield line


def _says_unmarked(text: str, says: Callable[[str], bool]) -> bool:
    return says(text.replace(MARK, "\n\n"))
