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
    # What a shell gives to chpasswd, a line of .pgpass, and the block of YAML that a key begins.
    SecretPattern(
        "password",
        "chpasswd",
        r"echo ['\"]?[\w.-]{1,60}:(?P<secret>[^\s'\"|:]{3,100})['\"]? {0,2}\| {0,2}(?:sudo )?chpasswd",
        _is_given,
    ),
    SecretPattern(
        "password", ":5432:", r"(?m::5432:[^:\s]{1,60}:[^:\s]{1,60}:(?P<secret>[^\s:]{3,100})$)", _is_given
    ),
    *(
        SecretPattern(
            "password",
            f"{key}: {sign}",
            rf"{key}: [|>][-+]?[ ]*(?:\n|\\n)[ ]+(?P<secret>[^\s#\\\"][^\s\\\"]{{2,200}})(?=[ ]*(?:\n|\\n|\"|$))",
            _is_given,
            sign=f": {sign}",
        )
        for key in (
            "assword",
            "asswd",
            "oken",
            "ecret",
            "rivateKey",
            "piKey",
            "pi_key",
            "PASSWORD",
            "TOKEN",
            "SECRET",
        )
        for sign in "|>"
    ),
    SecretPattern("password", "PASSWORD '", r"PASSWORD '(?P<secret>[^'\s]{3,200})'", _is_given),
)
"""Known by the words around them; in capitals, as statements are written."""
