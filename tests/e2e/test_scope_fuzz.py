"""P6, F43: random filters never show one scope's memory to another.

It is looked for in results, lists, counts, exports, prompts and the texts of errors.

Each scope has a word of its own in the names, titles and texts of its files. Whatever is asked, the answer may
hold the words of those scopes alone that match as a reader of the filter understands it who knows nothing of memu.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, Field
from support.colleague import good
from support.postgres import Server

from memu import MemoryService, MemuError, NotFound, ScopeError
from memu.providers.fakes import HashingEncoder, ScriptedChatModel
from memu.quotation import to_prompt

pytestmark = pytest.mark.e2e

T = TypeVar("T")

WHERES = 500
LISTS = ("list_files", "list_entries", "list_resources")
LISTED_EVERY, EXPORTS_EVERY, EXAMINED_EVERY = 2, 10, 50


class Seat(BaseModel):
    """Fields of several types, so that ``1``, ``"1"`` and ``True`` meet."""

    tenant: int | None = None
    user: str | None = Field(default=None, min_length=1)
    beta: bool | None = None


SCOPES: tuple[dict[str, Any], ...] = (
    {},
    {"tenant": 1},
    {"tenant": 2},
    {"user": "1"},
    {"user": "ann"},
    {"user": "Ann"},
    {"tenant": 1, "user": "ann"},
    {"tenant": 1, "user": "bob", "beta": True},
    {"beta": True},
    {"tenant": 1, "user": "ann", "beta": False},
)
WORDS = tuple(f"quokka{letter}x" for letter in "abcdefghij")
NOTE = """# The {word} pump

The pump of {word} was repaired on 2 March 2024. We decided to keep the {word} gateway.

Deploys go out on Tuesdays.

## How to drain the {word} pump

