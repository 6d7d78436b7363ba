"""The forms in which apps export chats as JSON, behind one protocol; the content tells which it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from memu.ingest.chats.chatgpt import ChatGpt
from memu.ingest.chats.claude import Claude
from memu.ingest.chats.conversation import Conversation
from memu.ingest.chats.slack import Slack
from memu.ingest.chats.telegram import Telegram
from memu.ingest.readers.json_tree import Json

__all__ = ["EXPORTS", "ExportDialect", "find_export"]


class ExportDialect(Protocol):
    """Reads the export of one app. Stateless."""

    @property
    def name(self) -> str:
        """What it is called in documentation and reports."""

    def recognises(self, records: Sequence[Json]) -> bool:
        """Whether these are the first records of such an export, perhaps cut off."""

    def read(self, records: Sequence[Json], path: str) -> Iterator[Conversation]:
        """The conversations in the order of the file. ``path`` is workspace-relative POSIX."""


EXPORTS: tuple[ExportDialect, ...] = (ChatGpt(), Claude(), Telegram(), Slack())
"""Every dialect."""


def find_export(records: Sequence[Json]) -> ExportDialect | None:
    """The dialect of an export that begins with these records."""
    return next((dialect for dialect in EXPORTS if dialect.recognises(records)), None)
