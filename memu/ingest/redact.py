"""Secrets out of a text before anything else sees it: each becomes a mark that names its kind.

A mark ``[redacted:kind]`` may stand in Markdown, CSV and inside a JSON string, and takes quotes where a number
stood. Lines stay where they are. What is replaced is decided by form and surroundings (``secret_patterns``,
``secret_assignments``, ``private_keys``) behind a prefilter, so that ordinary text costs one pass.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeVar

from memu.ingest.private_keys import find_private_keys
from memu.ingest.secret_assignments import find_assigned
from memu.ingest.secret_commands import COMMANDS, OPTIONS, WINDOW
from memu.ingest.secret_patterns import BEFORE_TOKENS, TOKEN_MIN_LENGTH, TOKENS, WORDINGS, SecretPattern
from memu.ingest.secret_statements import STATEMENTS
from memu.ingest.secret_wordings import BEFORE_VALUES, SPOKEN

T = TypeVar("T")

__all__ = ["Redacted", "redact"]

_MARK = re.compile(r"\[redacted:(?P<kind>[a-z0-9-]{1,32})\]")
_TOKEN_CHARS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.\\%")
_RUN_MAP = bytes(ord("a") if byte in _TOKEN_CHARS else ord(" ") for byte in range(256))
_RUN = b"a" * TOKEN_MIN_LENGTH
_WORD_MAP = bytes(byte if byte < 128 and chr(byte).isalnum() else ord(" ") for byte in range(256))
_HEAD_LENGTH = 4
_head_of = itemgetter(slice(_HEAD_LENGTH))
_ESCAPE = re.compile(rb"\\(?:[0-7]{3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})|\\[abefnrtv]|%[0-9A-F][0-9A-F]")
# An escape for a terminal's colour from where its numbers begin: what follows it begins a word, in the eyes of who
# sees the colour. In UTF-8 the sign that is both of ESC and "[" ends in \x9b. One set begins it: that is fast.
_COLOUR = re.compile(rb"[\[;\x9b\\](?:x9[bB]|u009[bB]|233)?[0-9]{0,3}[mKHJGhl]([A-Za-z0-9]{1,4})")


def _by(key: Callable[[SecretPattern], T], patterns: Iterable[SecretPattern]) -> dict[T, list[SecretPattern]]:
    groups: dict[T, list[SecretPattern]] = {}
    for pattern in patterns:
        groups.setdefault(key(pattern), []).append(pattern)
    return groups


# A keyword shorter than a head, with no end of its word in it, is in front of words that go on.
_HEADLESS = tuple(
    pattern for pattern in TOKENS if pattern.keyword.isalnum() and len(pattern.keyword) < _HEAD_LENGTH
)
_BY_HEAD = _by(
    lambda pattern: pattern.keyword.encode().translate(_WORD_MAP).split()[0][:_HEAD_LENGTH],
    (pattern for pattern in TOKENS if pattern not in _HEADLESS),
)
_BEFORE = (*BEFORE_TOKENS, *BEFORE_VALUES)
_BY_SIGN = {
    sign: _by(lambda pattern: pattern.keyword, patterns)
    for sign, patterns in _by(lambda pattern: pattern.sign, (*WORDINGS, *SPOKEN, *STATEMENTS)).items()
}
_BY_COMMAND = _by(lambda pattern: pattern.keyword, COMMANDS)
_BARE_LOGIN = re.compile(
    r":(?P<password>[^\s:@/\"'<>`\\\[\](),;|]{3,80})@(?P<host>[A-Za-z0-9][A-Za-z0-9.-]{0,80})(?P<rest>[:/(]?)"
)
_USER = re.compile(r"(?<![\w./@:-])[A-Za-z_][\w.%+-]{0,60}$")
_NOT_USERS = re.compile(
    r"(?:mailto|e?-?mail|mail|cc|bcc|from|to|reply-to|sips?|xmpp|acct|npm|workspace|git|ssh|file|https?|ftp|tel"
    r"|contact|author|by|sha\d+|docker|image|version|v\d.*)$",
    re.IGNORECASE,
)

Span = tuple[int, int, str]
_JSON_KEY = re.compile(r"""(?<=\w)(?P<quote>\\{0,3}")[ \t]{0,4}:[ \t\n]{0,4}$""")
_TOML_KEY = re.compile(r"[ \t]{0,20}[\w.-]{1,80}[ \t]{0,4}=[ \t]{0,4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text with marks in place of its secrets, and how many of each kind were put in."""

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)


def redact(text: str, *, path: str = "") -> Redacted:  # noqa: ARG001
    """The text without its secrets.

    What a mark newly lays bare is looked at again until nothing is found, so redacting twice changes nothing
    more. The number of lines never changes.

    Args:
        path: where the text comes from; not used for deciding, so that a renamed file reads the same.
    """
    found = _find_outside_marks(text)
    if not found:
        return Redacted(text=text)
    current = text
    # Each round turns characters into marks and none back, so this ends.
    while found:
        current = _replace(current, _merge(found))
        found = _find_outside_marks(current)
    counts = Counter(match["kind"] for match in _MARK.finditer(current))
    counts.subtract(match["kind"] for match in _MARK.finditer(text))
    return Redacted(text=current, counts={kind: count for kind, count in sorted(counts.items()) if count > 0})