1. Close the valve of {word}.
2. Open the drain.
3. Wait ten minutes.
"""
VALUES: tuple[Any, ...] = (
    *(1, 2, 3, 0, True, False, "1", "2", "ann", "Ann", "bob", "", " ann", "ann ", "*", "%", "_", "a%", None),
    *("{}", '{"user":"ann"}', '"ann"', "ann' OR '1'='1", "\x00", "\ud800", "é", "ann\n", 1.0, 1.5, -1, 2**70),
    *([], ["ann"], {}, {"user": "ann"}, object()),
)
NAMES = ("tenant", "user", "beta", "user_id", "scope_id", "Tenant", "user__in__in", "__in", "", "key")


@dataclass
class House:
    """A store that holds every scope, and what is known of each: ids, counts, prompts of its syncs."""

    memu: MemoryService
    out: Path
    asked: dict[int, str] = field(default_factory=dict)
    known: dict[int, dict[str, list[str]]] = field(default_factory=dict)

    @property
    def references(self) -> list[str]:
        return [each for lists in self.known.values() for ids in lists.values() for each in ids]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.sqlite3'}"
        return
    server: Server = request.getfixturevalue("postgres")
    made = server.make()
    yield made
    server.drop(made)


@asynccontextmanager
async def furnished(url: str, folder: Path) -> AsyncIterator[House]:
    model = ScriptedChatModel(usual=good)
    out = folder / "out"
    async with MemoryService.open(
        url, out=out, encoder=HashingEncoder(16), models=model, scope_model=Seat
    ) as memu:
        house = House(memu, out)
        for number, (fields, word) in enumerate(zip(SCOPES, WORDS, strict=True)):
            work = folder / f"work-{number}" / "notes"
            work.mkdir(parents=True)
            (work / "shared.md").write_text(NOTE.format(word=word), encoding="utf-8")
            (work / f"{word}.md").write_text(
                NOTE.format(word=word).replace("Tuesdays", "Fridays"), encoding="utf-8"
            )
            model.asked.clear()
            await memu.memorize_workspace(work, user=fields)
            house.asked[number] = repr(model.asked)
            lists = {name: await getattr(memu, name)(user=fields) for name in LISTS}
            house.known[number] = {name: [one.id for one in found] for name, found in lists.items()}
            house.known[number]["references"] = [
                one.reference for one in lists["list_files"] + lists["list_resources"]
            ]
        yield house


def matching(where: Mapping[str, Any], *, across: bool) -> set[int]:
    """The scopes that a filter names: with equal fields, or across scopes with those fields among theirs."""
    choices = {
        name.removesuffix("__in"): list(value) if name.endswith("__in") else [value]
        for name, value in where.items()
    }

    def is_same(stored: Any, value: Any) -> bool:
        # As pydantic reads a value: "1" is a whole number where one is wanted, and 1 or "true" a truth.
        if isinstance(stored, bool):
            return isinstance(value, int | float | str) and str(value) in (
                ("1", "True", "1.0") if stored else ("0", "False")
            )
        if isinstance(stored, int):
            return (
                isinstance(value, int | float | str)
                and value not in ("", " ")
                and str(value).strip()
                in (str(stored), f"{stored}.0", *(["True"] if stored == 1 else ["False"] if stored == 0 else []))
            )
        return isinstance(value, str) and stored == value

    return {
        number
        for number, fields in enumerate(SCOPES)
        if (across or fields.keys() == choices.keys())
        and all(
            name in fields and any(is_same(fields[name], each) for each in values)
            for name, values in choices.items()
        )
    }


def words_in(told: object) -> set[int]:
    text = told if isinstance(told, str) else repr(told)
    return {number for number, word in enumerate(WORDS) if word in text.casefold()}


def random_where(chance: random.Random) -> dict[str, Any]:
    """Mostly filters that mean something, some that are nonsense."""
    where: dict[str, Any] = {}
    near = chance.choice(SCOPES)
    for name in chance.sample(["tenant", "user", "beta"], chance.randint(0, 3)):
        value = near.get(name, chance.choice(VALUES)) if chance.random() < 0.8 else chance.choice(VALUES)
        if chance.random() < 0.3:
            others = [each.get(name) for each in SCOPES if name in each]
            where[f"{name}__in"] = [value, *chance.sample(others, chance.randint(0, 2))]
        else:
            where[name] = value
    if chance.random() < 0.15:
        where[chance.choice(NAMES) + chance.choice(["", "__in"])] = chance.choice(VALUES)
    return where


async def answer_or_error(asked: Awaitable[T]) -> tuple[T | None, MemuError | None]:
    try:
        return await asked, None
    except MemuError as error:
        return None, error


async def ask_everything(house: House, where: dict[str, Any], chance: random.Random, number: int) -> int:
    """Ask for all that a filter may be given to; returns how many answers held something."""
    across = chance.random() < 0.4
    query = f"the pump {chance.choice(['', 'gateway', *WORDS])}"
    before = repr(where)
    asked = house.memu.retrieve_workspace(query, where=where, across=across, max_hits=chance.choice([1, 10, 100]))
    result, error = await answer_or_error(asked)
    answers = 0
    if result is None:
        assert isinstance(error, ScopeError), (where, error)
        assert not words_in(str(error)), where
    else:
        allowed = matching(where, across=across)
        seen = words_in(result.to_dict()) | words_in(to_prompt(result))
        assert seen <= allowed, (where, across, query)
        assert bool(result.hits) == bool(allowed), (where, across, query)
        answers += bool(result.hits)
    assert repr(where) == before, "the caller's filter is the caller's"
    if number % LISTED_EVERY:
        return answers
    found, error = await answer_or_error(ask_one_scope(house, where, chance, number))
    if found is None:
        assert isinstance(error, ScopeError), (where, error)
        assert not words_in(str(error)), where
    return answers + bool(found)


async def ask_one_scope(house: House, user: dict[str, Any], chance: random.Random, number: int) -> bool:
    """Lists, counts, single things and the export of what ``user`` names; whether there is anything."""
    memu = house.memu
    status = await memu.status(user=user)
    told: list[Any] = [[one.to_dict() for one in status], await memu.list_workspaces(user=user)]
    for name in LISTS:
        listed = await getattr(memu, name)(user=user, after=chance.choice(["", *house.references]))
        whole = await getattr(memu, name)(user=user)
        assert {one.id for one in listed} <= {one.id for one in whole}
        told.append([one.to_dict() for one in whole])
    for reference in (chance.choice(house.references), f"{chance.choice(WORDS)}.md", "shared.md"):
        found, error = await answer_or_error(memu.get(reference, user=user))
        assert words_in(str(error)) <= words_in(reference)
        told.append(found.to_dict() if found else isinstance(error, NotFound))
    if number % EXPORTS_EVERY == 0:
        report, error = await answer_or_error(memu.export_memory_files(user=user))
        told += [report.to_dict() if report else str(error)]
        assert bool(report) == bool(status)
    if number % EXAMINED_EVERY == 0:
        told.append((await memu.examine(user=user)).to_dict())
    allowed = matching(user, across=False)
    assert words_in(told) <= allowed, user
    for mine in allowed:
        known = house.known[mine]
        assert sum(one.entries for one in status) == len(known["list_entries"])
        assert [sum(one.pages.values()) for one in status] == [len(known["list_files"])]
    assert bool(status) == bool(allowed)
    return bool(allowed)


async def test_random_filters_never_leak(
    url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(2406)
    async with furnished(url, tmp_path) as house:
        for number, asked in house.asked.items():
            assert words_in(asked) == {number}, "a prompt of one scope shows nothing of another"
        assert all(all(lists.values()) for lists in house.known.values())
        answered = 0
        for number in range(WHERES):
            answered += await ask_everything(house, random_where(chance), chance, number)
    # A filter that finds nothing proves nothing.
    assert answered > WHERES / 3
    record_property("filters", WHERES)
    record_property("answered", answered)
    trees = {tree.name: words_in("".join(map(_show, sorted(tree.rglob("*"))))) for tree in house.out.iterdir()}
    assert len(trees) >= len(SCOPES)
    assert sorted(itertools.chain(*trees.values())) == list(range(len(SCOPES))), "each word in one tree"
    assert all(len(words) <= 1 for words in trees.values())


def _show(path: Path) -> str:
    return f"{path} {path.read_text(encoding='utf-8') if path.is_file() else ''}"
