"""The examination of a store: a healthy one gives no finding; each kind of damage is found, with what to do."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.amounts import some
from support.postgres import Server
from support.stores import Bench, on_server_once

from memu import Finding, Interceptor, MemoryService, Severity, StepEvent
from memu.errors import ConfigurationError, RootError
from memu.providers.fakes import FailingEncoder, HashingEncoder
from memu.sync import MemoryService as BlockingService

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
FOLDERS = {
    "example": ROOT / "examples" / "workspace",
    "documents": DATA / "documents",
    "readers": DATA / "readers",
}
CHECKS = {
    *("encoder", "entries", "export", "file", "links", "locks", "pages", "postings", "probes", "runs", "sources"),
    *("vectors", "work"),
}
COMMAND = re.compile(r"`((?:memu|mv) .+?)`")


def open_memu(folder: Path, **options: Any) -> MemoryService:
    return MemoryService.open(folder=folder, **{"encoder": HashingEncoder(), **options})


def store_of(folder: Path) -> Path:
    return folder / ".memu" / "memu.sqlite3"


def tree_of(folder: Path) -> Path:
    return folder / ".memu" / "workspace-memory"


def run_sql(folder: Path, script: str) -> None:
    """Plain SQL, past every rule of memu's and every key."""
    connection = sqlite3.connect(store_of(folder))
    with connection:
        connection.executescript(script)
    connection.close()


