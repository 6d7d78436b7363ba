"""P4: what only a removed source said is gone from every row of every table."""

from __future__ import annotations

from pathlib import Path

import pytest

from memu.records import EncoderIdentity, FileProblem, Track
from memu.storage.vectors import VectorRow

pytestmark = pytest.mark.conformance

WORD = "zanzibar"


def _fill(store, make):
    """A source that alone says the word, in every table that a source reaches; another one beside it."""
    kept = store.add_source("kept.md", "Something else.")
    doomed = store.add_source(f"{WORD}.md", f"The {WORD} plan.", f"More of {WORD}.")

    def work(session):
        from memu.records import EMPTY_SCOPE

        repository = session.within(EMPTY_SCOPE)
        page = repository.pages.ensure(Track.MEMORY, "Plans")
        repository.pages.link(page.id, [*kept.entry_ids, *doomed.entry_ids], {doomed.entry_ids[0]: WORD})
        of_entries = [
            make.passage(WORD, header=WORD, heading=WORD, entry_id=each, track=Track.MEMORY)
            for each in doomed.entry_ids
        ]
        ids = repository.passages.replace_for_entries(doomed.resource.id, of_entries)
        encoder = session.encoders.register(EncoderIdentity(name="e", dimension=2, fingerprint="f"))
        rows = [
            VectorRow(passage_id=each, vector=b"\x01\x02", scale=1.0)
            for each in [*ids, *doomed.passage_ids, *kept.passage_ids]
        ]
        repository.passages.add_vectors(encoder.id, rows)
        run = repository.runs.start(kept.workspace.id, extractor="extractive")
        failed = FileProblem(path=f"{WORD}.md", reason=WORD)
        from dataclasses import replace

        repository.runs.finish(replace(run, state="partial", failed=(failed,)))
        return page

    return kept, doomed, store.db.write_now(work)


def _finish_a_run(repository, workspace_id):
    from dataclasses import replace

    run = repository.runs.start(workspace_id, extractor="extractive")
    repository.runs.finish(replace(run, state="done"))


def test_f7_a_removed_source_leaves_no_word(store, make):
    kept, doomed, page = _fill(store, make)
    assert repr(store.dump()).count(WORD) > 10
    store.write(lambda repository: repository.resources.remove([doomed.resource.id]))
    store.write(lambda repository: _finish_a_run(repository, kept.workspace.id))
    dump = store.dump()
    assert WORD not in repr(dump)
    ids = {doomed.resource.id, *doomed.entry_ids, *doomed.passage_ids}
    assert not [each for each in ids if each in repr(dump)]
    assert {row[2] for row in dump["posting"]} == set(kept.passage_ids)
    assert len(dump["passage_vector"]) == len(kept.passage_ids)
    assert [link.entry_id for link in store.read(lambda repository: repository.pages.entries_of(page.id))] == list(
        kept.entry_ids
    )


def test_f6_a_source_edited_down_to_nothing_leaves_no_word(store, make):
    kept, doomed, _ = _fill(store, make)

    def empty(repository):
        from dataclasses import replace

        repository.entries.replace(doomed.resource.id, [])
        repository.passages.replace_for_resource(doomed.resource.id, [])
        repository.resources.save(replace(doomed.resource, title=""))
        repository.resources.move(doomed.resource.id, "empty.md")
        _finish_a_run(repository, kept.workspace.id)

    store.write(empty)
    assert WORD not in repr(store.dump())


def test_a_removed_workspace_leaves_no_word(store, make):
    _, doomed, page = _fill(store, make)
    store.write(lambda repository: repository.workspaces.remove(doomed.workspace.id))
    dump = store.dump()
    assert WORD not in repr(dump)
    assert [name for name, rows in dump.items() if rows] == ["encoder", "scope", "recall_file"]
    assert [each.id for each in store.read(lambda repository: repository.pages.list())] == [page.id]


def test_a_removed_page_leaves_its_entries(store, make):
    kept, doomed, page = _fill(store, make)

    def work(repository):
        repository.passages.replace_for_page(page.id, [make.passage("About mauritius.", track=Track.MEMORY)])
        repository.queue.add([page.id])
        repository.pages.remove(page.id)
        return repository.entries.count()

    assert store.write(work) == len(kept.entry_ids) + len(doomed.entry_ids)
    dump = store.dump()
    assert "mauritius" not in repr(dump)
    assert (dump["recall_file"], dump["recall_file_entry"], dump["fold_queue"]) == ([], [], [])


def test_f19_a_dropped_encoder_takes_its_vectors_along(store, make):
    _fill(store, make)
    store.db.write_now(lambda session: session.encoders.remove(session.encoders.active().id))
    assert store.dump()["passage_vector"] == []


def test_deleted_words_are_overwritten_in_the_file(tmp_path: Path, make):
    """Deleted text is not just unlinked: the closed file does not hold its bytes (secure_delete)."""
    from memu.records import EMPTY_SCOPE
    from memu.storage.database import Database

    path = tmp_path / "x.sqlite3"
    with Database.open(f"sqlite:///{path}") as db:

        def fill(session):
            repository = session.within(EMPTY_SCOPE)
            workspace = repository.workspaces.add(name=None, root="/notes")
            resource = repository.resources.save(make.resource(workspace, "a.md"))
            repository.entries.replace(resource.id, make.entries(*(f"{WORD} {at} " * 40 for at in range(50))))
            return resource

        resource = db.write_now(fill)
        db.write_now(lambda session: session.within(EMPTY_SCOPE).resources.remove([resource.id]))
    assert WORD.encode() not in path.read_bytes()
