"""Which pydantic models may say whose memory it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, PydanticUserError, RootModel, TypeAdapter
from pydantic.fields import FieldInfo

from memu.errors import ConfigurationError

__all__ = ["check_scope_model"]

_PLAIN = {"string", "integer", "boolean"}


def check_scope_model(model: type[BaseModel]) -> type[BaseModel]:
    """The model, unless one scope could be taken for another by it.

    Each field has to be a text, a whole number or a boolean as JSON shows it, known by its own name, required or
    None unless it is given.

    Raises:
        ConfigurationError: it is no such model; names every field that is refused, and why.
    """
    if not (isinstance(model, type) and issubclass(model, BaseModel)) or issubclass(model, RootModel):
        raise ConfigurationError(
            f"scope_model={model!r}: give a pydantic model with a field for each part of a scope."
        )
    faults = [f"{name} {fault}" for name, info in model.model_fields.items() for fault in _faults(name, info)]
    if faults:
        raise ConfigurationError(f"{model.__name__} cannot say whose memory it is: {'; '.join(faults)}.")
    return model


def _faults(name: str, info: FieldInfo) -> Iterator[str]:
    if name.endswith("__in"):
        yield "ends in __in, which filters by several values"
    if info.validation_alias is not None:
        yield "has an alias; give it by its own name"
    if info.exclude:
        yield "is left out when the model is written"
    if not info.is_required() and (info.default is not None or info.default_factory is not None):
        yield "has a default other than None, so that one scope would have two names"
    if not _is_plain(_schema_of(info)):
        yield "is no text, whole number or boolean"


def _schema_of(info: FieldInfo) -> Mapping[str, Any]:
    kind: Any = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
    try:
        return TypeAdapter(kind).json_schema(mode="serialization")
    except PydanticUserError:
        return {}


def _is_plain(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> bool:
    """Whether every value of a JSON schema is of a plain kind, or null."""
    known = schema.get("$defs", definitions or {})
    if schema.get("writeOnly"):
        # A secret is written as asterisks: all would be one.
        return False
    if "$ref" in schema:
        return _is_plain(known.get(schema["$ref"].rpartition("/")[2], {}), known)
    if "anyOf" in schema or "oneOf" in schema:
        parts = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        return all(part.get("type") == "null" or _is_plain(part, known) for part in parts)
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return all(value is None or isinstance(value, str | int) for value in values)
    return schema.get("type") in _PLAIN
