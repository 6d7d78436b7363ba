"""Passwords and tokens that command lines give to a program: ``docker login -p …``, ``unzip -P …``, as data.

Each stands near an option that ``OPTIONS`` finds, so that a text without one is looked at once for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memu.ingest.secret_patterns import SecretPattern
from memu.ingest.secret_values import is_placeholder

__all__ = ["COMMANDS", "OPTIONS", "WINDOW"]

OPTIONS = re.compile(
    r"-(?<=[ ]-)(?:[pPwkKauUs]|[A-Za-z]{0,6}[bP]|keyp"
    r"|-(?:pass|user|proxy-user|proxy-p|http-p|ftp-p|with-t|from-l))"
)
"""An option behind which a password may stand."""

WINDOW = 400
"""How far from its option the words of a command may stand."""

# What a command is given before the option, also over several lines of a shell.
_GIVEN = r"(?:[ ](?:[^\n|;&]|\\\n){0,200}?)?[ ]"
# In quotes it is all that they hold; it begins like no other option and is no mark.
_PASSED = (
    r"(?P<quote>\\{0,3}[\"'])?(?![-\s]|\[redacted:)"
    r"(?P<secret>(?(quote)(?:(?!(?P=quote))[^\n`]){3,256}|[^\s\"'`$\\<>|;&]{3,256}))"
)
# Behind a space may stand a sentence about the option instead.
_ARGUMENT = r"(?![\"']?[a-z]{1,30}(?:[ ]+[a-z]{1,30}[ ]+[a-z]|[.,;:!?)](?:\s|$)))" + _PASSED
_SPACE = "[ ]{1,4}"
_LONG = r"--password(?:[ ]{1,4}|=)"
_END = r"(?=\\{0,3}[\"']?[ \t]*(?:$|[\n|;&>`)\"']))"
_LOGINS = (
    *("docker", "podman", "nerdctl", "buildah", "skopeo", "registry", "oras", "crane auth", "regctl", "argocd"),
    *("az", "acr", "oc", "cf", "rancher"),
)
_LOGIN = "login(?=[ ])(?:" + "|".join(rf"(?<={name} login)(?<![\w-]{name} login)" for name in _LOGINS) + ")"
_WHOSE = (
    r"(?i:[\w.-]{0,60}?(?:pass|pwd|token|secret|credential|(?:api|access|private|encryption|signing)[_-]?key)"
    r"[\w.-]{0,24})"
)
_PORT = r"\d{1,5}(?:-\d{1,5})?"
_PORTS = re.compile(rf"{_PORT}(?::{_PORT})*(?:/\w+)?|\d{{1,3}}(?:\.\d{{1,3}}){{3}}:.*")
_ABOUT = frozenset(["and", "argument", "arguments", "flag", "flags", "instead", "option", "options", "switch"])


def _is_given(value: str) -> bool:
    return not value.startswith("[redacted:") and not is_placeholder(value)


def _is_option(value: str) -> bool:
    """What directly follows an option that only takes a password; ports belong to another command's."""
    return _is_given(value.rstrip(".,;:)")) and not _PORTS.fullmatch(value)


def _is_argument(value: str) -> bool:
    return _is_option(value) and value.rstrip(".,;:)").lower() not in _ABOUT


def _after(
    command: str,
    option: str,
    *,
    keyword: str = "",
    value: str = _ARGUMENT,
    check: Callable[[str], bool] = _is_argument,
) -> SecretPattern:
    """What stands behind an option of a command."""
    return SecretPattern("password", keyword or command, f"{command}{_GIVEN}{option}{value}", check)


COMMANDS: tuple[SecretPattern, ...] = (
    *(
        _after(f"{name}[a-z_-]{{0,12}}", "(?:-p|--password=)", keyword=name, value=_PASSED, check=_is_option)
        for name in ("mysql", "mariadb")
    ),
    SecretPattern("password", "sshpass ", rf"sshpass[ ]{{1,4}}-p[ ]{{0,4}}{_PASSED}", _is_option),
    _after("redis-cli", rf"(?:-a|--pass){_SPACE}", value=_PASSED, check=_is_option),
    _after(
        "curl",
        r"(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'\[]{1,80}:",
        value=r"(?!\[redacted:)(?P<secret>[^\s\"'\\]{3,})",
        check=_is_given,
    ),
    _after(_LOGIN, rf"(?:-p[ =]{{0,4}}|{_LONG})", keyword=" login "),
    _after("wget", r"--(?:http-|ftp-|proxy-)?password(?:[ ]{1,4}|=)"),
    _after("mongo[a-z]{0,8}", rf"(?:-p{_SPACE}|{_LONG})", keyword="mongo"),
    _after("ldap[a-z]{2,10}", f"-w{_SPACE}", keyword="ldap"),
    _after("ldappasswd", f"-[as]{_SPACE}"),
    _after(r"zip(?:(?<=unzip)|(?<![\w.-]zip))", f"-[A-OQ-Za-oq-z]{{0,4}}P{_SPACE}", keyword="zip"),
    _after("7z[a-z]?", "-p", keyword="7z", value=_PASSED, check=_is_option),
    _after("keytool", f"-(?:store|key)pass{_SPACE}"),
    _after("openssl", f"-k{_SPACE}"),
    SecretPattern("secret", "openssl", rf"openssl{_GIVEN}-K{_SPACE}(?P<secret>[0-9A-Fa-f]{{16,128}})"),
    *(
        SecretPattern("password", f"{option} ", rf"{option}{_SPACE}[\"']?pass:{_PASSED}", _is_option)
        for option in ("-passin", "-passout", "-pass")
    ),
    _after("smbclient", r"(?:-U|--user)[ =]?[\"']?[^\s%\"'`]{1,80}%", value=_PASSED, check=_is_option),
    SecretPattern(
        "password",
        "htpasswd ",
        r"htpasswd(?=[^\n]{0,120}?[ ]-[A-Za-z]{0,6}b)(?:[ ][^\s-]\S{0,80})?"
        r"(?:[ ]-[A-Za-z]{1,8}(?:[ ]\d\d?(?=[ ]))?){1,5}"
        rf"(?:[ ][^\s|;&<>`-][^\s|;&<>`]{{0,200}}){{1,2}}[ ]{_PASSED}{_END}",
        _is_option,
    ),
    SecretPattern("secret", "from-literal", rf"from-literal[= ]\\{{0,3}}[\"']?{_WHOSE}={_PASSED}", _is_option),
    SecretPattern(
        "token",
        "<<<",
        rf"<<<(?:(?<=-token[ ]<<<)|(?<=-token<<<)|(?<=-stdin[ ]<<<)|(?<=-stdin<<<))[ ]?{_PASSED}",
        _is_option,
    ),
    *(
        SecretPattern(
            "password",
            option,
            rf"(?:echo|printf)[ ](?:-n[ ])?{_PASSED}\\{{0,3}}[\"']?[ ]?\|[^\n|]{{0,200}}?[ ]{option}",
            _is_option,
        )
        for option in ("--password-stdin", "--with-token")
    ),
)
"""Each is near one of ``OPTIONS``. An option's value is taken at its word."""
