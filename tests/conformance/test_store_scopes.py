"""P6: a repository sees its scope alone, and no link leads out of one."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from memu.errors import ScopeError, StoreError
from memu.records import EMPTY_SCOPE, Kind, OverviewSentence, Scope, Track
from memu.storage import tables
from memu.storage.vectors import VectorRow
from memu.tokens import query_terms

pytestmark = pytest.mark.conformance

ANN, BOB = Scope.of({"user_id": "ann"}), Scope.of({"user_id": "bob"})
INNER_LINKS = [
    (table, key)
    for table in tables.metadata.sorted_tables
    for key in sorted(table.foreign_key_constraints, key=lambda each: str(each.name))
    if "scope_id" in table.c and len(key.column_keys) > 1
]


def _fill(store, make, scope):
    """One row in every table of the scope."""
    name = scope.fields.get("user_id", "nobody")
    source = store.add_source("a.md", f"The secret of {name}.", scope=scope)

    def work(repository):
        page = repository.pages.ensure(Track.MEMORY, f"Page of {name}")
        repository.pages.link(page.id, source.entry_ids)
        repository.passages.replace_for_page(page.id, [make.passage(f"About {name}.", track=Track.MEMORY)])
        of_entry = make.passage("secret", entry_id=source.entry_ids[0], track=Track.MEMORY)
        repository.passages.replace_for_entries(source.resource.id, [of_entry])
        repository.queue.add([page.id])
        repository.runs.start(source.workspace.id, extractor="extractive")
        repository.replies.keep(f"{name} a", "Said.", resource_id=source.resource.id)
        repository.replies.keep(f"{name} b", "Said.", file_id=page.id)
        repository.patches.add(page.id, 1, prompt_hash=name, model="m", counts={"add": 1})
        repository.overviews.set(Track.MEMORY, name, [OverviewSentence(text=f"All of {name}.", pages=(page.id,))])
        from memu.storage.publications import Publication

        repository.publications.set(Publication(tree="/out", version=1, fingerprint=name))
        repository.tombstones.add([name])
        return page

    page = store.write(work, scope)

    def embed(session):
        from memu.records import EncoderIdentity

        encoder = session.encoders.register(EncoderIdentity(name="e", dimension=2, fingerprint="f"))
        rows = [VectorRow(passage_id=each, vector=b"\x01\x02", scale=1.0) for each in source.passage_ids]
        session.within(scope).passages.add_vectors(encoder.id, rows)
        return encoder

    return source, page, store.db.write_now(embed)


def _everything(repository):
    """What each reading method gives, without being told any id."""
    found = [
        repository.workspaces.list(),
        repository.resources.list(),
        repository.resources.at("a.md"),
        repository.entries.list_shown(),
        repository.entries.count(),
        repository.pages.list(),
        repository.pages.names(frozenset(Track), after=None, limit=100),
        repository.pages.counts(),
        repository.passages.count(),
        repository.queue.list(),
        repository.tombstones.list(),
        repository.publications.list(),
        repository.replies.get("nobody a"),
        repository.overviews.get(Track.MEMORY),
        repository.search.words(query_terms("secret about")),
    ]
    return repr(found)


def test_f43_two_scopes_see_nothing_of_each_other(store, make):
    """F43: Alice then Bob, the same page names and paths."""
    filled = {scope: _fill(store, make, scope) for scope in (ANN, BOB, EMPTY_SCOPE)}
    for scope in filled:
        others = [
            each_id
            for other, (source, page, _) in filled.items()
            if other != scope
            for each_id in (
                source.workspace.id,
                source.resource.id,
                *source.entry_ids,
                *source.passage_ids,
                page.id,
            )
        ]
        seen = store.read(_everything, scope)
        assert filled[scope][0].resource.id in seen
        assert not [each for each in others if each in seen]


def test_ids_of_another_scope_lead_nowhere(store, make):
    """Every method that takes an id, given one of Ann's, finds and changes nothing for Bob."""
    source, page, encoder = _fill(store, make, ANN)
    _fill(store, make, BOB)
    workspace_id, resource_id, (entry_id,), (passage_id,) = (
        source.workspace.id,
        source.resource.id,
        source.entry_ids,
        source.passage_ids,
    )

    def look(repository):
        return [
            repository.workspaces.get(workspace_id),
            repository.resources.get(resource_id),
            repository.resources.by_path(workspace_id, "a.md"),
            repository.resources.of_workspace(workspace_id),
            repository.resources.known(workspace_id),
            repository.resources.counts(workspace_id),
            repository.resources.many([resource_id]),
            repository.replies.get("ann a"),
            repository.patches.list(page.id),
            repository.entries.get(entry_id),
            repository.entries.of_workspace(workspace_id),
            repository.entries.of_resource(resource_id),
            repository.entries.of_page(page.id),
            repository.entries.count(workspace_id),
            repository.pages.get(page.id),
            repository.pages.named([page.id]),
            repository.resources.list(workspace_id),
            repository.pages.entries_of(page.id),
            repository.pages.links_of_workspace(workspace_id),
            repository.pages.pages_of_entries([entry_id]),
            repository.passages.hydrate([passage_id]),
            repository.passages.of_resource(resource_id),
            repository.passages.of_page(page.id),
            repository.runs.last(workspace_id),
            repository.publications.get("/elsewhere"),
        ]

    assert not any(store.read(look, BOB))
    ann = store.scope_id(ANN)
    before = [row for rows in store.dump().values() for row in rows if ann in row]

    def vandalise(repository):
        repository.workspaces.bump(workspace_id)
        repository.workspaces.mark_assigned(workspace_id, 9)
        repository.workspaces.remove(workspace_id)
        repository.resources.remove([resource_id])
        repository.resources.move(resource_id, "gone.md")
        repository.resources.restat([(resource_id, 1, 1, 1)], 1)
        repository.entries.set_shown([entry_id], False)
        repository.entries.replace(resource_id, [])
        repository.pages.rename(page.id, "Page of ANN")
        repository.pages.set_marks(page.id, {entry_id: "zzzzz"})
        repository.pages.unlink(page.id, [entry_id])
        repository.pages.remove(page.id)
        repository.passages.replace_for_resource(resource_id, [])
        repository.passages.replace_for_entries(resource_id, [])
        repository.passages.replace_for_page(page.id, [])
        repository.replies.drop_for_resource(resource_id)
        repository.replies.drop_for_page(page.id)
        repository.overviews.remove(Track.MEMORY)
        repository.queue.remove(page.id)
        repository.tombstones.remove(["ann"])
        rows = [VectorRow(passage_id=passage_id, vector=b"\x05\x05", scale=1.0)]
        assert repository.passages.add_vectors(encoder.id, rows) == 0

    store.write(vandalise, BOB)
    after = [row for rows in store.dump().values() for row in rows if ann in row]
    assert after == before


