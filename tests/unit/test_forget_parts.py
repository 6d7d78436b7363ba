"""The parts around forgetting: what a match means, taking a tree away, rewriting a store, the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from memu import ConfigurationError, ForgetReceipt, PageChanges, Scope
from memu.cli.app import run
from memu.cli.forget import describe_receipt, exit_code
from memu.export.disk import LocalDisk
from memu.export.manifest import MANIFEST
from memu.export.publish import publish
from memu.export.withdrawal import withdraw
from memu.memorize.forget.selection import matcher
from memu.records import FileProblem
from memu.storage.database import Database
from memu.sync import MemoryService

pytestmark = pytest.mark.unit

FILES = {"MEMORY.md": b"index", "memory/a.md": b"one", "skill/b.md": b"two"}


@pytest.mark.parametrize(
    ("wanted", "text", "found"),
    [
        ("Blue LANTERN", "The blue, **lantern** shines.", True),
        ("art", "The party is over.", False),
        ("art", "It is art.", True),
        ("钥匙", "我的钥匙丢了", True),
        ("C++", "We use C++ here.", True),
        ("1.5", "Version 1.5 is out.", True),
        ("blue lantern", "A lantern, blue.", False),
    ],
)
def test_a_match_is_contained_words_case_and_punctuation_folded(wanted: str, text: str, found: bool) -> None:
    assert matcher(wanted)(text) is found


def test_a_match_without_a_word_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        matcher(" ... ")


def test_a_withdrawn_tree_leaves_only_what_is_the_users(tmp_path: Path) -> None:
    tree, scope, disk = tmp_path / "tree", Scope.of(), LocalDisk()
    publish(disk, tree, scope, lambda _: FILES)
    (tree / "memory" / "mine.md").write_text("mine")
    (tree / "skill" / "b.md").write_text("edited")
    report = withdraw(disk, tree, scope)
    assert report.removed == ("MEMORY.md", "memory/a.md")
    assert report.kept == ("skill/b.md",)
    left = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    assert left == {"memory/mine.md", "skill/b.md"}


def test_a_withdrawn_tree_of_memus_alone_is_gone_and_anothers_is_refused(tmp_path: Path) -> None:
    tree, disk = tmp_path / "tree", LocalDisk()
    publish(disk, tree, Scope.of(), lambda _: FILES)
    with pytest.raises(ConfigurationError):
        withdraw(disk, tree, Scope.of({"user_id": "bob"}))
    assert (tree / MANIFEST).exists()
    withdraw(disk, tree, Scope.of())
    assert not tree.exists()
    assert withdraw(disk, tree, Scope.of()).removed == ()


async def test_a_compact_store_has_no_deleted_byte_and_still_answers(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite3"
    with Database.open(f"sqlite:///{store}") as database:
        with database._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA secure_delete = OFF")
        scope = Scope.of({"user_id": "lantern"})
        await database.write(lambda session: session.within(scope))
        await database.write(lambda session: session.remove(scope))
        await database.compact()
        assert b"lantern" not in store.read_bytes()
        assert store.with_name("store.sqlite3-wal").stat().st_size == 0
        assert await database.read(lambda session: session.scopes()) == ()


def test_a_store_in_memory_is_compacted_too() -> None:
    with MemoryService.open("sqlite://", out=Path("unused"), encoder=None) as memu:
        assert memu.forget(purge=True).purged


RECEIPT = ForgetReceipt(
    what="entry",
    entries=2,
    sources=("a.md", "b.md"),
    pages=PageChanges(changed=("memory/Keys",), removed=("memory/Mats",)),
    unread=(FileProblem(path="b.md", reason="the file is gone"),),
    kept_files=("out/memory/mine.md",),
    left=("c.md#L3",),
    purged=True,
)


def test_a_receipt_says_what_went_and_what_is_left_to_do() -> None:
    text = "\n".join(line for line, _ in describe_receipt(RECEIPT))
    for said in (
        "forgot 2 entries",
        "2 sources",
        "memory/Keys",
        "memory/Mats",
        "b.md (the file is gone)",
        "mine.md",
        "still says it, forget it by its id or path: c.md#L3",
    ):
        assert said in text
    problem = RECEIPT.unread
    for change in ({"left": ("c.md#L3",)}, {"unread": problem}, {"unpatched": problem}, {}):
        receipt = replace(ForgetReceipt(what="match"), **change)
        assert exit_code(receipt) == bool(change)
    dry = ForgetReceipt(what="match", dry_run=True, entries=1, texts=("The words.",), sources=("a.md",))
    assert [line for line, _ in describe_receipt(dry)][:2] == [
        "would forget 1 entry and the words of 1 source (match)",
        "  The words.",
    ]


@pytest.mark.parametrize(
    "arguments",
    [[], ["x", "--match", "y"], ["--all", "--undo", "p"], ["--all"]],
    ids=["none", "two", "both", "yes"],
)
def test_the_command_wants_one_thing_and_a_yes_for_all(arguments: list[str], tmp_path: Path) -> None:
    assert run(["forget", *arguments, "--db", f"sqlite:///{tmp_path / 's.sqlite3'}"]) == 2


def test_the_command_forgets_and_gives_a_receipt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Keys\n\nWe decided to keep the spare key under the mat.\n", encoding="utf-8")
    store = f"sqlite:///{tmp_path / 's.sqlite3'}"
    with MemoryService.open(store, out=tmp_path / "out", encoder=None) as memu:
        memu.memorize_workspace(folder)
    common = ["--db", store, "--out", str(tmp_path / "out"), "--json"]
    assert run(["forget", "--match", "spare key", "--dry-run", *common]) == 0
    assert json.loads(capsys.readouterr().out)["texts"] == ["We decided to keep the spare key under the mat."]
    (folder / "a.md").unlink()
    assert run(["forget", "--match", "spare key", "--purge", *common]) == 1
    receipt = json.loads(capsys.readouterr().out)
    assert (receipt["schema"], receipt["entries"], receipt["texts"], receipt["purged"]) == (1, 1, [], True)
    assert receipt["unread"] == [{"path": "a.md", "reason": "the file is gone"}]
    assert run(["forget", "memory/nothing", *common]) == 2
    assert run(["forget", "--all", "--yes", *common]) == 0
    assert json.loads(capsys.readouterr().out)["what"] == "scope"
