"""Reads files that were damaged at random, by all steps from bytes to entries: nothing may crash or hang.

    python benchmarks/fuzz.py FOLDER... --seconds 600 --seed 1
    python benchmarks/fuzz.py --runs 40000

The files of the folders are cut, spliced with each other, repeated, written in another encoding, and given other
bytes and JSON values here and there. A file that fails, or takes longer than ``--slow`` seconds, is kept; one that
takes longer than ``--hang`` seconds ends the run with what every thread was doing.

With ``--runs`` it is not chance that makes the files: each form of file holds each sign, and each of many short
texts, over and over, that many characters in all. What takes time by the square of a length shows.
"""

from __future__ import annotations

import argparse
import asyncio
import faulthandler
import random
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memu.ingest.scan import FoundFile
from memu.memorize.extractors.policies import extract
from memu.memorize.file_steps import Parse, Read, redact_text
from memu.memorize.forget.cutting import cut_all_passages, cut_document
from memu.memorize.forget.forgotten import Forgotten, statement_keys
from memu.memorize.states import MemorizeState
from memu.records import Scope

MOST_BYTES = 3_000_000
ODD = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n\n", b"\x1b[31m", b"\xe2\x80\xa8", b"\xed\xa0\x80",
    b"\x0b", b"\xf0\x9f\x98\x80", b"\xe4\xbd\xa0", b"\xd7\xa9", b"```\n", b"---\n", b"> ", b"- [ ] ", b"| a |",
    b"<div>", b"</td>", b"<!--", b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u0000", b"\\ud800", b"://", b"a:b@",
    b"-----BEGIN PRIVATE KEY-----\n", b"From x\n", b"Content-Type: multipart/mixed; boundary=x\n",
    b"Content-Transfer-Encoding: base64\n", b"=?utf-8?b?", b"WEBVTT\n", b"00:01.000 --> 00:00.000\n", b"Name: ",
    b"[" * 3000, b'{"a":' * 3000, b"(" * 3000, b"*" * 3000, b" " * 3000, b"a" * 70_000, b"- " * 400, b"> " * 400,
    b"\t" * 400, b"9" * 5000, b"1e999999", b"2026-99-99T99:99:99Z",
)  # fmt: skip
SAID = "Nobody is to remember the seven lanterns of the harbour."
FORGOTTEN = replace(Forgotten("00" * 32), hashes=Forgotten("00" * 32).tombstones(statement_keys(SAID)))
FORMS = {
    "a.md": f"# Title\n\n{SAID}\n\n",
    "bare.md": "",
    "a.txt": "Ann: hello there\nBob: hi\n",
    "phone.txt": "[03.02.24, 10:11:12] Ann: hello\n[03.02.24, 10:11:13] Bob: ",
    "a.py": 'def f():\n    """Doc."""\n    x = "',
    "a.go": "package a\n\nfunc F() {\n",
    "a.json": '{"a": "',
    "a.jsonl": '{"type":"user","message":{"role":"user","content":"hi"},"uuid":"1"}\n{"type":"user","a":"',
    "a.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hello\n",
    "a.srt": "1\n00:00:01,000 --> 00:00:02,000\nHello\n",
    "a.eml": "From: a@b.example\nTo: c@d.example\nSubject: x\nDate: Tue, 3 Mar 2026 09:00:00 +0000\n\nHello\n",
    "a.html": "<html><body><p>Hello ",
    "a.yaml": "a: 1\nb: ",
    "a.toml": '[a]\nb = "',
    "a.csv": "a,b\n1,",
    "a.log": "2026-11-30 10:00:00 ERROR it broke\n",
    "a.rst": "Title\n=====\n\nWords.\n\n",
    "a.ipynb": '{"cells":[{"cell_type":"markdown","source":["',
}
RUNS = (
    *" \n\ta1.-_*#>|`~[](){}<\"'/\\=:+,;!?@&%$^…。你é\u200e0A",
    "a ", "a\n", "- ", "> ", "[a", "[]", "*a", "a_", "<a", '"\\', '{"', "a.", "1.", "a-", "a=", "\n ", "\n-",
    "\n>", "\n1", "|a", "a/", "([", "`a", ": ", "a:", "\\n", ". ", "Aa", "a@", "=\n", "<!", "&#", "- a\n",
    "# a\n", "a b. ", "a: b\n", "**a** ", "[a](b) ", "```\n", "<!-- ", "--> ", "<div>", "[^a]: ", "Ann: hi\n",
    "$a=1 ", "a && ", "http://a ", "A_B ", "2026-01-01 ", "10:00 ", "== a\n", '"a": ', '{"a":', "[[", "key=",
    "password: ", "%%", "((a", "/a/", "\\u0061", "a\r", "|-|\n", "***\n", "---\n", "* " * 30 + "\n",
)  # fmt: skip
VALUES = (
    b"null",
    b"true",
    b"-1",
    b"1e400",
    b"[]",
    b"{}",
    b'""',
    b'[["user", 1]]',
    b'{"role": 1}',
    b"99999999999999999999",
)
VALUE = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"(?=\s*[,\]}])|-?\d+(?:\.\d+)?(?=\s*[,\]}])|true|false|null")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", help="whose files are damaged")
    parser.add_argument("--runs", type=int, default=0, help="characters of each run of signs")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow", type=float, default=5, help="seconds that are too many")
    parser.add_argument("--hang", type=float, default=60, help="seconds that no file may take")
    parser.add_argument("--keep", type=Path, default=None, help="where files that fail are kept")
    chosen = parser.parse_args()
    keep = chosen.keep or Path(tempfile.mkdtemp(prefix="memu-fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    if chosen.runs:
        files = make_runs(chosen.runs)
        print(f"{len(FORMS) * len(RUNS)} files, each with one run of {chosen.runs} characters")
    else:
        found = [path for folder in chosen.folders for path in sorted(folder.rglob("*")) if path.is_file()]
        whole = [(path.name, path.read_bytes()) for path in found if 0 < path.stat().st_size <= MOST_BYTES]
        files = make_damaged(whole, chosen.seed, chosen.seconds)
        print(f"{len(whole)} files, {chosen.seconds:.0f} s, seed {chosen.seed}")
    print(f"what fails is kept in {keep}")
    sys.exit(run(files, keep, chosen.slow, chosen.hang))


def make_runs(length: int) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each form of file with each run in it."""
    for name, head in FORMS.items():
        for piece in RUNS:
            yield name, f"{head}{piece * (length // len(piece))}x\n".encode()


def make_damaged(whole: Sequence[tuple[str, bytes]], seed: int, seconds: float) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of damaged files, until the time is up."""
    chance, ends = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < ends:
        name, data = chance.choice(whole)
        yield name, damage(data, whole, chance)


def run(files: Iterable[tuple[str, bytes]], keep: Path, slow: float, hang: float) -> int:
    """How many files failed or took too long, at most 100."""
    failed, slowest, ended, begun = 0, (0.0, ""), Counter[str](), Counter[str]()
    case = keep / "case"
    case.mkdir(exist_ok=True)
    for name, data in files:
        path = case / name
        path.write_bytes(data)
        began, wrong = time.monotonic(), ""
        faulthandler.dump_traceback_later(hang, exit=True)
        try:
            ended[asyncio.run(read(path))] += 1
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
            wrong = traceback.format_exc()
        faulthandler.cancel_dump_traceback_later()
        took = time.monotonic() - began
        if wrong or took > slow:
            failed += 1
            path.rename(keep / f"{failed}-{name}")
            print(f"{failed}-{name} took {took:.1f} s, ends with {data[-40:]!r}\n{wrong}", flush=True)
        slowest = max(slowest, (took, f"{name}, {len(data)} bytes"))
        begun[path.suffix] += 1
        path.unlink(missing_ok=True)
        if failed == 100:
            break
    print(f"{begun.total()} files, {failed} failed or slow; slowest {slowest[0]:.1f} s ({slowest[1]})")
    print(", ".join(f"{suffix or 'no suffix'} {count}" for suffix, count in begun.most_common()))
    print(", ".join(f"{how} {count}" for how, count in ended.most_common(12)))
    return failed


async def read(path: Path) -> str:
    """Read one file as a sync does; how that ended."""
    data = path.stat()
    file = FoundFile(path=path.name, size=data.st_size, mtime_ns=data.st_mtime_ns)
    state = MemorizeState(
        scope=Scope.of(), workspace_id="w", root=path.parent, file=file, began=datetime.now(UTC), untrusted=False
    )
    state = await Parse()(await redact_text(await Read(max_size=10_000_000)(state)))
    if state.skipped:
        return "skipped"
    assert state.document is not None
    document = cut_document(state.document, path.name, FORGOTTEN)
    cut_all_passages(state.passages, path.name, FORGOTTEN)
    candidates = extract(document, path.name).candidates
    text = path.read_bytes()
    lines = text.count(b"\n") + text.count(b"\r") + text.count(b"\xe2\x80\xa8") + text.count(b"\x0b") + 2
    for candidate in candidates:
        assert candidate.text.strip(), "an entry without words"
        assert candidate.lines is None or 1 <= candidate.lines.start <= candidate.lines.end, candidate.lines
        assert candidate.lines is None or b"\x00" in text or candidate.lines.end <= lines, (candidate.lines, lines)
    return f"read as {state.document.kind}"


def damage(data: bytes, whole: Sequence[tuple[str, bytes]], chance: random.Random) -> bytes:
    """The bytes changed in one to six places or ways."""
    for _ in range(chance.randint(1, 6)):
        data = chance.choice(WAYS)(data, whole, chance)[:MOST_BYTES]
    return data


def _span(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.choice([1, 3, 20, 200, 3000, len(data)]))


def _cut(data: bytes, _: object, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _leave_out(data: bytes, _: object, chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:start] + data[end:]


def _repeat(data: bytes, _: object, chance: random.Random) -> bytes:
    start, end = _span(data, chance)
    return data[:end] + data[start:end] * chance.randint(1, 30) + data[end:]


def _swell(data: bytes, _: object, chance: random.Random) -> bytes:
    """What takes time by the square of a length is found by a length."""
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.choice([1, 2, 8, 40, 200])] or b"x"
    at = chance.choice([start, data.find(b"\n", start) + 1])
    return data[:at] + piece * (chance.choice([20_000, 300_000, 1_000_000]) // len(piece)) + data[at:]


def _flip(data: bytes, _: object, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 12) if data else 0):
        changed[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(changed)


def _put_in(data: bytes, _: object, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(data) + 1)
        data = data[:at] + chance.choice(ODD) + data[at:]
    return data


def _splice(data: bytes, whole: Sequence[tuple[str, bytes]], chance: random.Random) -> bytes:
    other = chance.choice(whole)[1]
    start, end = _span(other, chance)
    at = chance.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _move_lines(data: bytes, _: object, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines.insert(to, lines.pop(at))
    return b"\n".join(lines)


def _recode(data: bytes, _: object, chance: random.Random) -> bytes:
    text = data.decode("utf-8", errors="replace")
    return text.encode(
        chance.choice(["utf-16", "utf-16-le", "latin-1", "cp1252", "gb18030", "utf-32"]), errors="replace"
    )


def _change_values(data: bytes, _: object, chance: random.Random) -> bytes:
    places = [match.span() for match in VALUE.finditer(data[:400_000])]
    for start, end in sorted(chance.sample(places, min(len(places), chance.randint(1, 6))), reverse=True):
        data = data[:start] + chance.choice(VALUES) + data[end:]
    return data


WAYS: tuple[Callable[[bytes, Sequence[tuple[str, bytes]], random.Random], bytes], ...] = (
    _cut, _leave_out, _repeat, _flip, _put_in, _splice, _move_lines, _recode, _change_values, _change_values,
    _swell,
)  # fmt: skip

if __name__ == "__main__":
    main()
