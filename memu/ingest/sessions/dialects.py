"""The forms in which agents keep their sessions, behind one protocol; the content tells which it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from memu.ingest.sessions.claude_code import ClaudeCode
from memu.ingest.sessions.codex import Codex
from memu.ingest.sessions.events import Event
from memu.ingest.sessions.gemini_cli import GeminiCli
from memu.ingest.sessions.log_records import Record
from memu.ingest.sessions.pi import Pi
from memu.ingest.sessions.role_content import RoleContent
from memu.ingest.sessions.sub_agents import SubAgent

__all__ = ["DIALECTS", "Dialect", "find_dialect"]


class Dialect(Protocol):
    """Reads the records of one agent's logs. Stateless: what a record tells depends on that record alone."""

    @property
    def name(self) -> str:
        """What it is called in documentation and reports."""

    def recognises(self, records: Sequence[Record]) -> bool:
        """Whether the first records of a log are in this form."""

    def read(self, record: Record) -> Iterator[Event]:
        """What one record tells, in order; nothing where it is the program's own business."""


DIALECTS: tuple[Dialect, ...] = (SubAgent(), ClaudeCode(), Codex(), Pi(), GeminiCli(), RoleContent())
"""Every dialect, the more particular ones first."""


def find_dialect(records: Sequence[Record]) -> Dialect | None:
    """The dialect of a log that begins with these records."""
    return next((dialect for dialect in DIALECTS if dialect.recognises(records)), None)
