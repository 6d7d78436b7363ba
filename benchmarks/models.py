"""What a sync with chat models costs: calls, tokens, and wall time against the calls one after another.

    python benchmarks/models.py --bench FOLDER      # FOLDER/harness has wsgen.py and fakellm.py

The workspace is made by ``wsgen.py``. ``fakellm.py`` answers chats after a fixed time, as ``responders.py`` says,
and gives scripted vectors; every figure but wall time is its own count. Run it on a machine that is not busy: what
the processors do beside waiting counts too.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import own_environment

HERE = Path(__file__).parent
TOKEN_BYTES = 4


@dataclass(frozen=True, slots=True)
class Taken:
    """One sync. wall, cpu: seconds. chats, embeds: calls. tokens: of all prompts. pages: created or changed."""

    wall: float
    cpu: float
    chats: int
    by_kind: Mapping[str, int]
    tokens: int
    embeds: int
    peak: int
    pages: int
    server_cpu: float


@dataclass(frozen=True, slots=True)
class Server:
    """The scripted server, and how to ask it."""

    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def tell(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", data=data)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())


@contextmanager
def serving(bench: Path, place: Path, latency: int) -> Iterator[Server]:
    told = place / "port"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(bench), str(HERE)])}
    command = [sys.executable, "-m", "harness.fakellm", "--port-file", str(told), "--latency-ms", str(latency)]
    process = subprocess.Popen(
        [*command, "--responders", "responders"], env=environment, stdout=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 30
        while not told.exists():
            if time.monotonic() > deadline or process.poll() is not None:
                raise SystemExit("The scripted server does not start.")
            time.sleep(0.05)
        yield Server(int(told.read_text(encoding="utf-8")))
    finally:
        process.terminate()
        process.wait()


def sync(server: Server, root: Path, environment: Mapping[str, str]) -> Taken:
    """One sync as a process of its own. It has to end well."""
    server.tell("_reset", {})
    before = server.tell("_stats")["server_cpu_s"]
    began, spent = time.perf_counter(), _spent()
    command = [sys.executable, "-m", "memu", "sync", str(root), "--json", "--quiet"]
    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)
    wall, cpu = time.perf_counter() - began, _spent() - spent
    if done.returncode:
        raise SystemExit(f"memu ended with {done.returncode}: {done.stderr}{done.stdout[-2000:]}")
    report, counted = json.loads(done.stdout), server.tell("_stats")
    if report["unpatched"] or report["dropped"] or counted["unknown_prompts"]:
        raise SystemExit(
            f"Not all was read: {report['unpatched']} {report['dropped']} {counted['unknown_prompts']}"
        )
    pages = report["pages"]
    return Taken(
        wall=wall,
        cpu=cpu,
        chats=counted["chat_calls"],
        by_kind=counted["chat_by_kind"],
        tokens=counted["chat_tokens_in"],
        embeds=counted["embed_calls"],
        peak=counted["inflight_peak"]["chat"],
        pages=len(pages["created"]) + len(pages["changed"]),
        server_cpu=counted["server_cpu_s"] - before,
    )


def _spent() -> float:
    """CPU seconds of the processes that ended; the server still runs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(server: Server, root: Path, environment: Mapping[str, str]) -> dict[str, Taken]:
    taken = {"first sync": sync(server, root, environment)}
    # Files so young may have changed within the clock's grain.
    time.sleep(2.1)
    taken["nothing to do"] = sync(server, root, environment)
    paths = [path for path in sorted(root.rglob("*.md")) if ".memu" not in path.parts]
    changed = next(path for path in paths if "[topic: " in path.read_text(encoding="utf-8"))
    text = changed.read_text(encoding="utf-8")
    changed.write_text(
        text.replace(" [end]", " The user sold the velvet lantern on day 12. [end]", 1), encoding="utf-8"
    )
    taken["one file changed"] = sync(server, root, environment)
    paths[-1].rename(paths[-1].with_name("renamed.md"))
    taken["one file renamed"] = sync(server, root, environment)
    return taken


def print_all(taken: Mapping[str, Taken], files: int, source_tokens: int, latency: int) -> None:
    head = f"{'':18} {'wall s':>7} {'CPU s':>6} {'chats':>6} {'pages':>6} {'tokens':>8} {'embeds':>7}"
    print(f"{head} {'at once':>8}  by kind")
    for name, each in taken.items():
        row = f"{each.wall:7.1f} {each.cpu:6.1f} {each.chats:6} {each.pages:6} {each.tokens:8} {each.embeds:7}"
        print(f"{name:18} {row} {each.peak:8}  {dict(each.by_kind)}")
    first = taken["first sync"]
    serial = first.chats * latency / 1000
    print(f"\nchat calls: {first.chats}; files + pages + 2 = {files + first.pages + 2}")
    print(
        f"one after another the calls take {serial:.1f} s, the sync {first.wall:.1f} s: {first.wall / serial:.2f}"
    )
    idle = taken["nothing to do"].wall
    print(f"of the sync {idle:.1f} s are what a sync takes that finds nothing to do")
    print(f"prompt tokens: {first.tokens}, the sources {source_tokens}: {first.tokens / source_tokens:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True, help="a folder with harness/wsgen.py and fakellm.py")
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--latency", type=int, default=300, help="milliseconds a chat call takes")
    parser.add_argument("--concurrency", type=int, default=8)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        root = place / "workspace"
        command = [sys.executable, "-m", "harness.wsgen", str(root), "--n", str(chosen.files)]
        made = {**os.environ, "PYTHONPATH": str(chosen.bench)}
        subprocess.run([*command, "--seed", str(chosen.seed)], env=made, check=True, stdout=subprocess.DEVNULL)
        source_tokens = sum(-(-path.stat().st_size // TOKEN_BYTES) for path in root.rglob("*.md"))
        with serving(chosen.bench, place, chosen.latency) as server:
            environment = own_environment(
                MEMU_CHAT_MODEL="scripted",
                MEMU_CHAT_BASE_URL=server.base_url,
                MEMU_EMBED_MODEL="scripted",
                MEMU_EMBED_BASE_URL=server.base_url,
                MEMU_CONCURRENCY=str(chosen.concurrency),
            )
            told = f"{chosen.files} files, {chosen.latency} ms a call, {chosen.concurrency} at once"
            print(f"{told}, {os.cpu_count()} cores")
            print_all(run(server, root, environment), chosen.files, source_tokens, chosen.latency)


if __name__ == "__main__":
    main()
