"""Whose memory: the default scope model, and how fields and filters are checked against one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memu.errors import ScopeError
from memu.records import Scope, ScopeValue
from memu.settings.faults import name_place

__all__ = ["WorkspaceScope", "conditions_of", "scope_of"]

_ANY_OF = "__in"


class WorkspaceScope(BaseModel):
    """The default scope model: whose memory it is. An app may give its own model instead."""

    model_config = ConfigDict(extra="forbid")

    user_id: str | None = Field(default=None, min_length=1)
    agent_id: str | None = Field(default=None, min_length=1)


def scope_of(model: type[BaseModel], fields: Mapping[str, Any] | None = None) -> Scope:
    """The scope that ``fields`` name, checked against the scope ``model``. No fields: the empty scope, unless
    the model requires one.

    Raises:
        ScopeError: a field is unknown, its value does not fit, or it is None.
    """
    given = dict(fields or {})
    known = ", ".join(model.model_fields) or "none"
    for name, value in given.items():
        if name not in model.model_fields:
            raise ScopeError(f"Unknown scope field {name!r}; known fields: {known}.")
        if value is None:
            raise ScopeError(f"Scope field {name!r} is None; leave the field out to mean the scope without it.")
    try:
        checked = model.model_validate(given)
    except ValidationError as error:
        problems = "; ".join(f"{name_place(item)}: {item['msg']}" for item in error.errors())
        raise ScopeError(f"The scope does not fit: {problems}.") from None
    return Scope.of(checked.model_dump(mode="json", include=set(given)))


def conditions_of(
    model: type[BaseModel], where: Mapping[str, Any] | None = None
) -> dict[str, tuple[ScopeValue, ...]]:
    """Field → the values that match it: one for ``field``, several for ``field__in``. ``where`` is not changed.

    Raises:
        ScopeError: a field is unknown or given twice, a value does not fit or is None, a list is empty.
    """
    conditions: dict[str, tuple[ScopeValue, ...]] = {}
    for key, value in (where or {}).items():
        name = key.removesuffix(_ANY_OF)
        if name in conditions:
            raise ScopeError(f"Scope field {name!r} is given twice.")
        several = key.endswith(_ANY_OF) and key not in model.model_fields
        if several and (isinstance(value, str) or not isinstance(value, Collection) or not value):
            raise ScopeError(f"{key!r} takes a list of at least one value.")
        values = tuple(value) if several else (value,)
        conditions[name] = tuple(_check_value(model, name, each) for each in values)
    return conditions


def _check_value(model: type[BaseModel], name: str, value: Any) -> ScopeValue:
    if name not in model.model_fields:
        raise ScopeError(f"Unknown scope field {name!r}; known fields: {', '.join(model.model_fields) or 'none'}.")
    return Scope.of({name: value}).fields[name]
