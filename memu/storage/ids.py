"""Identifiers: opaque, random, lower-case base32."""

from __future__ import annotations

import base64
import secrets

__all__ = ["new_id", "new_passage_id", "new_salt", "new_scope_id"]

_BYTES = 10
_PASSAGE_CHARS = 10
_SCOPE_CHARS = 6
_SALT_BYTES = 32


def new_id() -> str:
    """A new row's id: 16 lower-case base32 characters, 80 random bits."""
    return base64.b32encode(secrets.token_bytes(_BYTES)).decode("ascii").lower()


def new_passage_id() -> str:
    """A new passage's id: 50 random bits, unique in its scope. Some hundred postings hold it, so it is short."""
    return new_id()[:_PASSAGE_CHARS]


def new_scope_id() -> str:
    """A proposal for a new scope's id, very short, for every row holds it; the store says if it is taken."""
    return new_id()[:_SCOPE_CHARS]


def new_salt() -> str:
    """A new scope's key for the hashes of what it forgot: 256 random bits, in hex."""
    return secrets.token_hex(_SALT_BYTES)
