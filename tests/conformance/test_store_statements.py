"""Statements that are made once serve every scope and every query, and keep each to its own."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from sqlalchemy.exc import StatementError

from memu.records import Kind, Scope, Track
from memu.storage import statements
from memu.storage.search import SearchFilter
from memu.storage.statements import find_where
from memu.storage.tables import metadata, recall_entry, workspace
from memu.storage.word_statements import Shape, best_scores, count_either, count_postings, measure_passages
from memu.tokens import QueryTerm

pytestmark = pytest.mark.conformance

SHAPE = Shape(
    simple=4, varied=4, common=2, k1=1.2, b=0.75, b_of_kind=((Kind.CHAT, 0.4),), among=False, across=False
)
ALICE, BOB = Scope.of({"user_id": "alice"}), Scope.of({"user_id": "bob"})


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        (find_where((recall_entry.c.id,), recall_entry, ("resource_id",)), {"resource_id": "r"}),
        (measure_passages(), {}),
        (count_postings(), {"terms": ["apple"]}),
        (count_either(2), {"term_0": "apple", "term_1": "pear"}),
        (
            best_scores(SHAPE),
            {f"{name}_{at}": 1 for name in ("term", "rarity", "word") for at in range(8)}
            | {"average": 1.0, "most": 1},
        ),
        (statements.delete_where(recall_entry, "id"), {"the_id": "e"}),
        (statements.update_where(recall_entry, ("text",)), {"the_id": "e", "new_text": "t"}),
        (statements.bump_row(workspace), {"the_id": "e"}),
        (statements.bump_scope(), {}),
    ],
)
def test_p6_none_runs_without_its_scope(store, statement, values):
    def work(session):
        with pytest.raises(StatementError, match="the_scope"):
            session._connection.execute(statement, values)

    store.db.write_now(work)


def test_p6_every_table_that_a_scope_owns_is_filtered_by_it(store):
    """Whatever table a statement is made for, the scope is in its WHERE."""
    for table in metadata.sorted_tables:
        if "scope_id" in table.c:
            made = [find_where(tuple(table.c), table, ()), statements.delete_where(table, "scope_id")]
            assert all(f"{table.name}.scope_id" in str(each.whereclause) for each in made)


def test_p6_one_statement_serves_two_scopes_and_mixes_nothing(store):
    terms = [QueryTerm(variants=("apple",)), QueryTerm(variants=("pear", "pears"))]
    ids = {}
    for scope, text in ((ALICE, "apple pear"), (BOB, "apple pears")):
        source = store.add_source("a.md", text, scope=scope)
        ids[scope] = set(source.passage_ids)
    for wanted in (SearchFilter(), SearchFilter(path_glob="*.md"), SearchFilter(kinds=frozenset({Kind.DOCUMENT}))):
        for scope in (ALICE, BOB, ALICE):
            found = store.read(lambda repository, w=wanted: repository.search.words(terms, w), scope)
            assert {each.id for each in found} == ids[scope]

        def both(session, w=wanted):
            return session.across([ALICE, BOB]).search.words(terms, w)

        assert {each.id for each in store.db.read_now(both)} == ids[ALICE] | ids[BOB]
    assert store.read(lambda repository: repository.search.words(terms)) == []


def test_the_entries_of_all_pages_are_those_of_each(store, make):
    """P3: an export that reads all pages at once orders citations as one that reads page by page."""
    chance = random.Random(3)

    def fill(repository):
        pages = [repository.pages.ensure(Track.MEMORY, f"Page {at}") for at in range(5)]
        for name, root in (("notes", "/z"), (None, "/a"), ("", "/m")):
            folder = repository.workspaces.add(name=name, root=root)
            for path in ("b.md", "a.md", "c/a.md"):
                resource = repository.resources.save(make.resource(folder, path))
                made = [make.entry(f"{root} {path} {at}", at, line=chance.randint(1, 3)) for at in range(6)]
                made.append(make.entry(f"{root} {path} page", 6, lines=None, place="page 2"))
                for entry_id in repository.entries.replace(resource.id, made):
                    page = chance.choice(pages[:4])
                    repository.pages.link(page.id, [entry_id])
                    repository.pages.set_marks(page.id, {entry_id: chance.choice(["k3f9a", "b2c3d"])})
        return [page.id for page in pages]

    page_ids = store.write(fill)

    def work(repository):
        found = repository.entries.of_pages()
        expected = {page: repository.entries.of_page(page) for page in page_ids}
        return found, {page: entries for page, entries in expected.items() if entries}

    found, expected = store.read(work)
    assert len(expected) == 4
    assert found.keys() == expected.keys()
    for page, entries in expected.items():
        assert [(each.workspace_id, each.path, each.lines, each.place, each.mark) for each in found[page]] == [
            (each.workspace.id, each.resource.path, each.entry.lines, each.entry.place, each.mark)
            for each in entries
        ]
    assert store.read(lambda repository: repository.entries.of_pages(), BOB) == {}


@pytest.mark.parametrize("variants", [1, 2, 3, 7])
def test_a_long_query_of_many_spellings_is_answered(store, variants):
    """As many SELECTs as a database takes, and no more, whatever the query."""
    words = [f"word{at}x" for at in range(700)]
    source = store.add_source("a.md", " ".join(words))
    groups = [QueryTerm(variants=tuple(words[at : at + variants])) for at in range(0, len(words), variants)]
    found = store.read(lambda repository: repository.search.words(groups, limit=5))
    assert [each.id for each in found] == list(source.passage_ids)


@pytest.mark.parametrize("varied", [False, True])
def test_places_that_are_not_needed_add_nothing(store, varied):
    """The score of a query is the sum of its terms' scores, however many places its statement has."""
    words = [f"w{at}x" for at in range(9)]
    for at in range(1, 9):
        store.add_source(f"{at}.md", " ".join(words[:at] * at), header="")
    if varied:
        store.add_source("y.md", " ".join(f"{word}y" for word in words), header="")
    terms = [QueryTerm(variants=(word, f"{word}y") if varied else (word,)) for word in words]

    def score(some):
        found = store.read(lambda repository: repository.search.words(some))
        return {each.id: each.score for each in found}

    alone = [score([term]) for term in terms]
    for count in range(1, len(terms) + 1):
        expected = Counter()
        for scores in alone[:count]:
            expected.update(scores)
        assert score(terms[:count]) == pytest.approx(dict(expected), abs=1e-8)
