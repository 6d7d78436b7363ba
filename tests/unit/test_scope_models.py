"""P6: an app's own scope model: which may be one, and that filters go through it as scopes do."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    ConfigDict,
    Field,
    RootModel,
    SecretStr,
    field_validator,
    model_serializer,
    model_validator,
)

from memu import ConfigurationError, MemoryService, Scope, ScopeError
from memu.settings import WorkspaceScope, check_scope_model, check_standing_scopes, conditions_of, fit, scope_of

pytestmark = pytest.mark.unit


class Plan(Enum):
    FREE = "free"
    PAID = "paid"


class Level(IntEnum):
    LOW = 1


class Tenant(BaseModel):
    """Everything that a field may be."""

    tenant: int
    region: Annotated[str, AfterValidator(str.lower)] | None = None
    plan: Plan | None = None
    level: Level | None = None
    beta: bool | None = None
    key: uuid.UUID | None = None
    since: date | None = None
    share: Decimal | None = None
    kind: Literal["team", "person"] | None = None


class Person(BaseModel):
    """Validators that look at a field, and at the whole scope."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    team: str | None = None

    @field_validator("name")
    @classmethod
    def fold(cls, value: str) -> str:
        if not value.isascii():
            raise ValueError("ASCII only")
        return value.casefold()

    @model_validator(mode="after")
    def check(self) -> Person:
        if self.team == self.name:
            raise ValueError("a person is no team")
        return self


class _Aliased(BaseModel):
    user: str = Field(alias="userId")


class _AliasedAll(BaseModel):
    model_config = ConfigDict(alias_generator=AliasGenerator(validation_alias=str.upper))
    user: str


class _Nested(BaseModel):
    inner: WorkspaceScope


class _Defaulted(BaseModel):
    user: str
    region: str = "eu"


class _Made(BaseModel):
    user: str = Field(default_factory=lambda: uuid.uuid4().hex)


class _Excluded(BaseModel):
    user: str = Field(exclude=True)


class _Filter(BaseModel):
    user__in: str


class _Secret(BaseModel):
    user: SecretStr


class _Number(BaseModel):
    user: float


class _Many(BaseModel):
    user: list[str]


class _Loose(BaseModel):
    user: Any


class _Odd(BaseModel):
    user: Callable[[], str]


class _Half(BaseModel):
    user: str | float


REFUSED = {
    _Aliased: "user has an alias",
    _AliasedAll: "user has an alias",
    _Nested: "inner is no text",
    _Defaulted: "region has a default",
    _Made: "user has a default",
    _Excluded: "user is left out",
    _Filter: "user__in ends in __in",
    _Secret: "user is no text",
    _Number: "user is no text",
    _Many: "user is no text",
    _Loose: "user is no text",
    _Odd: "user is no text",
    _Half: "user is no text",
    RootModel[str]: "give a pydantic model",
    dict: "give a pydantic model",
}


@pytest.mark.parametrize("model", REFUSED, ids=lambda model: model.__name__)
def test_a_model_that_could_mix_up_scopes_is_refused_by_field(model: Any) -> None:
    with pytest.raises(ConfigurationError, match=REFUSED[model]):
        check_scope_model(model)
    with pytest.raises(ConfigurationError, match=REFUSED[model]):
        MemoryService.open("sqlite://", encoder=None, scope_model=model)


@pytest.mark.parametrize("model", [WorkspaceScope, Tenant, Person])
def test_a_plain_model_is_taken(model: type[BaseModel]) -> None:
    check_scope_model(model)


def test_every_refused_field_is_named() -> None:
    class Bad(BaseModel):
        one: float
        two: list[str]
        good: str

    with pytest.raises(ConfigurationError) as caught:
        check_scope_model(Bad)
    assert "one is" in str(caught.value)
    assert "two is" in str(caught.value)
    assert "good" not in str(caught.value)


def test_values_are_stored_as_the_model_writes_them() -> None:
    key = uuid.uuid4()
    given = {"tenant": "7", "region": "EU", "plan": Plan.PAID, "key": key, "since": date(2026, 1, 2), "beta": True}
    wanted: dict[str, Any] = {
        "tenant": 7,
        "region": "eu",
        "plan": "paid",
        "key": str(key),
        "since": "2026-01-02",
        "beta": True,
    }
    assert scope_of(Tenant, given) == Scope.of(wanted)
    assert scope_of(Person, {"name": "KIM"}) == Scope.of({"name": "kim"})


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({"tenant": "7"}, {"tenant": (7,)}),
        ({"region__in": ["EU", "us"]}, {"region": ("eu", "us")}),
        ({"plan": Plan.FREE}, {"plan": ("free",)}),
        ({"tenant": 7, "beta": True}, {"tenant": (7,), "beta": (True,)}),
    ],
)
def test_filters_are_compared_as_the_model_stores_values(where: dict[str, Any], wanted: dict[str, Any]) -> None:
    known = [Scope.of({"tenant": 1, "region": "eu", "plan": "paid", "beta": False})]
    assert fit(Tenant, conditions_of(Tenant, where), known) == wanted