@pytest.mark.parametrize(
    "link",
    [
        lambda repository, source, page, make: repository.resources.save(make.resource(source.workspace, "b.md")),
        lambda repository, source, page, make: repository.entries.replace(
            source.resource.id, make.entries("One.")
        ),
        lambda repository, source, page, make: repository.pages.link(page.id, source.entry_ids),
        lambda repository, source, page, make: repository.pages.link(
            repository.pages.ensure(Track.MEMORY, "Own").id, source.entry_ids
        ),
        lambda repository, source, page, make: repository.passages.replace_for_resource(
            source.resource.id, [make.passage("One.")]
        ),
        lambda repository, source, page, make: repository.passages.replace_for_page(
            page.id, [make.passage("One.")]
        ),
        lambda repository, source, page, make: repository.queue.add([page.id]),
        lambda repository, source, page, make: repository.runs.start(source.workspace.id, extractor="extractive"),
    ],
)
def test_a_link_into_another_scope_is_refused(store, make, link):
    source, page, _ = _fill(store, make, ANN)
    with pytest.raises(StoreError, match="refused"):
        store.write(lambda repository: link(repository, source, page, make), BOB)


@pytest.mark.parametrize(("table", "key"), INNER_LINKS, ids=lambda each: each.name)
def test_the_database_itself_refuses_a_cross_scope_link(store, make, table, key):
    """Every foreign key of every tenant table holds inside one scope: a row moved to Bob's scope is an orphan."""
    _fill(store, make, ANN)
    store.add_workspace(scope=BOB)
    bob = store.scope_id(BOB)
    column = next(name for name in key.column_keys if name != "scope_id")

    def steal(session):
        connection = session._connection
        rows = select(table).where(table.c[column].is_not(None))
        row = dict(connection.execute(rows).mappings().first())
        row["scope_id"] = bob
        connection.execute(table.insert(), [row])

    with pytest.raises(StoreError, match="refused"):
        store.db.write_now(steal)


