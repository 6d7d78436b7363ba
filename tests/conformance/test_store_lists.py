"""Listing piece by piece: what stays is met exactly once, whatever is deleted or renamed meanwhile."""

from __future__ import annotations

import random

import pytest

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
@pytest.mark.parametrize("seed", range(4))
def test_what_stays_is_listed_once_while_other_things_go(store, what, seed):
    chance = random.Random(seed)
    fetch = FETCHES[what]
    for scope in (ANN, BOB):
        _fill(store, scope)
    before = _ids(store, fetch)
    assert len(before) == SOURCES
    assert before == sorted(before), "in the order of code points, on every database"

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
