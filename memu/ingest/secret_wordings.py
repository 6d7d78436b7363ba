"""Secrets known by the words they stand in: ``.netrc``, "the password is …", cookies, logins of a registry."""

from __future__ import annotations

import re

from memu.ingest.secret_patterns import SecretPattern
from memu.ingest.secret_values import is_basic_login, is_password, is_placeholder, is_random, is_said

__all__ = ["BEFORE_VALUES", "SPOKEN"]

_HOST = r"[^\s\[]{1,255}"
_LOGIN = rf"(?:\s{{1,16}}(?:login|account)[ \t]{{1,8}}{_HOST}){{1,2}}"
_VALUE = r"[\"']?(?P<secret>[^\s\"'`$\\]{3,256})"
_WORD = r"(?P<secret>[^\s\"'`*“”„«»\[\](){}<>\\/]{8,100})(?<![.,;:!?。])"
# "Password for user: bob12345" names somebody, not the password.
_NOT_WHOSE = r"(?<!user)(?<!name)(?<!host)(?<!login)(?<!account)(?<!server)"


def _find_sign(words: str) -> str:
    """What many of these words have in common, so that one look is enough where none of them is."""
    return "asswor" if "asswor" in words else ""


def _is_given(value: str) -> bool:
    return not value.startswith("[redacted:") and not is_placeholder(value.rstrip(".,;:)"))


def _is_cell(value: str) -> bool:
    return is_password(value, plain=False)


def _is_random(value: str) -> bool:
    """Random once its escapes are undone: "s%3A…" is "s:…"."""
    return is_random(re.sub("%[0-9A-Fa-f]{2}", "-", value)) and not is_placeholder(value)


SPOKEN: tuple[SecretPattern, ...] = (
    SecretPattern(
        "password",
        "machine ",
        rf"machine[ ]{{1,8}}{_HOST}{_LOGIN}\s{{1,16}}password[ \t]{{1,8}}(?P<secret>\S{{3,256}})",
        _is_given,
    ),
    SecretPattern(
        "password",
        "default login ",
        rf"default[ ]login[ ]{{1,8}}{_HOST}\s{{1,16}}password[ \t]{{1,8}}(?P<secret>\S{{3,256}})",
        _is_given,
    ),
    SecretPattern(
        "password",
        "net use",
        rf"net use[ ][^\n]{{0,200}}?/(?i:user):[^\s]{{1,80}}[ ]{{1,4}}(?![/*-]){_VALUE}",
        _is_given,
        sign=r"\\",
    ),
    SecretPattern(
        "password",
        "net use",
        rf"net use[ ][^\n]{{0,80}}?\\\\[^\s]{{3,120}}[ ]{{1,4}}(?![/*-]){_VALUE}[\"']?[ ]{{1,4}}/(?i:user):",
        _is_given,
        sign=r"\\",
    ),
    SecretPattern(
        "basic-login",
        '"auth',
        r'"auth\\{0,3}"\s{0,8}:\s{0,8}\\{0,3}"(?P<secret>[A-Za-z0-9+/]{8,4096}={0,2})(?=\\{0,3}")',
        is_basic_login,
        sign='"',
    ),
    *(
        SecretPattern(
            "password",
            word,
            rf"{word}[ :：]{{0,4}}[\"'`*“„«]{{0,3}}{_WORD}",
            is_said,
            sign=_find_sign(word),
        )
        for word in ("assword is", "asswort ist", "asswort lautet", "contraseña es", "密码是", "密碼是", "密码为")
    ),
    *(
        SecretPattern(
            "password",
            words,
            rf"{words}[^\n:：.;,]{{1,40}}{_NOT_WHOSE}[:：][ ]{{0,4}}[\"'`*“„«]{{0,3}}{_WORD}",
            is_said,
            sign=_find_sign(words),
        )
        for words in ("assword for ", "asswort für ", "contraseña para ")
    ),
    *(
        SecretPattern(
            "password",
            f"password{joint}",
            rf"(?m:^)[\"']?[\w.-]{{0,40}}?password{joint}(?P<secret>[^\s,;\"']{{6,100}})(?m:[\"']?$)",
            _is_cell,
            sign=_find_sign("password"),
        )
        for joint in (",", '","')
    ),
)
"""By their keyword, as the others. What is said is weighed."""

BEFORE_VALUES: tuple[SecretPattern, ...] = (
    SecretPattern(
        "session-cookie",
        "ookie",
        r"ookie[\"']{0,4}(?:[ ]{0,4}[:=]|[ ])[ \"']{0,5}(?:[^\n;]{0,400};[ ]?){0,40}?"
        r"[\w.-]{0,40}?(?i:sess|sid(?![a-z])|auth|token|jwt|remember|login)[\w.-]{0,24}="
        r"(?P<secret>(?=[^\s;,\"'\\]{0,400}?[0-9])[A-Za-z0-9%._~+/=:|!*-]{16,4096})",
        _is_random,
    ),
    SecretPattern("token", "vault login ", r"vault login[ ]{1,4}(?P<secret>[A-Za-z0-9._-]{15,200})", _is_random),
    SecretPattern(
        "token", "uthToken ", r"uthToken[ ]{1,4}[\"']?(?P<secret>[A-Za-z0-9._~+/=-]{15,400})", _is_random
    ),
)
"""Known by the words before them, and as long as a token."""
