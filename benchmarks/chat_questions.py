"""How well the turns of chats rank for questions about them: nDCG@10, on both databases.

    python benchmarks/chat_questions.py SESSIONS ANSWERS [--encoder auto|none]

SESSIONS/USER/*.json are chats, each user's a scope; ANSWERS/USER.json holds ``memory_tests``, each with a query
and its ``required_memories``. A turn of the person answers a question if it has half of the content words of a
required memory; the question's own turn is left out, and so are questions that no turn answers. Of a question
about what changed it also counts whether the newest turn that answers it is first, of sources and of entries.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import describe_machine
from memories import content_words
from own_server import server
from quality import gain_at_10

from memu import Hit, MemoryService
from memu.schema import upgrade_schema

CHANGED = "contradiction"
DEPTH = 12


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and which turns answer it, oldest first: each a file's name and what was said."""

    text: str
    answers: tuple[tuple[str, str], ...]
    changed: bool


def read_questions(sessions: Path, answers: Path) -> Iterator[Question]:
    """The questions about one user's chats that some turn answers."""
    turns = [
        (path.name, message["content"])
        for path in sorted(sessions.glob("*.json"))
        for message in json.loads(path.read_text(encoding="utf-8"))["messages"]
        if message["role"] == "user"
    ]
    for asked in json.loads(answers.read_text(encoding="utf-8"))["memory_tests"]:
        wanted = [content_words(each) for each in asked["required_memories"]]
        right = tuple(
            turn
            for turn in turns
            if turn[1].strip() != asked["query"] and _holds_half(content_words(turn[1]), wanted)
        )
        if right:
            yield Question(asked["query"], right, CHANGED in asked["category"])


def _holds_half(words: frozenset[str], wanted: Sequence[Collection[str]]) -> bool:
    return any(2 * len(words.intersection(each)) >= len(each) for each in wanted if each)


def name_turns(hits: Sequence[Hit], question: Question) -> list[str]:
    """The hits without the question's own turn: each that is an answer by that turn's number, any other by ""."""
    own = question.text.strip()
    return [_name(hit, question) for hit in hits if hit.text.strip() != own]


def _name(hit: Hit, question: Question) -> str:
    opening = hit.text.strip()[:60]
    for number, (path, said) in enumerate(question.answers):
        if hit.path == path and opening in said:
            return str(number)
    return ""


async def ask(
    memu: MemoryService, question: Question, user: str
) -> tuple[float, dict[str, bool], tuple[str, ...]]:
    """nDCG@10 of turns; by layer whether the newest answer is first; and the order of the turns."""
    firsts: dict[str, bool] = {}
    orders: dict[str, list[str]] = {}
    for layer in ("resource", "entry"):
        found = await memu.retrieve_workspace(
            question.text, where={"user_id": user}, layers=[layer], max_hits=DEPTH
        )
        orders[layer] = name_turns(found.hits, question)
        firsts[layer] = orders[layer][:1] == [str(len(question.answers) - 1)]
    # A turn counts once, at its best place.
    ranked = [name if name not in orders["resource"][:at] else "" for at, name in enumerate(orders["resource"])]
    gain = gain_at_10(ranked, {str(number): 1.0 for number in range(len(question.answers))})
    return gain, firsts, tuple(orders["resource"])


async def measure(url: str, sessions: Path, answers: Path, encoder: Any) -> tuple[str, list[tuple[str, ...]]]:
    """What is told of one database, and the order of each question's turns."""
    gains: list[float] = []
    changed: list[dict[str, bool]] = []
    orders: list[tuple[str, ...]] = []
    with tempfile.TemporaryDirectory() as place:
        async with MemoryService.open(url, out=Path(place) / "out", encoder=encoder) as memu:
            for folder in sorted(path for path in sessions.iterdir() if path.is_dir()):
                copied = shutil.copytree(folder, Path(place) / folder.name)
                await memu.memorize_workspace(copied, user={"user_id": folder.name})
                for question in read_questions(folder, answers / f"{folder.name}.json"):
                    gain, firsts, order = await ask(memu, question, folder.name)
                    gains.append(gain)
                    orders.append(order)
                    changed += [firsts] if question.changed else []
    first = {layer: sum(each[layer] for each in changed) for layer in ("resource", "entry")}
    told = (
        f"nDCG@10 {statistics.mean(gains):.3f} of {len(gains)} questions; newest answer first of {len(changed)}: "
    )
    return f"{told}turns {first['resource']}, entries {first['entry']}", orders


async def main() -> None:
    """Measure by words and, with an encoder, fused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--encoder", default="auto", choices=["auto", "none"])
    given = parser.parse_args()
    print(describe_machine(), flush=True)
    for side, encoder in {"words": None, "fused": "auto"}.items():
        if side == "fused" and given.encoder == "none":
            continue
        with ExitStack() as stack:
            url = stack.enter_context(server(None))
            upgrade_schema(url)
            found = {}
            for kind, place in {"sqlite": "sqlite://", "postgres": url}.items():
                told, found[kind] = await measure(place, given.sessions, given.answers, encoder)
                print(f"{side}, {kind}: {told}", flush=True)
        same = sum(one == other for one, other in zip(found["sqlite"], found["postgres"], strict=True))
        print(f"{side}: the same order on both for {same} of {len(found['sqlite'])} questions", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
