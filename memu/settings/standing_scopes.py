"""Whether a scope model names the scopes that a store holds: each must still be known by its own fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel

from memu.errors import ConfigurationError, ScopeError
from memu.records import Scope
from memu.settings.scopes import WorkspaceScope, scope_of

__all__ = ["check_standing_scopes"]

_SHOWN_AT_MOST = 3
_KINDS = {"str": "text", "int": "whole number", "bool": "boolean"}


def check_standing_scopes(model: type[BaseModel], scopes: Iterable[Scope]) -> None:
    """Make sure that ``model`` gives each stored scope, from its own fields, the name under which it is stored.

    Else rows would be out of everybody's reach (a field was renamed, dropped, newly required or of another type),
    or one user's fields would lead to the rows of another (a validator folds what was told apart before). The
    empty scope is nobody's. Under the default model nobody can be taken for another whose fields it does not have:
    with it any store may be opened, to be looked after.

    Raises:
        ConfigurationError: it does not; says fields and kinds of values, and no value.
    """
    refused: dict[str, None] = {}
    for scope in scopes:
        fields = scope.fields
        if fields and not (model is WorkspaceScope and fields.keys() - model.model_fields.keys()):
            found = _name(model, fields)
            if found != scope:
                how = "takes them for another's" if found else "cannot name them"
                refused.setdefault(f"{model.__name__} {how}: {_describe(fields)}")
    if refused:
        shown = "; ".join(list(refused)[:_SHOWN_AT_MOST])
        raise ConfigurationError(
            f"The store holds scopes that another scope model wrote. {shown}. Open it with that model, or keep "
            "what is this one's in a store of its own; nothing was changed."
        )


def _name(model: type[BaseModel], fields: dict[str, Any]) -> Scope | None:
    try:
        return scope_of(model, fields)
    except ScopeError:
        return None


def _describe(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name} ({_KINDS[type(value).__name__]})" for name, value in sorted(fields.items()))
