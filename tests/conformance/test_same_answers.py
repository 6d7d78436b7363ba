"""The same answers from every database: one file of questions and rankings, by words, by vectors and fused.

``MEMU_TEST_REWRITE=1`` writes the file anew, from a store in memory; look at what changed before it is committed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from memu.names import fold_name
from memu.providers.fakes import HashingEncoder
from memu.records import EMPTY_SCOPE, Kind, LineSpan, MemoryType, Passage, RecallEntry, Resource, State, Track
from memu.retrieve.workflow import RetrieveState, retrieve_workflow
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.search import ScoredPassage, SearchFilter
from memu.storage.session import Session
from memu.storage.vectors import quantise
from memu.tokens import detect_language, query_terms, text_key
from memu.workflow import LocalRunner

pytestmark = pytest.mark.conformance

DATA = Path(__file__).parents[1] / "data"
ANSWERS = DATA / "same_answers.json"
LIMIT = 12
# Sums of words are of floats, added in the order that a database finds them in: the last of six digits may differ.
TOLERANCE = 1.5e-6
QUERIES = (
    "why do we deploy from a single branch?",
    "database admin machine restore",
    "redeploying an application",
    "crontab 每天 执行",
    "who decided on Terraform",
    "the",
    "AWS",
    "security groups and subnets",
    "how is DNS managed in each environment",
    "定时任务",
    "bastion jumpbox ssh access",
    "xyzzyplugh",
    "logging metrics monitoring alerts",
    "decision accepted",
    "RDS PostgreSQL MySQL",
    "instances autoscaling groups load balancer health checks",
)
FILTERS = {
    "": SearchFilter(),
    "guides": SearchFilter(path_glob="db-*"),
    "decisions": SearchFilter(path_glob="0*", tracks=frozenset({Track.MEMORY})),
}


def _write(repository: Repository) -> None:
    """Each paragraph a passage; short ones entries too, on a page of their source's name."""
    workspace = repository.workspaces.add(name="docs", root="/docs")
    for path in sorted((DATA / "documents").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        language = detect_language(text)
        resource = repository.resources.save(
            Resource(
                id="",
                workspace_id=workspace.id,
                path=path.name,
                kind=Kind.DOCUMENT,
                title=path.stem,
                state=State.DONE,
                language=language,
            )
        )
        pieces = [piece.strip() for piece in text.split("\n\n") if piece.strip()]
        passages = [
            Passage(
                id="",
                ordinal=at,
                header=path.stem,
                text=piece,
                kind=Kind.DOCUMENT,
                language=language,
                lines=LineSpan(at + 1, at + 1),
            )
            for at, piece in enumerate(pieces)
        ]
        repository.passages.replace_for_resource(resource.id, passages)
        entries = [
            RecallEntry(
                id="",
                resource_id=resource.id,
                ordinal=at,
                memory_type=MemoryType.KNOWLEDGE,
                track=Track.MEMORY,
                text=each.text,
                text_key=text_key(each.text),
                lines=each.lines,
                label="",
            )
            for at, each in enumerate(passages)
            if len(each.text) < 200
        ]
        ids = repository.entries.replace(resource.id, entries)
        repository.passages.replace_for_entries(
            resource.id,
            [
                Passage(
                    id="",
                    ordinal=0,
                    header=path.stem,
                    text=each.text,
                    entry_id=known,
                    track=each.track,
                    kind=Kind.DOCUMENT,
                    language=language,
                    lines=each.lines,
                )
                for known, each in zip(ids, entries, strict=True)
            ],
        )
        page = repository.pages.ensure(Track.MEMORY, path.stem)
        repository.pages.link(page.id, ids)
        name = Passage(id="", ordinal=0, header=path.stem, text=fold_name(path.stem), track=Track.MEMORY)
        repository.passages.replace_for_page(page.id, [name])


async def _embed(database: Database, encoder: HashingEncoder) -> str:
    stored = database.write_now(lambda session: session.encoders.register(encoder.identity))
    missing = database.read_now(
        lambda session: session.within(EMPTY_SCOPE).passages.without_vector(stored.id, limit=100_000)
    )
    vectors = await encoder.encode([f"{each.header}\n{each.text}" for each in missing])
    rows = quantise([each.id for each in missing], vectors, encoder.identity.dimension).rows
    database.write_now(lambda session: session.within(EMPTY_SCOPE).passages.add_vectors(stored.id, rows))
    return stored.id


def _tell(session: Session, found: list[ScoredPassage]) -> list[str]:
    """Each hit by where it stands and how well it fits."""
    owners = session.within(EMPTY_SCOPE).passages.hydrate([each.id for each in found])
    told = []
    for each in found:
        owner = owners[each.id]
        layer = "page" if owner.passage.file_id else "entry" if owner.passage.entry_id else "source"
        place = owner.resource.path if owner.resource else ""
        line = owner.passage.lines.start if owner.passage.lines else 0
        told.append(f"{each.score:.6f} {layer} {place}:{line}")
    return told


async def _answer(database: Database) -> dict[str, dict[str, list[str]]]:
    encoder = HashingEncoder(48)
    database.write_now(lambda session: _write(session.within(EMPTY_SCOPE)))
    encoder_id = await _embed(database, encoder)
    workflow = retrieve_workflow(database, encoder)
    answers: dict[str, dict[str, list[str]]] = {}
    for query in QUERIES:
        found = answers.setdefault(query, {})
        vector = await encoder.encode_query(query)
        for name, wanted in FILTERS.items():

            def look(session: Session, query=query, vector=vector, wanted=wanted) -> tuple[list[str], list[str]]:
                search = session.within(EMPTY_SCOPE).search
                terms = query_terms(query)
                return (
                    _tell(session, search.words(terms, wanted, LIMIT)),
                    _tell(session, search.nearest(vector, encoder_id, wanted, LIMIT)),
                )

            found[f"words {name}".strip()], found[f"vectors {name}".strip()] = database.read_now(look)
        state = RetrieveState(scopes=(EMPTY_SCOPE,), query=query)
        ended = await LocalRunner().run(workflow, state, ())
        assert ended.result is not None
        found["fused"] = [
            f"{hit.layer.value} {hit.path or hit.title}:{hit.lines.start if hit.lines else 0}"
            for hit in ended.result.hits
        ]
    return answers


async def test_the_same_answers_from_every_database(store_url: str):
    if os.environ.get("MEMU_TEST_REWRITE"):
        with Database.open("sqlite://") as memory:
            written = json.dumps(await _answer(memory), indent=1, ensure_ascii=False)
            ANSWERS.write_text(written + "\n", encoding="utf-8")
    expected = json.loads(ANSWERS.read_text(encoding="utf-8"))
    assert sum(len(ranking) for answer in expected.values() for ranking in answer.values()) > 500
    with Database.open(store_url) as database:
        answers = await _answer(database)
    assert answers.keys() == expected.keys()
    for query, answer in answers.items():
        for way, ranking in answer.items():
            wanted = expected[query][way]
            # The order is equal, ties too; cosines to the last digit.
            assert [_place(hit) for hit in ranking] == [_place(hit) for hit in wanted], (query, way)
            if way != "fused":
                near = 0.0 if way.startswith("vectors") else TOLERANCE
                assert list(map(_score, ranking)) == pytest.approx(list(map(_score, wanted)), abs=near, rel=0)


def _place(told: str) -> str:
    return told.partition(" ")[2]


def _score(told: str) -> float:
    return float(told.partition(" ")[0])
