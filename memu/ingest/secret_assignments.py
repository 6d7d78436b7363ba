"""Values that stand behind a name such as ``DB_PASSWORD`` or ``"api_key"``, in any of the forms settings take."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from memu.ingest.secret_patterns import join_words
from memu.ingest.secret_values import is_key, is_passphrase, is_password, is_placeholder, is_said, is_worded_secret

__all__ = ["find_assigned"]

# What a name ends in, and the kind that its value then is. All lower case: searched in a lower-case copy. A word
# is cut where a rare letter begins, and what precedes is looked at only there: a search skips to such letters.
_NAMES: tuple[tuple[str, str, str], ...] = (
    ("pass", "word", "password"),
    ("pass", "wd", "password"),
    ("pass", "wort", "password"),
    ("", "pwd", "password"),
    ("pass", "phrase", "password"),
    ("", "kennwort", "password"),
    ("", "_pass", "password"),
    ("", "_pw", "password"),
    ("", "_auth", "token"),
    ("contrase", "ña", "password"),
    ("", "пароль", "password"),
    ("", "密码", "password"),
    ("", "密碼", "password"),
    ("", "口令", "password"),
    ("se", "cret", "secret"),
    ("to", "ken", "token"),
    # Which key, stands in front of the word.
    ("", "key", "api-key"),
)
_KINDS = {tail: kind for _, tail, kind in _NAMES} | {head + tail: kind for head, tail, kind in _NAMES}
_TAILS = tuple(tail for _, tail, _ in _NAMES)
_KEYS = (
    "api",
    "access",
    "secret",
    "private",
    "account",
    "encryption",
    "signing",
    "master",
    "auth",
    "service",
    "license",
    "deploy",
    "webhook",
    "shared",
    "admin",
    "app",
    "client",
    "consumer",
    "storage",
)
_WHICH_KEY = re.compile("([a-z]{3,12})[_ -]?$")

_ENDINGS = (
    r"(?:(?=[_a-z0-9-])[_-]?(?:base|prod|production|dev|staging|live|test|value|hash|s|[0-9]{1,2})(?![a-z]))?"
)
_CLOSING = r"""[\\"'`*_\])]{0,6}+"""
_SEPARATOR = (
    r"[ \t]{0,8}+(?=[:=|<>\nv：＝])"
    r"(?::[ \t]{0,4}[a-z_\[\]|]{1,24}[ \t]{0,4}=(?!=)|=>|:=|:|=(?!=)|\||：|＝"
    r"|</t[dh]>[ \t]{0,8}\n?[ \t]{0,16}<td>|\n[ \t]{0,24}value:|value=|>)"
    r"[ \t]{0,8}[*_]{0,3}[ \t]{0,4}"
)


@cache
def _names_in(letter: str) -> re.Pattern[str]:
    tails = [tail for tail in _TAILS if tail[0] == letter]
    whole = "|".join(f"(?<={head}{tail})" for head, tail, _ in _NAMES if tail in tails)
    return re.compile(f"(?P<name>{join_words(tails)})(?:{whole}){_ENDINGS}{_CLOSING}{_SEPARATOR}")


# One regex for each first letter: Python searches for one letter ten times as fast as for one of several.
_LETTERS = tuple(dict.fromkeys(tail[0] for tail in _TAILS))
# In a short text nine searches take longer to begin than one takes to end.
_ANY_TAIL = re.compile(join_words(_TAILS))
_SHORT = 4000
_SEPARATORS = re.compile("[:=|>：＝]")

# Behind an option of a command a space is enough.
_OPTION = re.compile(r"--[a-z-]{0,24}?(?P<name>pass(?:word|wd|phrase)|token|secret|key)[ ]{1,3}")

# Names that end like a secret's and hold none.
_HARMLESS = re.compile(
    r"(?:public|no|not|without|forgot|forgotten|reset|invalid|wrong|max|min|num|n|per|bos|eos|pad)[ _-]?$"
)
_ESCAPED = re.compile(r"""\\{1,3}["'](?P<value>[^"'\\\n]{1,4096})\\""")
_QUOTED = re.compile(r"""(?P<quote>["'`])(?P<value>(?:(?!(?P=quote))[^\\\n]|\\.){1,4096})(?P=quote)""")
# An "&" of a page or a chat export is written in five letters, and belongs to the value.
_ENTITY = "&(?:amp|lt|gt|quot|apos|#x?[0-9a-fA-F]{1,5});"
_BARE = re.compile(rf"""(?:[^\s"'`,;<>|\\&]++|{_ENTITY}|&)++""")
# Where a query goes on with its next name.
_NEXT_NAME = re.compile(r"&(?:amp;)?(?=[\w.\[\]-]{1,64}=)")
# Where writing without spaces goes on behind a value: its words and its signs.
_CJK = re.compile("(?<=[!-~])[\u3000-\u303f\u3040-\u30ff\u3400-\u9fff\uff00-\uff0f\uff1a-\uff20]")
_ELEMENT = re.compile(r"[^<\s]{1,4096}(?=</)")
_ENVIRONMENT = re.compile(r"""[^\s"'`\\]+""")
_LINE_END = re.compile(r"""[ \t]*(?:$|\n|[#|"'`\\<,;]|//|--)""")
_CAPITALS = re.compile(r"[A-Z0-9_]{3,}=")
# Whose secret is made up by people, not given by an issuer: one of words counts too.
_MADE_UP = re.compile(
    r"(?:jwt|session|app|application|cookie|auth|nextauth|flask|django|rails|signing|hmac|csrf|encryption|refresh)"
    r"(?:_token)?[_]secret(?:_key)?(?:_base)?=$"
)
# Variables that programs read a password from, whatever it looks like, and what a connection is told beside one.
_SURE = re.compile("(?:pgpassword|mysql_pwd|sshpass|restic_password|borg_passphrase)=$")
_CONNECTION = re.compile(
    r"psql[ ]|(?:host|hostaddr|port|user|dbname|sslmode)=[^\s=]{1,80}[ ]$|dsn[ =:]{1,3}[\"']?$"
)
_BESIDE = 120
_PUNCTUATION = ".,;:)]}*_"
_DECIDING = 256


def find_assigned(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each value that a secret's name stands before and that looks like one.

    Args:
        lowered: the text in lower case, of the same length.
    """
    for names in _present(lowered):
        reached = 0
        for match in names.finditer(lowered):
            found = _find_value(text, match) if match.start() >= reached else None
            if found is not None:
                reached = found[1]
                yield (*found, _kind(match))


def _present(lowered: str) -> Iterator[re.Pattern[str]]:
    if _SEPARATORS.search(lowered) and (len(lowered) > _SHORT or _ANY_TAIL.search(lowered)):
        yield from (_names_in(letter) for letter in _LETTERS if letter < "\x7f" or letter in lowered)
    if "--" in lowered:
        yield _OPTION


def _kind(match: re.Match[str]) -> str:
    kind = _KINDS[match["name"]]
    return "secret" if match["name"] == "key" and re.search("(?:secret|private)[_ -]?$", _before(match)) else kind


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start("name") - 13) : match.start("name")]


def _names_secret(match: re.Match[str]) -> bool:
    before = _before(match)
    if match["name"] != "key":
        return _HARMLESS.search(before) is None
    which = _WHICH_KEY.search(before)
    return which is not None and which[1].endswith(_KEYS)


def _find_value(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    if not _names_secret(match):
        return None
    looks_right = is_password if _KINDS[match["name"]] == "password" else is_key
    start = match.end()
    if (escaped := _ESCAPED.match(text, start)) is not None:
        return escaped.span("value") if looks_right(escaped["value"], plain=True) else None
    if (sure := _find_sure(text, match)) is not None:
        return sure
    if (quoted := _QUOTED.match(text, start)) is not None:
        right = looks_right(quoted["value"], plain=True) or _is_of_words(quoted["value"], match)
        return quoted.span("value") if right else None
    if match[0].endswith(">") and not match[0].endswith("=>"):
        element = _ELEMENT.match(text, start)
        return element.span() if element is not None and looks_right(element[0], plain=True) else None
    capitals = _CAPITALS.fullmatch(text, match.start("name"), match.end()) is not None
    assigned = text[match.start() : match.end()].rstrip()[-1:] not in (":", "：")
    if capitals and (head := _ENVIRONMENT.match(text, start)) is not None and _is_of_words(head[0], match):
        return head.span()
    return _find_bare(text, start, looks_right, capitals=capitals, assigned=assigned)


def _find_sure(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """A value that is a password whatever it looks like, by what stands around it."""
    if _KINDS[match["name"]] != "password" or not match[0].endswith("="):
        return None
    named = _SURE.search(match.string, max(0, match.start("name") - 16), match.end())
    before = match.string[max(0, match.start() - _BESIDE) : match.start()].rpartition("\n")[2]
    if not named and not _CONNECTION.search(before):
        return None
    if (quoted := _QUOTED.match(text, match.end())) is not None:
        start, end = quoted.span("value")
    else:
        bare = _ENVIRONMENT.match(text, match.end())
        start, end = bare.span() if bare is not None else (0, 0)
    value = text[start:end]
    return None if len(value) < 3 or value.startswith("[redacted:") or is_placeholder(value) else (start, end)


def _is_of_words(value: str, match: re.Match[str]) -> bool:
    """A passphrase in quotes, or a made-up secret, behind ``NAME=``: elsewhere words are a message about one."""
    if len(value) > _DECIDING or not match[0].rstrip(" \t").endswith("="):
        return False
    if _KINDS[match["name"]] == "password":
        return is_passphrase(value, least=2 if match[0].endswith("=") else 3)
    name = match.string[max(0, match.start("name") - 24) : match.end()]
    return _MADE_UP.search(name) is not None and is_worded_secret(value)


def _find_bare(
    text: str, start: int, looks_right: Callable[..., bool], *, capitals: bool, assigned: bool
) -> tuple[int, int] | None:
    """A value without quotes. Its beginning decides; taken is all of it, however long."""
    pattern = _ENVIRONMENT if capitals else _BARE
    head = pattern.match(text, start, start + _DECIDING)
    if head is None:
        return None
    value = head[0] if capitals else _cut(head[0], is_query=assigned)
    if not looks_right(value.rstrip(_PUNCTUATION), plain=capitals):
        return None
    whole = pattern.match(text, start)
    end = whole.end() if whole is not None and value == head[0] else start + len(value)
    # Behind a colon in running text stands a sentence: a value is the last thing on its line, or no word of any.
    if not assigned and _LINE_END.match(text, end) is None and not _is_no_word(value, looks_right):
        return None
    return start, start + len(text[start:end].rstrip(_PUNCTUATION))


def _cut(value: str, *, is_query: bool) -> str:
    """The value without what a query, or a sentence in a writing without spaces, goes on with."""
    if is_query and (following := _NEXT_NAME.search(value)) is not None:
        value = value[: following.start()]
    if not value.isascii() and (following := _CJK.search(value)) is not None:
        value = value[: following.start()]
    return value


def _is_no_word(value: str, looks_right: Callable[..., bool]) -> bool:
    value = value.rstrip(_PUNCTUATION)
    return looks_right is not is_password or value.isdigit() or is_said(value)
