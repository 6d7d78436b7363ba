"""Each group of rows does what it says, and replaces by difference (P7: equal things write nothing)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memu.errors import EncoderMismatch, LeaseLost, StoreError
from memu.records import (
    EMPTY_SCOPE,
    EncoderIdentity,
    FileProblem,
    Kind,
    LineSpan,
    OverviewSentence,
    State,
    Track,
    Usage,
)
from memu.storage.leases import Lease
from memu.storage.publications import Publication

pytestmark = pytest.mark.conformance

MINILM = EncoderIdentity(name="minilm", dimension=3, fingerprint="aa", languages=frozenset({"en"}))


def _rows_written(store, work, scope=EMPTY_SCOPE):
    before = store.rows_written
    result = store.write(work, scope)
    return store.rows_written - before, result


class TestWorkspaces:
    def test_found_by_name_or_root(self, store):
        named = store.write(lambda repository: repository.workspaces.add(name="work", root="/a"))
        plain = store.write(lambda repository: repository.workspaces.add(name=None, root="/b"))

        def look(repository):
            find = repository.workspaces.find
            return find(name="work"), find(root="/b"), find(name="work", root="/b"), find(), find(name="none")

        assert store.read(look) == (named, plain, None, None, None)
        assert store.read(lambda repository: repository.workspaces.list()) == (named, plain)

    def test_one_name_and_one_root_a_scope(self, store):
        store.write(lambda repository: repository.workspaces.add(name="work", root="/a"))
        for name, root in (("work", "/b"), (None, "/a")):
            with pytest.raises(StoreError):
                store.write(
                    lambda repository, name=name, root=root: repository.workspaces.add(name=name, root=root)
                )

    def test_a_moved_root_keeps_the_id(self, store):
        stored = store.add_workspace("/old")
        store.write(lambda repository: repository.workspaces.save(replace(stored, root="/new")))
        assert store.read(lambda repository: repository.workspaces.find(root="/new")) == replace(
            stored, root="/new"
        )
        written, _ = _rows_written(
            store, lambda repository: repository.workspaces.save(replace(stored, root="/new"))
        )
        assert written == 0

    def test_version_and_assigned(self, store):
        stored = store.add_workspace()

        def work(repository):
            repository.workspaces.bump(stored.id)
            repository.workspaces.bump(stored.id)
            repository.workspaces.mark_assigned(stored.id, 1)
            return repository.workspaces.get(stored.id)

        assert store.write(work) == replace(stored, version=2, assigned=1)
        assert _rows_written(store, lambda repository: repository.workspaces.mark_assigned(stored.id, 1))[0] == 0


class TestResources:
    def test_f18_an_edit_keeps_id_and_created_at(self, store, make):
        workspace = store.add_workspace()
        first = store.write(lambda repository: repository.resources.save(make.resource(workspace, "a.md")))
        edited = replace(make.resource(workspace, "a.md"), content_hash="f00", title="B", facts={"tags": ["x"]})
        second = store.write(lambda repository: repository.resources.save(edited))
        assert (second.id, second.created_at) == (first.id, first.created_at)
        assert second.updated_at > first.updated_at
        assert store.read(lambda repository: repository.resources.get(first.id)) == second
        store.write(lambda repository: repository.resources.remove([first.id]))
        again = store.write(lambda repository: repository.resources.save(edited))
        assert again.id != first.id

    @pytest.mark.parametrize(
        ("changes", "moves"),
        [
            ({"mtime_ns": 5}, False),
            ({"stamp": 5}, False),
            ({"size": 5}, False),
            ({"attempts": 2, "tried_at": datetime(2026, 5, 1, tzinfo=UTC)}, False),
            ({"state": State.FAILED, "reason": "unreadable"}, True),
            ({"title": "Other"}, True),
            ({"redactions": {"key": 1}}, True),
        ],
    )
    def test_f8_updated_at_moves_only_with_what_can_be_seen(self, store, make, changes, moves):
        workspace = store.add_workspace()
        first = store.write(lambda repository: repository.resources.save(make.resource(workspace, "a.md")))
        version = store.read(lambda repository: repository.publications.scope_version())
        second = store.write(lambda repository: repository.resources.save(replace(first, **changes)))
        assert (second.updated_at > first.updated_at) is moves
        assert store.read(lambda repository: repository.resources.get(first.id)) == second
        assert (store.read(lambda repository: repository.publications.scope_version()) > version) is moves

    def test_p7_an_equal_source_writes_nothing(self, store):
        source = store.add_source("a.md", "One.", "Two.")
        written, saved = _rows_written(store, lambda repository: repository.resources.save(source.resource))
        assert (written, saved) == (0, source.resource)

    def test_f5_a_move_keeps_the_id_and_what_hangs_on_it(self, store):
        source = store.add_source("a.md", "One.")
        store.write(lambda repository: repository.resources.move(source.resource.id, "b/c.md"))

        def look(repository):
            moved = repository.resources.by_path(source.workspace.id, "b/c.md")
            return moved.id, tuple(entry.id for entry in repository.entries.of_workspace(source.workspace.id))

        assert store.read(look) == (source.resource.id, source.entry_ids)
        store.add_source("d.md")
        with pytest.raises(StoreError):
            store.write(lambda repository: repository.resources.move(source.resource.id, "d.md"))

    def test_what_is_known_for_a_diff(self, store, make):
        workspace = store.add_workspace()
        seen = 2**61
        resource = make.resource(workspace, "a.md", size=7, mtime_ns=2**62, content_hash="ab", attempts=3)
        stored = store.write(lambda repository: repository.resources.save(resource))
        store.write(lambda repository: repository.resources.restat([(stored.id, 8, 9, 2**63 - 1)], seen))
        known = store.read(lambda repository: repository.resources.known(workspace.id))
        assert list(known) == ["a.md"]
        row = known["a.md"]
        assert tuple(row) == (stored.id, 8, 9, seen, "ab", State.DONE, 2**63 - 1)

    def test_how_often_and_when_last_a_failed_source_was_tried(self, store, make):
        workspace, last = store.add_workspace(), datetime(2026, 2, 1, tzinfo=UTC)
        for path, state in (("a.md", State.DONE), ("b.md", State.FAILED)):
            resource = make.resource(workspace, path, state=state, attempts=3, tried_at=last)
            store.write(lambda repository, resource=resource: repository.resources.save(resource))
        assert store.read(lambda repository: repository.resources.tries(workspace.id)) == {"b.md": (3, last)}

    def test_counts_and_lists(self, store, make):
        workspace = store.add_workspace()
        other = store.add_workspace("/other")

        def fill(repository):
            for at, state in enumerate([State.DONE, State.DONE, State.FAILED, State.SKIPPED]):
                repository.resources.save(make.resource(workspace, f"{9 - at}.md", state=state))
            repository.resources.save(make.resource(other, "9.md"))

        store.write(fill)
        counts = store.read(lambda repository: repository.resources.counts(workspace.id))
        assert counts == {State.DONE: 2, State.FAILED: 1, State.SKIPPED: 1}
        paths = store.read(
            lambda repository: [each.path for each in repository.resources.of_workspace(workspace.id)]
        )
        assert paths == ["6.md", "7.md", "8.md", "9.md"]
        failed = store.read(lambda repository: repository.resources.in_state(workspace.id, State.FAILED))
        assert [each.path for each in failed] == ["7.md"]
        assert len(store.read(lambda repository: repository.resources.at("9.md"))) == 2

    def test_paging_neither_skips_nor_repeats_while_rows_go(self, store, make):
        workspace = store.add_workspace()

        def fill(repository):
            return [repository.resources.save(make.resource(workspace, f"{at}.md")).id for at in range(25)]

        ids = sorted(store.write(fill))
        seen: list[str] = []
        after = None
        while page := store.read(lambda repository, after=after: repository.resources.list(after=after, limit=4)):
            seen.extend(each.id for each in page)
            after = page[-1].id
            store.write(lambda repository, gone=seen[0]: repository.resources.remove([gone]))
        assert seen == ids

    def test_a_path_by_code_point_in_any_collation(self, store, make):
        workspace = store.add_workspace()
        paths = ["B.md", "a.md", "Ä.md", "ä.md", "a-b.md", "a/b.md", "用户.md", "𝒜.md"]
        store.write(
            lambda repository: [repository.resources.save(make.resource(workspace, path)) for path in paths]
        )
        found = store.read(lambda repository: repository.resources.of_workspace(workspace.id))
        assert [each.path for each in found] == sorted(paths)


class TestEntries:
    def _replace(self, store, source, entries):
        return store.write(lambda repository: repository.entries.replace(source.resource.id, entries))

    def _stored(self, store, source):
        return store.read(lambda repository: repository.entries.of_workspace(source.workspace.id))

    def test_p7_equal_entries_write_nothing(self, store, make):
        source = store.add_source("a.md", "One.", "Two.")
        written, ids = _rows_written(
            store, lambda repository: repository.entries.replace(source.resource.id, make.entries("One.", "Two."))
        )
        assert (written, ids) == (0, source.entry_ids)

    def test_shifted_lines_keep_the_id(self, store, make):
        source = store.add_source("a.md", "One.", "Two.")
        before = self._stored(store, source)
        ids = self._replace(store, source, make.entries("Zero.", "One.", "Two.", first_line=5))
        assert ids[1:] == source.entry_ids
        after = self._stored(store, source)
        assert [entry.lines for entry in after] == [LineSpan(5, 5), LineSpan(6, 6), LineSpan(7, 7)]
        assert [entry.created_at for entry in after[1:]] == [entry.created_at for entry in before]

    def test_changed_words_are_another_entry(self, store, make):
        source = store.add_source("a.md", "One.", "Two.")
        ids = self._replace(store, source, make.entries("One!", "Two."))
        assert ids[1] == source.entry_ids[1]
        assert ids[0] not in source.entry_ids
        assert [entry.text for entry in self._stored(store, source)] == ["One!", "Two."]

    def test_the_same_words_twice_are_two_entries(self, store, make):
        source = store.add_source("a.md", "Yes.", "No.", "Yes.")
        first, _, third = source.entry_ids
        assert self._replace(store, source, make.entries("Yes.", "Yes.")) == (first, third)
        assert self._replace(store, source, make.entries("Yes.")) == (first,)

    def test_another_track_is_another_entry(self, store, make):
        source = store.add_source("a.md", "One.")
        (moved,) = self._replace(store, source, [make.entry("One.", track=Track.SKILL)])
        assert moved != source.entry_ids[0]

    def test_what_assign_decided_stays(self, store, make):
        source = store.add_source("a.md", "One.", "Two.")
        store.write(lambda repository: repository.entries.set_shown([source.entry_ids[0]], False))
        self._replace(store, source, make.entries("One.", "Two.", first_line=9))
        assert [entry.shown for entry in self._stored(store, source)] == [False, True]

    def test_every_field_comes_back(self, store, make):
        source = store.add_source("a.md")
        full = make.entry(
            "One.",
            label="Notes › Today",
            block="step",
            page_hint="Deploys",
            section="How",
            place="page 3",
            lines=None,
            track=Track.SKILL,
            happened_at=datetime(2025, 3, 1, 12, tzinfo=UTC),
        )
        (entry_id,) = self._replace(store, source, [full])
        (stored,) = self._stored(store, source)
        assert stored == replace(full, id=entry_id, resource_id=source.resource.id, created_at=stored.created_at)

    def test_p4_an_entry_without_a_place_is_refused(self, store, make):
        source = store.add_source("a.md")
        with pytest.raises(StoreError):
            self._replace(store, source, [make.entry("One.", lines=None, place=None)])

    def test_candidates_come_by_path_and_ordinal(self, store):
        for path in ("b.md", "a.md", "B.md"):
            source = store.add_source(path, *(f"{path} {at}" for at in range(12)))
        texts = [entry.text for entry in self._stored(store, source)]
        assert texts == [f"{path} {at}" for path in ("B.md", "a.md", "b.md") for at in range(12)]

    def test_a_page_s_entries_come_by_workspace_path_line(self, store):
        sources = [
            store.add_source("z.md", "z1", "z2", root="/one"),
            store.add_source("a.md", "a1", root="/two"),
            store.add_source("m.md", "m1", root="/one"),
        ]
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))

        def link(repository):
            for source in sources:
                repository.pages.link(page.id, source.entry_ids, {source.entry_ids[0]: source.resource.path})
            repository.pages.set_marks(page.id, {sources[1].entry_ids[0]: "abcde"})

        store.write(link)
        found = store.read(lambda repository: repository.entries.of_page(page.id))
        assert [(each.entry.text, each.mark, each.spelling) for each in found] == [
            ("m1", "", "m.md"),
            ("z1", "", "z.md"),
            ("z2", "", ""),
            ("a1", "abcde", "a.md"),
        ]
        assert found[3].resource == sources[1].resource
        assert found[3].workspace == sources[1].workspace

    def test_shown_ones_are_listed_page_by_page(self, store):
        source = store.add_source("a.md", *(f"Fact {at}." for at in range(11)))
        hidden = source.entry_ids[3]
        assert store.write(lambda repository: repository.entries.set_shown([hidden], False)) == 1
        assert _rows_written(store, lambda repository: repository.entries.set_shown([hidden], False))[0] == 0
        seen: list[str] = []
        after = None
        while page := store.read(
            lambda repository, after=after: repository.entries.list_shown(after=after, limit=3)
        ):
            seen.extend(each.entry.id for each in page)
            after = page[-1].entry.id
        assert seen == sorted(set(source.entry_ids) - {hidden})
        count = store.read(
            lambda repository: (
                repository.entries.count(),
                repository.entries.count(source.workspace.id, shown=True),
            )
        )
        assert count == (11, 10)


class TestPages:
    def test_f24_one_page_for_all_spellings_of_a_name(self, store):
        def work(repository):
            ensure = repository.pages.ensure
            return (
                ensure(Track.MEMORY, "Deploy  notes"),
                ensure(Track.MEMORY, "deploy NOTES"),
                ensure(Track.SKILL, "Deploy notes"),
            )

        first, second, skill = store.write(work)
        assert first == second
        assert (first.name, first.folded_name, first.version) == ("Deploy notes", "deploy notes", 0)
        assert skill.id != first.id
        assert store.read(lambda repository: repository.pages.counts()) == {Track.MEMORY: 1, Track.SKILL: 1}
        assert store.read(lambda repository: repository.pages.list(Track.SKILL)) == (skill,)

    def test_p8_a_page_is_saved_by_version(self, store):
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))
        one, two = replace(page, content="- one [^aaaaa]"), replace(page, content="- two [^bbbbb]")
        assert store.write(lambda repository: repository.pages.save(one, page.version))
        assert not store.write(lambda repository: repository.pages.save(two, page.version))
        stored = store.read(lambda repository: repository.pages.get(page.id))
        assert (stored.content, stored.version) == (one.content, page.version + 1)
        assert stored.updated_at > stored.created_at
        assert _rows_written(store, lambda repository: repository.pages.save(one, stored.version)) == (0, True)

    def test_saving_a_removed_page_says_so(self, store):
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))
        store.write(lambda repository: repository.pages.remove(page.id))
        assert not store.write(lambda repository: repository.pages.save(replace(page, content="x"), page.version))
        assert store.dump()["recall_file"] == []

    def test_the_spelling_is_set_by_rename_only(self, store):
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "deploys"))
        assert store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "DEPLOYS")).name == "deploys"
        assert store.write(lambda repository: repository.pages.rename(page.id, "Deploys"))
        assert _rows_written(store, lambda repository: repository.pages.rename(page.id, "Deploys")) == (0, False)
        assert store.read(lambda repository: repository.pages.by_name(Track.MEMORY, "deploys")).name == "Deploys"
        with pytest.raises(ValueError, match="no spelling"):
            store.write(lambda repository: repository.pages.rename(page.id, "Other"))

    def test_links(self, store):
        source = store.add_source("a.md", "One.", "Two.", "Three.")
        one, two, three = source.entry_ids
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))
        store.write(lambda repository: repository.pages.link(page.id, [one, two, two]))
        store.write(lambda repository: repository.pages.set_marks(page.id, {one: "aaaaa", three: "ccccc"}))
        assert _rows_written(store, lambda repository: repository.pages.link(page.id, [one, two]))[0] == 0
        assert _rows_written(store, lambda repository: repository.pages.set_marks(page.id, {one: "aaaaa"}))[0] == 0
        links = store.read(lambda repository: repository.pages.entries_of(page.id))
        assert {each.entry_id: each.mark for each in links} == {one: "aaaaa", two: ""}
        # A new spelling of the page's name leaves the mark alone.
        store.write(lambda repository: repository.pages.link(page.id, [one], {one: "p"}))
        links = store.read(lambda repository: repository.pages.entries_of(page.id))
        assert {each.entry_id: (each.mark, each.spelling) for each in links} == {
            one: ("aaaaa", "p"),
            two: ("", ""),
        }
        of_workspace = store.read(lambda repository: repository.pages.links_of_workspace(source.workspace.id))
        assert of_workspace == tuple(sorted(links, key=lambda each: each.entry_id))
        assert store.read(lambda repository: repository.pages.pages_of_entries([one, three])) == {one: (page.id,)}
        store.write(lambda repository: repository.pages.unlink(page.id, [one, two]))
        assert store.read(lambda repository: repository.pages.entries_of(page.id)) == ()
        assert store.read(lambda repository: repository.pages.get(page.id)) is not None

    def test_a_removed_source_takes_its_links_along(self, store):
        source = store.add_source("a.md", "One.")
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))
        store.write(lambda repository: repository.pages.link(page.id, source.entry_ids))
        store.write(lambda repository: repository.resources.remove([source.resource.id]))
        assert store.read(lambda repository: repository.pages.entries_of(page.id)) == ()

    def test_what_an_export_shows_moves_the_scope_s_version(self, store, make):
        source = store.add_source("a.md", "One.")
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))
        changes = [
            lambda repository: repository.pages.link(page.id, source.entry_ids),
            lambda repository: repository.pages.set_marks(page.id, {source.entry_ids[0]: "aaaaa"}),
            lambda repository: repository.pages.save(replace(page, content="x"), 0),
            lambda repository: repository.entries.replace(source.resource.id, make.entries("One.", first_line=3)),
            lambda repository: repository.entries.set_shown(source.entry_ids, False),
            lambda repository: repository.resources.move(source.resource.id, "b.md"),
            lambda repository: repository.pages.unlink(page.id, source.entry_ids),
            lambda repository: repository.resources.remove([source.resource.id]),
            lambda repository: repository.pages.remove(page.id),
        ]
        versions = []
        for change in changes:
            store.write(change)
            versions.append(store.read(lambda repository: repository.publications.scope_version()))
        assert versions == sorted(set(versions))


class TestPassages:
    def test_p7_equal_passages_write_nothing(self, store, make):
        source = store.add_source("a.md", "One sheep.", "Two sheep.")
        again = [
            make.passage(text, header="a.md", ordinal=at, line=at + 1, kind=Kind.DOCUMENT)
            for at, text in enumerate(["One sheep.", "Two sheep."])
        ]
        written, ids = _rows_written(
            store, lambda repository: repository.passages.replace_for_resource(source.resource.id, again)
        )
        assert (written, ids) == (0, source.passage_ids)

    def test_shifted_lines_keep_id_postings_and_vector(self, store, make):
        source = store.add_source("a.md", "One sheep.", "Two goats.")

        def embed(session):
            encoder = session.encoders.register(MINILM)
            from memu.storage.vectors import VectorRow

            rows = [VectorRow(passage_id=each, vector=b"\x01\x02\x03", scale=0.5) for each in source.passage_ids]
            return session.within(EMPTY_SCOPE).passages.add_vectors(encoder.id, rows)

        assert store.db.write_now(embed) == 2
        before = store.dump()
        moved = [
            make.passage(text, header="a.md", ordinal=at, line=at + 7, kind=Kind.DOCUMENT)
            for at, text in enumerate(["Three hens.", "One sheep.", "Two goats."])
        ]
        ids = store.write(lambda repository: repository.passages.replace_for_resource(source.resource.id, moved))
        assert ids[1:] == source.passage_ids
        after = store.dump()
        assert after["passage_vector"] == before["passage_vector"]
        assert set(before["posting"]) < set(after["posting"])
        stored = store.read(lambda repository: repository.passages.of_resource(source.resource.id))
        assert [each.lines.start for each in stored] == [7, 8, 9]

    @pytest.mark.parametrize("change", [{"header": "b.md"}, {"language": "de"}, {"text": "One goat."}])
    def test_other_words_are_another_passage(self, store, make, change):
        source = store.add_source("a.md", "One sheep.")
        changed = replace(make.passage("One sheep.", header="a.md", kind=Kind.DOCUMENT), **change)
        (new_id,) = store.write(
            lambda repository: repository.passages.replace_for_resource(source.resource.id, [changed])
        )
        assert new_id != source.passage_ids[0]
        assert {row[2] for row in store.dump()["posting"]} == {new_id}

    def test_header_words_count_double(self, store):
        store.add_source("a.md", "alpha beta alpha", header="alpha gamma")
        assert {(row[1], row[3]) for row in store.dump()["posting"]} == {("alpha", 4), ("beta", 1), ("gamma", 2)}
        (row,) = store.dump()["passage"]
        assert 7 in row

    def test_an_entry_s_passages_follow_their_entries(self, store, make):
        source = store.add_source("a.md", "One.", "Two.")
        wanted = [
            make.passage(text, entry_id=each, ordinal=at, track=Track.MEMORY)
            for at, (text, each) in enumerate(zip(["One.", "Two."], source.entry_ids, strict=True))
        ]
        ids = store.write(lambda repository: repository.passages.replace_for_entries(source.resource.id, wanted))
        written, again = _rows_written(
            store, lambda repository: repository.passages.replace_for_entries(source.resource.id, wanted)
        )
        assert (written, again) == (0, ids)
        store.write(lambda repository: repository.entries.replace(source.resource.id, make.entries("Two.")))
        left = store.read(lambda repository: repository.passages.hydrate(ids))
        assert list(left) == [ids[1]]
        assert left[ids[1]].entry.text == "Two."
        assert left[ids[1]].resource == source.resource

    def test_hits_know_their_owners(self, store, make):
        source = store.add_source("a.md", "One.")
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))

        def fill(repository):
            repository.pages.link(page.id, source.entry_ids)
            of_entry = make.passage("One.", entry_id=source.entry_ids[0], track=Track.MEMORY)
            of_page = make.passage("About P.", track=Track.MEMORY, line=None)
            return (
                *repository.passages.replace_for_entries(source.resource.id, [of_entry]),
                *repository.passages.replace_for_page(page.id, [of_page]),
            )

        of_entry, of_page = store.write(fill)
        ids = [of_page, "gone", source.passage_ids[0], of_entry]
        found = store.read(lambda repository: repository.passages.hydrate(ids))
        assert list(found) == [of_page, source.passage_ids[0], of_entry]
        assert [name.id for name in found[of_page].pages] == [page.id]
        assert found[of_page].resource is None
        assert found[source.passage_ids[0]].resource == source.resource
        assert found[source.passage_ids[0]].pages == ()
        assert [name.name for name in found[of_entry].pages] == ["P"]
        assert found[of_entry].entry.id == source.entry_ids[0]

    def test_exactly_one_owner(self, store, make):
        source = store.add_source("a.md", "One.")
        orphan = make.passage("Nobody's.", track=Track.MEMORY)
        with pytest.raises(StoreError):
            store.write(lambda repository: repository.passages.replace_for_entries(source.resource.id, [orphan]))

    def test_f52_what_has_no_vector_is_found_and_counted(self, store, make):
        from memu.storage.vectors import VectorRow

        source = store.add_source("a.md", *(f"Fact {at}." for at in range(7)))

        def hide(repository):
            hidden = make.passage("Fact 0.", entry_id=source.entry_ids[0], track=Track.MEMORY)
            repository.passages.replace_for_entries(source.resource.id, [hidden])
            repository.entries.set_shown([source.entry_ids[0]], False)

        store.write(hide)
        encoder = store.db.write_now(lambda session: session.encoders.register(MINILM))
        seen: list[str] = []
        after = None
        while page := store.read(
            lambda repository, after=after: repository.passages.without_vector(encoder.id, limit=2, after=after)
        ):
            seen.extend(each.id for each in page)
            after = page[-1].id
        assert seen == sorted(source.passage_ids)
        rows = [VectorRow(passage_id=each, vector=b"\x01\x00\x00", scale=1.0) for each in [*seen[:3], "gone"]]
        assert store.write(lambda repository: repository.passages.add_vectors(encoder.id, rows)) == 3
        assert store.read(lambda repository: repository.passages.count_without_vector(encoder.id)) == 4
        assert store.read(lambda repository: repository.passages.count_without_vector("other")) == 7
        assert store.read(lambda repository: repository.passages.count()) == 8


class TestQueue:
    def test_a_page_waits_once(self, store):
        pages = store.write(lambda repository: [repository.pages.ensure(Track.MEMORY, name) for name in "BA"])
        store.write(lambda repository: repository.queue.add([page.id for page in pages] * 2))
        assert [each.file_id for each in store.read(lambda repository: repository.queue.list())] == [
            pages[1].id,
            pages[0].id,
        ]
        assert store.write(lambda repository: repository.queue.remove(pages[0].id))
        assert store.read(lambda repository: repository.queue.count()) == 1

    def test_f16_a_page_queued_again_during_its_fold_stays_queued(self, store):
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))
        store.write(lambda repository: repository.queue.add([page.id]))
        (held,) = store.read(lambda repository: repository.queue.list())
        store.write(lambda repository: repository.queue.add([page.id]))
        assert not store.write(lambda repository: repository.queue.remove(page.id, held.ticket))
        (again,) = store.read(lambda repository: repository.queue.list())
        assert store.write(lambda repository: repository.queue.remove(page.id, again.ticket))

    def test_a_removed_page_leaves_the_queue(self, store):
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "P"))
        store.write(lambda repository: repository.queue.add([page.id]))
        store.write(lambda repository: repository.pages.remove(page.id))
        assert store.read(lambda repository: repository.queue.list()) == ()


class TestRuns:
    def _start(self, store, workspace):
        return store.write(lambda repository: repository.runs.start(workspace.id, extractor="extractive"))

    def _finish(self, store, run, **changes):
        return store.write(lambda repository: repository.runs.finish(replace(run, **changes)))

    def test_f15_a_run_is_recorded_from_start_to_end(self, store):
        workspace = store.add_workspace()
        run = self._start(store, workspace)
        assert store.read(lambda repository: repository.runs.last(workspace.id)) == run
        ended = self._finish(store, run, state="done", counts={"added": 3}, encoder="minilm")
        assert store.read(lambda repository: repository.runs.last(workspace.id)) == ended
        assert store.read(lambda repository: repository.runs.last_good(workspace.id)) == ended
        assert ended.ended_at > ended.started_at

    def test_a_killed_run_is_seen_by_the_next(self, store):
        workspace = store.add_workspace()
        killed, second = self._start(store, workspace), self._start(store, workspace)
        states = {row[1]: row[3] for row in store.dump()["sync_run"]}
        assert states == {killed.id: "interrupted", second.id: "running"}

    def test_the_last_good_run_outlives_bad_ones(self, store):
        workspace = store.add_workspace()
        good = self._finish(store, self._start(store, workspace), state="done")
        for _ in range(3):
            self._finish(store, self._start(store, workspace), state="failed", error="disk full")
        assert store.read(lambda repository: repository.runs.last_good(workspace.id)) == good

    def test_p4_only_the_last_run_names_files(self, store):
        workspace = store.add_workspace()
        problem = FileProblem(path="secret-plan.md", reason="unreadable")
        first = self._finish(store, self._start(store, workspace), state="partial", failed=(problem,), error="x")
        assert store.read(lambda repository: repository.runs.last(workspace.id)) == first
        self._finish(store, self._start(store, workspace), state="done")
        assert "secret-plan" not in repr(store.dump())

    def test_old_runs_are_dropped(self, store):
        workspace = store.add_workspace()
        good = self._finish(store, self._start(store, workspace), state="done")
        for _ in range(205):
            self._finish(store, self._start(store, workspace), state="failed")
        assert len(store.dump()["sync_run"]) <= 202
        assert store.read(lambda repository: repository.runs.last_good(workspace.id)).id == good.id


class TestSmallGroups:
    def test_publications(self, store):
        published = Publication(tree="/out/workspace-memory", version=4, fingerprint="ab")
        store.write(lambda repository: repository.publications.set(published))
        assert store.read(lambda repository: repository.publications.get(published.tree)) == published
        assert _rows_written(store, lambda repository: repository.publications.set(published))[0] == 0
        store.write(lambda repository: repository.publications.set(replace(published, version=5)))
        assert store.read(lambda repository: repository.publications.list()) == (replace(published, version=5),)

    def test_tombstones(self, store):
        store.write(lambda repository: repository.tombstones.add(["b", "a"]))
        assert _rows_written(store, lambda repository: repository.tombstones.add(["a"]))[0] == 0
        assert store.read(lambda repository: repository.tombstones.list()) == {"a", "b"}
        store.write(lambda repository: repository.tombstones.remove(["a"]))
        assert store.read(lambda repository: repository.tombstones.list()) == {"b"}

    def test_p7_settled_sources_are_told_as_one_set_and_whether_they_are_all(self, store, make):
        workspace = store.add_workspace()

        def save(path, mtime, state=State.DONE):
            row = make.resource(workspace, path)
            store.write(
                lambda repository: repository.resources.save(
                    replace(row, size=3, mtime_ns=mtime, seen_ns=10_000_000_000, state=state)
                )
            )

        look = lambda: store.read(  # noqa: E731
            lambda repository: repository.resources.settled(workspace.id, 2_000_000_000)
        )
        assert look() == (frozenset(), True)
        save("a.md", 1)
        save("b.md", 2, State.SKIPPED)
        assert look() == ({("a.md", 3, 1, 0), ("b.md", 3, 2, 0)}, True)
        save("c.md", 9_000_000_000)
        assert look() == ({("a.md", 3, 1, 0), ("b.md", 3, 2, 0)}, False)
        save("c.md", 3, State.FAILED)
        assert look()[1] is False

    def test_p2_replies_stand_until_their_owner_is_done_with_and_p4_go_with_it(self, store, make):
        source = store.add_source("a.md", "The bridge is red.")
        other = store.add_source("b.md", "The bridge is old.")
        store.write(lambda repository: repository.replies.keep("k1", "one", resource_id=source.resource.id))
        store.write(lambda repository: repository.replies.keep("k2", "two", resource_id=source.resource.id))
        store.write(lambda repository: repository.replies.keep("k3", "three", resource_id=other.resource.id))
        held = lambda: [  # noqa: E731
            store.read(lambda repository, key=key: repository.replies.get(key)) for key in ("k1", "k2", "k3")
        ]
        assert held() == ["one", "two", "three"]
        store.write(lambda repository: repository.replies.drop_for_resource(source.resource.id, but=["k2"]))
        assert held() == [None, "two", "three"]
        store.write(lambda repository: repository.resources.remove([source.resource.id]))
        assert held() == [None, None, "three"]

    def test_patches_keep_counts_and_no_more_than_the_last_ones(self, store, make):
        page = store.write(lambda repository: repository.pages.ensure(Track.MEMORY, "Bridge"))
        for version in range(1, 31):
            store.write(
                lambda repository, version=version: repository.patches.add(
                    page.id, version, prompt_hash="h", model="m", counts={"add": version}
                )
            )
        kept = store.read(lambda repository: repository.patches.list(page.id))
        assert kept[-1] == (30, "m", {"add": 30})
        assert len(kept) == 20

    def test_overviews(self, store):
        said = (OverviewSentence(text="All of it.", pages=("p1", "p2")),)
        store.write(lambda repository: repository.overviews.set(Track.MEMORY, "h", said))
        assert store.read(lambda repository: repository.overviews.get(Track.MEMORY)) == said
        assert store.read(lambda repository: repository.overviews.get(Track.SKILL)) is None
        store.write(lambda repository: repository.overviews.remove(Track.MEMORY))
        assert store.read(lambda repository: repository.overviews.get(Track.MEMORY)) is None
        assert _rows_written(store, lambda repository: repository.overviews.remove(Track.MEMORY))[0] == 0

    def test_what_is_known_of_an_endpoint_is_added_to(self, store):
        note = lambda facts: store.db.write_now(lambda session: session.endpoints.note("m@host", facts))  # noqa: E731
        note({"json_schema": False})
        note({"context": 4096})
        known = store.db.read_now(lambda session: session.endpoints.recall("m@host"))
        assert known == {"json_schema": False, "context": 4096}
        assert store.db.read_now(lambda session: session.endpoints.recall("m@elsewhere")) == {}

    def test_p2_the_names_that_a_killed_run_offered_are_offered_again(self, store):
        workspace = store.add_workspace()

        def begin(names):
            run = store.write(lambda repository: repository.runs.start(workspace.id, extractor="llm"))
            return run, store.write(lambda repository: repository.runs.offer_names(run.id, names))

        assert begin(["memory/A"])[1] == ("memory/A",)
        run, names = begin(["memory/A", "memory/B"])
        assert names == ("memory/A",)
        spent = {"extract": Usage(calls=2, prompt_tokens=10, cost=0.5)}
        store.write(lambda repository: repository.runs.finish(replace(run, state="done", usage=spent)))
        assert store.read(lambda repository: repository.runs.last(workspace.id)).usage == spent
        assert "memory/A" not in repr(store.dump()["sync_run"])
        assert begin(["memory/C"])[1] == ("memory/C",)

    @pytest.mark.parametrize("change", [{"name": "e5"}, {"dimension": 4}, {"fingerprint": "bb"}])
    def test_p9_one_encoder_a_store(self, store, change):
        """F20: another encoder, also of the same size, is refused with the command to run."""
        first = store.db.write_now(lambda session: session.encoders.register(MINILM))
        assert store.db.write_now(lambda session: session.encoders.register(MINILM)) == first
        with pytest.raises(EncoderMismatch, match="memu reindex"):
            store.db.write_now(lambda session: session.encoders.register(replace(MINILM, **change)))
        with pytest.raises(EncoderMismatch):
            store.db.read_now(lambda session: session.encoders.check(replace(MINILM, **change)))
        assert store.db.read_now(lambda session: session.encoders.active()) == first

    def test_p9_another_encoder_is_switched_to_when_complete(self, store):
        first = store.db.write_now(lambda session: session.encoders.register(MINILM))
        second = store.db.write_now(lambda session: session.encoders.add(replace(MINILM, fingerprint="bb")))
        assert store.db.read_now(lambda session: session.encoders.active()) == first
        store.db.write_now(lambda session: session.encoders.activate(second.id))
        assert store.db.read_now(lambda session: session.encoders.active().id) == second.id
        store.db.write_now(lambda session: session.encoders.remove(first.id))
        assert len(store.db.read_now(lambda session: session.encoders.list())) == 1

    def test_p8_leases(self, store):
        def lease(token, expires_at):
            return Lease(name="sync", token=token, boot_id="b", pid=1, process_started="t", expires_at=expires_at)

        soon, past = datetime(2027, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
        take = lambda wanted: store.db.write_now(lambda session: session.locks.take(wanted))  # noqa: E731
        assert take(lease("one", soon)).token == "one"
        assert take(lease("two", soon)).token == "one"
        assert take(lease("one", past)).token == "one"
        assert take(lease("two", soon)).token == "two"
        with pytest.raises(LeaseLost):
            store.db.write_now(lambda session: session.locks.check("sync", "one"))
        store.db.write_now(lambda session: session.locks.release("sync", "one"))
        store.db.write_now(lambda session: session.locks.check("sync", "two"))
        store.db.write_now(lambda session: session.locks.release("sync", "two"))
        assert store.db.read_now(lambda session: session.locks.holder("sync")) is None
