"""Whose memory something is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memu.arguments import is_storable
from memu.errors import ScopeError

__all__ = ["EMPTY_SCOPE", "Scope", "ScopeValue"]

ScopeValue = str | int | bool
"""What a scope field may hold."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory: the tenancy boundary, known by its canonical JSON ``key``. The empty scope is a scope."""

    key: str

    @classmethod
    def of(cls, fields: Mapping[str, ScopeValue | None] | None = None) -> Scope:
        """The scope of these field values.

        Raises:
            ScopeError: a value is None ("everyone" is never meant by leaving a value open), no str, int or bool,
                or holds what no database keeps.
        """
        values = dict(fields or {})
        for name, value in values.items():
            if value is None:
                raise ScopeError(
                    f"Scope field {name!r} is None; leave the field out to mean the scope without it."
                )
            if not isinstance(value, str | int | bool):
                raise ScopeError(f"Scope field {name!r} is a {type(value).__name__}; give a str, int or bool.")
            if isinstance(value, str) and not is_storable(value):
                raise ScopeError(f"Scope field {name!r} holds a NUL or half a character, which cannot be stored.")
        return cls(json.dumps(values, sort_keys=True, ensure_ascii=False, separators=(",", ":")))

    @property
    def fields(self) -> dict[str, ScopeValue]:
        """The field values, a new dict each time."""
        parsed: dict[str, ScopeValue] = json.loads(self.key)
        return parsed

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.fields.items()) or "(empty scope)"


EMPTY_SCOPE = Scope("{}")