def _find_outside_marks(text: str) -> list[Span]:
    """What is found, but for what would cut a mark in two: the words of a mark are no secret."""
    found = list(_find(text))
    if not found or "[redacted:" not in text:
        return found
    inside = {place for match in _MARK.finditer(text) for place in range(match.start() + 1, match.end())}
    return [span for span in found if span[0] not in inside and span[1] not in inside]


def _find(text: str) -> Iterator[Span]:
    if "-----BEGIN " in text or "Private-Lines: " in text:
        for start, end in find_private_keys(text):
            yield start, end, "private-key"
    for pattern in _present(text):
        for match in pattern.regex.finditer(text):
            if pattern.check is None or pattern.check(match["secret"]):
                yield *match.span("secret"), pattern.kind
    if "@" in text:
        yield from _find_bare_logins(text)
    yield from find_assigned(text, _lower(text))


def _present(text: str) -> Iterator[SecretPattern]:
    """The patterns whose keyword is in the text; for nearly every text there is none."""
    data = text.encode("utf-8", "replace")
    runs = _long_runs(data) if len(text) >= TOKEN_MIN_LENGTH else b""
    if runs:
        plain = _ESCAPE.sub(b" ", runs) if b"\\" in runs or b"%" in runs else runs
        heads = set(map(_head_of, plain.translate(_WORD_MAP).split()))
        heads.update(_COLOUR.findall(data))
        for head in _BY_HEAD.keys() & heads:
            yield from (pattern for pattern in _BY_HEAD[head] if pattern.keyword in text)
        yield from (pattern for pattern in _HEADLESS if pattern.keyword.encode() in runs)
        yield from (pattern for pattern in _BEFORE if pattern.keyword in text)
    for sign, words in _BY_SIGN.items():
        if sign in text:
            yield from _pick(words, text)
    if near := _near_options(text):
        yield from _pick(_BY_COMMAND, near)


def _pick(words: Mapping[str, list[SecretPattern]], text: str) -> Iterator[SecretPattern]:
    for keyword, patterns in words.items():
        if keyword in text:
            yield from patterns


def _near_options(text: str) -> str:
    """What stands around options behind which a password may stand; or everything, where they are many."""
    near: list[str] = []
    most = 8 + len(text) // 4000
    position = 0
    while (option := OPTIONS.search(text, position)) is not None:
        near.append(text[max(0, option.start() - WINDOW) : option.end() + WINDOW])
        if len(near) > most:
            return text
        position = option.end() + WINDOW // 2
    return "\n".join(near)


def _long_runs(data: bytes) -> bytes:
    """All that is long enough to be a token, apart from the rest; or everything, where much of it is."""
    mapped = data.translate(_RUN_MAP)
    runs: list[bytes] = []
    most = 16 + len(data) // 100
    start = mapped.find(_RUN)
    while start >= 0:
        end = mapped.find(b" ", start)
        end = len(mapped) if end < 0 else end
        runs.append(data[start:end])
        if len(runs) > most:
            return data
        start = mapped.find(_RUN, end)
    return b"\n".join(runs)


def _lower(text: str) -> str:
    lowered = text.lower()
    # One letter grows when it is made small; positions have to stand.
    return lowered if len(lowered) == len(text) else text.replace("\u0130", "I").lower()


def _find_bare_logins(text: str) -> Iterator[Span]:
    """``user:password@host`` without a scheme, as drivers write it; mail addresses after a colon are none."""
    for match in _BARE_LOGIN.finditer(text):
        user = _USER.search(text, max(0, match.start() - 61), match.start())
        if user is None or _NOT_USERS.match(user[0]) or not _is_login_password(match):
            continue
        yield user.start(), match.end("password"), "login"


def _is_login_password(match: re.Match[str]) -> bool:
    password, host, rest = match["password"], match["host"].rstrip("."), match["rest"]
    if re.fullmatch(r"[\^~v]?[\d.x*]+(?:-[\w.]+)?|[$<{%*x.•].*", password) or re.match(r"sha\d+$|[\d.]+$", host):
        return bool(re.match(r"(?:\d{1,3}\.){3}\d{1,3}$", host)) and not password.startswith(
            ("$", "<", "{", "%", "*")
        )
    reads_as_mail = "." in host and re.fullmatch(r"[\w.+-]+", password) is not None
    return (
        not reads_as_mail
        or rest in ("/", "(")
        or (rest == ":" and match.string[match.end() : match.end() + 1].isdigit())
    )


def _merge(found: list[Span]) -> list[Span]:
    """The spans in order, those that overlap made one, named for the one that begins first or is longest."""
    merged: list[Span] = []
    for start, end, kind in sorted(found, key=lambda span: (span[0], -span[1], span[2])):
        if merged and start < merged[-1][1]:
            first, last, name = merged[-1]
            merged[-1] = (first, max(last, end), name)
        else:
            merged.append((start, end, kind))
    return merged


def _replace(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, kind in spans:
        quote = _missing_quote(text, start, end)
        pieces += (text[position:start], f"{quote}[redacted:{kind}]{quote}", "\n" * text.count("\n", start, end))
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _missing_quote(text: str, start: int, end: int) -> str:
    """The quotes that a mark needs where a bare value stood: a number in JSON or TOML, where no bracket may."""
    if (key := _JSON_KEY.search(text, max(0, start - 12), start)) is not None:
        return key["quote"]
    if text[start:end].isdigit() and _TOML_KEY.fullmatch(text, text.rfind("\n", 0, start) + 1, start):
        return '"'
    return ""