def test_validators_of_whole_scopes_see_a_filter_in_its_place() -> None:
    known = [Scope.of({"name": "ann", "team": "red"}), Scope.of({"name": "bob"})]
    assert fit(Person, conditions_of(Person, {"name": "BOB"}), known) == {"name": ("bob",)}
    # A team alone is no scope of this model; it is tried beside a known name.
    assert fit(Person, conditions_of(Person, {"team": "red"}), known) == {"team": ("red",)}
    assert fit(Person, conditions_of(Person, {"team": "ann"}), known) == {"team": ()}
    with pytest.raises(ScopeError, match=r"name: .*ASCII only"):
        fit(Person, conditions_of(Person, {"name": "жук"}), known)


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    key: uuid.UUID
    seat: int
    plan: Plan | None = None
    since: date | None = None


KEY = uuid.UUID(int=7)
STORED = {"key": str(KEY), "seat": 7, "plan": "paid", "since": "2026-01-02"}
OF_PYTHON = {"key": KEY, "seat": 7, "plan": Plan.PAID, "since": date(2026, 1, 2)}


@pytest.mark.parametrize("given", [STORED, OF_PYTHON], ids=["as stored", "as Python has it"])
def test_p6_a_strict_model_names_what_it_stored(given: dict[str, Any]) -> None:
    scope = scope_of(Strict, given)
    assert scope == Scope.of(STORED)
    check_standing_scopes(Strict, [scope])
    for name, value in given.items():
        assert fit(Strict, conditions_of(Strict, {name: value}), [scope]) == {name: (STORED[name],)}


@pytest.mark.parametrize(
    "wrong", [{"seat": "7"}, {"seat": True}, {"seat": 7.0}, {"key": 7}, {"plan": "dear"}, {"since": 0}], ids=str
)
def test_p6_a_strict_model_takes_no_value_for_another(wrong: dict[str, Any]) -> None:
    for given in (STORED, OF_PYTHON):
        with pytest.raises(ScopeError, match=next(iter(wrong))):
            scope_of(Strict, {**given, **wrong})
    with pytest.raises(ScopeError):
        fit(Strict, conditions_of(Strict, wrong), [Scope.of(STORED)])


@pytest.mark.parametrize("where", [{"tenant": "x"}, {"plan": "dear"}, {"tenant__in": [1, object()]}])
def test_a_filter_that_does_not_fit_its_field_is_an_error(where: dict[str, Any]) -> None:
    with pytest.raises(ScopeError):
        fit(Tenant, conditions_of(Tenant, where), [])


def test_a_scope_that_a_model_does_not_tell_is_no_smaller_scope() -> None:
    class Silent(BaseModel):
        user: str
        team: str | None = None

        @model_serializer
        def tell(self) -> dict[str, str]:
            return {"user": self.user}

    with pytest.raises(ScopeError, match="team"):
        scope_of(Silent, {"user": "ann", "team": "red"})


@pytest.mark.parametrize("value", ["\x00", "a\x00b", "\ud800", "x\udfff"])
def test_what_no_database_keeps_is_no_scope(value: str) -> None:
    with pytest.raises(ScopeError, match="user_id"):
        scope_of(WorkspaceScope, {"user_id": value})


async def test_a_service_keeps_the_tenants_of_an_app_apart(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "n.md").write_text(f"# Pump\n\nThe pump of {name} was repaired on 2 March 2024.\n")
    async with MemoryService.open("sqlite://", out=tmp_path / "out", encoder=None, scope_model=Person) as memu:
        await memu.memorize_workspace(tmp_path / "ann", user={"name": "Ann", "team": "red"})
        await memu.memorize_workspace(tmp_path / "bob", user={"name": "bob"})

        async def texts(where: dict[str, Any] | None, *, across: bool = False) -> set[str]:
            found = await memu.retrieve_workspace("pump", where=where, across=across)
            return {name for name in ("ann", "bob") for hit in found.hits if name in hit.text}

        assert await texts({"name": "ANN", "team": "red"}) == {"ann"}
        assert await texts({"name": "ann"}) == set()
        assert await texts({"name": "ANN"}, across=True) == {"ann"}
        assert await texts({"team": "red"}, across=True) == {"ann"}
        assert await texts({"name__in": ["Ann", "BOB"]}, across=True) == {"ann", "bob"}
        assert await texts({}, across=True) == {"ann", "bob"}
        for where in (None, {"team": "red"}, {"user_id": "ann"}, {"name": None}):
            with pytest.raises(ScopeError):
                await texts(where)
