"""Passwords in statements to databases, and tokens in the place of an address's user, as data."""

from __future__ import annotations

from memu.ingest.secret_patterns import SecretPattern
from memu.ingest.secret_values import is_placeholder, is_random

__all__ = ["STATEMENTS"]


def _is_given(value: str) -> bool:
    return not value.startswith("[redacted:") and not is_placeholder(value)


STATEMENTS: tuple[SecretPattern, ...] = (
    # As remotes of git and indexes of packages have it.
    SecretPattern("url-credentials", "://", "://(?P<secret>[A-Za-z0-9_-]{20,200})@(?=[A-Za-z0-9])", is_random),
    SecretPattern(
        "password",
        "IDENTIFIED BY",
        r"IDENTIFIED BY {1,3}(?:PASSWORD {1,3})?\\?(?P<quote>['\"])(?P<secret>[^'\"\s\\]{3,200})\\?(?P=quote)",
        _is_given,
    ),
    SecretPattern("password", "PASSWORD '", r"PASSWORD '(?P<secret>[^'\s]{3,200})'", _is_given),
)
"""Known by the words around them; in capitals, as statements are written."""
