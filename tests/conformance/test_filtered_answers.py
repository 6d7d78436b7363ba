"""An answer within bounds is whole: filters are kept by the store, before anything is cut, on every database.

FIELD F52: a filter that is applied after the limit loses answers.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memu.providers.fakes import HashingEncoder
from memu.records import EMPTY_SCOPE, Kind, Layer, MemoryType
from memu.retrieve.bounds import bound
from memu.retrieve.states import ask
from memu.retrieve.workflow import retrieve_workflow
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.tokens import query_terms
from memu.workflow import LocalRunner

pytestmark = pytest.mark.conformance

HITS = 10
# Their passages and those of their entries are more than a search tries before it filters.
MANY = 120
FEW = 12
DAY = datetime(2026, 3, 1, tzinfo=UTC)


def nanoseconds(moment: datetime) -> int:
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1)) * 1000


@pytest.fixture
def filled(store: Any, make: Any) -> Any:
    """Many sources that answer well, and a few that do less and differ in all that is filtered by."""
    encoder = HashingEncoder()

    def work(session: Session) -> None:
        repository = session.within(EMPTY_SCOPE)
        spaces = {name: repository.workspaces.add(name=name, root=f"/{name}") for name in ("many", "few")}
        texts: dict[str, str] = {}
        for at in range(MANY + FEW):
            few = at >= MANY
            text = "apple among other fruit that hangs on trees" if few else "apple apple"
            moment = DAY + timedelta(days=30 if few else 0, minutes=at)
            source = make.resource(
                spaces["few" if few else "many"],
                f"{'docs/deep' if few else 'notes'}/{at}.{'md' if few else 'txt'}",
                kind=Kind.MEETING if few else Kind.DOCUMENT,
                mtime_ns=nanoseconds(moment),
            )
            resource = repository.resources.save(source)
            entry = make.entry(
                f"{text} {at}", memory_type=MemoryType.DECISION if few else MemoryType.KNOWLEDGE, line=1
            )
            (entry_id,) = repository.entries.replace(resource.id, [entry])
            told = {"kind": source.kind, "happened_at": moment, "line": 1}
            own = make.passage(f"{text} {at}", **told)
            kept = make.passage(f"{text} {at}", entry_id=entry_id, track=entry.track, **told)
            ids = [
                *repository.passages.replace_for_resource(resource.id, [own]),
                *repository.passages.replace_for_entries(resource.id, [kept]),
            ]
            texts |= dict.fromkeys(ids, own.text)
        vectors = asyncio.run(encoder.encode(list(texts.values())))
        stored = session.encoders.register(encoder.identity)
        repository.passages.add_vectors(stored.id, quantise(list(texts), vectors, encoder.identity.dimension).rows)

    store.db.write_now(work)
    return store


BOUNDS: tuple[dict[str, Any], ...] = (
    {"path": "docs/**"},
    {"path": "docs/"},
    {"path": "*.md"},
    {"kinds": ["meeting"]},
    {"memory_types": ["decision"]},
    {"since": "2026-03-20"},
    {"since": "2026-03-31", "until": "2026-03-31"},
    {"changed_since": "2026-03-20"},
    {"changed_since": DAY + timedelta(days=30), "changed_until": "2026-04-30T00:00"},
    {"path": "docs/**", "kinds": ["meeting"], "changed_since": "2026-03-20", "since": "2026-03-20"},
    {"workspace_id": "few"},
)


def test_f52_a_filtered_answer_is_full(filled: Any) -> None:
    """All bounds on one store: to fill it is what takes the time."""
    few = filled.read(lambda repository: repository.workspaces.find(name="few"))
    for bounds in BOUNDS:
        within = bound(**(bounds if "workspace_id" not in bounds else {"workspace_id": few.id}))
        state = ask(
            (EMPTY_SCOPE,), "apple", layers=None, tracks=None, max_hits=HITS, max_words=None, within=within
        )
        for encoder in (None, HashingEncoder()):
            done = asyncio.run(LocalRunner().run(retrieve_workflow(filled.db, encoder), state))
            hits = done.result.hits
            assert len(hits) == HITS, bounds
            assert all(hit.path and hit.path.startswith("docs/deep/") for hit in hits), bounds
            assert all(hit.layer is not Layer.FILE for hit in hits), bounds


def test_changed_bounds_are_both_included_to_the_microsecond(store: Any, make: Any) -> None:
    at = datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=UTC)
    times = {"before": nanoseconds(at) - 1, "first": nanoseconds(at), "last": nanoseconds(at) + 999}
    times |= {"after": nanoseconds(at) + 1000, "never": 0}

    def work(session: Session) -> dict[str, str]:
        repository = session.within(EMPTY_SCOPE)
        workspace = repository.workspaces.add(name="w", root="/w")
        names = {}
        for name, changed in times.items():
            resource = repository.resources.save(make.resource(workspace, name, mtime_ns=changed))
            (passage_id,) = repository.passages.replace_for_resource(resource.id, [make.passage("apple")])
            names[passage_id] = name
        return names

    names = store.db.write_now(work)

    def found(**bounds: datetime) -> set[str]:
        wanted = bound(**bounds)
        return store.read(
            lambda repository: {
                names[each.id] for each in repository.search.words(query_terms("apple"), wanted, 100)
            }
        )

    assert found(changed_since=at, changed_until=at) == {"first", "last"}
    assert found(changed_until=at) == {"before", "first", "last"}
    assert found(changed_since=at) == {"first", "last", "after"}
