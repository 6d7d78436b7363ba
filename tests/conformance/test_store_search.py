"""Search: words as a plain BM25 ranks them, vectors as plain arithmetic does, filters that find what they name."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from memu.records import EMPTY_SCOPE, EncoderIdentity, Kind, Layer, MemoryType, Track
from memu.storage.search import SearchFilter, WordWeights
from memu.storage.vectors import VectorRow, quantise
from memu.tokens import QueryTerm, index_terms, query_terms

pytestmark = pytest.mark.conformance

WORDS = [f"w{at}x" for at in range(40)]


def _terms(*words: str) -> list[QueryTerm]:
    return [QueryTerm(variants=(word,)) for word in words]


def _reference(passages, groups, k1=1.2, b_of=lambda kind: 0.75):
    """BM25, written out: (score, index) of each passage with any of the words. ``groups``: alternatives."""
    counted = []
    for header, text, _ in passages:
        counts = Counter(index_terms(text))
        for term, count in index_terms(header).items():
            counts[term] += 2 * count
        counted.append(counts)
    lengths = [counts.total() for counts in counted]
    average = sum(lengths) / len(lengths)
    scores: Counter[int] = Counter()
    for group in groups:
        tfs = [max((counts[term] for term in group), default=0) for counts in counted]
        n = sum(tf > 0 for tf in tfs)
        idf = math.log(1 + (len(passages) - n + 0.5) / (n + 0.5))
        for at, tf in enumerate(tfs):
            if tf:
                b = b_of(passages[at][2])
                scores[at] += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths[at] / average))
    return scores


def _fill_with(store, make, passages):
    """One source a passage, so that each has a path of its own; returns passage ids."""

    def work(repository):
        workspace = repository.workspaces.add(name=None, root="/notes")
        ids = []
        for at, (header, text, kind) in enumerate(passages):
            resource = repository.resources.save(make.resource(workspace, f"{at:04}.md", kind=kind))
            wanted = [make.passage(text, header=header, kind=kind)]
            ids += repository.passages.replace_for_resource(resource.id, wanted)
        return ids

    return store.write(work)


def _words(store, terms, wanted=None, **more):
    return store.read(lambda repository: repository.search.words(terms, wanted or SearchFilter(), **more))


@pytest.mark.parametrize("seed", range(4))
def test_words_rank_as_bm25_does(store, make, seed):
    chance = random.Random(seed)
    passages = [
        (
            " ".join(chance.choices(WORDS, k=chance.randint(0, 3))),
            " ".join(chance.choices(WORDS, weights=range(1, 41), k=chance.randint(1, 60))),
            chance.choice([Kind.CHAT, Kind.DOCUMENT, Kind.CODE]),
        )
        for _ in range(80)
    ]
    ids = _fill_with(store, make, passages)
    weights = WordWeights()
    for _ in range(5):
        groups = [chance.sample(WORDS, chance.randint(1, 3)) for _ in range(chance.randint(1, 4))]
        groups = [[word for word in group if sum(word in other for other in groups) == 1] for group in groups]
        expected = _reference(passages, groups, b_of=lambda kind: weights.b_of_kind.get(kind, weights.b))
        found = _words(store, [QueryTerm(variants=tuple(group)) for group in groups], limit=100)
        assert {each.id: pytest.approx(each.score) for each in found} == {
            ids[at]: score for at, score in expected.items()
        }
        order = sorted(expected, key=lambda at: (-round(expected[at], 9), at))
        assert [each.id for each in found] == [ids[at] for at in order]
        few = _words(store, [QueryTerm(variants=tuple(group)) for group in groups], limit=7)
        assert few == found[:7]


@pytest.mark.parametrize("word", ["length", "passages", "None", "average", "term_0"])
def test_a_word_that_the_store_counts_under_is_a_word_like_any_other(store, make, word):
    passages = [("", f"{word if at % 7 == 0 else 'plum'} and some pears", Kind.DOCUMENT) for at in range(40)]
    ids = _fill_with(store, make, passages)
    expected = _reference(passages, [[word]], b_of=lambda kind: WordWeights().b_of_kind.get(kind, WordWeights().b))
    for _ in range(2):
        found = _words(store, _terms(word), limit=100)
        assert {each.id: pytest.approx(each.score) for each in found} == {
            ids[at]: score for at, score in expected.items()
        }


@pytest.mark.parametrize("weights", [WordWeights(k1=0.5, b=0.0), WordWeights(b_of_kind={}), WordWeights(k1=2.0)])
def test_weights_are_data(store, make, weights):
    passages = [("", "apple pear", Kind.CHAT), ("", "apple " * 3 + "plum " * 20, Kind.DOCUMENT), ("", "fig", None)]
    passages = [(header, text, kind or Kind.CODE) for header, text, kind in passages]
    ids = _fill_with(store, make, passages)
    found = _words(store, query_terms("apple"), weights=weights)
    expected = _reference(
        passages,
        [index_terms("apple")],
        k1=weights.k1,
        b_of=lambda kind: weights.b_of_kind.get(kind, weights.b),
    )
    assert {each.id: each.score for each in found} == pytest.approx(
        {ids[at]: each for at, each in expected.items()}
    )


def test_f48_words_are_or_ed(store, make):
    ids = _fill_with(
        store,
        make,
        [
            ("", "Deploys go out on Tuesdays.", Kind.DOCUMENT),
            ("", "Tuesdays are quiet.", Kind.DOCUMENT),
            ("", "Nothing here.", Kind.DOCUMENT),
        ],
    )
    found = _words(store, query_terms("when do deploys happen on tuesdays?"))
    assert [each.id for each in found] == ids[:2]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The alarm ERR_4091 fired.", "ERR_4091"),
        ("The blue-lantern service.", "blue-lantern"),
        ("See parseHTTPResponse for more.", "parseHTTPResponse"),
        ("Written in C++ by hand.", "C++"),
        ("Closes issue #24 at last.", "issue #24"),
        ("a-b is a name.", "a-b"),
        ("我们星期二部署新版本。", "部署"),
        ('He said "no" * twice.', '"no" *'),
        ("100% of O'Brien's_files", "O'Brien's_files"),
    ],
)
def test_f47_f49_marks_and_scripts_are_safe_and_found(store, make, text, query):
    ids = _fill_with(store, make, [("", text, Kind.DOCUMENT), ("", "Something else entirely.", Kind.DOCUMENT)])
    found = _words(store, query_terms(query))
    assert found[0].id == ids[0]


@pytest.mark.parametrize("query", ["", "   ", "*", "xyzzyplugh", '"', "' OR 1=1 --"])
def test_f50_nonsense_finds_nothing(store, make, query):
    _fill_with(store, make, [("", "Deploys go out.", Kind.DOCUMENT)])
    assert _words(store, query_terms(query)) == []
    assert _words(store, query_terms("deploys"), limit=0) == []


def test_equal_scores_keep_the_order_of_path_line_and_ordinal(store, make):
    """Rankings repeat: two stores filled in another order rank alike, though every id differs."""

    def work(repository):
        workspace = repository.workspaces.add(name=None, root="/notes")
        for path in ("c.md", "a.md", "b.md"):
            resource = repository.resources.save(make.resource(workspace, path))
            wanted = [make.passage("same words", ordinal=at, line=line) for at, line in enumerate([30, 2, 2])]
            repository.passages.replace_for_resource(resource.id, wanted)

    store.write(work)
    encoder = store.db.write_now(
        lambda session: session.encoders.register(EncoderIdentity(name="e", dimension=2, fingerprint="f"))
    )

    def embed(repository):
        missing = repository.passages.without_vector(encoder.id, limit=100)
        rows = [VectorRow(passage_id=each.id, vector=b"\x01\x02", scale=1.0) for each in missing]
        repository.passages.add_vectors(encoder.id, rows)

    store.write(embed)
    expected = [(path, line, at) for path in ("a.md", "b.md", "c.md") for line, at in ((2, 1), (2, 2), (30, 0))]
    vector = np.array([1, 2], dtype=np.float32)
    for limit in (1, 4, 8, 9):

        def places(repository, found):
            hits = repository.passages.hydrate([each.id for each in found]).values()
            return [(hit.resource.path, hit.passage.lines.start, hit.passage.ordinal) for hit in hits]

        by_words = store.read(
            lambda repository, limit=limit: places(
                repository, repository.search.words(query_terms("same"), limit=limit)
            )
        )
        by_vector = store.read(
            lambda repository, limit=limit: places(
                repository, repository.search.nearest(vector, encoder.id, limit=limit)
            )
        )
        assert by_words == by_vector == expected[:limit]


def _late(name: str) -> bool:
    return name in {"/one docs/b.md", "/one docs/x/c.py", "/two a.md", "/two docs/b.md", "/two docs/x/c.py"}


class TestFilters:
    """One store with every sort of passage; each filter must find exactly what it names."""

    @pytest.fixture
    def names(self, store, make):
        """Passage id → short name."""
        names: dict[str, str] = {}

        def work(session):
            repository = session.within(EMPTY_SCOPE)
            for root in ("/one", "/two"):
                workspace = repository.workspaces.add(name=root[1:], root=root)
                page = repository.pages.ensure(Track.MEMORY, f"Page {root}")
                for path, kind in (("a.md", Kind.DOCUMENT), ("docs/b.md", Kind.CHAT), ("docs/x/c.py", Kind.CODE)):
                    resource = repository.resources.save(make.resource(workspace, path, kind=kind))
                    at = datetime(2026, 1, 1 + len(names), tzinfo=UTC)
                    own = make.passage("apple", kind=kind, happened_at=at)
                    (passage_id,) = repository.passages.replace_for_resource(resource.id, [own])
                    names[passage_id] = f"{root} {path}"
                    entries = [
                        make.entry("shown", memory_type=MemoryType.EVENT),
                        make.entry("skill", ordinal=1, track=Track.SKILL, memory_type=MemoryType.SKILL),
                        make.entry("hidden", ordinal=2, shown=False),
                    ]
                    entry_ids = repository.entries.replace(resource.id, entries)
                    repository.pages.link(page.id, entry_ids[:1])
                    wanted = [
                        make.passage("apple", entry_id=each, ordinal=at, track=entry.track, kind=kind)
                        for at, (each, entry) in enumerate(zip(entry_ids, entries, strict=True))
                    ]
                    ids = repository.passages.replace_for_entries(resource.id, wanted)
                    for passage_id, entry in zip(ids, entries, strict=True):
                        names[passage_id] = f"{root} {path} {entry.text}"
                own = make.passage("apple", track=Track.MEMORY, line=None)
                names[repository.passages.replace_for_page(page.id, [own])[0]] = f"page {root}"
            encoder = session.encoders.register(EncoderIdentity(name="e", dimension=2, fingerprint="f"))
            rows = [VectorRow(passage_id=each, vector=b"\x01\x02", scale=1.0) for each in names]
            repository.passages.add_vectors(encoder.id, rows)
            return encoder.id

        self.encoder_id = store.db.write_now(work)
        return names

    @pytest.mark.parametrize(
        ("wanted", "is_found"),
        [
            (SearchFilter(), lambda name: True),
            (SearchFilter(layers=frozenset({Layer.FILE})), lambda name: "page" in name),
            (SearchFilter(layers=frozenset({Layer.ENTRY})), lambda name: name.endswith(("shown", "skill"))),
            (SearchFilter(layers=frozenset({Layer.RESOURCE})), lambda name: name.endswith((".md", ".py"))),
            (
                SearchFilter(layers=frozenset({Layer.RESOURCE, Layer.FILE})),
                lambda name: not name.endswith(("shown", "skill")),
            ),
            (SearchFilter(layers=frozenset()), lambda name: False),
            (SearchFilter(tracks=frozenset({Track.SKILL})), lambda name: name.endswith((".md", ".py", "skill"))),
            (
                SearchFilter(tracks=frozenset({Track.SKILL}), layers=frozenset({Layer.ENTRY})),
                lambda name: name.endswith("skill"),
            ),
            (SearchFilter(kinds=frozenset({Kind.CHAT})), lambda name: "b.md" in name),
            (SearchFilter(kinds=frozenset({Kind.CHAT, Kind.CODE})), lambda name: "docs" in name),
            (SearchFilter(memory_types=frozenset({MemoryType.SKILL})), lambda name: name.endswith("skill")),
            (SearchFilter(path_glob="*.md"), lambda name: ".md" in name),
            (SearchFilter(path_glob="docs/*"), lambda name: "docs/b.md" in name),
            (SearchFilter(path_glob="docs/**"), lambda name: "docs" in name),
            (SearchFilter(path_glob="docs/"), lambda name: "docs" in name),
            (SearchFilter(path_glob="**/c.py"), lambda name: "c.py" in name),
            (SearchFilter(path_glob="?.md"), lambda name: ".md" in name),
            (SearchFilter(path_glob="[!b].md"), lambda name: "a.md" in name),
            (SearchFilter(path_glob="a.*d"), lambda name: "a.md" in name),
            (SearchFilter(path_glob="a+md"), lambda name: False),
            (
                SearchFilter(since=datetime(2026, 1, 2, tzinfo=UTC)),
                _late,
            ),
            (SearchFilter(until=datetime(2026, 1, 1, tzinfo=UTC)), lambda name: name == "/one a.md"),
            (SearchFilter(among=frozenset()), lambda name: False),
        ],
    )
    def test_each_finds_exactly_what_it_names(self, store, names, wanted, is_found):
        expected = {name for name in names.values() if is_found(name) and not name.endswith("hidden")}
        assert {names[each.id] for each in _words(store, query_terms("apple"), wanted)} == expected
        assert {names[each.id] for each in self._nearest(store, wanted)} == expected

    def test_one_workspace_with_the_pages_that_rest_on_it(self, store, names):
        one = store.read(lambda repository: repository.workspaces.find(name="one"))
        wanted = SearchFilter(workspace_id=one.id)
        expected = {name for name in names.values() if "/one" in name and not name.endswith("hidden")}
        assert {names[each.id] for each in _words(store, query_terms("apple"), wanted)} == expected
        assert {names[each.id] for each in self._nearest(store, wanted)} == expected

    def test_among_scores_every_candidate_as_the_whole_search_does(self, store, names):
        everything = {each.id: each.score for each in _words(store, query_terms("apple"))}
        some = frozenset(list(everything)[::2])
        hidden = next(each for each, name in names.items() if name.endswith("hidden"))
        wanted = SearchFilter(among=some | {hidden, "gone"})
        assert {each.id: each.score for each in _words(store, query_terms("apple"), wanted)} == {
            each: everything[each] for each in some
        }
        assert {each.id for each in self._nearest(store, wanted)} == some

    def test_a_thousand_candidates(self, store, names):
        wanted = SearchFilter(among=frozenset(names) | {f"other-{at}" for at in range(3000)})
        assert len(_words(store, query_terms("apple"), wanted)) == len(_words(store, query_terms("apple")))

    def test_hiding_an_entry_is_seen_by_the_next_search(self, store, names):
        store.write(
            lambda repository: repository.entries.set_shown(
                [each.entry.id for each in repository.entries.list_shown(limit=1000)], False
            )
        )
        found = {names[each.id] for each in _words(store, query_terms("apple"))}
        assert found == {name for name in names.values() if name.endswith((".md", ".py")) or "page" in name}

    def _nearest(self, store, wanted):
        vector = np.array([1, 2], dtype=np.float32)
        return store.read(lambda repository: repository.search.nearest(vector, self.encoder_id, wanted))


class TestNearest:
    def _fill(self, store, make, vectors):
        ids = _fill_with(store, make, [("", f"Fact {at}.", Kind.DOCUMENT) for at in range(len(vectors))])
        identity = EncoderIdentity(name="e", dimension=vectors.shape[1], fingerprint="f")
        encoder = store.db.write_now(lambda session: session.encoders.register(identity))
        quantised = quantise(ids, vectors, vectors.shape[1])
        store.write(lambda repository: repository.passages.add_vectors(encoder.id, quantised.rows))
        return ids, encoder.id

    def test_cosines_are_those_of_the_stored_rows(self, store, make):
        chance = np.random.default_rng(7)
        vectors = chance.normal(size=(120, 24)).astype(np.float32)
        ids, encoder_id = self._fill(store, make, vectors)
        query = chance.normal(size=24).astype(np.float32)
        found = store.read(lambda repository: repository.search.nearest(query, encoder_id, limit=20))
        cosines = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)
        best = [ids[at] for at in np.argsort(-cosines)]
        assert len({each.id for each in found} & set(best[:20])) >= 19
        by_id = dict(zip(ids, cosines, strict=True))
        assert all(abs(each.score - by_id[each.id]) < 0.01 for each in found)
        assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)

    def test_f19_broken_rows_are_passed_over(self, store, make):
        vectors = np.eye(4, dtype=np.float32)
        ids, encoder_id = self._fill(store, make, vectors)
        broken = [
            VectorRow(passage_id=ids[0], vector=b"\x01", scale=1.0),
            VectorRow(passage_id=ids[1], vector=b"\x01\x02", scale=1.0),
            VectorRow(passage_id=ids[2], vector=b"\x00\x00\x00\x00", scale=1.0),
        ]
        store.write(lambda repository: repository.passages.add_vectors(encoder_id, broken))
        found = store.read(lambda repository: repository.search.nearest(np.ones(4, dtype=np.float32), encoder_id))
        assert [each.id for each in found] == [ids[3]]

    @pytest.mark.parametrize("query", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
    def test_a_query_without_direction_finds_nothing(self, store, make, query):
        _, encoder_id = self._fill(store, make, np.eye(2, dtype=np.float32))
        vector = np.array(query, dtype=np.float32)
        assert store.read(lambda repository: repository.search.nearest(vector, encoder_id)) == []

    def test_p9_only_the_encoder_asked_for(self, store, make):
        _, encoder_id = self._fill(store, make, np.eye(2, dtype=np.float32))
        vector = np.ones(2, dtype=np.float32)
        assert len(store.read(lambda repository: repository.search.nearest(vector, encoder_id))) == 2
        assert store.read(lambda repository: repository.search.nearest(vector, "other")) == []

    def test_a_new_vector_replaces_the_old(self, store, make):
        ids, encoder_id = self._fill(store, make, np.eye(2, dtype=np.float32))
        turned = quantise(ids, np.eye(2, dtype=np.float32)[::-1].copy(), 2)
        store.write(lambda repository: repository.passages.add_vectors(encoder_id, turned.rows))
        found = store.read(
            lambda repository: repository.search.nearest(np.array([1, 0], dtype=np.float32), encoder_id)
        )
        assert [each.id for each in found] == ids[::-1]


def test_an_edit_is_seen_by_the_next_search(store, make):
    source = store.add_source("a.md", "apple tree")
    assert _words(store, query_terms("apple"))
    changed = replace(make.passage("pear tree", header="a.md"), kind=Kind.DOCUMENT)
    store.write(lambda repository: repository.passages.replace_for_resource(source.resource.id, [changed]))
    assert _words(store, query_terms("apple")) == []
    assert len(_words(store, query_terms("pear"))) == 1


@pytest.mark.parametrize("limit", [1, 2, 5, 40])
def test_a_filter_that_leaves_out_the_best_still_finds_the_rest(store, make, limit):
    """However few of the best pass, the answer is the whole ranking, filtered."""
    chance = random.Random(5)
    passages = [
        ("", " ".join(["apple"] * chance.randint(1, 9) + ["pear"] * chance.randint(0, 9)), kind)
        for kind in [Kind.CODE] * 30 + [Kind.DOCUMENT] * 8
    ]
    passages = [(header, text * (3 if kind is Kind.CODE else 1), kind) for header, text, kind in passages]
    ids = _fill_with(store, make, passages)
    identity = EncoderIdentity(name="e", dimension=2, fingerprint="f")
    encoder = store.db.write_now(lambda session: session.encoders.register(identity))
    angles = np.linspace(0, 1, len(ids))
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    rows = quantise(ids, vectors, 2).rows
    store.write(lambda repository: repository.passages.add_vectors(encoder.id, rows))
    documents = set(ids[30:])
    wanted = SearchFilter(kinds=frozenset({Kind.DOCUMENT}))
    whole = _words(store, query_terms("apple"), limit=1000)
    assert (
        _words(store, query_terms("apple"), wanted, limit=limit)
        == [each for each in whole if each.id in documents][:limit]
    )

    def nearest(filters, count):
        vector = np.array([1, 0], dtype=np.float32)
        return store.read(lambda repository: repository.search.nearest(vector, encoder.id, filters, count))

    everything = nearest(SearchFilter(), 1000)
    assert nearest(wanted, limit) == [each for each in everything if each.id in documents][:limit]


def test_a_query_of_a_thousand_words_is_answered_by_its_rarest(store, make):
    many = [f"word{at}x" for at in range(1200)]
    ids = _fill_with(store, make, [("", " ".join(many[:600]), Kind.DOCUMENT), ("", many[0], Kind.DOCUMENT)])
    found = _words(store, _terms(*[term for word in many for term in index_terms(word)]))
    assert found[0].id == ids[0]