def test_every_link_of_a_tenant_row_starts_with_its_scope():
    """A link by an id alone could lead out of the scope: there is none, but to what belongs to no scope."""
    for table in tables.metadata.sorted_tables:
        for key in table.foreign_key_constraints:
            target = key.referred_table
            if "scope_id" in table.c and "scope_id" in target.c:
                (first, *_) = key.elements
                assert (first.parent.name, first.column.name) == ("scope_id", "scope_id"), key.name
                assert not table.c.scope_id.nullable
            else:
                assert target.name in ("scope", "encoder"), key.name


@pytest.mark.parametrize(("table", "key"), INNER_LINKS, ids=lambda each: each.name)
def test_the_database_refuses_to_turn_a_link_to_another_scope(store, make, table, key):
    """A row of Bob's is not made to point at what is Ann's, whoever writes the SQL."""
    for scope in (ANN, BOB):
        _fill(store, make, scope)
    ann, bob = store.scope_id(ANN), store.scope_id(BOB)
    column = next(name for name in key.column_keys if name != "scope_id")

    def turn(session):
        connection = session._connection
        of = table.c.scope_id
        hers = connection.execute(select(table.c[column]).where(of == ann, table.c[column].is_not(None))).scalar()
        connection.execute(update(table).where(of == bob, table.c[column].is_not(None)).values({column: hers}))

    with pytest.raises(StoreError, match="refused"):
        store.db.write_now(turn)


def test_several_scopes_are_read_together_and_never_written(store, make):
    for scope in (ANN, BOB, EMPTY_SCOPE):
        _fill(store, make, scope)

    def look(session):
        both = session.across([ANN, BOB])
        return (
            len(both.resources.list()),
            len(both.search.words(query_terms("secret"))),
            len(session.across([]).resources.list()),
            len(session.across(session.scopes()).pages.list()),
        )

    assert store.db.read_now(look) == (2, 4, 0, 3)
    for change in (
        lambda repository: repository.workspaces.add(name=None, root="/x"),
        lambda repository: repository.resources.remove(["x"]),
        lambda repository: repository.pages.ensure(Track.MEMORY, "New"),
        lambda repository: repository.tombstones.add(["x"]),
        lambda repository: repository.queue.remove("x"),
    ):
        with pytest.raises(ScopeError):
            store.db.write_now(lambda session, change=change: change(session.across([ANN, BOB])))


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        ({}, ["ann/a", "ann/b", "bob", "nobody", "one", "true"]),
        ({"user_id": ["ann"]}, ["ann/a", "ann/b"]),
        ({"user_id": ["ann", "bob"]}, ["ann/a", "ann/b", "bob"]),
        ({"user_id": ["ann"], "agent_id": ["b"]}, ["ann/b"]),
        ({"agent_id": ["z"]}, []),
        ({"user_id": []}, []),
        ({"user_id": [1]}, ["one"]),
        ({"user_id": [True]}, ["true"]),
        ({"user_id": ["1"]}, []),
        ({"planet": ["earth"]}, []),
    ],
)
def test_scopes_are_matched_by_their_fields(store, conditions, names):
    scopes = {
        "ann/a": Scope.of({"user_id": "ann", "agent_id": "a"}),
        "ann/b": Scope.of({"user_id": "ann", "agent_id": "b"}),
        "bob": BOB,
        "nobody": EMPTY_SCOPE,
        "one": Scope.of({"user_id": 1}),
        "true": Scope.of({"user_id": True}),
    }
    store.db.write_now(lambda session: [session.within(scope) for scope in scopes.values()])
    found = store.db.read_now(lambda session: session.matching(conditions))
    assert {name for name, scope in scopes.items() if scope in found} == set(names)
    assert len(found) == len(names)


def test_f46_a_removed_scope_leaves_nothing(store, make):
    _fill(store, make, ANN)
    kept = store.dump()
    _fill(store, make, BOB)
    store.db.write_now(lambda session: session.remove(BOB))
    assert store.dump() == kept


def test_the_search_counts_words_of_its_own_scope_only(store):
    """Another tenant's documents change no score: nothing can be learnt of them."""
    store.add_source("a.md", "red apple", "green pear", scope=ANN, kind=Kind.DOCUMENT)
    alone = store.read(lambda repository: repository.search.words(query_terms("apple")), ANN)
    store.add_source("b.md", *["apple"] * 20, scope=BOB)
    assert store.read(lambda repository: repository.search.words(query_terms("apple")), ANN) == alone
