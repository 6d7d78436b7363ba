"""Scanning: every file is found or named with a reason (FIELD F9-F11, F42; P5, P11)."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memu.errors import ConfigurationError, ReadError, RootError
from memu.ingest.marks import is_own_export
from memu.ingest.paths import hash_source, os_path, read_head, read_source, stored_path
from memu.ingest.project_file import read_project_file
from memu.ingest.scan import Scan, ScanRules, scan

not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")


def write(root: Path, *paths: str, text: str = "words") -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def found(result: Scan) -> list[str]:
    return [file.path for file in result.files]


def reasons(result: Scan) -> dict[str, str]:
    return {problem.path: problem.reason for problem in result.skipped}


def test_files_come_in_order_of_path_with_size_and_time(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a.md", "a/b/c.md", "Ä.md", "a-1.md")
    os.utime(tmp_path / "b.md", ns=(5, 1_700_000_000_123_456_789))
    result = scan(tmp_path)
    assert found(result) == sorted(["b.md", "a/z.md", "a.md", "a/b/c.md", "Ä.md", "a-1.md"])
    entry = next(file for file in result.files if file.path == "b.md")
    assert (entry.size, entry.mtime_ns) == (5, (tmp_path / "b.md").stat().st_mtime_ns)


@pytest.mark.parametrize(
    "path",
    [
        "a.md.tmp", "~$a.docx", ".a.md.swp", ".a.md.swo", "a.md~", ".#a.md", "#a.md#", ".~lock.a.odt#", "x.lock",
        "x.lck", "server.pid", "film.part", "film.crdownload",
        ".DS_Store", "app.min.js", "Thumbs.db",
    ],
)  # fmt: skip
def test_f10_temporary_and_lock_files_are_skipped_and_said(tmp_path: Path, path: str) -> None:
    write(tmp_path, f"docs/{path}", "docs/a.md")
    result = scan(tmp_path)
    assert found(result) == ["docs/a.md"]
    assert reasons(result)[f"docs/{path}"]


@pytest.mark.parametrize("name", ["poetry.lock", "Cargo.lock", "package-lock.json", "pnpm-lock.yaml", "go.sum"])
def test_what_a_package_manager_locked_is_a_source_that_the_folder_may_leave_out(
    tmp_path: Path, name: str
) -> None:
    write(tmp_path, name, f"web/{name}")
    assert found(scan(tmp_path)) == sorted([name, f"web/{name}"])
    (tmp_path / ".memuignore").write_text("*.lock\n*-lock.*\n*.sum\n")
    assert found(scan(tmp_path)) == []


@pytest.mark.parametrize("folder", ["node_modules", "__pycache__", ".venv", "x.egg-info", ".idea", ".obsidian"])
def test_f10_folders_that_nobody_means_are_one_record_each_and_can_be_brought_back(
    tmp_path: Path, folder: str
) -> None:
    write(tmp_path, f"sub/{folder}/deep/a.md", f"sub/{folder}/b.md", "c.md")
    result = scan(tmp_path)
    assert found(result) == ["c.md"]
    assert list(reasons(result)) == [f"sub/{folder}/"]
    (tmp_path / ".memuignore").write_text(f"!{folder}/\n")
    assert found(scan(tmp_path)) == ["c.md", f"sub/{folder}/b.md", f"sub/{folder}/deep/a.md"]


@pytest.mark.parametrize("folder", [".git", ".hg", ".svn", ".memu"])
def test_stores_and_version_control_cannot_be_brought_back(tmp_path: Path, folder: str) -> None:
    write(tmp_path, f"a/{folder}/notes.md", "b.md", ".memuignore", text=f"!{folder}/\n")
    assert found(scan(tmp_path)) == ["b.md"]


def test_f10_gitignore_is_kept_nested_and_named(tmp_path: Path) -> None:
    write(tmp_path, "build/a.md", "docs/drafts/x.md", "docs/x.md", "docs/keep.log", "a.log", "sub/a.log")
    (tmp_path / ".gitignore").write_text("\ufeffbuild/\n*.log\n", encoding="utf-8")
    (tmp_path / "docs/.gitignore").write_text("drafts\n!keep.log\n")
    result = scan(tmp_path)
    assert found(result) == ["docs/keep.log", "docs/x.md"]
    assert reasons(result)["build/"] == "ignored by .gitignore"
    assert reasons(result)["docs/drafts/"] == "ignored by docs/.gitignore"
    assert reasons(result)["sub/a.log"] == "ignored by .gitignore"


def test_a_memuignore_undoes_git_but_not_the_caller(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "b.log", "c.txt")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / ".memuignore").write_text("!a.log\nc.txt\n")
    assert found(scan(tmp_path)) == ["a.log"]
    assert found(scan(tmp_path, ScanRules(ignore=("a.*",)))) == []
    assert found(scan(tmp_path, ScanRules(ignore=("!c.txt",)))) == ["a.log", "c.txt"]


def test_a_file_below_an_ignored_folder_cannot_be_brought_back(tmp_path: Path) -> None:
    write(tmp_path, "out/keep.md", "out/other.md")
    (tmp_path / ".gitignore").write_text("out/\n!out/keep.md\n")
    assert found(scan(tmp_path)) == []


def test_f9_export_tree_and_store_given_by_the_caller_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "pages/workspace-memory/MEMORY.md", "store.txt", "pages/own.md")
    outputs = (tmp_path / "pages", tmp_path / "store.txt")
    result = scan(tmp_path, ScanRules(outputs=outputs))
    assert found(result) == ["a.md"]
    assert reasons(result) == {"pages/": "memu's own output", "store.txt": "memu's own output"}


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("a.DOC", "save it in the present one"),
        ("a.docm", "document format without a reader"),
        ("a.tif", "image: no reader configured"),
        ("a.aac", "audio: no reader configured"),
        ("a.tar", "archive"),
        ("a.sqlite3", "database"),
        ("a.p12", "key or credential store"),
    ],
)
def test_f11_files_without_text_are_skipped_by_suffix_with_a_reason(tmp_path: Path, name: str, word: str) -> None:
    write(tmp_path, name)
    assert word in reasons(scan(tmp_path))[name]


@pytest.mark.parametrize("name", ["a.ts", "notes.bin", "README", "a.key", ".env", "a.m", "x.db", "a.PDF"])
def test_files_whose_suffix_may_be_text_are_left_to_their_content(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    assert found(scan(tmp_path)) == [name]


def test_oversize_files_are_skipped_with_the_limit(tmp_path: Path) -> None:
    write(tmp_path, "a.md", text="x" * 2049)
    write(tmp_path, "b.md", text="x" * 2048)
    result = scan(tmp_path, ScanRules(max_size=2048))
    assert found(result) == ["b.md"]
    assert "larger than" in reasons(result)["a.md"]


def test_f42_no_link_is_followed_and_each_is_said(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(root, "a.md", "sub/b.md")
    write(outside, "secret.md")
    for name, target in (
        ("out.md", outside / "secret.md"), ("outdir", outside), ("in.md", root / "a.md"), ("loopdir", root),
        ("nothing", root / "missing"), ("sub/loop", root / "sub/loop"),
    ):  # fmt: skip
        (root / name).symlink_to(target)
    result = scan(root)
    assert found(result) == ["a.md", "sub/b.md"]
    said = reasons(result)
    assert "leads out" in said["out.md"]
    assert "leads out" in said["outdir"]
    assert "own path" in said["in.md"]
    assert "own path" in said["loopdir"]
    assert "to nothing" in said["nothing"]
    assert "loop" in said["sub/loop"]


def test_a_root_that_is_itself_a_link_is_scanned(tmp_path: Path) -> None:
    write(tmp_path / "real", "a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert found(scan(tmp_path / "link")) == ["a.md"]


def test_pipes_and_sockets_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        previous = Path.cwd()
        os.chdir(tmp_path)
        try:
            server.bind("s.md")
        finally:
            os.chdir(previous)
        said = reasons(scan(tmp_path))
    assert "named pipe" in said["pipe.md"]
    assert "socket" in said["s.md"]


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "locked"
    write(folder, "a.md")
    folder.chmod(0)
    yield tmp_path
    folder.chmod(0o755)


@not_as_root
def test_p5_a_folder_that_cannot_be_listed_is_said(locked: Path) -> None:
    write(locked, "b.md")
    result = scan(locked)
    assert found(result) == ["b.md"]
    assert [problem.path for problem in result.unlistable] == ["locked/"]
    with pytest.raises(RootError):
        scan(locked / "locked")


def test_p5_rules_that_cannot_be_read_hide_their_folder(tmp_path: Path) -> None:
    """Without its rules nobody knows what in there was meant to stay out; here they are too large."""
    write(tmp_path, "sub/a.md", "b.md")
    (tmp_path / "sub/.gitignore").write_text("x\n" * 600_000)
    result = scan(tmp_path)
    assert found(result) == ["b.md"]
    assert [problem.path for problem in result.unlistable] == ["sub/"]
    (tmp_path / ".gitignore").write_text("x\n" * 600_000)
    with pytest.raises(RootError, match="gitignore"):
        scan(tmp_path)


def test_p5_a_missing_root_or_a_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    with pytest.raises(RootError, match="no such folder"):
        scan(tmp_path / "missing")
    with pytest.raises(RootError, match="no folder"):
        scan(tmp_path / "a.md")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(RootError):
        scan(tmp_path / "loop")


def test_deep_nesting_is_no_limit(tmp_path: Path) -> None:
    depth = sys.getrecursionlimit() + 100
    previous = Path.cwd()
    os.chdir(tmp_path)
    try:
        for _ in range(depth):
            Path("a").mkdir()
            os.chdir("a")
        assert scan(tmp_path).files == ()
        # Taken away level by level: what cleans up after tests goes down by recursion.
        for _ in range(depth):
            os.chdir("..")
            Path("a").rmdir()
    finally:
        os.chdir(previous)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such names")
@pytest.mark.parametrize(
    ("name", "stored"),
    [
        (b"caf\xe9.md", "caf%E9.md"),
        (b"%FF.md", "%25FF.md"),
        (b"\xff.md", "%FF.md"),
        (b"100%.md", "100%.md"),
        (b"a%25.md", "a%2525.md"),
        (b"%2.md", "%2.md"),
        (b"a\nb.md", "a\nb.md"),
        ("e\u0301.md".encode(), "e\u0301.md"),
        ("é.md".encode(), "é.md"),
    ],
)
def test_paths_lead_back_to_their_file(tmp_path: Path, name: bytes, stored: str) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(name)
    assert found(scan(tmp_path)) == [stored]
    assert stored_path(os.fsdecode(name)) == stored
    assert read_source(tmp_path, stored, max_size=100) == name
    assert stored.encode("utf-8")


def test_p11_reading_follows_no_link_that_took_a_files_place(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, "sub/a.md")
    write(tmp_path, "outside/a.md", text="secret")
    (root / "b.md").symlink_to(tmp_path / "outside/a.md")
    (root / "sub/a.md").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(tmp_path / "outside")
    for path in ("b.md", "sub/a.md"):
        with pytest.raises(ReadError):
            read_source(root, path, max_size=100)
        with pytest.raises(ReadError):
            hash_source(root, path)
    for path in ("../outside/a.md", str(tmp_path / "outside/a.md"), "x/../../outside/a.md"):
        with pytest.raises(ReadError, match="out of the workspace"):
            os_path(root, path)


def test_reading_says_why_it_cannot(tmp_path: Path) -> None:
    write(tmp_path, "a.md", text="12345")
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert read_head(tmp_path, "a.md", size=3) == b"123"
    with pytest.raises(ReadError, match="larger than 4"):
        read_source(tmp_path, "a.md", max_size=4)
    with pytest.raises(ReadError, match="vanished"):
        read_source(tmp_path, "gone.md", max_size=4)
    for path in ("dir", "pipe"):
        with pytest.raises(ReadError, match="regular"):
            read_source(tmp_path, path, max_size=4)


FRONT = "---\nname: x\ndescription: y\n{}---\n\n"


@pytest.mark.parametrize(
    ("head", "own"),
    [
        (FRONT.format("generator: memu\n"), True),
        (FRONT.format('generator: "memu"\n'), True),
        (FRONT.format("generator: memu\n").replace("\n", "\r\n"), True),
        ("\ufeff" + FRONT.format("generator: memu\n"), True),
        (FRONT.format("") + "<!-- memu -->\n# Skills\n", True),
        ("# Sources\n\n> What is here.\n> And more.\n\n<!-- memu -->\n\n## Notes\n", True),
        (FRONT.format("generator: hugo\n") + "text", False),
        (FRONT.format("generator: memu-like\n"), False),
        (FRONT.format("x:\n  generator: memu\n"), False),
        ("# About memu\n\nIts pages bear `<!-- memu -->`:\n\n<!-- memu -->\n", False),
        ("generator: memu\n", False),
        ("```\n<!-- memu -->\n```\n", False),
        ("---\nname: x\n", False),
        ("", False),
    ],
)
def test_f9_an_exported_page_is_known_by_its_marks(head: str, own: bool) -> None:
    assert is_own_export(head) is own


def test_f9_an_exports_manifest_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "copy/.memu-export.json", text="{}")
    assert reasons(scan(tmp_path))["copy/.memu-export.json"] == "own export"


def test_p11_the_folders_own_settings(tmp_path: Path) -> None:
    assert read_project_file(tmp_path).workspace is None
    write(tmp_path, "a.md", "b.md", "c/d.md", "memu.toml")
    (tmp_path / "memu.toml").write_text('ignore = ["b.md", "c/"]\nuntrusted = ["web/**"]\nworkspace = "notes"\n')
    settings = read_project_file(tmp_path)
    assert (settings.workspace, settings.untrusted) == ("notes", ("web/**",))
    result = scan(tmp_path, ScanRules(project_ignore=settings.ignore))
    assert found(result) == ["a.md"]
    assert reasons(result)["c/"] == "ignored by memu.toml"


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ('api_key = "x"', "api_key"),
        ('[chat]\nbase_url = "http://evil.example"', "chat"),
        ('db = "sqlite:///x"', "db"),
        ("ignore = 3", "list of patterns"),
        ("ignore = [3]", "no pattern"),
        ('ignore = ["# only a comment"]', "no pattern"),
        ("workspace = 3", "name"),
        ('workspace = "a\\nb"', "name"),
        ("not toml", "TOML"),
    ],
)
def test_p11_anything_else_in_the_folders_settings_is_refused(tmp_path: Path, content: str, word: str) -> None:
    (tmp_path / "memu.toml").write_text(content)
    with pytest.raises(ConfigurationError, match=word):
        read_project_file(tmp_path)


def test_p11_settings_behind_a_link_are_none(tmp_path: Path) -> None:
    write(tmp_path, "outside.toml", text='workspace = "stolen"')
    (tmp_path / "root").mkdir()
    (tmp_path / "root/memu.toml").symlink_to(tmp_path / "outside.toml")
    assert read_project_file(tmp_path / "root").workspace is None
