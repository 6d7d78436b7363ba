"""Session logs over the limit of a file: read as a stream, brought down line by line, and read the same."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memu import MemoryService
from memu.ingest.document import Document, Source
from memu.ingest.readers.session import SessionReader
from memu.ingest.sessions.log_records import LONGEST_LINE
from memu.ingest.sessions.shrinking import shrink_line, shrink_log
from memu.settings import Settings

pytestmark = pytest.mark.unit

DATA = Path(__file__).parents[1] / "data" / "sessions"
LOGS = sorted(path.name for path in DATA.glob("*.jsonl"))
WORDS = [f"word{number}" for number in range(500)]
CLAUDE = {"type": "user", "uuid": "u", "timestamp": "2026-03-01T10:00:00Z"}


def read(text: str) -> Document:
    return SessionReader().read(Source(path="s.jsonl", text=text))


def pieces_of(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def long_text(seed: int, words: int) -> str:
    drawn = random.Random(seed)
    lines = (" ".join(drawn.choices(WORDS, k=12)) for _ in range(words // 12))
    return "\n".join(lines)


def long_records() -> list[dict[str, Any]]:
    """Records with every long thing that a log holds, in two dialects."""
    output = "Exit code 2\n" + long_text(1, 9_000) + "\n\n  "
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make it\n" + long_text(2, 3_000)}}
    write = {
        "type": "tool_use",
        "id": "w",
        "name": "Write",
        "input": {"file_path": "a.py", "content": long_text(3, 9_000)},
    }
    result = {
        "type": "tool_result",
        "tool_use_id": "c",
        "is_error": True,
        "content": [{"type": "text", "text": output}],
    }
    answer = {"type": "text", "text": long_text(6, 4_000)}
    image = {"type": "image", "source": {"type": "base64", "data": "QUJD" * 9_000}}
    return [
        CLAUDE | {"message": {"role": "user", "content": long_text(4, 5_000)}},
        {"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": long_text(5, 3_000), "signature": "c2ln" * 3_000}, call, write]}},
        {"type": "user", "toolUseResult": {"o": output}, "message": {"role": "user", "content": [result, image]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [answer]}},
    ]  # fmt: skip


def codex_records() -> list[dict[str, Any]]:
    def item(**payload: Any) -> dict[str, Any]:
        return {"type": "response_item", "timestamp": "2026-03-01T10:00:00Z", "payload": payload}

    patch = (
        "*** Begin Patch\n*** Update File: a.py\n"
        + long_text(7, 5_000)
        + "\n*** Add File: b.py\n+x\n*** End Patch"
    )
    told = json.dumps({"output": long_text(8, 9_000), "metadata": {"exit_code": 3}})
    return [
        item(type="message", role="user", content=[{"type": "input_text", "text": "Do it"}]),
        item(type="reasoning", encrypted_content="gAAA" * 9_000),
        item(type="custom_tool_call", name="apply_patch", call_id="p", input=patch),
        item(
            type="function_call",
            name="shell",
            call_id="c",
            arguments=json.dumps({"command": ["bash", "-lc", "make"]}),
        ),
        item(type="function_call_output", call_id="c", output=told),
    ]


@pytest.mark.parametrize("size", [1, 4_093, 1 << 20])
@pytest.mark.parametrize("records", [long_records(), codex_records()], ids=["Claude Code", "Codex"])
def test_a_shrunk_log_reads_like_the_whole(records: list[dict[str, Any]], size: int) -> None:
    text = "\n".join(map(json.dumps, records)) + "\n"
    data = text.encode()
    shrunk = shrink_log(pieces_of(data, size) if size > 1 else iter([data]))
    assert shrunk.content_hash == hashlib.sha256(data).hexdigest()
    assert shrunk.text.count("\n") == text.count("\n")
    assert len(shrunk.text) < len(text) / 2
    assert read(shrunk.text) == read(text)


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log_reads_the_same_shrunk(name: str) -> None:
    data = (DATA / name).read_bytes()
    shrunk = shrink_log(pieces_of(data, 1_000)).text
    assert read(shrunk) == read(data.decode())


@pytest.mark.parametrize("line", ['{"a": ' * 3_000, "x" * 9_000, '{"a": "' + "y" * 9_000])
def test_a_long_line_that_is_no_record_stays_none(line: str) -> None:
    assert len(shrink_line(line)) < len(line)
    with pytest.raises(ValueError):
        json.loads(shrink_line(line))


def test_a_line_over_the_bound_is_counted_and_never_held() -> None:
    lines = [json.dumps(record) for record in long_records()]
    whole = "\n".join(lines)
    huge = b'{"type": "user", "x": "' + b"x" * (3 * LONGEST_LINE) + b'"}'
    data = b"\n".join([lines[0].encode(), huge, *(line.encode() for line in lines[1:])])
    document = read(shrink_log(pieces_of(data, 1 << 20)).text)
    assert dict(document.damage) == {"long_line": 1}
    assert [block.text for block in document.blocks] == [block.text for block in read(whole).blocks]


def test_an_unfinished_last_line_is_left_for_later() -> None:
    lines = [json.dumps(record) for record in long_records()]
    document = read("\n".join(lines[:2]) + "\n" + lines[2][:50])
    assert dict(document.damage) == {"cut_line": 1}
    assert document.blocks == read("\n".join(lines[:2]) + "\n").blocks


async def test_a_log_over_the_limit_is_read_and_what_is_none_is_skipped(tmp_path: Path) -> None:
    """P5: a large log is in memory with its turns; another large file is skipped with its reason."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "log.jsonl").write_text("\n".join(map(json.dumps, long_records())) + "\n")
    (work / "rows.jsonl").write_text("\n".join(json.dumps({"row": n, "x": "y" * 80}) for n in range(400)))
    settings = Settings.load().model_copy(update={"max_file_bytes": 20_000})
    async with MemoryService.open(folder=work, encoder=None, settings=settings) as memu:
        report = await memu.memorize_workspace(work)
        turn = await memu.get("log.jsonl#turn-1")
        again = await memu.memorize_workspace(work)
    assert report.ok
    assert [problem.path for problem in report.skipped if "larger than" in problem.reason] == ["rows.jsonl"]
    assert "(exit 2)" in turn.text
    assert again.unchanged == 2


MEASURED = """
import re, sys
from pathlib import Path
from memu.ingest.document import Source
from memu.ingest.paths import stream_source
from memu.ingest.readers.session import SessionReader
from memu.ingest.sessions.shrinking import shrink_log
path = Path(sys.argv[1])
log = shrink_log(stream_source(path.parent, path.name, max_size=1 << 30))
document = SessionReader().read(Source(path=path.name, text=log.text))
status = Path("/proc/self/status").read_text()
print(len(document.turns), int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process's own peak is told by Linux alone")
def test_a_log_of_forty_megabytes_is_read_in_far_less_memory(tmp_path: Path) -> None:
    """That of 100 MB is measured by hand; memory grows with what is kept of a log, not with the log."""
    lines = "\n".join(map(json.dumps, long_records())) + "\n"
    count = 40_000_000 // len(lines)
    with (tmp_path / "log.jsonl").open("w") as log:
        for number in range(count):
            log.write(lines.replace('"uuid": "u"', f'"uuid": "u{number}"'))
    ended = subprocess.run(
        [sys.executable, "-c", MEASURED, str(tmp_path / "log.jsonl")], capture_output=True, text=True, check=True
    )
    turns, megabytes = map(int, ended.stdout.split())
    assert turns == count
    assert megabytes < 160
