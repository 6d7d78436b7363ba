"""Identifiers: random for rows, derived for scopes."""

from __future__ import annotations

import base64
import hashlib
import secrets

from memu.records import Scope

__all__ = ["new_id", "scope_id"]

_BYTES = 10
_SCOPE_BYTES = 20


def new_id() -> str:
    """A new row's id: 16 lower-case base32 characters, 80 random bits."""
    return base64.b32encode(secrets.token_bytes(_BYTES)).decode("ascii").lower()


def scope_id(scope: Scope) -> str:
    """The id of a scope, a pure function of its key, so that two processes that meet it first agree."""
    digest = hashlib.sha256(scope.key.encode("utf-8")).digest()[:_SCOPE_BYTES]
    return base64.b32encode(digest).decode("ascii").lower()
