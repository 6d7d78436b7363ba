"""P6: a store that one scope model wrote is no other's, unless that names every scope as it is stored."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from support.stores import Bench, on_both

from memu import ConfigurationError, MemoryService, Scope
from memu.settings import WorkspaceScope
from memu.storage.database import Database
from memu.storage.session import Session

pytestmark = pytest.mark.conformance

ANN = {"user": "Ann", "seat": 7}


class Wrote(BaseModel):
    model_config = ConfigDict(extra="forbid")
    user: str
    seat: int | None = None


class Wider(Wrote):
    team: str | None = None


class Looser(BaseModel):
    user: str | None = None
    seat: int | str | None = None


class Renamed(BaseModel):
    owner: str
    seat: int | None = None


class Dropped(BaseModel):
    user: str


class Needs(Wrote):
    team: str


class Texts(BaseModel):
    user: str
    seat: str | None = None


class Flags(BaseModel):
    user: str
    seat: bool | None = None


class Folds(BaseModel):
    user: Annotated[str, AfterValidator(str.lower)]
    seat: int | None = None


class Coerces(BaseModel):
    """A whole number that becomes a text, and so another scope."""

    model_config = ConfigDict(coerce_numbers_to_str=True)
    user: str
    seat: str | None = None


class Stricter(BaseModel):
    user: str = Field(max_length=2)
    seat: int | None = None


REFUSED: dict[type[BaseModel], str] = {
    Renamed: "Renamed cannot name them: seat (whole number), user (text)",
    Dropped: "Dropped cannot name them",
    Needs: "Needs cannot name them",
    Texts: "Texts cannot name them",
    Flags: "Flags cannot name them",
    Folds: "Folds takes them for another's",
    Coerces: "Coerces takes them for another's",
    Stricter: "Stricter cannot name them",
}


def make(bench: Bench, *scopes: dict[str, Any]) -> None:
    def add(fields: dict[str, Any], session: Session) -> None:
        session.within(Scope.of(fields)).workspaces.add(name="w", root=f"/of/{fields}")

    with Database.open(bench.url) as db:
        for fields in scopes:
            db.write_now(partial(add, fields))


@on_both
async def test_a_model_that_names_scopes_otherwise_is_refused_in_words(bench: Bench) -> None:
    make(bench, {}, ANN, {"user": "bob"})
    before = bench.rows()
    for model, told in REFUSED.items():
        with pytest.raises(ConfigurationError) as caught:
            MemoryService.open(bench.url, encoder=None, scope_model=model)
        assert told in str(caught.value)
        # Nobody's name stands in it.
        assert not any(value in str(caught.value) for value in ("Ann", "bob", "7"))
    assert bench.rows() == before


@on_both
async def test_a_model_that_names_them_as_they_are_reads_each_and_no_other(bench: Bench) -> None:
    make(bench, {}, ANN, {"user": "bob"}, {"user": "Ann"})
    for model in (Wrote, Wider, Looser):
        async with MemoryService.open(bench.url, encoder=None, scope_model=model) as memu:
            for fields in (ANN, {"user": "bob"}, {"user": "Ann"}):
                assert [one.root for one in await memu.list_workspaces(user=fields)] == [f"/of/{fields}"]
    # The default model cannot name them, so it takes nobody for another, and looks after the store as a whole.
    async with MemoryService.open(bench.url, encoder=None) as memu:
        assert [one.root for one in await memu.list_workspaces()] == ["/of/{}"]
        assert await memu.list_workspaces(user={"user_id": "Ann"}) == ()
        findings = (await memu.examine(across=True)).findings
        assert any(one.subject.startswith(f"/of/{ANN}") for one in findings)


@on_both
async def test_a_field_of_the_default_model_that_changed_its_type_is_refused(bench: Bench) -> None:
    make(bench, {"user_id": 7})
    assert WorkspaceScope(user_id="7")
    with pytest.raises(ConfigurationError, match=r"user_id \(whole number\)"):
        MemoryService.open(bench.url, encoder=None)
