"""Never two pages for one thing, never one page for two: the names that a model gives to pages are settled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memu import MemoryService
from memu.errors import ProviderError
from memu.memorize.assign.joining import find_doubtful, follow, join_spellings
from memu.providers.fakes import ScriptedChatModel
from memu.records import Track

pytestmark = pytest.mark.unit


def names(*given: str) -> list[tuple[Track, str]]:
    return [(Track.MEMORY, each) for each in given]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Feature flags", "Feature Flag"),
        ("feature-flags", "Feature flags"),
        ("GitHub", "github"),
        ("Git Hub", "GitHub"),
        ("Databases", "Database"),
        ("部署", " 部署 "),
    ],
)
def test_spellings_of_one_name_are_joined_whichever_comes_first(one: str, other: str) -> None:
    there, back = join_spellings(names(one, other)), join_spellings(names(other, one))
    assert there == back
    assert len(set(there.values())) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Universe", "University"),
        ("Deploy", "Deployment of schools"),
        ("RDS 2023", "RDS 2024"),
        ("Python 2", "Python 3"),
        ("Design", "Designer"),
        ("Oslo office", "Bergen office"),
    ],
)
def test_names_of_two_things_are_never_joined_by_rule(one: str, other: str) -> None:
    assert len(set(join_spellings(names(one, other)).values())) == 2


def test_tracks_are_apart() -> None:
    joined = join_spellings([(Track.MEMORY, "Deploys"), (Track.SKILL, "Deploy")])
    assert len(set(joined.values())) == 2


def test_only_new_names_that_share_half_their_words_or_initials_are_doubtful() -> None:
    new = names("Feature toggles", "Relational Database Service", "Kitchen")
    known = names("Feature flags", "RDS", "Garden", "Release notes")
    assert find_doubtful(new, known) == (
        (new[0], known[0]),
        (new[1], known[1]),
    )
    assert find_doubtful([], known) == ()
    many = ["Lamp " + first + second for first in "bdfgkl" for second in ("ava", "olo", "imi", "ete")]
    assert len(find_doubtful(names(*many), [])) == 40


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Postgres 14", "Postgres 15"),
        ("Backup v1", "Backup v2"),
        ("Server A", "Server B"),
        ("Q1 plan", "Q2 plan"),
        ("North office", "South office"),
        ("Frontend deploys", "Backend deploys"),
        ("Team Red", "Team Blue"),
        ("Staging database", "Production database"),
        ("Import of orders", "Export of orders"),
    ],
)
def test_names_that_differ_by_number_letter_or_opposite_are_two_things_whatever_a_model_says(
    one: str, other: str
) -> None:
    """Never one page for two things: nobody is even asked."""
    assert find_doubtful(names(one, other), []) == ()
    assert len(find_doubtful(names(f"{one} rota", f"{one} lists"), [])) == 1


def test_joins_are_followed_to_their_end_and_rings_end() -> None:
    a, b, c = names("A", "B", "C")
    assert follow({a: b, b: c}, a) == c
    assert follow({a: b, b: a}, a) in (a, b)


def _colleague(verdict: str | ProviderError, pages: dict[str, str]) -> ScriptedChatModel:
    """Each source is one entry for the page named for it; pages hold their entries; pairs get this verdict."""

    def reply(messages: object) -> str | ProviderError:
        asked = messages[-1].content  # type: ignore[index]
        if asked.startswith("Source: "):
            path = asked.split()[1]
            text = asked.split("1| ")[1].split("\n")[0]
            return json.dumps(
                {"entries": [{"type": "knowledge", "text": text, "page": pages[path], "lines": [1, 1]}]}
            )
        if asked.startswith("Page: "):
            return '{"operations": []}'
        return verdict

    return ScriptedChatModel(usual=reply)


FILES = {"a.md": "The red lamp stands in the hall.\n", "b.md": "The blue lamp stands in the attic.\n"}
PAGES = {"a.md": "Feature flags", "b.md": "Feature toggles"}


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ('[{"pair": 11, "same": true}]', {"memory/Feature flags"}),
        ('[{"pair": 1, "same": true}]', {"memory/Feature flags", "memory/Feature toggles"}),
        ('[{"pair": 11, "same": false}]', {"memory/Feature flags", "memory/Feature toggles"}),
        ('[{"pair": 7, "same": true}]', {"memory/Feature flags", "memory/Feature toggles"}),
        ("They are the same!", {"memory/Feature flags", "memory/Feature toggles"}),
        (ProviderError("down"), {"memory/Feature flags", "memory/Feature toggles"}),
    ],
)
async def test_what_may_be_one_is_asked_once_and_stays_apart_without_an_answer(
    verdict: str | ProviderError, expected: set[str], tmp_path: Path
) -> None:
    model = _colleague(verdict, PAGES)
    async with MemoryService.open(folder=tmp_path, encoder=None, models=model) as memu:
        (tmp_path / "a.md").write_text(FILES["a.md"])
        await memu.memorize_workspace(tmp_path)
        (tmp_path / "b.md").write_text(FILES["b.md"])
        report = await memu.memorize_workspace(tmp_path)
        asked = len(model.asked)
        again = await memu.memorize_workspace(tmp_path)
        entries = await memu.list_entries()
    assert {entry.page for entry in entries} == expected
    assert report.by_step["names"].calls + report.by_step["names"].unanswered == 1
    said = '"pair": 11' in str(verdict)
    assert ("names of pages" in {problem.path for problem in report.unpatched}) is not said
    # What it did not say is asked for once more by the next sync.
    late = 0 if said else 1
    assert len(model.asked) == asked + late
    assert again.usage.calls + again.usage.unanswered == late
    assert ("names" in again.by_step) is not said


async def test_spellings_stand_on_one_page_without_a_call(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    model = _colleague("[]", {"a.md": "Feature Flags", "b.md": "feature-flag"})
    async with MemoryService.open(folder=tmp_path, encoder=None, models=model) as memu:
        report = await memu.memorize_workspace(tmp_path)
        entries = await memu.list_entries()
    assert {entry.page for entry in entries} == {"memory/feature-flag"}
    assert "names" not in report.by_step


async def test_a_cap_reached_before_names_are_settled_leaves_the_new_to_the_next_sync(tmp_path: Path) -> None:
    model = _colleague('[{"pair": 11, "same": true}]', PAGES)
    async with MemoryService.open(folder=tmp_path, encoder=None, models=model) as memu:
        (tmp_path / "a.md").write_text(FILES["a.md"])
        await memu.memorize_workspace(tmp_path)
        (tmp_path / "b.md").write_text(FILES["b.md"])
        capped = await memu.memorize_workspace(tmp_path, max_calls=1)
        pages = {entry.page for entry in await memu.list_entries() if entry.page}
        await memu.memorize_workspace(tmp_path)
        entries = await memu.list_entries()
    assert (capped.usage.calls, pages) == (1, {"memory/Feature flags"})
    assert {entry.page for entry in entries} == {"memory/Feature flags"}
    assert len(entries) == 2
