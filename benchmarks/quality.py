"""How well a store ranks: nDCG@10 by words, by vectors and by both, through the real store and workflow.

    python benchmarks/quality.py DIR [--sets docsqa xquad_de] [--encoder auto|none|PATH] [--queries N]
                                     [--databases sqlite postgres] [--postgres URL]

DIR holds ``NAME.docs.jsonl`` (id, text, and title or heading where there are any) and ``NAME.queries.jsonl``
(text, rel: id → gain). With both databases each question's first ten are compared too. On a server that is named a
set fills a scope of its name, which has to be empty.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from operator import eq
from pathlib import Path
from typing import Any

from machine import describe_machine
from own_server import server

from memu.languages import detect_language
from memu.providers.choice import choose_encoder
from memu.providers.protocols import Encoder
from memu.records import EMPTY_SCOPE, Kind, Layer, LineSpan, Passage, Resource, Scope, State
from memu.retrieve.ranking import RankingPolicy
from memu.retrieve.workflow import RetrieveState, retrieve_workflow
from memu.schema import upgrade_schema
from memu.storage.database import Database
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.workflow import LocalRunner

_BATCH = 256
KINDS = ("sqlite", "postgres")
Side = tuple[Encoder | None, RankingPolicy]


@dataclass(frozen=True, slots=True)
class Unit:
    """One passage to be found, as a source of its own."""

    id: str
    header: str
    text: str


def load_units(path: Path) -> list[Unit]:
    """The units of a set; the header is title and heading, where they are given."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Unit(row["id"], "\n".join(row[name] for name in ("title", "heading") if row.get(name)), row["text"])
        for row in rows
    ]


def fill(database: Database, units: Sequence[Unit], scope: Scope = EMPTY_SCOPE) -> None:
    """One source with one passage for each unit, its path the unit's id."""

    def work(session: Session) -> None:
        repository = session.within(scope)
        workspace = repository.workspaces.add(name="bench", root="/bench")
        for unit in units:
            language = detect_language(unit.text)
            resource = repository.resources.save(
                Resource(
                    id="",
                    workspace_id=workspace.id,
                    path=unit.id,
                    kind=Kind.DOCUMENT,
                    title=unit.header,
                    state=State.DONE,
                    language=language,
                )
            )
            passage = Passage(
                id="",
                ordinal=0,
                header=unit.header,
                text=unit.text,
                kind=Kind.DOCUMENT,
                language=language,
                lines=LineSpan(1, 1),
            )
            repository.passages.replace_for_resource(resource.id, [passage])

    database.write_now(work)


async def embed(database: Database, encoder: Encoder, scope: Scope = EMPTY_SCOPE) -> None:
    """A vector for every passage."""
    while True:

        def missing(session: Session) -> tuple[Passage, ...]:
            stored = session.encoders.active()
            return session.within(scope).passages.without_vector(stored.id if stored else "", limit=_BATCH)

        batch = await database.read(missing)
        if not batch:
            return
        vectors = await encoder.encode(
            [f"{each.header}\n{each.text}" if each.header else each.text for each in batch]
        )
        rows = quantise([each.id for each in batch], vectors, encoder.identity.dimension).rows

        def store(session: Session, rows: Any = rows) -> None:
            stored = session.encoders.register(encoder.identity)
            session.within(scope).passages.add_vectors(stored.id, rows)

        await database.write(store)


def gain_at_10(ranked: Sequence[str], relevant: Mapping[str, float]) -> float:
    """nDCG@10."""
    gained = sum(relevant.get(each, 0) / math.log2(place + 2) for place, each in enumerate(ranked[:10]))
    best = sorted(relevant.values(), reverse=True)[:10]
    return gained / sum(gain / math.log2(place + 2) for place, gain in enumerate(best))


@dataclass(frozen=True, slots=True)
class Answers:
    """The first ten of each question, their mean nDCG@10, and the seconds that the middle one took."""

    orders: tuple[tuple[str, ...], ...]
    score: float
    seconds: float


async def ask(
    database: Database, side: Side, queries: Sequence[Mapping[str, Any]], scope: Scope = EMPTY_SCOPE
) -> Answers:
    """Ask every question once."""
    encoder, policy = side
    workflow = retrieve_workflow(database, encoder, policy)
    orders: list[tuple[str, ...]] = []
    seconds: list[float] = []
    for query in queries:
        state = RetrieveState(scopes=(scope,), query=query["text"], layers=frozenset({Layer.RESOURCE}))
        began = time.perf_counter()
        done = await LocalRunner().run(workflow, state)
        seconds.append(time.perf_counter() - began)
        orders.append(tuple(hit.path or "" for hit in done.result.hits))
    gains = [gain_at_10(order, query["rel"]) for order, query in zip(orders, queries, strict=True)]
    return Answers(tuple(orders), statistics.mean(gains), statistics.median(seconds))


def list_sides(encoder: Encoder | None) -> dict[str, Side]:
    """Whom a ranking listens to."""
    sides: dict[str, Side] = {"words": (None, RankingPolicy())}
    if encoder is not None:
        sides["vectors"] = (encoder, RankingPolicy(vector_weight=1.0))
        sides["fused"] = (encoder, RankingPolicy())
    return sides


async def measure(
    databases: Mapping[str, Database], folder: Path, name: str, encoder: Encoder | None, limit: int | None
) -> None:
    """Print a line for one set on each database, and one that compares them."""
    units, scope = load_units(folder / f"{name}.docs.jsonl"), Scope.of({"user_id": name})
    lines = (folder / f"{name}.queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line) for line in lines][:limit]
    results: dict[str, dict[str, Answers]] = {}
    for kind, database in databases.items():
        fill(database, units, scope)
        if encoder is not None:
            await embed(database, encoder, scope)
        sides = list_sides(encoder).items()
        results[kind] = {side: await ask(database, given, queries, scope) for side, given in sides}
        told = (f"{side} {each.score:.3f} ({each.seconds * 1000:.0f} ms)" for side, each in results[kind].items())
        print(f"{name}, {kind}: {len(units)} units, {len(queries)} questions: {'  '.join(told)}", flush=True)
    for one, other in itertools.pairwise(results):
        same = (
            f"{side} {sum(map(eq, found.orders, results[other][side].orders))}"
            for side, found in results[one].items()
        )
        print(f"{name}: the same ten in the same order on {one} and {other}: {'  '.join(same)}", flush=True)


async def main() -> None:
    """Measure every set of the folder, or those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--encoder", default="auto")
    parser.add_argument("--queries", type=int)
    parser.add_argument("--databases", nargs="*", choices=KINDS, default=["sqlite"])
    parser.add_argument("--postgres", metavar="URL")
    given = parser.parse_args()
    names = given.sets or sorted(
        path.name.removesuffix(".docs.jsonl") for path in given.folder.glob("*.docs.jsonl")
    )
    encoder = choose_encoder(given.encoder)
    print(describe_machine(), flush=True)
    with ExitStack() as stack:
        databases: dict[str, Database] = {}
        for kind in given.databases:
            url = stack.enter_context(server(given.postgres)) if kind == "postgres" else "sqlite://"
            if kind == "postgres":
                upgrade_schema(url)
            databases[kind] = stack.enter_context(Database.open(url))
        for name in names:
            await measure(databases, given.folder, name, encoder, given.queries)


if __name__ == "__main__":
    asyncio.run(main())
