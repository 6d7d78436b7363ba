"""What a session of 100 MB costs to read, and one more turn of it; whether cut logs give the same cards.

    python benchmarks/sessions.py                    # an invented log, mostly output of tools, words only
    python benchmarks/sessions.py --megabytes 20
    python benchmarks/sessions.py --cuts 2000 FOLDER  # every log below FOLDER, cut at so many random places

All times are CPU time. Each step runs in a process of its own, so that its peak of memory is its own.
A cut is taken twice: read whole, and read up to an earlier cut and on from the border found there.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from machine import describe_machine, peak_megabytes

from memu import MemoryService
from memu.ingest.document import Document, Source
from memu.ingest.log_heads import is_plain
from memu.ingest.paths import stream_source
from memu.ingest.readers.session import SessionReader
from memu.ingest.sessions.shrinking import shrink_log
from memu.memorize.cleaning import clean_document, redact_source
from memu.memorize.turn_cards import make_cards

HEADS = ("net", "build", "cache", "deploy", "index", "query", "token", "frame", "shard", "route", "batch", "merge")
TAILS = ("er", "ing", "ed", "s", "able", "less", "ful", "ment", "ness", "ion")
WORDS = [head + tail for head in HEADS for tail in TAILS]
LOG = "log.jsonl"
TURNS = 5
LARGEST = 1 << 30


def say(rng: random.Random, count: int) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def make_turn(rng: random.Random, number: int) -> Iterator[str]:
    """The lines of a turn: a request, some calls of tools with what came of them, an answer."""

    def record(step: int, role: str, content: Any, **more: Any) -> str:
        at = 100 * number + step
        day, hour = f"{1 + at // 86_400 % 28:02}", f"{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}"
        stamp = f"2026-{1 + at // 2_419_200:02}-{day}T{hour}Z"
        return json.dumps(
            {
                "type": role,
                "uuid": f"u{number}-{step}",
                "timestamp": stamp,
                "message": {"role": role, "content": content, "stop_reason": more.pop("stop", None)},
                **more,
            }
        )

    kept = f"We keep the {say(rng, 5)} in the {say(rng, 3)}. {say(rng, 8).capitalize()}."
    yield record(0, "user", f"Please look at the {say(rng, 4)} and fix the {say(rng, 3)}. {kept}")
    for step in range(1, 2 * rng.randint(4, 8), 2):
        call: dict[str, Any] = {"type": "tool_use", "id": f"c{number}-{step}"}
        call |= (
            {"name": "Bash", "input": {"command": f"make {rng.choice(WORDS)}-{number}"}}
            if step % 4 == 1
            else {"name": "Read", "input": {"file_path": f"/project/{rng.choice(WORDS)}.py"}}
        )
        thought = {"type": "thinking", "thinking": say(rng, 120), "signature": "c2ln" * 150}
        yield record(step, "assistant", [thought, call])
        output = "\n".join(say(rng, rng.randint(6, 14)) for _ in range(rng.randint(20, 160)))
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": output}
        yield record(step + 1, "user", [result], toolUseResult={"stdout": output})
    answer = f"I changed the {say(rng, 6)}. {say(rng, 30).capitalize()}. The tests pass, and {say(rng, 12)}."
    yield record(40, "assistant", [{"type": "text", "text": answer}], stop="end_turn")


def append_turns(log: Path, first: int, count: int | None = None, size: int = 0) -> int:
    """Write ``count`` turns, or so many that the log has ``size`` bytes; returns the number of the next."""
    with log.open("a", encoding="utf-8") as file:
        while count is None or count > 0:
            file.writelines(f"{line}\n" for line in make_turn(random.Random(first), first))
            first += 1
            count = None if count is None else count - 1
            if count is None and file.tell() >= size:
                break
    return first


def hash_log(log: Path) -> float:
    began, digest = time.process_time(), hashlib.sha256()
    for piece in stream_source(log.parent, log.name, max_size=LARGEST):
        digest.update(piece)
    return time.process_time() - began


def read_log(log: Path) -> None:
    """Into turns, as a stream; what a sync does before it cuts and stores."""
    began = time.process_time()
    shrunk = shrink_log(stream_source(log.parent, log.name, max_size=LARGEST))
    document = SessionReader().read(Source(path=log.name, text=shrunk.text))
    took, size = time.process_time() - began, shrunk.size / 1e6
    print(f"read into {len(document.turns):,} turns: {size / took:.0f} MB/s, peak {peak_megabytes():.0f} MB")


async def sync_log(work: Path) -> None:
    async with MemoryService.open(f"sqlite:///{work.parent}/store", out=work.parent / "out", encoder=None) as memu:
        began = time.process_time()
        await memu.memorize_workspace(work)
        took, size = time.process_time() - began, (work / LOG).stat().st_size / 1e6
    print(f"first sync, words only: {took:.1f} s, {size / took:.1f} MB/s, peak {peak_megabytes():.0f} MB")


async def sync_turns(work: Path, number: int) -> None:
    """One more turn, several times: the first in a process that has to load all, the others in one that has."""
    log, times = work / LOG, list[float]()
    async with MemoryService.open(f"sqlite:///{work.parent}/store", out=work.parent / "out", encoder=None) as memu:
        for _ in range(TURNS):
            number = append_turns(log, number, 1)
            began = time.process_time()
            await memu.memorize_workspace(work)
            times.append(time.process_time() - began)
        whole = min(hash_log(log) for _ in range(3))
        began = time.process_time()
        await memu.memorize_workspace(work)
        idle = time.process_time() - began
        warm = sorted(times[1:])[len(times[1:]) // 2]
    print(f"one more turn: {times[0]:.2f} s in a fresh process, {warm:.3f} s in a running one (of {TURNS - 1})")
    print(f"one look at all bytes (SHA-256): {whole:.3f} s; a sync that finds nothing: {idle:.3f} s")
    print(f"one more turn, running: {warm / whole:.1f} times hashing; peak {peak_megabytes():.0f} MB")


def measure(megabytes: float) -> None:
    print(describe_machine())
    with tempfile.TemporaryDirectory() as place:
        work = Path(place) / "work"
        work.mkdir()
        number = append_turns(work / LOG, 1, size=int(megabytes * 1e6))
        for step in ("read", "sync", "turns"):
            command = [sys.executable, __file__, "--step", step, str(work), "--number", str(number)]
            subprocess.run(command, check=True)


def read_cut(text: str, name: str) -> tuple[str, Document]:
    """The redacted text of a cut, and its document."""
    redacted = redact_source(text, name)[0]
    return redacted, clean_document(SessionReader().read(Source(path=name, text=redacted)), name)[0]


def tell_cards(document: Document, name: str) -> list[tuple[object, ...]]:
    cards = make_cards(document, name, None).values()
    return [(card.place, card.lines, card.header, card.text, card.happened_at) for card in cards]


def read_on(first: Document, text: str, name: str) -> Document | None:
    """A cut read on from the border of an earlier one; None where there is none, or new lines change old ones."""
    border = first.border
    if border is None:
        return None
    tail = redact_source("\n".join(text.split("\n")[border.line - 1 :]), name)[0]
    more = clean_document(SessionReader().read_on(Source(path=name, text=tail), border), name)[0]
    began = [turn.began for turn in more.turns if turn.began is not None]
    dated = first.happened_at is not None and all(time >= first.happened_at for time in began)
    if not dated or (more.title != first.title and not border.titled):
        return None
    head = tuple(block for block in first.blocks if block.event and block.event.turn < border.turn)
    turns = tuple(turn for turn in first.turns if turn.number < border.turn)
    return replace(first, blocks=(*head, *more.blocks), turns=(*turns, *more.turns))


def try_cuts(folder: Path, count: int) -> bool:
    """Whether every cut of every log gives the same cards both ways."""
    equal = True
    for path in sorted(each for each in folder.rglob("*.json*") if each.is_file()):
        data, name, rng = path.read_bytes(), path.name, random.Random(1)
        seen: Counter[str] = Counter()
        for _ in range(count):
            early, late = sorted(rng.randrange(len(data) + 1) for _ in range(2))
            texts = [data[:cut].decode("utf-8", errors="replace") for cut in (early, late)]
            (_, first), (_, whole) = (read_cut(text, name) for text in texts)
            grown = read_on(first, texts[1], name) if is_plain(data[:late]) else None
            seen["read on" if grown is not None else "read anew"] += 1
            if grown is not None and tell_cards(grown, name) != tell_cards(whole, name):
                seen["cards that differ"] += 1
        told = ", ".join(f"{number} {what}" for what, number in sorted(seen.items()))
        print(f"{path.relative_to(folder)}: {count} cuts, {told}, {seen['cards that differ']} differ", flush=True)
        equal = equal and not seen["cards that differ"]
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--step", choices=["read", "sync", "turns"], help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step == "read":
        read_log(given.folder / LOG)
    elif given.step == "sync":
        asyncio.run(sync_log(given.folder))
    elif given.step == "turns":
        asyncio.run(sync_turns(given.folder, given.number))
    elif given.cuts:
        return 0 if given.folder and try_cuts(given.folder, given.cuts) else 1
    else:
        measure(given.megabytes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
