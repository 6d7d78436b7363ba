"""What a search on SQLite costs by the size of a scope, what an insertion does, and what a fresh process.

    python benchmarks/search.py                                    # 1,000 passages made here, half a minute
    python benchmarks/search.py --sets DIR --passages 1000 10000 100000 --folder PLACE

Without ``--sets`` words and vectors are drawn: enough to see how cost grows. With it they are those of
``DIR/docsqa`` and ``DIR/xquad_en`` (see ``vectors.py``), copied up to the number: three words of ten are replaced
by words drawn from all, and a little noise is put on the vectors. Postings are as many as such texts have, and are
written in the order of the table, so that filling takes minutes. Stores are kept in PLACE and used again.

Times are of one read of the store without encoding, warm, in one thread: the processor's (user and system), which
a busy machine changes less, and the clock's. Filters name folders that hold 1 and 10 of a hundred passages. A
process is never told to hold less memory than the one that started it.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from machine import own_environment
from numpy.typing import NDArray
from vectors import exact_answers, load_lines, make_corpus, numbers_of, path_of

from memu.records import (
    EMPTY_SCOPE,
    EncoderIdentity,
    Kind,
    Layer,
    LineSpan,
    Passage,
    Resource,
    Scope,
    State,
    Track,
)
from memu.retrieve.finding import _Sides
from memu.storage.database import Database
from memu.storage.ids import new_passage_id
from memu.storage.repository import Repository
from memu.storage.search import EVERYTHING, SearchFilter
from memu.storage.session import Session
from memu.storage.tables import passage, posting
from memu.storage.vectors import quantise
from memu.storage.words import IndexedPassage
from memu.tokens import QueryTerm, index_terms, query_terms

PER_SOURCE = 100
AT_ONCE = 1000
LIMIT = 100
REPLACED = 0.3
FILTERS = {"100 %": EVERYTHING, "10 %": SearchFilter(path_glob="ten/**"), "1 %": SearchFilter(path_glob="one/**")}
SMALL = {"a scope of 10 %": Scope.of({"user_id": "ten"}), "a scope of 1 %": Scope.of({"user_id": "one"})}


@dataclass(frozen=True, slots=True)
class Material:
    """texts and vectors (n, dimension) to be copied; questions with their vectors; whether texts are real."""

    identity: EncoderIdentity
    texts: tuple[tuple[str, ...], ...]
    vectors: NDArray[np.float32]
    questions: tuple[str, ...]
    asked: NDArray[np.float32]
    corpus: Any = None


def draw_material(count: int) -> Material:
    """Words of a vocabulary where few are frequent, and vectors around two hundred centres."""
    chance, numbers = random.Random(1), np.random.default_rng(1)
    words = [f"{first}{second}{third}" for first in "bdfklmprst" for second in "aeiou" for third in "lnrst"]
    words = [f"{one}{two}" for one in words[::5] for two in words[::3]]
    weights = [1 / (1 + at) for at in range(len(words))]
    texts = tuple(tuple(chance.choices(words, weights, k=80)) for _ in range(500))
    centres = numbers.standard_normal((200, 384), dtype=np.float32)
    vectors = centres[numbers.integers(200, size=count)] + numbers.standard_normal((count, 384), dtype=np.float32)
    asked = centres[:40] + numbers.standard_normal((40, 384), dtype=np.float32)
    questions = tuple(" ".join(chance.sample(each, 7)) for each in texts[:40])
    identity = EncoderIdentity(name="drawn", dimension=384, fingerprint="drawn", languages=frozenset({"en"}))
    return Material(identity, texts, vectors, questions, asked / np.linalg.norm(asked, axis=1, keepdims=True))


def load_material(sets: Path, place: Path, count: int, questions: int) -> Material:
    corpus = make_corpus(sets, place, count, questions)
    texts = tuple(tuple(each.split()[:100]) for each in corpus.texts)
    asked = tuple(load_lines(sets, "queries", questions))
    return Material(corpus.identity, texts, corpus.vectors, asked, corpus.questions, corpus)


class Filling:
    """Writes a scope: passages and vectors a thousand in a transaction, at the end the word index in its order."""

    def __init__(self, material: Material, scope: Scope) -> None:
        self._material = material
        self._scope = scope
        self._chance = random.Random(5)
        self._every = [word for text in material.texts for word in text]
        self._terms: dict[str, tuple[tuple[str, int], ...]] = {}
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._lengths: list[int] = []
        self._postings: list[NDArray[np.int32]] = []

    def write(self, database: Database, count: int) -> None:
        root = f"/{self._scope.key}"
        workspace = database.write_now(
            lambda session: session.within(self._scope).workspaces.add(name=None, root=root)
        )
        encoder = database.write_now(lambda session: session.encoders.register(self._material.identity))
        for first in range(0, count, AT_ONCE):
            database.write_now(
                lambda session, first=first: self._add(
                    session.within(self._scope), workspace.id, encoder.id, first, min(count, first + AT_ONCE)
                )
            )
        for rows in self._sorted_postings():
            database.write_now(
                lambda session, rows=rows: session.within(self._scope).passages._scoped.insert_plain(  # noqa: SLF001
                    posting, ("term", "passage_id", "tf", "length", "kind"), rows
                )
            )

    def _add(self, repository: Repository, workspace_id: str, encoder_id: str, first: int, end: int) -> None:
        rows: list[dict[str, Any]] = []
        for start in range(first, end, PER_SOURCE):
            path = path_of(start // PER_SOURCE)
            source = Resource(
                id="", workspace_id=workspace_id, path=path, kind=Kind.DOCUMENT, title=path, state=State.DONE
            )
            resource = repository.resources.save(source)
            numbers = range(start, min(end, start + PER_SOURCE))
            rows += [self._row(resource.id, number, number - start, path) for number in numbers]
        repository.passages._scoped.insert(passage, rows)  # noqa: SLF001 - past the word index
        vectors = quantise(self._ids[first:end], self._material.vectors[first:end], 384).rows
        repository.passages.add_vectors(encoder_id, vectors)

    def _row(self, resource_id: str, number: int, at: int, path: str) -> dict[str, Any]:
        text = self.vary(number)
        counts = self.count_terms(text)
        self._ids.append(new_passage_id())
        self._lengths.append(sum(counts.values()))
        known = [self._numbers.setdefault(term, len(self._numbers)) for term in counts]
        frequencies = list(counts.values())
        self._postings.append(np.array([known, [number] * len(known), frequencies], dtype=np.int32))
        return dict.fromkeys(("entry_id", "file_id", "track", "place", "happened_at")) | {
            "id": self._ids[-1],
            "resource_id": resource_id,
            "ordinal": at,
            "heading": "",
            "header": path,
            "text": " ".join(text),
            "length": self._lengths[-1],
            "kind": "document",
            "language": "en",
            "line_start": at + 1,
            "line_end": at + 1,
        }

    def vary(self, number: int) -> list[str]:
        """A copy of a text with some words replaced."""
        text = self._material.texts[number % len(self._material.texts)]
        return [self._chance.choice(self._every) if self._chance.random() < REPLACED else word for word in text]

    def count_terms(self, text: Sequence[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for word in text:
            if word not in self._terms:
                self._terms[word] = tuple(index_terms(word, "en").items())
            for term, count in self._terms[word]:
                counts[term] += count
        return counts

    def _sorted_postings(self) -> Iterator[list[tuple[str | int, ...]]]:
        terms, ids = list(self._numbers), self._ids
        term_order = np.argsort(np.argsort(np.array(terms)))
        id_order = np.argsort(np.argsort(np.array(ids)))
        joined = np.concatenate(self._postings, axis=1)
        order = np.lexsort((id_order[joined[1]], term_order[joined[0]]))
        for start in range(0, len(order), 200_000):
            some = joined[:, order[start : start + 200_000]].T.tolist()
            yield [(terms[term], ids[at], tf, self._lengths[at], 1) for term, at, tf in some]


def measure(name: str, items: Sequence[Any], work: Callable[[Any], object]) -> None:
    """One line: the median and the worst, after each was done once."""
    for item in items:
        work(item)
    spent, passed = [], []
    for item in items:
        began, clock = time.process_time(), time.perf_counter()
        work(item)
        spent.append((time.process_time() - began) * 1000)
        passed.append((time.perf_counter() - clock) * 1000)
    least, middle, most = min(spent), statistics.median(spent), max(spent)
    print(f"  {name:34} {middle:8.1f} ({least:.1f}-{most:.1f}) {statistics.median(passed):8.1f}", flush=True)


def measure_store(database: Database, material: Material, count: int) -> None:
    encoder_id = database.write_now(lambda session: session.encoders.register(material.identity)).id
    asked = [query_terms(question, ("en",)) for question in material.questions]
    vectors = list(material.asked)

    def within(work: Callable[[Repository], Any], scope: Scope = EMPTY_SCOPE) -> Any:
        return database.read_now(lambda session: work(session.within(scope)))

    def both(pair: Any, scope: Scope = EMPTY_SCOPE) -> Any:
        wanted = SearchFilter(layers=frozenset(Layer), tracks=frozenset(Track))
        return within(lambda it: _Sides(it, pair[0], pair[1], encoder_id, wanted, LIMIT).gather(), scope)

    rarity = Counter(within(lambda it: it.inspection.rarity([v for q in asked for t in q for v in t.variants])))
    common = [term for term, number in rarity.most_common(12) if number > count / 10]
    rare = [term for term, number in rarity.most_common() if 0 < number < count / 50][:12]
    measure("words of a question", asked, lambda terms: within(lambda it: it.search.words(terms)))
    measure("one common word", common, lambda term: within(lambda it: it.search.words(_terms(term))))
    mixed = [(*common[:3], term) for term in rare]
    measure(
        "three common words and a rarer", mixed, lambda some: within(lambda it: it.search.words(_terms(*some)))
    )
    for name, wanted in FILTERS.items():
        measure(
            f"vectors, filter {name}",
            vectors[:20],
            lambda it, wanted=wanted: within(lambda on: on.search.nearest(it, encoder_id, wanted, LIMIT)),
        )
    measure("both sides, as a search does", list(zip(asked, vectors, strict=True)), both)
    for name, scope in SMALL.items():
        measure(name, list(zip(asked, vectors, strict=True))[:20], lambda pair, scope=scope: both(pair, scope))
    if material.corpus is not None:
        _tell_recall(database, material, encoder_id)


def _terms(*words: str) -> list[QueryTerm]:
    return [QueryTerm(variants=(word,)) for word in words]


def _tell_recall(database: Database, material: Material, encoder_id: str) -> None:
    numbers, recalls = numbers_of(database), []
    for vector, known in zip(material.asked, exact_answers(material.corpus, EVERYTHING), strict=True):

        def ask(session: Session, vector: NDArray[np.float32] = vector) -> list[str]:
            return [hit.id for hit in session.within(EMPTY_SCOPE).search.nearest(vector, encoder_id, limit=10)]

        recalls.append(len(known & {numbers[each] for each in database.read_now(ask) if each in numbers}) / 10)
    print(f"  recall@10 against floats {statistics.mean(recalls):.3f}")


def measure_insertion(database: Database, material: Material) -> None:
    """A thousand new passages, ten sources of a hundred in one transaction, and the search after; then they go."""
    filling = Filling(material, EMPTY_SCOPE)
    encoder_id = database.write_now(lambda session: session.encoders.register(material.identity)).id
    rows = material.vectors[:AT_ONCE]
    indexed = [
        IndexedPassage(
            passage=Passage(
                id="", ordinal=at, header="", text=" ".join(text), lines=LineSpan(1, 1), language="en"
            ),
            terms=filling.count_terms(["zyzzyva", *text]),
        )
        for at in range(AT_ONCE)
        for text in [filling.vary(at)]
    ]

    def insert(session: Session) -> list[str]:
        repository = session.within(EMPTY_SCOPE)
        workspace = repository.workspaces.list()[0]
        sources = []
        for first in range(0, AT_ONCE, PER_SOURCE):
            path = f"new/{first}.md"
            source = Resource(
                id="", workspace_id=workspace.id, path=path, kind=Kind.DOCUMENT, title=path, state=State.DONE
            )
            sources.append(repository.resources.save(source).id)
            ids = repository.passages.replace_for_resource(sources[-1], indexed[first : first + PER_SOURCE])
            found = quantise(ids, rows[first : first + PER_SOURCE], 384).rows
            repository.passages.add_vectors(encoder_id, found)
        return sources

    began, clock = time.process_time(), time.perf_counter()
    sources = database.write_now(insert)
    print(f"  insert {AT_ONCE}: {time.process_time() - began:.2f} s CPU, {time.perf_counter() - clock:.2f} s")
    seen = database.read_now(
        lambda session: session.within(EMPTY_SCOPE).search.words(_terms("zyzzyva"), limit=2 * AT_ONCE)
    )
    assert len(seen) == AT_ONCE, len(seen)
    began = time.process_time()
    database.write_now(lambda session: session.within(EMPTY_SCOPE).resources.remove(sources))
    print(f"  remove them: {time.process_time() - began:.2f} s CPU")


def measure_processes(path: Path, question: str, rounds: int) -> None:
    """From start to printed answer, by words and by both, and what its parts take alone."""
    search = ("-m", "memu", "search", question, "--json", "--db", f"sqlite:///{path}")
    commands = {
        "interpreter": ("none", ("-c", "pass")),
        "import numpy": ("none", ("-c", "import numpy")),
        "import sqlalchemy": ("none", ("-c", "import sqlalchemy")),
        "import onnxruntime, tokenizers": ("none", ("-c", "import onnxruntime, tokenizers")),
        "memu --help": ("none", ("-m", "memu", "--help")),
        "search by words": ("none", search),
        "search by both": ("auto", search),
    }
    for name, (encoder, command) in commands.items():
        cpu, wall, memory = [], [], 0
        for _ in range(rounds):
            environment = own_environment(MEMU_ENCODER=encoder)
            clock = time.perf_counter()
            process = subprocess.Popen(
                [sys.executable, *command], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0, command
            wall.append(time.perf_counter() - clock)
            cpu.append(used.ru_utime + used.ru_stime)
            memory = max(memory, used.ru_maxrss // 1024)
        print(f"  {name:34} {statistics.median(cpu):6.2f} s CPU {statistics.median(wall):6.2f} s {memory:5} MB")


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=Path, metavar="DIR")
    parser.add_argument("--passages", type=int, nargs="+", default=[1000])
    parser.add_argument("--questions", type=int, default=20, help="of each set")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3, help="of fresh processes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = given.folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        for count in given.passages:
            material = (
                load_material(given.sets, place, count, given.questions) if given.sets else draw_material(count)
            )
            path = place / f"search-{count}.sqlite3"
            is_new = not path.exists()
            with Database.open(f"sqlite:///{path}") as database:
                if is_new:
                    Filling(material, EMPTY_SCOPE).write(database, count)
                    for part, scope in zip((10, 100), SMALL.values(), strict=True):
                        Filling(material, scope).write(database, max(1, count // part))
                print(f"{count} passages, {path.stat().st_size / 1e6:.0f} MB; load {os.getloadavg()[0]:.1f}")
                print(f"  {'':34} {'CPU ms':>8} {'':9} {'clock ms':>8}")
                measure_store(database, material, count)
                measure_insertion(database, material)
            measure_processes(path, material.questions[0], given.rounds)


if __name__ == "__main__":
    main()
