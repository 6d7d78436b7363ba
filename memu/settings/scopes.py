"""Whose memory: the default scope model, and how fields and filters are checked against one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memu.errors import ScopeError
from memu.records import Scope, ScopeValue
from memu.settings.faults import name_place

__all__ = ["WorkspaceScope", "conditions_of", "fit", "scope_of"]

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
    for name, value in given.items():
        _check_name(model, name)
        if value is None:
            raise ScopeError(f"Scope field {name!r} is None; leave the field out to mean the scope without it.")
    try:
        checked = _read(model, given)
    except ValidationError as error:
        raise ScopeError(_explain(error.errors())) from None
    return Scope.of(_told(checked, given))


def conditions_of(
    model: type[BaseModel], where: Mapping[str, Any] | None = None, *, across: bool = True
) -> dict[str, tuple[Any, ...]]:
    """Field → the values that match it, as they were given: one for ``field``, several for ``field__in``.

    ``where`` is not changed. across: a field that is left out may be anything; else it is absent.

    Raises:
        ScopeError: a field is unknown or given twice, a value is None, a list is empty or none.
    """
    conditions: dict[str, tuple[Any, ...]] = {}
    for key, value in (where or {}).items():
        several = isinstance(key, str) and key.endswith(_ANY_OF) and key not in model.model_fields
        name = key.removesuffix(_ANY_OF) if several else key
        _check_name(model, name)
        if name in conditions:
            raise ScopeError(f"Scope field {name!r} is given twice.")
        if several and (isinstance(value, str | bytes) or not isinstance(value, Collection) or not value):
            raise ScopeError(f"{key!r} takes a list of at least one value.")
        values = tuple(value) if several else (value,)
        if None in values:
            meant = "every scope, or name the values" if across else "the scope without it"
            raise ScopeError(f"{key!r} holds None; leave it out to mean {meant}.")
        conditions[name] = values
    return conditions


def fit(
    model: type[BaseModel], conditions: Mapping[str, Collection[Any]], known: Iterable[Scope]
) -> dict[str, tuple[ScopeValue, ...]]:
    """The same conditions with each value as the scope ``model`` stores it, to be compared with stored scopes.

    What a value comes to may depend on the model's validators, which check whole scopes: where they refuse it
    alone it is tried in the place of the value that a ``known`` scope has. What no scope takes matches nothing.

    Raises:
        ScopeError: a value does not fit its field.
    """
    standing = [fields for scope in known for fields in _list_forms(model, scope)]
    return {
        name: tuple(found for value in values if (found := _fitted(model, name, value, standing)) is not None)
        for name, values in conditions.items()
    }


def _fitted(
    model: type[BaseModel], name: str, value: Any, standing: Iterable[Mapping[str, Any]]
) -> ScopeValue | None:
    for fields in ({}, *(each for each in standing if name in each)):
        try:
            checked = _read(model, {**fields, name: value})
        except ValidationError as error:
            if wrong := [item for item in error.errors() if item["loc"][:1] == (name,)]:
                raise ScopeError(_explain(wrong)) from None
            continue
        return Scope.of(_told(checked, [name])).fields[name]
    return None


def _read(model: type[BaseModel], given: Mapping[str, Any]) -> BaseModel:
    """The scope by a model. A strict one takes an enum, a date or a UUID from Python as such, and from what is
    stored or set as the text that JSON has for it. Raises ValidationError: of the two, the one of fewer faults."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        if not all(isinstance(value, ScopeValue) for value in given.values()):
            raise
        fault = error
    try:
        return model.model_validate_json(json.dumps(given))
    except ValidationError as error:
        raise min(fault, error, key=ValidationError.error_count) from None


def _list_forms(model: type[BaseModel], scope: Scope) -> Iterator[Mapping[str, Any]]:
    """A stored scope's fields as stored, and as the model has them: a value may be tried beside either."""
    yield scope.fields
    with suppress(ValidationError):
        checked = _read(model, scope.fields)
        yield {name: getattr(checked, name) for name in scope.fields}


def _told(checked: BaseModel, names: Collection[str]) -> dict[str, Any]:
    """The fields ``names`` as they are stored."""
    told = checked.model_dump(mode="json", include=set(names))
    if lost := sorted(set(names) - told.keys()):
        raise ScopeError(f"The scope model does not tell {', '.join(lost)}; nobody's memory is known by less.")
    return told


def _explain(problems: Iterable[Mapping[str, Any]]) -> str:
    told = "; ".join(f"{name_place(item)}: {item['msg']}" for item in problems)
    return f"The scope does not fit: {told}."


def _check_name(model: type[BaseModel], name: object) -> None:
    if name not in model.model_fields:
        known = ", ".join(model.model_fields) or "none"
        raise ScopeError(f"Unknown scope field {name!r}; known fields: {known}.")
