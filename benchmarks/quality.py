"""How well a store ranks: nDCG@10 by words, by vectors and by both, through the real store and workflow.

    python benchmarks/quality.py DIR [--sets docsqa xquad_de] [--encoder auto|none|PATH] [--queries N]

DIR holds ``NAME.docs.jsonl`` (id, text, and title or heading where there are any) and ``NAME.queries.jsonl``
(text, rel: id → gain).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memu.languages import detect_language
from memu.providers.choice import choose_encoder
from memu.providers.protocols import Encoder
from memu.records import EMPTY_SCOPE, Kind, Layer, LineSpan, Passage, Resource, State
from memu.retrieve.ranking import RankingPolicy
from memu.retrieve.workflow import RetrieveState, retrieve_workflow
from memu.storage.database import Database
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.workflow import LocalRunner

_BATCH = 256


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


def fill(database: Database, units: Sequence[Unit]) -> None:
    """One source with one passage for each unit, its path the unit's id."""

    def work(session: Session) -> None:
        repository = session.within(EMPTY_SCOPE)
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


async def embed(database: Database, encoder: Encoder) -> None:
    """A vector for every passage."""
    while True:

        def missing(session: Session) -> tuple[Passage, ...]:
            stored = session.encoders.active()
            return session.within(EMPTY_SCOPE).passages.without_vector(stored.id if stored else "", limit=_BATCH)

        batch = await database.read(missing)
        if not batch:
            return
        vectors = await encoder.encode(
            [f"{each.header}\n{each.text}" if each.header else each.text for each in batch]
        )
        rows = quantise([each.id for each in batch], vectors, encoder.identity.dimension).rows

        def store(session: Session, rows: Any = rows) -> None:
            stored = session.encoders.register(encoder.identity)
            session.within(EMPTY_SCOPE).passages.add_vectors(stored.id, rows)

        await database.write(store)


def gain_at_10(ranked: Sequence[str], relevant: Mapping[str, float]) -> float:
    """nDCG@10."""
    gained = sum(relevant.get(each, 0) / math.log2(place + 2) for place, each in enumerate(ranked[:10]))
    best = sorted(relevant.values(), reverse=True)[:10]
    return gained / sum(gain / math.log2(place + 2) for place, gain in enumerate(best))


async def ask(
    database: Database, encoder: Encoder | None, policy: RankingPolicy, queries: Sequence[Mapping[str, Any]]
) -> tuple[float, float]:
    """Mean nDCG@10 and seconds a query."""
    workflow = retrieve_workflow(database, encoder, policy)
    total = 0.0
    started = time.perf_counter()
    for query in queries:
        state = RetrieveState(scopes=(EMPTY_SCOPE,), query=query["text"], layers=frozenset({Layer.RESOURCE}))
        done = await LocalRunner().run(workflow, state)
        total += gain_at_10([hit.path or "" for hit in done.result.hits], query["rel"])
    return total / len(queries), (time.perf_counter() - started) / len(queries)


async def measure(folder: Path, name: str, encoder: Encoder | None, limit: int | None) -> None:
    """Print a line for one set."""
    units = load_units(folder / f"{name}.docs.jsonl")
    lines = (folder / f"{name}.queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line) for line in lines][:limit]
    sides: dict[str, tuple[Encoder | None, RankingPolicy]] = {"words": (None, RankingPolicy())}
    if encoder is not None:
        sides["vectors"] = (encoder, RankingPolicy(vector_weight=1.0))
        sides["fused"] = (encoder, RankingPolicy())
    with Database.open("sqlite://") as database:
        fill(database, units)
        if encoder is not None:
            await embed(database, encoder)
        results = {side: await ask(database, *given, queries) for side, given in sides.items()}
    told = "  ".join(f"{side} {score:.3f} ({seconds * 1000:.0f} ms)" for side, (score, seconds) in results.items())
    print(f"{name}: {len(units)} units, {len(queries)} queries: {told}", flush=True)


async def main() -> None:
    """Measure every set of the folder, or those named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--encoder", default="auto")
    parser.add_argument("--queries", type=int)
    given = parser.parse_args()
    names = given.sets or sorted(
        path.name.removesuffix(".docs.jsonl") for path in given.folder.glob("*.docs.jsonl")
    )
    encoder = choose_encoder(given.encoder)
    for name in names:
        await measure(given.folder, name, encoder, given.queries)


if __name__ == "__main__":
    asyncio.run(main())
