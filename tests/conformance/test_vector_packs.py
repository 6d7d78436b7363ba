"""Packed vectors: at the end of every transaction they say what the rows say, and a search reads them alone."""

from __future__ import annotations

import random
import sqlite3

import numpy as np
import pytest

from memu.records import EMPTY_SCOPE, EncoderIdentity, Kind, Scope
from memu.storage.database import Database
from memu.storage.search import EVERYTHING, SearchFilter
from memu.storage.search_sqlite import SqliteSearch
from memu.storage.vector_triggers import SLOTS
from memu.storage.vectors import quantise
from memu.tokens import query_terms

pytestmark = pytest.mark.conformance

DIMENSION = 6
ANN = Scope.of({"user_id": "ann"})
KINDS = (Kind.CODE, *[Kind.CHAT] * 9, *[Kind.DOCUMENT] * 30)


def _encoder(store, name="e"):
    identity = EncoderIdentity(name=name, dimension=DIMENSION, fingerprint="f")
    return store.db.write_now(lambda session: session.encoders.add(identity)).id


def _add(store, make, encoder_id, vectors, path="a.md", kind=Kind.DOCUMENT, scope=EMPTY_SCOPE):
    """A source with a passage for each vector; returns the passages' ids."""
    workspace = store.add_workspace(scope=scope)

    def work(repository):
        source = repository.resources.by_path(workspace.id, path)
        if source is None:
            source = repository.resources.save(make.resource(workspace, path, kind=kind))
        wanted = [make.passage(f"Fact {at} of {path}.", ordinal=at, kind=kind) for at in range(len(vectors))]
        ids = repository.passages.replace_for_resource(source.id, wanted)
        repository.passages.add_vectors(encoder_id, quantise(ids, vectors, DIMENSION).rows)
        return ids

    return store.write(work, scope)


def _draw(chance, count):
    return chance.normal(size=(count, DIMENSION)).astype(np.float32)


def _nearest(store, query, encoder_id, wanted=EVERYTHING, limit=10, scope=EMPTY_SCOPE):
    return store.read(lambda repository: repository.search.nearest(query, encoder_id, wanted, limit), scope)


def _assert_in_step(store):
    """No slot says anything that its row does not, and each row is in a slot (P4: also in the bytes)."""
    for scope in store.db.read_now(lambda session: session.scopes()):
        faults = store.read(lambda repository: repository.inspection.pack_faults(), scope)
        assert (faults.wrong, faults.strange) == ((), 0)


@pytest.mark.parametrize("seed", range(2))
def test_p4_packs_follow_every_change_and_find_what_the_rows_hold(store, make, seed):
    """Sources of all sizes come, change and go, in two scopes, of two encoders; then all is compared."""
    chance, numbers = random.Random(seed), np.random.default_rng(seed)
    encoders = [_encoder(store), _encoder(store, "other")]
    held: dict[tuple[Scope, str, str], dict[str, np.ndarray]] = {}
    for _ in range(16):
        scope, encoder_id = chance.choice([EMPTY_SCOPE, ANN]), chance.choice(encoders)
        path = f"{chance.randint(0, 3)}.md"
        if chance.random() < 0.3:

            def remove(repository, path=path):
                found = repository.workspaces.find(root="/notes")
                source = repository.resources.by_path(found.id, path) if found else None
                if source is not None:
                    repository.resources.remove([source.id])

            store.write(remove, scope)
            for other in encoders:
                held.pop((scope, other, path), None)
            continue
        vectors = _draw(numbers, chance.choice([1, 3, 40, SLOTS, SLOTS + 7]))
        ids = _add(store, make, encoder_id, vectors, path=path, scope=scope)
        held[scope, encoder_id, path] = dict(zip(ids, vectors, strict=True))
        for other in encoders:
            # Fewer passages than before: the vectors of those that are left stand.
            rest = held.get((scope, other, path), {})
            held[scope, other, path] = {each: rest[each] for each in ids if each in rest}
    _assert_in_step(store)
    query = _draw(numbers, 1)[0]
    for scope in (EMPTY_SCOPE, ANN):
        for encoder_id in encoders:
            rows = {
                each: vector
                for (of, by, _), vectors in held.items()
                if (of, by) == (scope, encoder_id)
                for each, vector in vectors.items()
            }
            found = _nearest(store, query, encoder_id, limit=10_000, scope=scope)
            assert {each.id for each in found} == set(rows)
            for each in found:
                cosine = rows[each.id] @ query / np.linalg.norm(rows[each.id]) / np.linalg.norm(query)
                assert each.score == pytest.approx(cosine, abs=0.02)


