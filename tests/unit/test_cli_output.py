"""What the command line prints: reports as lines, safe for a terminal, bounded, and errors in one line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from memu.cli.app import run
from memu.cli.output import plain, write_json
from memu.cli.report import SHOWN_AT_MOST, describe_sync, describe_usage
from memu.cli.search import heading_line
from memu.cli.status import describe_status
from memu.records import (
    ExportReport,
    FileProblem,
    Hit,
    Layer,
    LineSpan,
    PageChanges,
    SyncReport,
    SyncRun,
    Track,
    TreeStatus,
    Usage,
    Workspace,
    WorkspaceStatus,
)

pytestmark = pytest.mark.unit


COMMANDS = {
    "memorize-workspace": "sync",
    "retrieve-workspace": "search",
    **dict.fromkeys(["export", "get", "status", "doctor", "forget", "workspace", "steps", "db"], ""),
}


def shown(report: SyncReport) -> str:
    return "\n".join(text for text, _ in describe_sync(report))


def test_the_first_line_names_extractor_and_encoder() -> None:
    assert (
        shown(SyncReport(workspace="w", encoder="mini")).splitlines()[0] == "extractor extractive · encoder mini"
    )
    assert "none (words only)" in shown(SyncReport(workspace="w")).splitlines()[0]


def test_a_report_says_what_changed_and_what_was_left_out() -> None:
    report = SyncReport(
        workspace="w",
        added=("a", "b"),
        moved=(("c", "d"),),
        unchanged=3,
        skipped=(FileProblem(path="x.bin", reason="binary"), FileProblem(path="y.bin", reason="binary")),
        failed=(FileProblem(path="z.md", reason="no text encoding fits"),),
        pages=PageChanges(created=("memory/Deploys",), changed=("skill/Rotate keys",), removed=("memory/Old",)),
        redactions={"aws-key": 2},
        vectors_missing=4,
        degraded="the encoder is down",
        export=ExportReport(tree="/w/.memu/workspace-memory", kept=("MEMORY.md",)),
    )
    told = shown(report)
    for part in (
        "w: 2 added, 1 moved, 3 unchanged",
        "pages: 1 new, 1 changed, 1 gone",
        "+ memory/Deploys",
        "~ skill/Rotate keys",
        "- memory/Old",
        "skipped 2:",
        "binary: x.bin, y.bin",
        "failed 1:",
        "no text encoding fits: z.md",
        "redacted 2 secrets: aws-key 2",
        "4 passages have no vector yet",
        "degraded: the encoder is down",
        "MEMORY.md",
        "/w/.memu/workspace-memory",
    ):
        assert part in told
    assert "model calls" not in told
    assert "2 model calls, 30 tokens" in shown(
        SyncReport(workspace="w", usage=Usage(calls=2, prompt_tokens=10, completion_tokens=20))
    )


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (Usage(calls=1, texts=1), "1 call, 1 text encoded"),
        (Usage(calls=2, texts=3, prompt_tokens=9), "2 calls, 3 texts encoded, 9 tokens"),
        (Usage(calls=1, prompt_tokens=9, cost=0.5), "1 model call, 9 tokens, 0.5000 USD"),
        (Usage(calls=2), "2 model calls, 0 tokens"),
    ],
)
def test_an_encoder_s_calls_are_no_calls_of_a_chat_model(usage: Usage, told: str) -> None:
    assert describe_usage(usage) == told


def test_a_report_of_nothing_says_so() -> None:
    assert "0 added" not in shown(SyncReport(workspace="w", unchanged=5))
    assert "w: 5 unchanged" in shown(SyncReport(workspace="w", unchanged=5))
    assert "pages: nothing changed" in shown(SyncReport(workspace="w"))


def test_a_report_is_bounded_whatever_happened() -> None:
    many = tuple(f"memory/{n}" for n in range(5000))
    problems = tuple(FileProblem(path=f"{n}", reason=f"reason {n % 100}") for n in range(5000))
    report = SyncReport(
        workspace="w",
        skipped=problems,
        failed=problems,
        pages=PageChanges(created=many, changed=many, removed=many),
    )
    lines = list(describe_sync(report))
    assert len(lines) < 7 * (SHOWN_AT_MOST + 2)
    assert f"+ {5000 - SHOWN_AT_MOST} more" in shown(report)
    assert f"and {100 - SHOWN_AT_MOST} more reasons" in shown(report)
    assert "and 47 more" in shown(report)


def hit(layer: Layer, **given: Any) -> Hit:
    return Hit(layer=layer, score=1, text="", title="", **given)


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (hit(Layer.RESOURCE, path="a.md", lines=LineSpan(3, 9), heading="H"), "a.md:3-9 · H"),
        (hit(Layer.ENTRY, path="a.md", lines=LineSpan(3, 3)), "a.md:3"),
        (hit(Layer.ENTRY, path="a.pdf", place="page 4"), "a.pdf:page 4"),
        (hit(Layer.FILE, track=Track.SKILL), "skill page"),
    ],
)
def test_a_hit_says_where_it_stands(found: Hit, line: str) -> None:
    assert heading_line(found) == line


@pytest.mark.parametrize("evil", ["\x1b]0;owned\x07", "\x1b[2J", "\x9b31m", "a\rb", "x\u202ey"])
def test_quoted_text_cannot_steer_the_terminal(evil: str) -> None:
    assert not set(plain(evil)) & {"\x1b", "\x07", "\x9b", "\r", "\u202e"}
    assert plain("tab\tand\nline, café, 你好, \U0001f600") == "tab\tand\nline, café, 你好, \U0001f600"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_is_whole_whatever_the_stream_can_take(encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    kept, sys.stdout = sys.stdout, stream
    try:
        write_json({"text": "你好 é"})
    finally:
        sys.stdout = kept
    stream.flush()
    assert json.loads(stream.buffer.getvalue().decode(encoding)) == {"text": "你好 é"}


def _status(**changes: object) -> WorkspaceStatus:
    given: dict[str, object] = {
        "workspace": Workspace(id="w", name=None, root="/r"),
        "last_run": None,
        "last_good_run": None,
        "sources": {"done": 3, "failed": 0},
        "failed": (),
        "skipped": (),
        "entries": 5,
        "pages": {"memory": 2},
        "queued": 0,
        "vectors_missing": 0,
        "extractor": "extractive",
        "encoder": None,
    }
    return WorkspaceStatus(**{**given, **changes})  # type: ignore[arg-type]


NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
GOOD = SyncRun(id="1", workspace_id="w", state="done", started_at=NOON, ended_at=NOON)
BAD = SyncRun(id="2", workspace_id="w", state="failed", started_at=NOON, ended_at=NOON, error="disk full")


def test_status_lines() -> None:
    told = "\n".join(text for text, _ in describe_status(_status(last_run=GOOD, last_good_run=GOOD)))
    assert "sources: 3 done" in told
    assert "done 2025-03-01 12:00 UTC" in told
    assert "last good" not in told
    told = "\n".join(text for text, _ in describe_status(_status(last_run=BAD, last_good_run=GOOD, queued=2)))
    assert "disk full" in told
    assert "last good sync: done" in told
    assert "2 pages" in told
    assert "never" in "\n".join(text for text, _ in describe_status(_status()))


def test_health_is_no_failed_file_and_a_last_sync_that_ended_well() -> None:
    """F15."""
    running = SyncRun(id="3", workspace_id="w", state="running", started_at=NOON)
    assert _status(last_run=GOOD, last_good_run=GOOD).ok
    assert _status().ok
    assert _status(last_run=running, syncing=True).ok
    assert not _status(last_run=running).ok
    assert not _status(last_run=BAD, last_good_run=GOOD).ok
    assert not _status(failed=(FileProblem(path="a", reason="b"),)).ok
    assert _status(last_run=BAD).to_dict()["ok"] is False


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("current", "up to date"),
        ("stale", "behind by 3 changes"),
        ("changed", "changed since"),
        ("missing", "gone"),
        ("unpublished", "never published"),
        ("unreadable", "cannot be read"),
    ],
)
def test_status_says_how_the_pages_stand(state: str, told: str) -> None:
    tree = TreeStatus(tree="/r/.memu/t", state=state, behind=3 if state == "stale" else 0)
    lines = "\n".join(text for text, _ in describe_status(_status(trees=(tree,), usage=Usage(calls=2, texts=9))))
    assert f"/r/.memu/t: {told}" in lines
    assert "2 calls, 9 texts encoded" in lines


def test_status_tells_a_sync_that_runs_from_one_that_was_killed() -> None:
    running = SyncRun(id="3", workspace_id="w", state="running", started_at=NOON)
    assert "runs now" in "\n".join(text for text, _ in describe_status(_status(last_run=running, syncing=True)))
    assert "was killed" in "\n".join(text for text, _ in describe_status(_status(last_run=running)))


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["sync"],
        ["search"],
        ["search", "x", "--max-hits", "0"],
        ["search", "x", "--layer", "page"],
        ["sync", ".", "--user", "alice"],
        ["sync", ".", "--user", "user_id="],
        ["sync", ".", "--user", "a=1", "--user", "a=2"],
        ["get"],
        ["get", "x", "--entries"],
        ["--nonsense"],
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_usage_errors_are_one_line_and_exit_2(
    arguments: list[str], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--json"] if as_json else arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    if as_json:
        error = json.loads(err)
        assert error["schema"] == 1
        assert error["error"]["exit"] == 2
        assert error["error"]["message"]
    else:
        assert err.startswith("memu: ")
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", [*COMMANDS, "sync", "search"])
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: memu {name}")


@pytest.mark.parametrize("arguments", [[], ["db"], ["workspace"]])
def test_no_command_shows_the_help_as_it_is_written(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments, "--help"]) == 0
    told = capsys.readouterr().out
    assert len(told.splitlines()) > 5
    assert run(arguments) == 2
    assert capsys.readouterr() == (told, "")


def test_help_lists_every_command_and_its_alias(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    told = capsys.readouterr().out
    for name, alias in COMMANDS.items():
        assert f"\n  {name}, {alias} " in told if alias else f"\n  {name} " in told


def test_help_comes_at_once() -> None:
    """No import behind it: far under a second even on a busy machine, 0.15 s on a quiet one."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "memu", "--help"], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    assert min(times) < 1.0


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"memu {version('memu')}\n"


def test_a_reader_who_leaves_is_no_error() -> None:
    """A closed pipe ends the command without a traceback."""
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-m", "memu", "--help"], stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert ended.returncode == 141
    assert ended.stderr == b""
