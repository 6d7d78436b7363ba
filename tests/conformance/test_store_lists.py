"""Listing piece by piece: what stays is met exactly once, whatever is deleted or renamed meanwhile."""

from __future__ import annotations

import random

import pytest
from sqlalchemy import event

from memu.records import Scope, Track

pytestmark = pytest.mark.conformance

ANN, BOB = Scope.of({"user_id": "ann"}), Scope.of({"user_id": "bob"})
SOURCES = 40


def _fill(store, scope):
    """Sources, each with an entry that stands on a page of its own."""
    for number in range(SOURCES):
        source = store.add_source(f"{number:02}.md", f"Statement {number}.", scope=scope)

        def work(repository, source=source, number=number):
            page = repository.pages.ensure(list(Track)[number % 2], f"Page {number}")
            repository.pages.link(page.id, source.entry_ids)

        store.write(work, scope)


FETCHES = {
    "pages": lambda repository, after, limit: repository.pages.names(frozenset(Track), after=after, limit=limit),
    "entries": lambda repository, after, limit: [
        found.entry for found in repository.entries.list_shown(after=after, limit=limit)
    ],
    "resources": lambda repository, after, limit: repository.resources.list(after=after, limit=limit),
}


def _ids(store, fetch, after=None, limit=1000):
    return [each.id for each in store.read(lambda repository: fetch(repository, after, limit), ANN)]


@pytest.mark.parametrize("what", sorted(FETCHES))
@pytest.mark.parametrize("seed", range(2))
def test_what_stays_is_listed_once_while_other_things_go(store, what, seed):
    chance = random.Random(seed)
    fetch = FETCHES[what]
    for scope in (ANN, BOB):
        _fill(store, scope)
    before = _ids(store, fetch)
    assert len(before) == SOURCES
    assert len(set(before)) == SOURCES

    def disturb(repository):
        doomed = chance.sample([source.id for source in repository.resources.list()], 2)
        pages = repository.pages.pages_of_entries(
            [entry.id for source in doomed for entry in repository.entries.of_resource(source)]
        )
        repository.resources.remove(doomed)
        for (page,) in pages.values():
            repository.pages.remove(page)
        moved = chance.choice(repository.resources.list())
        repository.resources.move(moved.id, f"renamed/{chance.random()}.md")
        page = chance.choice(repository.pages.names(frozenset(Track), after=None, limit=1000))
        repository.pages.rename(page.id, page.name.upper())

    seen = []
    while piece := _ids(store, fetch, seen[-1] if seen else None, chance.randint(1, 5)):
        seen += piece
        store.write(disturb, ANN)
    assert len(seen) == len(set(seen))
    assert set(_ids(store, fetch)) <= set(seen) <= set(before)


def test_lists_are_bounded_by_track_and_workspace(store):
    _fill(store, ANN)
    other = store.add_source("00.md", "Elsewhere.", scope=ANN, root="/other")

    def work(repository):
        skills = frozenset({Track.SKILL})
        names = repository.pages.names(skills, after=None, limit=1000)
        assert {page.track for page in names} == {Track.SKILL}
        assert len(names) == SOURCES / 2
        assert repository.pages.names(frozenset(), after=None, limit=1000) == ()
        assert repository.entries.list_shown(skills, limit=1000) == ()
        assert [each.id for each in repository.resources.list(other.workspace.id)] == [other.resource.id]
        found = repository.pages.named([*(page.id for page in names), "nothing"])
        assert found == {page.id: page for page in names}

    store.read(work, ANN)


PIECES = {
    **FETCHES,
    "passages without a vector": lambda repository, after, limit: repository.passages.without_vector(
        "e", after=after, limit=limit
    ),
    "passages with their postings": lambda repository, after, limit: repository.inspection.indexed(
        after=after, limit=limit
    ),
}


@pytest.mark.parametrize("what", sorted(PIECES))
def test_a_piece_is_read_from_the_key_and_the_rest_is_not_sorted(store, what):
    """Whatever the size of the scope: its plan has no sort, where the database is told to sort only if it must."""
    _fill(store, ANN)
    first = _ids(store, FETCHES["resources"], limit=3)[-1]
    plans = []

    def work(session):
        repository = session.within(ANN)
        connection = session._connection
        server = connection.dialect.name == "postgresql"

        def explain(statement, values):
            rows = connection.exec_driver_sql(f"EXPLAIN {'' if server else 'QUERY PLAN '}{statement}", values)
            plans.append("\n".join(str(row[-1]) for row in rows))

        asked = []
        event.listen(connection, "before_cursor_execute", lambda *given: asked.append(given[2:4]))
        PIECES[what](repository, first, 3)
        pieces = [each for each in asked if "ORDER BY" in each[0]]
        if server:
            connection.exec_driver_sql("SET LOCAL enable_sort = off")
            connection.exec_driver_sql("SET LOCAL enable_incremental_sort = off")
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        for statement, values in pieces:
            explain(statement, values)

    store.db.read_now(work)
    assert plans
    assert not [plan for plan in plans if "Sort" in plan or "TEMP B-TREE" in plan]
