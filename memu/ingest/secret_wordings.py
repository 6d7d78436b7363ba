"""Passwords known by the words or the command they stand in: ``mysql -p…``, ``.netrc``, "the password is …"."""

from __future__ import annotations

import re

from memu.ingest.secret_patterns import SecretPattern
from memu.ingest.secret_values import is_password, is_placeholder, is_said

__all__ = ["SPOKEN"]

_HOST = r"[^\s\[]{1,255}"
_LOGIN = rf"(?:\s{{1,16}}(?:login|account)[ \t]{{1,8}}{_HOST}){{1,2}}"
_VALUE = r"[\"']?(?P<secret>[^\s\"'`$\\]{3,256})"
_WORD = r"(?P<secret>[^\s\"'`*“”„«»\[\](){}<>\\/]{8,100})(?<![.,;:!?。])"
# "Password for user: bob12345" names somebody, not the password.
_NOT_WHOSE = r"(?<!user)(?<!name)(?<!host)(?<!login)(?<!account)(?<!server)"
_PORTS = re.compile(r"\d{1,5}(?::\d{1,5})*(?:/\w+)?|\d{1,3}(?:\.\d{1,3}){3}:.*")


def _is_given(value: str) -> bool:
    return not value.startswith("[redacted:") and not is_placeholder(value.rstrip(".,;:)"))


def _is_option(value: str) -> bool:
    """What directly follows an option that only takes a password; ports belong to another command's."""
    return _is_given(value) and not _PORTS.fullmatch(value)


def _is_cell(value: str) -> bool:
    return is_password(value, plain=False)


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
    *(
        SecretPattern(
            "password", name, rf"{name}[a-z_-]{{0,12}}(?:[ ][^\n|;&]{{0,200}}?)?[ ]-p{_VALUE}", _is_option
        )
        for name in ("mysql", "mariadb")
    ),
    SecretPattern("password", "sshpass ", rf"sshpass[ ]{{1,4}}-p[ ]{{0,4}}{_VALUE}", _is_option),
    SecretPattern(
        "password", "redis-cli ", rf"redis-cli(?:[ ][^\n|;&]{{0,200}}?)?[ ]-a[ ]{{1,4}}{_VALUE}", _is_option
    ),
    *(
        SecretPattern(
            "password",
            word,
            rf"{word}[ :：]{{0,4}}[\"'`*“„«]{{0,3}}{_WORD}",
            is_said,
        )
        for word in ("assword is", "asswort ist", "asswort lautet", "contraseña es", "密码是", "密碼是", "密码为")
    ),
    *(
        SecretPattern(
            "password",
            words,
            rf"{words}[^\n:：.;,]{{1,40}}{_NOT_WHOSE}[:：][ ]{{0,4}}[\"'`*“„«]{{0,3}}{_WORD}",
            is_said,
        )
        for words in ("assword for ", "asswort für ", "contraseña para ")
    ),
    *(
        SecretPattern(
            "password",
            f"password{joint}",
            rf"(?m:^)[\"']?[\w.-]{{0,40}}?password{joint}(?P<secret>[^\s,;\"']{{6,100}})(?m:[\"']?$)",
            _is_cell,
        )
        for joint in (",", '","')
    ),
)
"""By their keyword, as the others. An option's value is taken at its word; what is said is weighed."""
