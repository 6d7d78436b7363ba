"""The command line end to end: sync, search, get, export, status; what goes where, and how each ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from support.rows import dump_rows

pytestmark = pytest.mark.e2e

ANSI = re.compile(r"\x1b")
SYNC_FIELDS = {
    *("schema", "added", "modified", "moved", "deleted", "unchanged", "skipped", "failed", "pages", "calls"),
    *("tokens", "degraded", "extractor", "encoder"),
}
HIT_FIELDS = {"layer", "track", "title", "heading", "path", "lines", "time", "score", "ranks", "text"}


def files_of(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and mtime of every file in a tree."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_first_sync_reports_and_exports(memu, example) -> None:
    sources = files_of(example)
    ended = memu("sync", example)
    assert (ended.code, ended.err) == (0, "")
    first = ended.out.splitlines()[0]
    assert "extractive" in first
    assert "none (words only)" in first
    assert "redacted 1 secret:" in ended.out
    tree = example / ".memu" / "workspace-memory"
    for name in ("MEMORY.md", "SKILL.md", "INDEX.md"):
        assert (tree / name).is_file()
    assert list((tree / "memory").glob("*.md"))
    assert list((tree / "skill").glob("*.md"))
    # P10 and F30: the user's files as they were, the store out of git.
    assert {path: kept for path, kept in files_of(example).items() if not path.startswith(".memu/")} == sources
    assert (example / ".memu" / ".gitignore").read_text(encoding="utf-8").strip() == "*"


def test_the_json_report_has_the_documented_form(memu, example) -> None:
    report = memu("sync", example, "--json").document
    assert report["schema"] == 1
    assert report.keys() >= SYNC_FIELDS
    assert "AGENTS.md" in report["added"]
    assert (report["failed"], report["calls"]) == ([], 0)
    assert report["pages"].keys() == {"created", "changed", "removed"}
    assert {page.split("/")[0] for page in report["pages"]["created"]} == {"memory", "skill"}
    # Every source is there or is listed with a reason.
    listed = {*report["added"], *(item["path"] for item in report["skipped"])}
    files = {path for path in files_of(example) if not path.startswith(".memu/")}
    assert {path for path in files - listed if not path.startswith("drafts/")} == set()
    assert all(item["reason"] for item in report["skipped"])


def test_p7_a_second_sync_changes_nothing(any_memu, example) -> None:
    any_memu("sync", example)
    before = files_of(example / ".memu" / "workspace-memory")
    report = any_memu("sync", example, "--json").document
    assert [report[what] for what in ("added", "modified", "moved", "deleted")] == [[], [], [], []]
    assert report["pages"] == {"created": [], "changed": [], "removed": []}
    assert report["calls"] == 0
    assert files_of(example / ".memu" / "workspace-memory") == before


def test_a_deleted_source_leaves_no_word_behind(any_memu, example) -> None:
    """P4, F7: in rows, pages, export and search, after one sync in another process."""
    any_memu("sync", example)
    assert any_memu("search", "SKIP LOCKED", "--json", folder=example).document["hits"]
    (example / "decisions" / "0001-postgres-job-queue.md").unlink()
    report = any_memu("sync", example, "--json").document
    assert report["deleted"] == ["decisions/0001-postgres-job-queue.md"]
    hits = any_memu("search", "212 unlock codes SKIP LOCKED", "--json", folder=example).document["hits"]
    assert "LOCKED" not in json.dumps(hits)
    # Rows, not bytes: what a page of the file had room for is a purge's to rewrite.
    stored = str(dump_rows(any_memu.environment.get("MEMU_DB") or example / ".memu" / "memu.sqlite3"))
    pages = [data for path, (data, _) in files_of(example / ".memu" / "workspace-memory").items()]
    for words in ("SKIP LOCKED", "212 unlock"):
        assert words not in stored
        assert not [page for page in pages if words.encode() in page]


def test_search_finds_the_decision_with_its_lines(memu, synced) -> None:
    ended = memu("search", "why did we move the queue to Postgres", "--json", folder=synced)
    assert ended.code == 0
    document = ended.document
    assert document["schema"] == 1
    assert document.keys() == {"schema", "hits", "degraded"}
    assert all(hit.keys() >= HIT_FIELDS for hit in document["hits"])
    assert [hit["score"] for hit in document["hits"]] == sorted(
        (hit["score"] for hit in document["hits"]), reverse=True
    )
    path = "decisions/0001-postgres-job-queue.md"
    found = [hit for hit in document["hits"][:3] if hit["path"] == path]
    assert found
    start, end = found[0]["lines"]
    quoted = (synced / path).read_text(encoding="utf-8").splitlines()[start - 1 : end]
    # A heading may stand in front of the quote, so its end is looked at.
    assert " ".join(found[0]["text"].split())[-40:] in " ".join(" ".join(quoted).split())


def test_search_works_from_a_folder_below_and_reads_well(memu, synced) -> None:
    ended = memu("search", "roll back a bad release", "--max-hits", "3", folder=synced / "howto")
    assert ended.code == 0
    assert ended.out.startswith("[1] ")
    assert "howto/roll-back-a-release.md:" in ended.out
    assert not ANSI.search(ended.out)
    assert max(map(len, ended.out.splitlines())) < 160
    assert not re.search(r"[ \t]$", ended.out, flags=re.MULTILINE)


def test_search_outside_any_workspace_says_what_to_do(memu, tmp_path) -> None:
    ended = memu("search", "x")
    assert (ended.code, ended.out) == (4, "")
    assert "memu sync FOLDER" in ended.err
    assert len(ended.err.splitlines()) == 1
    error = json.loads(memu("search", "x", "--json").err)
    assert (error["schema"], error["error"]["type"], error["error"]["exit"]) == (1, "StoreError", 4)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "query", ["ERR_4091", "C++", "issue #24", "a-b", '"', "*", "' OR 1=1 --", "你好", "x" * 50_000]
)
def test_f47_no_query_is_an_error(memu, synced, query: str) -> None:
    ended = memu("search", query, "--json", folder=synced)
    assert ended.code == 0, ended.err
    assert isinstance(ended.document["hits"], list)


def test_get_prints_a_page_lines_and_entries(memu, synced) -> None:
    lines = (synced / "AGENTS.md").read_text(encoding="utf-8").splitlines()
    assert memu("get", "AGENTS.md#L3-L4", folder=synced).out.splitlines() == lines[2:4]
    entries = memu("get", "--entries", "--json", folder=synced).document
    assert isinstance(entries, list)
    assert all(entry["text"] for entry in entries)
    one = entries[0]
    assert memu("get", one["id"], "--json", folder=synced).document["text"] == one["text"]
    page = memu("get", "memory/Job queue", folder=synced)
    assert page.code == 0
    assert page.out.startswith("# Job queue\n")
    assert memu("get", "memory/JOB  queue", folder=synced).out == page.out
    assert {entry["page"].split("/")[0] for entry in entries} == {"memory", "skill"}
    for entry in (entries[0], entries[-1]):
        alone = memu("get", entry["id"], "--json", folder=synced).document
        assert alone["page"] == entry["page"]
        standing = memu("get", entry["page"], folder=synced)
        assert entry["text"].split("\n")[0] in standing.out
    readable = memu("get", "--entries", folder=synced).out
    for entry in entries:
        assert f" · {entry['page']} · {entry['id']}" in readable
    limited = memu("get", "--entries", "--json", "--limit", "2", folder=synced).document
    after = memu("get", "--entries", "--json", "--after", limited[-1]["id"], folder=synced).document
    assert [entry["id"] for entry in [*limited, *after]] == [entry["id"] for entry in entries]


def test_get_of_nothing_is_a_usage_error(memu, synced) -> None:
    ended = memu("get", "memory/No Such Page", folder=synced)
    assert (ended.code, ended.out) == (2, "")
    assert "No Such Page" in ended.err


def test_status_and_workspace_list(memu, synced) -> None:
    ended = memu("status", folder=synced)
    assert ended.code == 0
    assert "extractive" in ended.out
    document = memu("status", "--json", folder=synced).document
    assert document["schema"] == 1
    assert len(document["workspaces"]) == 1
    listed = memu("workspace", "list", "--json", folder=synced).document
    assert Path(listed["workspaces"][0]["root"]) == synced.resolve()


def test_workspace_remove_asks_and_forgets(any_memu, example) -> None:
    any_memu("sync", example)
    workspace = any_memu("workspace", "list", "--json", folder=example).document["workspaces"][0]
    assert any_memu("workspace", "remove", workspace["id"], folder=example).code == 2
    assert any_memu("workspace", "remove", workspace["id"], "--yes", folder=example).code == 0
    assert any_memu("workspace", "list", "--json", folder=example).document["workspaces"] == []
    assert any_memu("search", "queue", "--json", folder=example).document["hits"] == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("search", " \t"), "argument is empty"),
        (("sync", ".", "--workspace", ""), "--workspace is empty"),
        (("sync", ".", "--workspace", " ", "--dry-run"), "--workspace is empty"),
        (("workspace", "remove", "nope"), "no workspace 'nope'"),
        (("workspace", "remove", "nope", "--yes"), "no workspace 'nope'"),
        (("sync", ".", "--out", "AGENTS.md"), "it is a file"),
        (("export", "--out", "AGENTS.md"), "it is a file"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_told_before_anything_is_done(memu, synced, arguments, told: str) -> None:
    before = files_of(synced / ".memu" / "workspace-memory")
    ended = memu(*arguments, folder=synced)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert "Errno" not in ended.err
    assert files_of(synced / ".memu" / "workspace-memory") == before


def test_f29_a_deleted_index_is_exported_again_byte_for_byte(any_memu, example) -> None:
    any_memu("sync", example)
    tree = example / ".memu" / "workspace-memory"
    before = {path: data for path, (data, _) in files_of(tree).items()}
    (tree / "MEMORY.md").unlink()
    (tree / "INDEX.md").unlink()
    report = any_memu("export", "--json", folder=example).document
    assert report["schema"] == 1
    assert {"MEMORY.md", "INDEX.md"} <= set(report["written"])
    assert {path: data for path, (data, _) in files_of(tree).items()} == before


def test_p10_a_hand_written_file_stays_and_is_reported(memu, example) -> None:
    tree = example / ".memu" / "workspace-memory"
    tree.mkdir(parents=True)
    (tree / "MEMORY.md").write_text("mine\n", encoding="utf-8")
    ended = memu("sync", example)
    assert (tree / "MEMORY.md").read_text(encoding="utf-8") == "mine\n"
    assert (tree / "MEMORY.memu.md").is_file()
    assert "MEMORY.md" in ended.out
    assert memu("export", "--force", "MEMORY.md", folder=example).code == 0
    assert (tree / "MEMORY.md").read_text(encoding="utf-8") != "mine\n"


def test_two_users_of_one_database_see_only_their_own(memu, example, tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/shared.sqlite3"
    common = ["--db", url, "--out", tmp_path / "pages"]
    assert memu("sync", example, *common, "--user", "user_id=alice").code == 0
    assert memu("search", "queue", *common, "--user", "user_id=alice", "--json").document["hits"]
    for other in (["--user", "user_id=bob"], []):
        assert memu("search", "queue", *common, *other, "--json").document["hits"] == []
    assert (tmp_path / "pages" / "user-id-alice" / "MEMORY.md").is_file()
    ended = memu("search", "queue", *common, "--user", "team=x")
    assert ended.code == 2
    assert "team" in ended.err


def test_a_missing_root_deletes_nothing_and_exits_4(memu, example) -> None:
    """P5."""
    memu("sync", example)
    hidden = example.with_name("elsewhere")
    db = f"sqlite:///{hidden}/.memu/memu.sqlite3"
    example.rename(hidden)
    ended = memu("sync", example, "--db", db)
    assert ended.code == 4
    assert len(ended.err.splitlines()) == 1
    assert memu("search", "queue", "--json", folder=hidden).document["hits"]


def test_an_emptied_root_is_refused_without_allow_empty(any_memu, example) -> None:
    """P5."""
    any_memu("sync", example)
    for path in example.iterdir():
        if path.name != ".memu":
            subprocess.run(["rm", "-r", path], check=True)
    assert any_memu("sync", example).code == 4
    assert any_memu("search", "queue", "--json", folder=example).document["hits"]
    assert any_memu("sync", example, "--allow-empty").code == 0
    assert any_memu("search", "queue", "--json", folder=example).document["hits"] == []


def test_a_file_that_fails_makes_it_partial(any_memu, example) -> None:
    """P5: exit 1, the file named with its reason, the others done, status unhealthy."""
    (example / "broken.md").write_bytes(b"# Title\n\n" + b"\x81\x8d\x8f\x90\x9d\xff\xfe\x00\x01" * 50)
    ended = any_memu("sync", example, "--json")
    told = {item["path"]: item["reason"] for item in [*ended.document["failed"], *ended.document["skipped"]]}
    assert told["broken.md"]
    assert ended.code == (1 if ended.document["failed"] else 0)
    assert any_memu("status", folder=example).code == ended.code
    assert "AGENTS.md" in ended.document["added"]


def test_settings_come_from_the_environment_and_a_wrong_one_is_named(memu, example, tmp_path) -> None:
    url = f"sqlite:///{tmp_path}/env.sqlite3"
    assert memu("sync", example, MEMU_DB=url).code == 0
    assert (tmp_path / "env.sqlite3").is_file()
    ended = memu("sync", example, MEMU_CONCURRENCY="many")
    assert ended.code == 2
    assert "concurrency" in ended.err


def test_a_key_in_the_shell_changes_nothing(memu, example) -> None:
    """P11."""
    report = memu("sync", example, "--json", OPENAI_API_KEY="sk-not-yours", OPENAI_BASE_URL="http://127.0.0.1:9")
    assert (report.code, report.document["extractor"], report.document["calls"]) == (0, "extractive", 0)


def test_a_model_setting_that_has_no_effect_is_said(memu, example) -> None:
    ended = memu("sync", example, MEMU_FOLD_MODEL="m")
    assert ended.code == 0
    assert "nothing is sent" in ended.err
    assert memu("sync", example, "--quiet", MEMU_FOLD_MODEL="m").err == ""


def test_p5_with_a_model_that_is_down_quotes_stand_in_and_the_exit_code_says_so(memu, example) -> None:
    down = {"MEMU_CHAT_MODEL": "m", "MEMU_CHAT_BASE_URL": "http://127.0.0.1:9"}
    ended = memu("sync", example, **down)
    assert ended.code == 1
    assert ended.out.startswith("extractor llm")
    assert "quotes stand in" in ended.out
    assert (example / ".memu" / "workspace-memory" / "MEMORY.md").read_text().count("](memory/") > 1


def test_f53_works_with_an_empty_environment(example) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "memu", "sync", example, "--json"],
        env={},
        cwd="/",
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["schema"] == 1


def _on_a_terminal(command: list[str], cwd: Path, **environment: str) -> tuple[int, str]:
    """Run with stdout and stderr on a pseudo-terminal; gives exit code and all that was shown."""
    leader, follower = pty.openpty()
    env = {**os.environ, "MEMU_ENCODER": "none", "TERM": "xterm-256color", "COLUMNS": "100", **environment}
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, close_fds=True
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(leader)
    return process.wait(timeout=60), shown.decode("utf-8", errors="replace")


def test_on_a_terminal_there_is_progress_and_colour_unless_no_color(example) -> None:
    command = [sys.executable, "-m", "memu", "sync", "."]
    code, shown = _on_a_terminal(command, example)
    assert code == 0
    assert "0:00:0" in shown
    assert "\x1b[1m" in shown or "\x1b[32m" in shown
    code, shown = _on_a_terminal([*command[:3], "search", "queue"], example, NO_COLOR="1")
    assert code == 0
    assert not re.search(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d)", shown)


def _has_begun(store: Path) -> bool:
    """Whether a sync has read its first file."""
    if not store.exists():
        return False
    with closing(sqlite3.connect(store)) as connection, suppress(sqlite3.OperationalError):
        return connection.execute("SELECT 1 FROM recall_entry").fetchone() is not None
    return False


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("ignored", [False, True], ids=["in front", "behind a shell that ignores Ctrl-C"])
def test_a_signal_ends_a_sync_cleanly_and_the_next_one_goes_on(
    memu, example, sent: signal.Signals, code: int, ignored: bool
) -> None:
    """P2. A shell starts its background jobs with SIGINT ignored; SIGTERM ends those too."""
    if ignored and sent is signal.SIGINT:
        pytest.skip("ignored, as asked")
    for number in range(250):
        (example / "notes" / f"note-{number}.md").write_text(
            f"# Note {number}\n\n" + f"The pump {number} was set to {number} bar. " * 15, encoding="utf-8"
        )
    environment = {**os.environ, "MEMU_ENCODER": "none"}
    process = subprocess.Popen(
        [sys.executable, "-m", "memu", "sync", "."],
        cwd=example,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # Whoever runs the tests in the background has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL),
    )
    store = example / ".memu" / "memu.sqlite3"
    deadline = time.monotonic() + 60
    while not _has_begun(store) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "again" in err
    assert len(err.splitlines()) == 1
    [workspace] = memu("status", "--json", folder=example).document["workspaces"]
    assert workspace["last_run"]["state"] == "running"
    ended = memu("sync", example, "--json")
    assert ended.code == 0
    assert memu("sync", example, "--json").document["added"] == []


@pytest.mark.parametrize("command", ["search the", "get memory/General", "status", "steps", "sync ."])
def test_a_reader_who_leaves_is_told_by_the_exit_code(memu, synced, command: str) -> None:
    """``memu search … | head -1``: nobody reads what is written, whoever writes it."""
    read, write = os.pipe()
    os.close(read)
    ended = subprocess.run(
        [sys.executable, "-m", "memu", *command.split()],
        cwd=synced,
        env={**os.environ, "MEMU_ENCODER": "none"},
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert ended.returncode == 141
    assert b"Traceback" not in ended.stderr


def test_f14_a_second_sync_at_the_same_time_is_busy_or_waits(memu, example) -> None:
    for number in range(200):
        (example / "notes" / f"note-{number}.md").write_text(f"# N {number}\n\nText {number}.", encoding="utf-8")
    command = [sys.executable, "-m", "memu", "sync", ".", "--json"]
    environment = {**os.environ, "MEMU_ENCODER": "none"}
    both = [
        subprocess.Popen(command, cwd=example, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        process.communicate(timeout=120)
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 3])
    assert memu("sync", example, "--json").document["added"] == []