async def examine(folder: Path, **options: Any) -> tuple[Finding, ...]:
    async with open_memu(folder, **options) as memu:
        return (await memu.examine(thorough=True)).findings


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synced copy of a small workspace; each test gets it back as it was, at the same place."""
    folder = tmp_path_factory.mktemp("doctor") / "notes"
    folder.mkdir()
    for name in ("crontab.md", "0019-centralise-mysql-databases.md", "redeploying-applications-on-rebuild.md"):
        shutil.copy(FOLDERS["documents"] / name, folder)

    async def sync() -> None:
        async with open_memu(folder) as memu:
            await memu.memorize_workspace(folder)

    asyncio.run(sync())
    shutil.copytree(folder, folder.with_name("saved"))
    return folder


@pytest.fixture
def folder(original: Path) -> Path:
    shutil.rmtree(original)
    shutil.copytree(original.with_name("saved"), original)
    return original


@on_server_once("name", sorted(FOLDERS))
async def test_f52_a_healthy_store_gives_no_finding_and_every_source_is_found(name: str, bench: Bench) -> None:
    """F52: the examination asks for every source by rare words of its own."""
    folder = Path(shutil.copytree(FOLDERS[name], bench.work))
    async with bench.open(encoder=HashingEncoder()) as memu:
        report = await memu.memorize_workspace(folder)
        health = await memu.examine(thorough=True)
        [status] = await memu.status()
    assert health.findings == ()
    assert health.ok
    assert set(health.checked) == CHECKS
    assert health.checked["probes"] == status.sources["done"] == len(report.added)
    assert health.checked["postings"] > health.checked["probes"]


@dataclass(frozen=True, slots=True)
class Damage:
    """What is done to the store, which check finds it with which words, and whether its remedy mends it."""

    harm: str | Callable[[Path], object]
    check: str
    told: str
    severity: Severity = Severity.ERROR
    mended: bool = True


def _pick(table: str, condition: str = "1") -> str:
    return f"(SELECT id FROM {table} WHERE {condition} ORDER BY id LIMIT 1)"


def _write_note(folder: Path) -> None:
    name = "memu.sqlite3.0123456789abcdef"
    (folder / ".memu" / f"{name}.lock").touch()
    note = {"pid": 999_999_999, "started": "2025-01-01T00:00:00+00:00"}
    (folder / ".memu" / f"{name}.holder").write_text(json.dumps(note), encoding="utf-8")


def _edit_manifest(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def harm(folder: Path) -> None:
        manifest = tree_of(folder) / ".memu-export.json"
        value = json.loads(manifest.read_text(encoding="utf-8"))
        change(value)
        manifest.write_text(json.dumps(value), encoding="utf-8")

    return harm


def _touch_page(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def harm(folder: Path) -> None:
        change(min((tree_of(folder) / "memory").glob("*.md")))

    return harm


def _empty_folder(folder: Path) -> None:
    """And a sync that refused to believe it."""
    for path in folder.glob("*.md"):
        path.unlink()
    with pytest.raises(RootError), BlockingService.open(folder=folder, encoder=HashingEncoder()) as memu:
        memu.memorize_workspace(folder)


ENTRY = "(SELECT entry_id FROM recall_file_entry ORDER BY entry_id LIMIT 1)"
PAGE = "(SELECT file_id FROM recall_file_entry ORDER BY file_id LIMIT 1)"
OF_SOURCE = _pick("passage", "resource_id IS NOT NULL")
ROWS = {
    "an entry taken from under its links": Damage(
        f"DELETE FROM recall_entry WHERE id = {ENTRY}", "links", "recall_file_entry belong to no"
    ),
    "a posting of nothing": Damage(
        "INSERT INTO posting SELECT scope_id, 'ghost', 'none', 1, 1, 1 FROM posting LIMIT 1",
        *("links", "posting belong to no row of passage"),
    ),
    "a vector of nothing": Damage(
        "INSERT INTO passage_vector SELECT scope_id, 'no', encoder_id, vector, scale, NULL FROM passage_vector"
        " LIMIT 1",
        *("links", "passage_vector belong to no row of passage"),
    ),
    "an entry shown and on no page": Damage(
        f"DELETE FROM recall_file_entry WHERE entry_id = {ENTRY}", "entries", "shown but stand on no page"
    ),
    "an entry hidden and on a page": Damage(
        f"UPDATE recall_entry SET shown = 0 WHERE id = {ENTRY}", "entries", "hidden but stand on a page"
    ),
    "an entry that no search finds": Damage(
        f"PRAGMA foreign_keys = ON; DELETE FROM passage WHERE entry_id = {ENTRY}", "entries", "have no passage"
    ),
    "a source that no search finds": Damage(
        "PRAGMA foreign_keys = ON; DELETE FROM passage WHERE resource_id IS NOT NULL", "entries", "have no passage"
    ),
    "an entry in other words": Damage(
        f"UPDATE recall_entry SET text = text || ' Never.' WHERE id = {ENTRY}", "entries", "say something else"
    ),
    "an entry and its passage in other words": Damage(
        f"UPDATE recall_entry SET text = text || ' Never.' WHERE id = {ENTRY};"
        f"UPDATE passage SET text = text || ' Never.' WHERE entry_id = {ENTRY}",
        *("entries", "words that their key does not have"),
    ),
    "an entry that names other lines": Damage(
        f"UPDATE recall_entry SET line_start = line_end + 1, line_end = line_end + 1 WHERE id = {ENTRY}",
        *("entries", "say something else"),
    ),
    "an entry that names lines beyond its source": Damage(
        f"UPDATE recall_entry SET line_start = 900, line_end = 900 WHERE id = {ENTRY};"
        f"UPDATE passage SET line_start = 900, line_end = 900 WHERE entry_id = {ENTRY}",
        *("entries", "lines that their source does not have"),
    ),
    "a page in other words": Damage(
        f"UPDATE recall_file SET content = replace(content, '. [^', ', never. [^') WHERE id = {PAGE}",
        *("pages", "not those that its entries gave it"),
    ),
    "a page described in other words": Damage(
        f"UPDATE recall_file SET description = 'Anything but that.' WHERE id = {PAGE}",
        *("pages", "not those that its entries gave it"),
    ),
    "a page described and found in other words": Damage(
        f"UPDATE recall_file SET description = 'Anything but that.' WHERE id = {PAGE};"
        f"UPDATE passage SET text = 'Anything but that.' WHERE file_id = {PAGE}",
        *("pages", "not those that its entries gave it"),
    ),
    "a page found under a heading": Damage(
        f"UPDATE passage SET heading = 'Elsewhere' WHERE file_id = {PAGE}",
        *("pages", "not those that its entries gave it"),
    ),
    "an entry found under another heading": Damage(
        f"UPDATE passage SET heading = heading || ' Elsewhere' WHERE entry_id = {ENTRY}",
        *("entries", "another heading or track"),
    ),
    "a source with another caption": Damage(
        f"UPDATE resource SET caption = 'Anything but that.' WHERE id = {_pick('resource')}",
        *("sources", "stored as its caption"),
    ),
    "a source told of otherwise": Damage(
        "UPDATE resource SET kind = 'mail', title = 'Odd', language = 'fi', happened_at = created_at"
        f" WHERE id = {_pick('resource')}",
        *("sources", "stored as its kind, title, language and time"),
    ),
    "a source's passage under another heading": Damage(
        f"UPDATE passage SET heading = heading || ' Elsewhere' WHERE id = {OF_SOURCE}",
        *("sources", "stored as its passages"),
    ),
    "a page that rests on nothing": Damage(
        "INSERT INTO recall_file SELECT scope_id, 'odd', 'memory', 'odd', 'Odd', '', NULL, '- x [^aaaaa]', 1,"
        " created_at, updated_at FROM recall_file LIMIT 1",
        *("pages", "rests on no entry"),
        mended=False,
    ),
    "a mark that no entry bears": Damage(
        f"UPDATE recall_file SET content = content || char(10) || '- More. [^zzzzz]' WHERE id = {PAGE}",
        *("pages", "[^zzzzz], which no entry bears"),
    ),
    "an entry that no block cites": Damage(
        f"UPDATE recall_file_entry SET mark = 'qqqqq' WHERE entry_id = {ENTRY}",
        *("pages", "[^qqqqq] are cited by no block"),
    ),
    "an entry without a mark": Damage(
        f"UPDATE recall_file_entry SET mark = '' WHERE entry_id = {ENTRY}", "pages", "bear no mark"
    ),
    "a block without a mark": Damage(
        f"UPDATE recall_file SET content = content || char(10, 10) || 'Nobody said so.' WHERE id = {PAGE}",
        *("pages", "blocks cite nothing"),
    ),
    "a page that no search finds": Damage(
        f"PRAGMA foreign_keys = ON; DELETE FROM passage WHERE file_id = {PAGE}", "pages", "no search finds it"
    ),
    "no postings": Damage(f"DELETE FROM posting WHERE passage_id = {OF_SOURCE}", "postings", "do not match"),
    "a source without postings": Damage(
        "DELETE FROM posting WHERE passage_id IN (SELECT id FROM passage WHERE resource_id IS NOT NULL)",
        *("probes", "does not find it"),
    ),
    "a posting counted wrongly": Damage(
        f"UPDATE posting SET tf = tf + 1 WHERE passage_id = {OF_SOURCE}", "postings", "do not match"
    ),
    "a posting of another term": Damage(
        f"UPDATE posting SET term = 'zz' || term WHERE passage_id = {OF_SOURCE}", "postings", "do not match"
    ),
    "a posting of another kind": Damage(
        f"UPDATE posting SET kind = 12 WHERE passage_id = {OF_SOURCE}", "postings", "do not match"
    ),
    "a posting of another length": Damage(
        f"UPDATE posting SET length = 1 WHERE passage_id = {OF_SOURCE}", "postings", "do not match"
    ),
    "a vector of another size": Damage(
        f"UPDATE passage_vector SET vector = x'0102' WHERE passage_id = {OF_SOURCE}",
        "vectors",
        "cannot be compared",
    ),
    "a vector of length zero": Damage(
        f"UPDATE passage_vector SET vector = zeroblob(64) WHERE passage_id = {OF_SOURCE}",
        *("vectors", "cannot be compared"),
    ),
    "a vector without a scale": Damage(
        f"UPDATE passage_vector SET scale = 0 WHERE passage_id = {OF_SOURCE}", "vectors", "cannot be compared"
    ),
    "a vector that no search sees": Damage(
        f"UPDATE passage_vector SET place = NULL WHERE passage_id = {OF_SOURCE}",
        *("vectors", "do not see as it is"),
        # What it left in the pack belongs to nothing.
        mended=False,
    ),
    "vectors packed as others": Damage(
        "UPDATE vector_pack SET vectors = zeroblob(length(vectors))", "vectors", "do not see as it is"
    ),
    "vectors packed nowhere": Damage("DELETE FROM vector_pack", "vectors", "do not see as it is"),
    "a packed vector of nothing": Damage(
        "UPDATE vector_pack SET norms = CAST(norms || substr(norms, 1, 4) AS BLOB),"
        " vectors = CAST(vectors || zeroblob(64) AS BLOB)",
        *("vectors", "belong to no passage"),
        mended=False,
    ),
    "F52: a passage without its vector": Damage(
        f"DELETE FROM passage_vector WHERE passage_id = {OF_SOURCE}",
        *("vectors", "1 passages have no vector"),
        severity=Severity.WARNING,
    ),
    "vectors of another encoder": Damage(
        "INSERT INTO encoder SELECT 'e', 'old', 2, 'f', '[]', 0, created_at FROM encoder;"
        "INSERT INTO passage_vector SELECT scope_id, id, 'e', x'0102', 1, NULL FROM passage"
        f" WHERE id = {OF_SOURCE}",
        *("vectors", "an encoder that is not the active one"),
        severity=Severity.NOTICE,
        mended=False,
    ),
    "two encoders at once": Damage(
        "INSERT INTO encoder SELECT 'e', 'old', 2, 'f', '[]', 1, created_at FROM encoder",
        *("encoder", "2 encoders are active"),
        mended=False,
    ),
    "pages that are not settled": Damage(
        "UPDATE workspace SET assigned = assigned - 1", "work", "which entry stands on which", Severity.WARNING
    ),
    "a page that waits": Damage(
        "INSERT INTO fold_queue SELECT scope_id, id, created_at FROM recall_file LIMIT 1",
        *("work", "waits to be folded"),
        severity=Severity.WARNING,
    ),
    "a source that waits": Damage(
        f"UPDATE resource SET state = 'pending' WHERE id = {_pick('resource')}",
        *("sources", "waits to be read"),
        severity=Severity.WARNING,
    ),
    "all sources wait": Damage(
        "UPDATE resource SET state = 'pending'",
        *("sources", "3 files wait to be read"),
        severity=Severity.WARNING,
    ),
    "all pages wait": Damage(
        "INSERT INTO fold_queue SELECT scope_id, id, created_at FROM recall_file",
        *("work", "pages wait to be folded"),
        severity=Severity.WARNING,
    ),
    "a folder that is empty": Damage(
        _empty_folder, "runs", "holds no source any more, but 3 are stored", severity=Severity.WARNING
    ),
    "a source that failed": Damage(
        "UPDATE resource SET state = 'failed', reason = 'torn page', attempts = 3, tried_at = updated_at"
        f" WHERE id = {_pick('resource')}",
        *("sources", "failed 3 times: torn page"),
        severity=Severity.WARNING,
    ),
    "a sync that was killed": Damage(
        "UPDATE sync_run SET state = 'running', ended_at = NULL",
        *("runs", "was killed before its end"),
        severity=Severity.WARNING,
    ),
    "a sync that failed": Damage(
        "UPDATE sync_run SET state = 'failed', error = 'no room'",
        *("runs", "failed: no room"),
        severity=Severity.WARNING,
    ),
    "a row that breaks a rule": Damage(
        "PRAGMA ignore_check_constraints = ON; UPDATE resource SET state = 'odd'",
        *("file", "CHECK constraint failed"),
        mended=False,
    ),
}
TREES = {
    "a page removed": Damage(_touch_page(Path.unlink), "export", "The file is gone", Severity.WARNING),
    "a page edited": Damage(
        _touch_page(lambda page: page.write_text("mine", encoding="utf-8")),
        *("export", "changed by hand"),
        severity=Severity.WARNING,
    ),
    "a file of the user's": Damage(
        lambda folder: (tree_of(folder) / "own.md").write_text("mine", encoding="utf-8"),
        *("export", "not memu's: own.md"),
        severity=Severity.NOTICE,
        mended=False,
    ),
    "a temporary file": Damage(
        lambda folder: (tree_of(folder) / ".memu-0123456789abcdef.tmp").touch(),
        *("export", "temporary file"),
        severity=Severity.WARNING,
    ),
    "a publish that was killed": Damage(
        _edit_manifest(lambda value: value.update(pending={"memory/x.md": "0" * 64})),
        *("export", "killed before its end"),
        severity=Severity.WARNING,
    ),
    "no manifest": Damage(
        lambda folder: (tree_of(folder) / ".memu-export.json").unlink(),
        *("export", "there is no .memu-export.json"),
        severity=Severity.WARNING,
    ),
    "a damaged manifest": Damage(
        lambda folder: (tree_of(folder) / ".memu-export.json").write_text("{", encoding="utf-8"),
        *("export", "damaged"),
        severity=Severity.WARNING,
    ),
    "another scope's tree": Damage(
        _edit_manifest(lambda value: value.update(scope={"user_id": "bob"})), "export", "user_id=bob"
    ),
    "no tree": Damage(
        lambda folder: shutil.rmtree(tree_of(folder)), "export", "published and is gone", Severity.WARNING
    ),
    "a tree that was never published": Damage(
        "DELETE FROM publication", "export", "never published", Severity.WARNING
    ),
    "a tree behind the store": Damage(
        "UPDATE scope SET version = version + 2", "export", "changed 2 times", Severity.WARNING
    ),
    "a lock whose holder is gone": Damage(
        _write_note, "locks", "holder is gone (process 999999999", Severity.NOTICE, mended=False
    ),
}
DAMAGES = {**ROWS, **TREES}


# What is of a SQLite file alone: packs of vectors, the order of columns, and rows that a server never lets in.
OF_A_FILE = ("vector_pack", "place = NULL", "ignore_check_constraints", "INTO recall_file ")
IN_POSTGRES = {
    "shown = 0": "shown = false",
    "'[]', 0, created_at": "'[]', false, created_at",
    "'[]', 1, created_at": "'[]', true, created_at",
    "WHERE 1 ": "WHERE true ",
    "char(10, 10)": "chr(10) || chr(10)",
    "char(10)": "chr(10)",
    "x'0102'": "'[1,2]'",
    "zeroblob(64)": "array_fill(0, ARRAY[64])::vector",
}
OF_ROWS = [
    (name, damage)
    for name, damage in ROWS.items()
    # A server's keys hold always, so it is not asked whether its rows belong to one another.
    if isinstance(damage.harm, str)
    and damage.check != "links"
    and not any(each in damage.harm for each in OF_A_FILE)
]
# Of each check the first two, for each costs half a second; the checks themselves are the same code.
ON_SERVER = dict(
    pair
    for check in sorted(CHECKS)
    for pair in [(name, damage) for name, damage in OF_ROWS if damage.check == check][:2]
)


def to_postgres(harm: str) -> str:
    """The same damage there; what it would refuse goes past its keys."""
    rest = harm.removeprefix("PRAGMA foreign_keys = ON; ")
    for ours, theirs in IN_POSTGRES.items():
        rest = rest.replace(ours, theirs)
    return (
        rest if rest != harm and harm.startswith("PRAGMA") else f"SET session_replication_role = replica; {rest}"
    )


async def test_f52_damaged_rows_are_found_on_a_server_as_in_a_file(tmp_path: Path, postgres: Server) -> None:
    """One store, copied for each damage: what a remedy mends is tried on files."""
    bench = Bench(tmp_path, server=postgres)
    bench.work.mkdir()
    for name in ("crontab.md", "0019-centralise-mysql-databases.md", "redeploying-applications-on-rebuild.md"):
        shutil.copy(FOLDERS["documents"] / name, bench.work)
    async with bench.open(encoder=HashingEncoder()) as memu:
        await memu.memorize_workspace(bench.work)
        assert (await memu.examine(thorough=True)).findings == ()
    missed: dict[str, object] = {}
    for name, damage in ON_SERVER.items():
        postgres.copy(f"{bench.base}/{bench.name}", name)
        url = postgres.named(name)
        postgres.execute(to_postgres(str(damage.harm)), url)
        async with MemoryService.open(url, out=bench.out, encoder=HashingEncoder()) as memu:
            found = (await memu.examine(thorough=True)).findings
        if not any(
            (each.check, each.severity) == (damage.check, damage.severity) and damage.told in each.message
            for each in found
        ):
            missed[name] = found
        postgres.forget(name)
    bench.discard()
    assert missed == {}
    assert {damage.check for damage in ON_SERVER.values()} >= CHECKS - {"file", "links", "locks", "export"}


async def follow(remedy: str, folder: Path) -> None:
    """Do what a remedy says."""
    if remedy.startswith("Move the tree away"):
        tree_of(folder).rename(folder / ".memu" / "away")
    commands = [shlex.split(found) for found in COMMAND.findall(remedy)]
    assert commands, remedy
    for program, verb, *words in commands:
        if program == "mv":
            Path(verb).rename(*words)
            continue
        assert f"sqlite:///{store_of(folder).resolve()}" in words
        async with open_memu(folder, out=words[words.index("--out") + 1] if "--out" in words else None) as memu:
            match verb:
                case "sync":
                    assert words[0] == str(folder.resolve())
                    await memu.memorize_workspace(
                        words[0], retry_failed="--retry-failed" in words, allow_empty="--allow-empty" in words
                    )
                case "workspace":
                    assert words[0] == "remove"
                    await memu.remove_workspace(words[1])
                case "export":
                    await memu.export_memory_files()


@pytest.mark.parametrize("name", some(DAMAGES))
async def test_each_damage_is_found_with_a_remedy_that_mends_it(name: str, folder: Path) -> None:
    damage = DAMAGES[name]
    if isinstance(damage.harm, str):
        run_sql(folder, damage.harm)
    else:
        damage.harm(folder)
    findings = await examine(folder)
    [found, *_] = [each for each in findings if each.check == damage.check and damage.told in each.message]
    assert found.severity is damage.severity
    assert found.subject
    assert found.remedy
    assert all(each.remedy for each in findings)
    if damage.mended:
        await follow(found.remedy, folder)
        assert [each for each in await examine(folder) if each.severity is not Severity.NOTICE] == []


async def test_the_examination_writes_nothing(folder: Path) -> None:
    def stand() -> dict[str, tuple[bytes, int]]:
        files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))]
        return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}

    before = stand()
    await examine(folder)
    assert stand() == before


async def test_an_encoder_that_cannot_be_compared_is_found(folder: Path) -> None:
    [found] = await examine(folder, encoder=HashingEncoder(32, name="other"))
    assert (found.check, found.severity) == ("encoder", Severity.ERROR)
    assert "hashing (64 dimensions)" in found.message
    [found] = await examine(folder, encoder=None)
    assert (found.check, found.severity) == ("encoder", Severity.NOTICE)


async def test_f52_a_row_saved_without_a_vector_is_healed_by_the_next_sync(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDERS["example"], tmp_path / "notes"))
    async with open_memu(folder, encoder=FailingEncoder(name="hashing")) as memu:
        await memu.memorize_workspace(folder)
        health = await memu.examine()
        [status] = await memu.status()
    [found] = health.findings
    assert (found.check, health.ok) == ("vectors", False)
    assert status.vectors_missing > 0
    assert not status.ok, "F35: an encoder that does not answer is seen by a monitor"
    await follow(found.remedy, folder)
    assert await examine(folder) == ()


@pytest.mark.parametrize("name", ["example", "documents"])
async def test_f52_words_that_only_one_file_has_find_that_file(name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FOLDERS[name], tmp_path / name))
    files = [path for path in sorted(folder.rglob("*.md")) if path.stat().st_size]
    words = {path: set(re.findall(r"[a-z]{6,}", path.read_text(encoding="utf-8").casefold())) for path in files}
    async with open_memu(folder, encoder=None) as memu:
        await memu.memorize_workspace(folder)
        asked = 0
        for path in files:
            own = words[path] - set().union(*(words[other] for other in files if other != path))
            if len(own) < 3:
                continue
            asked += 1
            result = await memu.retrieve_workspace(" ".join(sorted(own)[:3]), max_hits=20)
            assert path.relative_to(folder).as_posix() in {hit.path for hit in result.hits}
    assert asked > 3


class Onlooker(Interceptor):
    """Examines the store before each step of a sync."""

    def __init__(self) -> None:
        self.memu: MemoryService | None = None
        self.seen: dict[str, tuple[Finding, ...]] = {}
        self.syncing: set[bool] = set()

    async def before(self, event: StepEvent) -> None:
        if self.memu is None or event.workflow != "sync" or event.step == "open":
            return
        self.seen[event.step] = (await self.memu.examine()).findings
        for status in await self.memu.status():
            self.syncing.add(status.syncing)
            assert status.ok


async def test_while_a_sync_runs_what_it_has_not_done_yet_is_no_fault(folder: Path) -> None:
    onlooker = Onlooker()
    (folder / "new.md").write_text("# Bridge\n\nThe bridge opens at noon on every market day.\n", encoding="utf-8")
    changed = min(folder.glob("*.md"))
    changed.write_text(changed.read_text(encoding="utf-8") + "\nAlways oil the hinges.\n", encoding="utf-8")
    async with open_memu(folder, interceptors=[onlooker]) as memu:
        onlooker.memu = memu
        await memu.memorize_workspace(folder)
        onlooker.memu = None
    assert {"memorize", "assign", "fold", "embed", "export", "report"} <= set(onlooker.seen)
    assert any(onlooker.seen.values())
    assert onlooker.syncing == {True}
    wrong = {
        step: [each for each in found if each.severity is not Severity.NOTICE]
        for step, found in onlooker.seen.items()
    }
    assert not any(wrong.values()), wrong


async def test_f15_a_sync_that_fails_leaves_a_record_that_status_shows(folder: Path) -> None:
    away = folder.with_name("away")
    db = f"sqlite:///{folder.with_name('elsewhere.sqlite3')}"
    async with open_memu(folder, db=db, out=folder / "out") as memu:
        await memu.memorize_workspace(folder)
        folder.rename(away)
        with pytest.raises(RootError):
            await memu.memorize_workspace(folder)
        [status] = await memu.status()
        away.rename(folder)
        assert not status.ok
        assert status.last_run is not None
        assert (status.last_run.state, status.last_good_run and status.last_good_run.state) == ("failed", "done")
        assert "no such folder" in (status.last_run.error or "")
        assert [
            each.check for each in (await memu.examine()).findings if each.severity is not Severity.NOTICE
        ] == ["runs"]
        await memu.memorize_workspace(folder)
        [status] = await memu.status()
        assert status.ok
        assert (await memu.examine()).ok


async def test_f15_of_a_folder_that_is_gone_the_advice_is_to_let_its_workspace_go(bench: Bench) -> None:
    bench.write({"a.md": "# Ferry\n\nThe ferry needs twelve minutes.\n"})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        bench.work.rename(bench.base / "elsewhere")
        with pytest.raises(RootError):
            await memu.memorize_workspace(bench.work)
        [found] = [each for each in (await memu.examine()).findings if each.check == "runs"]
        assert "there is no such folder" in found.message
        [(_, verb, *words)] = [shlex.split(each) for each in COMMAND.findall(found.remedy)]
        assert (verb, words[0]) == ("workspace", "remove")
        await memu.remove_workspace(words[1])
        assert not [each for each in (await memu.examine()).findings if str(bench.work) in each.remedy]


async def test_f15_a_tree_that_cannot_be_published_is_a_failed_sync_whose_sources_are_kept(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Gate\n\nThe gate closes at dusk on every day.\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "workspace-memory").write_text("in the way", encoding="utf-8")
    async with open_memu(tmp_path / "notes", out=tmp_path / "out") as memu:
        with pytest.raises(ConfigurationError):
            await memu.memorize_workspace(tmp_path / "notes")
        [status] = await memu.status()
        assert (status.ok, status.sources["done"], status.last_good_run) == (False, 1, None)
        (tmp_path / "out" / "workspace-memory").unlink()
        await memu.memorize_workspace(tmp_path / "notes")
        assert (await memu.examine()).findings == ()


def test_doctor_and_status_on_the_command_line(memu, example) -> None:
    """Exit 0 healthy, 1 findings, 4 no store; one document with --json."""
    assert memu("doctor", folder=example.parent).code == 4
    assert memu("status", "--db", f"sqlite:///{example.parent}/none.sqlite3").code == 4
    assert not (example.parent / "none.sqlite3").exists()
    assert memu("sync", example).code == 0
    ended = memu("doctor", "--all", "--json", folder=example)
    assert (ended.code, ended.err) == (0, "")
    document = ended.document
    assert (document["schema"], document["ok"], document["findings"]) == (1, True, [])
    assert set(document["checked"]) == CHECKS
    tree = tree_of(example)
    (tree / "MEMORY.md").unlink()
    run_sql(example, "UPDATE workspace SET assigned = assigned - 1")
    ended = memu("doctor", "--json", folder=example)
    assert ended.code == 1
    assert {each["check"] for each in ended.document["findings"]} == {"work", "export"}
    assert all(
        set(each) == {"check", "severity", "subject", "message", "remedy"} for each in ended.document["findings"]
    )
    for finding in ended.document["findings"]:
        for command in COMMAND.findall(finding["remedy"]):
            assert memu(*shlex.split(command)[1:]).code == 0
    ended = memu("doctor", "--across", folder=example)
    assert (ended.code, "healthy" in ended.out) == (0, True)


def test_status_for_monitors(memu, example) -> None:
    """F15: stable keys, usage, trees, last good run."""
    memu("sync", example)
    [status] = memu("status", "--json", folder=example).document["workspaces"]
    assert status.keys() >= {
        *("ok", "syncing", "usage", "trees", "last_run", "last_good_run", "sources", "failed", "skipped"),
        *("queued", "vectors_missing", "entries", "pages", "extractor", "encoder"),
    }
    assert status["ok"] is True
    assert [tree["state"] for tree in status["trees"]] == ["current"]
    assert status["trees"][0]["published_at"]
    kinds = ("calls", "texts", "prompt_tokens", "completion_tokens", "unanswered", "cost")
    assert status["usage"] == dict.fromkeys(kinds, 0)
    shutil.rmtree(tree_of(example))
    [status] = memu("status", "--json", folder=example).document["workspaces"]
    assert [tree["state"] for tree in status["trees"]] == ["missing"]


def test_a_store_of_broken_bytes_is_never_called_healthy(memu, example) -> None:
    memu("sync", example)
    store = store_of(example)
    data = bytearray(store.read_bytes())
    for at in range(8192, len(data), 65536):
        data[at : at + 2048] = b"\xa5" * 2048
    store.write_bytes(bytes(data))
    ended = memu("doctor", folder=example)
    assert ended.code in {1, 4}
    assert "damaged" in ended.out + ended.err
    assert "Traceback" not in ended.err


async def test_a_folder_that_is_not_there_any_more_is_told_of(tmp_path: Path) -> None:
    """What was deleted from it since no sync has seen."""
    folder, moved = tmp_path / "notes", tmp_path / "moved"
    folder.mkdir()
    (folder / "a.md").write_text("# Boats\n\nThe boats leave at noon from pier 3.\n", encoding="utf-8")
    async with MemoryService.open(f"sqlite:///{tmp_path / 'm.db'}", out=tmp_path / "out", encoder=None) as memu:
        await memu.memorize_workspace(folder)
        assert (await memu.examine()).ok
        folder.rename(moved)
        report = await memu.examine()
    (finding,) = report.findings
    assert (finding.check, finding.severity) == ("runs", Severity.WARNING)
    assert "not there" in finding.message
    assert f"workspace remove {folder} --yes" in finding.remedy
