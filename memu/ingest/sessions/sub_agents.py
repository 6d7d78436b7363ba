"""Logs of sub-agents: what an agent told another one, and what that answered, in a file of its own.

Its request and its answer stand in the log of the agent that sent it; nobody said what else is here. From public
sources; not tried on a real file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memu.ingest.sessions.events import Event
from memu.ingest.sessions.fields import object_at, text_at
from memu.ingest.sessions.log_records import Record

__all__ = ["SubAgent"]


class SubAgent:
    """A file whose header says that it is a sub-agent's, of Codex or of Gemini CLI. Nothing in it is read."""

    name = "sub-agent"

    def recognises(self, records: Sequence[Record]) -> bool:
        # Only the first header counts: a file may go on with what it has inherited from its parent.
        header = next((record.value for record in records if _is_header(record.value)), None)
        return header is not None and (_is_of_gemini(header) or _is_of_codex(object_at(header, "payload")))

    def read(self, record: Record) -> Iterator[Event]:
        yield from ()


def _is_header(value: Mapping[str, object]) -> bool:
    return text_at(value, "type") == "session_meta" or bool(
        text_at(value, "sessionId") and text_at(value, "projectHash")
    )


def _is_of_gemini(header: Mapping[str, object]) -> bool:
    return text_at(header, "kind") == "subagent"


def _is_of_codex(payload: Mapping[str, object]) -> bool:
    return "subagent" in object_at(payload, "source") or text_at(payload, "thread_source") == "subagent"