@pytest.mark.parametrize("kind", [Kind.CODE, Kind.CHAT, Kind.DOCUMENT])
@pytest.mark.parametrize("limit", [1, 60])
@pytest.mark.parametrize("few", [0, 2000], ids=["by packs", "as it is"])
def test_a_filter_is_exact_by_packs_and_by_rows(store, make, kind, limit, few):
    if store.db.url.get_backend_name() != "sqlite":
        pytest.skip("A server has no packs.")
    numbers, encoder_id = np.random.default_rng(5), _encoder(store)
    kinds: dict[str, Kind] = {}
    for at in range(3):
        for each in sorted(set(KINDS)):
            vectors = _draw(numbers, 10 * KINDS.count(each))
            kinds |= dict.fromkeys(_add(store, make, encoder_id, vectors, f"{at}-{each}.md", each), each)
    query = _draw(numbers, 1)[0]
    whole = _nearest(store, query, encoder_id, limit=len(kinds))
    assert len(whole) == len(kinds)
    wanted = SearchFilter(kinds=frozenset({kind}))

    def search(repository):
        return SqliteSearch(repository.search._scoped, few).nearest(query, encoder_id, wanted, limit)

    assert store.read(search) == [each for each in whole if kinds[each.id] is kind][:limit]


def test_p4_no_byte_of_a_vector_is_left_when_its_source_goes(store, make):
    numbers, encoder_id = np.random.default_rng(6), _encoder(store)
    _add(store, make, encoder_id, _draw(numbers, 30), "a.md")
    secret = quantise(["x"], _draw(numbers, 1), DIMENSION).rows[0].vector
    _add(store, make, encoder_id, np.frombuffer(secret, dtype=np.int8).astype(np.float32)[None], "b.md")

    def holds() -> bool:
        packs = [row for row in store.dump()["vector_pack"] if secret in bytes(row[-1])]
        return bool(packs) or any(row[3] == secret for row in store.dump()["passage_vector"])

    assert holds()

    def remove(repository):
        found = repository.workspaces.find(root="/notes")
        repository.resources.remove([repository.resources.by_path(found.id, "b.md").id])

    store.write(remove)
    assert not holds()
    _assert_in_step(store)


def test_what_another_process_wrote_is_found_by_the_next_search(tmp_path, make):
    """No number that a connection keeps, and nothing it has mapped, outlives another's commit."""
    url = f"sqlite:///{tmp_path / 'two.sqlite3'}"
    query = np.ones(DIMENSION, dtype=np.float32)
    with Database.open(url) as one, Database.open(url) as two:
        encoder = one.write_now(
            lambda session: session.encoders.register(
                EncoderIdentity(name="e", dimension=DIMENSION, fingerprint="f")
            )
        )
        workspace = one.write_now(
            lambda session: session.within(EMPTY_SCOPE).workspaces.add(name=None, root="/notes")
        )
        for at in range(3):
            writer, reader = (one, two) if at % 2 else (two, one)

            def write(session, at=at):
                repository = session.within(EMPTY_SCOPE)
                source = repository.resources.save(make.resource(workspace, f"{at}.md"))
                wanted = [make.passage(f"apple {part}", ordinal=part) for part in range(600)]
                ids = repository.passages.replace_for_resource(source.id, wanted)
                rows = quantise(ids, _draw(np.random.default_rng(at), 600), DIMENSION).rows
                repository.passages.add_vectors(encoder.id, rows)

            def read(session):
                search = session.within(EMPTY_SCOPE).search
                words = search.words(query_terms("apple"), limit=10_000)
                return len(words), words[0].score, len(search.nearest(query, encoder.id, limit=10_000))

            before = reader.read_now(read) if at else (0, 0.0, 0)
            writer.write_now(write)
            after = reader.read_now(read)
            assert after[::2] == (before[0] + 600, before[2] + 600)
            # A number that was kept too long would score it otherwise.
            with Database.open(url) as fresh:
                assert fresh.read_now(read) == after


def test_p2_a_store_of_before_is_packed_by_its_upgrade(tmp_path, make, store):
    """What the upgrade makes of the rows is what writing them makes."""
    if store.db.url.get_backend_name() != "sqlite":
        pytest.skip("A server has no packs.")
    numbers, encoder_id = np.random.default_rng(8), _encoder(store)
    _add(store, make, encoder_id, _draw(numbers, SLOTS + 5))
    query = _draw(numbers, 1)[0]
    expected = _nearest(store, query, encoder_id)
    path = tmp_path / "older.sqlite3"
    with sqlite3.connect(path) as copy:
        with store.db._engine.connect() as connection:
            connection.connection.driver_connection.backup(copy)
        copy.executescript(
            "DROP TRIGGER passage_vector_gone; DROP TRIGGER passage_vector_changed; DROP TABLE vector_pack;"
            "DROP INDEX ix_passage_vector_place; ALTER TABLE passage_vector DROP COLUMN place;"
            "UPDATE alembic_version SET version_num = '0004'"
        )
    copy.close()
    with Database.open(f"sqlite:///{path}") as db:
        found = db.read_now(lambda session: session.within(EMPTY_SCOPE).search.nearest(query, encoder_id))
        faults = db.read_now(lambda session: session.within(EMPTY_SCOPE).inspection.pack_faults())
    assert found[:10] == expected
    assert (faults.wrong, faults.strange) == ((), 0)
