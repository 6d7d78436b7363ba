"""Arguments that no caller should give, on both databases: each is answered, or refused in words (P5, P12).

What a store cannot hold names nothing in it; what is no text or number is no bound.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from support.stores import Bench, on_both

from memu import ConfigurationError, MemoryService, MemuError, NotFound, RetrieveResult
from memu.cli.app import run

pytestmark = pytest.mark.e2e

FILES = {
    "docs/2024-03-02.md": "# Deploys\n\n- The team deploys on Tuesdays.\n",
    "notes/a[b].md": "# Attic\n\n- The team keeps lanterns in the attic.\n",
}
ODD = {"nul": "docs\x00", "low": "docs\udc00", "high": "\ud800.md", "alone": "\x00", "byte": "caf\udce9.md"}
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
BEGINNINGS = (
    *("0001-01-01", "0001-01-01T00:00:00+14:00", "1600-01-01", FIRST, datetime.min.replace(tzinfo=EAST)),
)
ENDS = ("9999-12-31", "9999-12-31T23:59:59-12:00", "2300-01-01", LAST, datetime.max.replace(tzinfo=WEST))


@pytest.fixture
async def memu(bench: Bench) -> Any:
    bench.write(FILES)
    async with bench.open() as opened:
        await opened.memorize_workspace(bench.work, name="w")
        yield opened


def paths(result: RetrieveResult) -> set[str | None]:
    return {hit.path for hit in result.hits}


@on_both
async def test_the_ends_of_the_calendar_bound_as_any_other_day(memu: MemoryService) -> None:
    dated, every = {"docs/2024-03-02.md"}, set(FILES)
    for first, last in zip(BEGINNINGS, ENDS, strict=True):
        found = await memu.retrieve_workspace("the team", since=first, until=last)
        assert paths(found) == dated, (first, last)
        found = await memu.retrieve_workspace("the team", changed_since=first, changed_until=last)
        assert paths(found) == every, (first, last)
        for name, wanted in (("since", dated), ("changed_since", every)):
            assert paths(await memu.retrieve_workspace("the team", **{name: first})) == wanted, (name, first)
            assert not (await memu.retrieve_workspace("the team", **{name: last})).hits, (name, last)
        for name, wanted in (("until", dated), ("changed_until", every)):
            assert paths(await memu.retrieve_workspace("the team", **{name: last})) == wanted, (name, last)
            assert not (await memu.retrieve_workspace("the team", **{name: first})).hits, (name, first)


@on_both
async def test_a_glob_that_means_nothing_is_refused_and_one_that_does_means_the_same(memu: MemoryService) -> None:
    wrong = ("[z-a]", "*.[z-a]", "[[:alpha:]]", "[![:digit:]]*", "[[.a.]]", "[[=a=]]", "a" * 200_000, "[9-0]/**")
    for glob in wrong:
        with pytest.raises(ConfigurationError, match="glob"):
            await memu.retrieve_workspace("the team", path=glob)
    with pytest.raises(ConfigurationError, match="path is a int"):
        await memu.retrieve_workspace("the team", path=5)  # type: ignore[arg-type]
    right = {
        "a[[]b].md": {"notes/a[b].md"},
        "a[b].md": set[str](),
        "a[[-]b].md": {"notes/a[b].md"},
        "docs/2024-03-02.md": {"docs/2024-03-02.md"},
        "docs/2024-03-02.mdZ": set[str](),
        "*[^]": set[str](),
        "**/**/**/**/**/*.md": set(FILES),
        "*****.md": set(FILES),
        "d" * 4096: set[str](),
        "**/" * 1300 + "?": set[str](),
        "[+-~]*": set(FILES),
        "docs[.-0]*": set[str](),
        "docs[!a]*": set[str](),
        "(?i)DOCS/*": set[str](),
        "***:docs": set[str](),
    }
    for glob, wanted in right.items():
        found = await memu.retrieve_workspace("the team", path=glob)
        assert paths(found) == wanted, glob[:40]


CALLS: dict[str, tuple[type[MemuError], Callable[[MemoryService, str, Path], Awaitable[object]]]] = {
    "get": (NotFound, lambda memu, odd, _: memu.get(odd)),
    "get-page": (NotFound, lambda memu, odd, _: memu.get(f"memory/{odd}")),
    "get-lines": (NotFound, lambda memu, odd, _: memu.get(f"{odd}#L1-L2")),
    "forget": (NotFound, lambda memu, odd, _: memu.forget(odd)),
    "forget-page": (NotFound, lambda memu, odd, _: memu.forget(f"skill/{odd}")),
    "forget-path": (NotFound, lambda memu, odd, work: memu.forget(f"{work}/{odd}")),
    "undo": (NotFound, lambda memu, odd, _: memu.forget(undo=odd)),
    "remove-workspace": (NotFound, lambda memu, odd, _: memu.remove_workspace(odd)),
    "retrieve-workspace": (NotFound, lambda memu, odd, _: memu.retrieve_workspace("team", workspace=odd)),
    "list-workspace": (NotFound, lambda memu, odd, _: memu.list_resources(workspace=odd)),
    "retrieve-path": (ConfigurationError, lambda memu, odd, _: memu.retrieve_workspace("team", path=odd)),
    "files-after": (ConfigurationError, lambda memu, odd, _: memu.list_files(after=odd)),
    "entries-after": (ConfigurationError, lambda memu, odd, _: memu.list_entries(after=odd)),
    "resources-after": (ConfigurationError, lambda memu, odd, _: memu.list_resources(after=odd)),
    "evaluate-query": (ConfigurationError, lambda memu, odd, _: memu.evaluate([{"query": odd, "path": "a"}])),
    "evaluate-path": (ConfigurationError, lambda memu, odd, _: memu.evaluate([{"query": "a", "path": odd}])),
    "sync-name": (ConfigurationError, lambda memu, odd, work: memu.memorize_workspace(work, name=odd)),
    "plan-name": (ConfigurationError, lambda memu, odd, work: memu.plan_workspace(work, name=odd)),
}
ON_DISK: dict[str, Callable[[MemoryService, Path], Awaitable[object]]] = {
    "memorize": lambda memu, path: memu.memorize(path),
    "memorize_workspace": lambda memu, path: memu.memorize_workspace(path),
    "plan_workspace": lambda memu, path: memu.plan_workspace(path),
}


@on_both
async def test_what_no_store_holds_names_nothing_in_it(memu: MemoryService, bench: Bench) -> None:
    before, tried = bench.comparable(), list[tuple[str, str]]()
    for name, (error, call) in CALLS.items():
        for odd in ODD.values():
            with pytest.raises(error):
                await call(memu, odd, bench.work)
            tried.append((name, odd))
    for name, ask in ON_DISK.items():
        for odd in ODD.values():
            with pytest.raises(MemuError):
                await ask(memu, bench.work / odd)
            tried.append((name, odd))
    assert bench.comparable() == before
    assert len(tried) == len(ODD) * (len(CALLS) + len(ON_DISK))


@pytest.mark.parametrize("empty", ["", " ", "\n"], ids=repr)
@pytest.mark.parametrize("call", ON_DISK.values(), ids=ON_DISK)
async def test_p6_an_empty_text_is_not_the_folder_that_the_process_is_in(
    call: Callable[[MemoryService, Any], Awaitable[object]],
    empty: str,
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench.write({"secret.md": "# Secret\n\nNobody asked for this.\n"})
    monkeypatch.chdir(bench.work)
    async with bench.open() as memu:
        with pytest.raises(ConfigurationError, match="is a variable not set"):
            await call(memu, empty)
    for given in ({"folder": empty}, {"out": empty}, {"db": empty}):
        with pytest.raises(ConfigurationError, match="is a variable not set"):
            MemoryService.open(**{"db": bench.url, **given})
    assert [path.name for path in bench.work.iterdir()] == ["secret.md"]


async def test_the_home_of_nobody_is_a_name_like_any_other(memu: MemoryService, bench: Bench) -> None:
    for ask in (memu.get, memu.forget, lambda name: memu.forget(undo=name), memu.remove_workspace):
        with pytest.raises(NotFound):
            await ask("~nobody-here/notes.md")
    bench.write({"~nobody-here/notes.md": "# Ferry\n\nThe ferry needs twelve minutes.\n"})
    await memu.memorize_workspace(bench.work)
    assert (await memu.forget("~nobody-here/notes.md")).removed == ("~nobody-here/notes.md",)


@on_both
async def test_p12_a_question_is_answered_whatever_it_holds(memu: MemoryService) -> None:
    for odd in ODD.values():
        found = await memu.retrieve_workspace(f"deploys of the team {odd} lanterns")
        assert paths(found) >= set(FILES), repr(odd)
        receipt = await memu.forget(match=f"team {odd} deploys", dry_run=True)
        assert receipt.entries == 0


@on_both
async def test_a_bound_of_a_list_is_a_text_or_a_whole_number(memu: MemoryService) -> None:
    for ask in (memu.list_files, memu.list_entries, memu.list_resources):
        for after in (5, 1.5, b"a", True, ["a"]):
            with pytest.raises(ConfigurationError, match=f"after is a {type(after).__name__}"):
                await ask(after=after)
        for limit in ("5", 1.5, True, [1], 0, -1, 2.0):
            with pytest.raises(ConfigurationError, match=r"limit is .*1 or more"):
                await ask(limit=limit)
        assert await ask(limit=2**70)
        assert await ask(after="", limit=1)
        assert not await ask(after="\U0010ffff")
    for name in ("max_hits", "max_words"):
        for wrong in ("5", 1.5, True, 0):
            with pytest.raises(ConfigurationError, match=f"{name} is .*1 or more"):
                await memu.retrieve_workspace("team", **{name: wrong})
    with pytest.raises(ConfigurationError, match="last is True"):
        await memu.recall(last=True)
    with pytest.raises(ConfigurationError, match="since is a int"):
        await memu.retrieve_workspace("team", since=5)  # type: ignore[arg-type]


@pytest.mark.skipif(os.name == "nt", reason="names of files are texts there")
@on_both
async def test_a_source_whose_name_is_no_text_is_found_and_forgotten_by_its_bytes(bench: Bench) -> None:
    bench.write(FILES)
    names = [f"caf{byte}.md" for byte in ("\udce9", "\udce8")]
    for name in names:
        (bench.work / name).write_text(f"# Coffee\n\nThe coffee is served at {ord(name[3])}.\n", encoding="utf-8")
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        assert (await memu.get(names[0])).path == "caf%E9.md"
        assert (await memu.forget(names[0])).removed == ("caf%E9.md",)
        assert (await memu.forget(str(bench.work / names[1]))).removed == ("caf%E8.md",)
        assert (await memu.forget(undo=names[0])).sources


@pytest.fixture
def store(tmp_path: Path) -> str:
    with_text = tmp_path / "work"
    with_text.mkdir()
    (with_text / "a.md").write_text("# A\n\nThe team deploys.\n", encoding="utf-8")
    url = f"sqlite:///{tmp_path / 'store.sqlite3'}"
    assert run(["sync", str(with_text), "--db", url, "--out", str(tmp_path / "out"), "--quiet"]) == 0
    return url


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search", "team", "--since", "0001-01-01T00:00:00+14:00"], 0),
        (["search", "team", "--changed-since", "0001-01-01", "--changed-until", "9999-12-31"], 0),
        (["search", "team", "--path", "[z-a]"], 2),
        (["search", "team", "--path", "[[:alpha:]]"], 2),
        (["search", "te\udcffam"], 0),
        (["get", "te\udcffam"], 2),
        (["forget", "te\udcffam"], 2),
        (["get", "--entries", "--after", "te\udcffam"], 2),
        (["workspace", "remove", "te\udcffam"], 2),
        (["search", "team", "--workspace", "te\udcffam"], 2),
    ],
)
def test_the_command_line_says_so_in_words(
    store: str, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run([*arguments, "--db", store]) == code
    assert "Traceback" not in capsys.readouterr().err
