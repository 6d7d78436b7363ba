"""Between rows and records: for each table the columns in the order its record takes them, and both ways over.

A record is made from a plain sequence of values, so that one joined row can hold several records side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement

from memu.records import (
    FileProblem,
    Kind,
    LineSpan,
    MemoryType,
    Origin,
    Passage,
    RecallEntry,
    RecallFile,
    Resource,
    State,
    SyncRun,
    Track,
    Usage,
    Workspace,
)
from memu.storage import tables

__all__ = [
    "ENTRY",
    "PAGE",
    "PASSAGE",
    "RESOURCE",
    "RUN",
    "WORKSPACE",
    "entry_values",
    "passage_values",
    "resource_values",
    "span",
    "to_entry",
    "to_page",
    "to_passage",
    "to_resource",
    "to_run",
    "to_workspace",
]

Values = Sequence[Any]
Columns = tuple[ColumnElement[Any], ...]


def _columns(table: Any, names: str) -> Columns:
    return tuple(table.c[name] for name in names.split())


WORKSPACE = _columns(tables.workspace, "id name root version assigned")
RESOURCE = _columns(
    tables.resource,
    "id workspace_id path kind title caption content_hash size mtime_ns state reason attempts tried_at language "
    "happened_at redactions facts created_at updated_at seen_ns stamp",
)
ENTRY = _columns(
    tables.recall_entry,
    "id resource_id ordinal memory_type track text text_key line_start line_end place label block page_hint "
    "section shown happened_at created_at origin",
)
PAGE = _columns(
    tables.recall_file,
    "id track folded_name name description content version created_at updated_at described_by",
)
PASSAGE = _columns(
    tables.passage,
    "id ordinal header text heading resource_id entry_id file_id track kind language line_start line_end place "
    "happened_at",
)
RUN = _columns(
    tables.sync_run, "id workspace_id state started_at ended_at extractor encoder counts failed error usage"
)


def span(start: int | None, end: int | None) -> LineSpan | None:
    """The lines that two columns hold."""
    if start is None:
        return None
    return LineSpan(start, start if end is None else end)


def _line_values(lines: LineSpan | None) -> dict[str, Any]:
    return {"line_start": lines.start if lines else None, "line_end": lines.end if lines else None}


def to_workspace(row: Values) -> Workspace:
    each, name, root, version, assigned = row
    return Workspace(id=each, name=name, root=root, version=version, assigned=assigned)


def to_resource(row: Values) -> Resource:
    return Resource(
        id=row[0],
        workspace_id=row[1],
        path=row[2],
        kind=Kind(row[3]),
        title=row[4],
        caption=row[5],
        content_hash=row[6],
        size=row[7],
        mtime_ns=row[8],
        state=State(row[9]),
        reason=row[10],
        attempts=row[11],
        tried_at=row[12],
        language=row[13],
        happened_at=row[14],
        redactions=row[15],
        facts=row[16],
        created_at=row[17],
        updated_at=row[18],
        seen_ns=row[19],
        stamp=row[20],
    )


def resource_values(resource: Resource) -> dict[str, Any]:
    """What is stored of a resource but its id and the two times that the store sets."""
    return {
        "workspace_id": resource.workspace_id,
        "path": resource.path,
        "kind": resource.kind.value,
        "title": resource.title,
        "caption": resource.caption,
        "content_hash": resource.content_hash,
        "size": resource.size,
        "mtime_ns": resource.mtime_ns,
        "stamp": resource.stamp,
        "seen_ns": resource.seen_ns,
        "state": resource.state.value,
        "reason": resource.reason,
        "attempts": resource.attempts,
        "tried_at": resource.tried_at,
        "language": resource.language,
        "happened_at": resource.happened_at,
        "redactions": dict(resource.redactions),
        "facts": dict(resource.facts),
    }


def to_entry(row: Values) -> RecallEntry:
    return RecallEntry(
        id=row[0],
        resource_id=row[1],
        ordinal=row[2],
        memory_type=MemoryType(row[3]),
        track=Track(row[4]),
        text=row[5],
        text_key=row[6],
        lines=span(row[7], row[8]),
        place=row[9],
        label=row[10],
        block=row[11],
        page_hint=row[12],
        section=row[13],
        shown=row[14],
        happened_at=row[15],
        created_at=row[16],
        origin=Origin(row[17]),
    )


def entry_values(entry: RecallEntry) -> dict[str, Any]:
    """What is stored of an entry but its id, its resource, its time of creation and whether it is shown."""
    return {
        "ordinal": entry.ordinal,
        "memory_type": entry.memory_type.value,
        "track": entry.track.value,
        "text": entry.text,
        "text_key": entry.text_key,
        **_line_values(entry.lines),
        "place": entry.place,
        "label": entry.label,
        "block": entry.block,
        "page_hint": entry.page_hint,
        "section": entry.section,
        "happened_at": entry.happened_at,
        "origin": entry.origin.value,
    }


def to_page(row: Values) -> RecallFile:
    each, track, folded_name, name, description, content, version, created_at, updated_at, cites = row
    return RecallFile(
        id=each,
        track=Track(track),
        folded_name=folded_name,
        name=name,
        description=description,
        content=content,
        version=version,
        created_at=created_at,
        updated_at=updated_at,
        described_by=None if cites is None else tuple(cites),
    )


def to_passage(row: Values) -> Passage:
    return Passage(
        id=row[0],
        ordinal=row[1],
        header=row[2],
        text=row[3],
        heading=row[4],
        resource_id=row[5],
        entry_id=row[6],
        file_id=row[7],
        track=Track(row[8]) if row[8] else None,
        kind=Kind(row[9]) if row[9] else None,
        language=row[10],
        lines=span(row[11], row[12]),
        place=row[13],
        happened_at=row[14],
    )


def passage_values(passage: Passage) -> dict[str, Any]:
    """What is stored of a passage but its id and its owner."""
    return {
        "ordinal": passage.ordinal,
        "header": passage.header,
        "text": passage.text,
        "heading": passage.heading,
        "track": passage.track.value if passage.track else None,
        "kind": passage.kind.value if passage.kind else None,
        "language": passage.language,
        **_line_values(passage.lines),
        "place": passage.place,
        "happened_at": passage.happened_at,
    }


def to_run(row: Values) -> SyncRun:
    each, workspace_id, state, started_at, ended_at, extractor, encoder, counts, failed, error, usage = row
    return SyncRun(
        id=each,
        workspace_id=workspace_id,
        state=state,
        started_at=_aware(started_at),
        ended_at=ended_at,
        extractor=extractor,
        encoder=encoder,
        counts=counts,
        failed=tuple(FileProblem(path=item["path"], reason=item["reason"]) for item in failed),
        error=error,
        usage={step: Usage(**spent) for step, spent in (usage or {}).items()},
    )


def _aware(value: Any) -> datetime:
    assert isinstance(value, datetime)
    return value
