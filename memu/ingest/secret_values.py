"""Whether a value looks like a secret, or like a word, a placeholder, a path or a piece of code."""

from __future__ import annotations

import base64
import binascii
import re

__all__ = [
    "is_basic_login",
    "is_key",
    "is_packed_key",
    "is_passphrase",
    "is_password",
    "is_placeholder",
    "is_random",
    "is_said",
    "is_worded_secret",
]

_PLACEHOLDER = re.compile(
    r"""
    [xX*.#?_\-•…]{2,}                                             # xxx, ***, ..., -----
    | <.*> | \{.*\}? | \[.*\] | \(.*\) | %[A-Za-z(_{].* | \$.* | @\w+@ | __\w+__ | !\w+.* | &\w+ | \#\{.*
    | (?:your|my|the|some|any|new|old|insert|enter|replace|put|add|use|get|set|see|fake|dummy|sample|mock|example)
      (?:[-_ .].*|password|secret|token|key|passwd)?
    | (?:change|fix|fill)[-_ ]?(?:me|this|it|in).* | to[-_ ]?do | tbd | tba | n/?a | null | nil | none | undefined
    | true | false | yes | no | on | off | empty | blank | default | unset | missing | invalid | valid | unknown
    | required | optional | disabled | enabled | hidden | masked | redacted | removed | secrets? | tokens?
    | pass | password\w{0,3} | passwd | passwort
    | passphrase | kennwort | contraseña | pwd | key | api[-_]?key
    | str | string | text | bytes | int | integer | number | bool | boolean | object | any | char | varchar\d*
    | test | testing | tester | foo | bar | baz | foobar | value | input | username | user | admin | root | field
    | bearer | basic | digest | oauth2? | jwt | hash | hashed | bcrypt | sha\d+ | plain | plaintext | encrypted
    | auto | inherit | public | private | internal | external | write | read | generate[d]? | random | request
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODE = re.compile(
    r"""
    [A-Za-z_][\w.:\->]*[(\[{].*                            # a call, a subscript
    | (?:[A-Za-z]+:)?/(?:[\w.~%-]{0,40}/)+[\w.~%-]*        # paths
    | /[a-z][\w.-]{0,20} | \.{1,2}/.* | ~/.* | [A-Za-z]:[\\/].*
    | [a-z][a-z0-9+.-]*://.* | arn:.*                      # addresses
    | \w+\.(?:json|ya?ml|toml|txt|py|js|ts|pem|key|crt|env|md|sh|conf|cfg|ini)
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+
    """,
    re.VERBOSE,
)
_DOTTED = re.compile(r"(?:[A-Za-z_]\w*(?:\.|::|->|\?\.))+[A-Za-z_]\w*")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_PIECES = re.compile(r"[-_./:,+ ]+")
_PASSWORD_SIGN = re.compile(r"[!@#$%^&*?+=~|]")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile("[0-9]")
_SPACE = re.compile(r"\s")
_KEY_BODY = re.compile(r"[!-~]+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_TURNS = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_VARIABLE = re.compile(r"[$<>{}()\[\]%*]|\.\.\.")
_INVITING = re.compile(
    r"(?i:^(?:your|the|some|any|insert|enter|replace|put|add|use|get|set|see|fake|dummy|sample|mock|example|to)[-_.]"
    r"|(?:change|fix|fill)[-_.]?(?:me|this|it|in)|placeholder|example|here$|xxx)"
)
# "The password is SHA256-hashed", "is 12characters", "2-step": words for what is done to one, how long it is and
# who keeps it.
_ABOUT_PASSWORDS = re.compile(
    r"(?i:base|sha|md|utf|pbkdf|argon|aes|crypt|rsa|hmac|rot|rfc|ntlm)[-_]?\d|(?i:chars?|character|digit|bit|byte|letter)s?\b"
    r"|^\d{1,3}-[a-z]+$|(?i:^1password|^keepass\d?)"
)
_INNER_SIGN = re.compile(r"(?<=\w)[!#$%^*?~](?=\w)")
# Words that a sentence about passwords has and a passphrase hardly.
_SENTENCE = re.compile(
    r"\b(?:the|an?|is|are|was|must|should|can(?:not)?|not|no|your|you|my|enter|please|type|use|to|for|of|in|at|with|and|or"
    r"|password|passphrase|pass|secret|user|login|invalid|wrong|required|missing|here|this|that|new|old|change|set)\b"
    r"|[$`{}<>()\[\]%]",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """Whether it stands in for a secret (``changeme``, ``<token>``, ``${VAR}``) or fetches one in code."""
    if _PLACEHOLDER.fullmatch(value) or _CODE.fullmatch(value) or _CONSTANT.fullmatch(value):
        return True
    # os.environ, settings.KEY; but tokens have dots as well.
    return _DOTTED.fullmatch(value) is not None and not is_random(value)


def is_random(value: str) -> bool:
    """Whether letters and digits are mixed as no words, versions or dates do."""
    if not _DIGIT.search(value) or not _LETTER.search(value):
        return False
    return any(_is_mixed(piece) for piece in _PIECES.split(value))


def _is_mixed(piece: str) -> bool:
    """A piece of eight or more in which digits stand among letters, not only behind them like ``python311``."""
    if len(piece) < 8 or not any(map(str.isdigit, piece)):
        return False
    inner = piece.rstrip("0123456789")
    return any(map(str.isdigit, inner)) or (len(piece) - len(inner) >= 4 and inner != "")


def is_password(value: str, *, plain: bool) -> bool:
    """Whether a value that a password's name stands before looks like one that somebody uses.

    Args:
        plain: it stands where nothing but a value can stand (``NAME=value`` in capitals, a quoted string), so
            that a word will do too.
    """
    if len(value) < 4 or value.startswith("[redacted:") or _SPACE.search(value) or not value.isprintable():
        return False
    return _could_be_password(value, plain) and not is_placeholder(value)


def _could_be_password(value: str, plain: bool) -> bool:
    letters, digits = _LETTER.search(value), _DIGIT.search(value)
    if not value.isascii():
        return len(value) >= 6 and digits is not None
    if letters and digits:
        return len(value) >= (4 if plain else 6)
    if letters and _PASSWORD_SIGN.search(value):
        return len(value) >= 6
    if not letters:
        return value.isdigit() and (len(value) >= 6 or plain)
    title = value.istitle() and value.isalpha()
    return plain and len(value) >= 8 and not title


def is_said(value: str) -> bool:
    """Whether a word of a sentence about a password is the password: digits among letters, or a sign inside."""
    mixed = _DIGIT.search(value) is not None and any(map(str.isalpha, value))
    made = mixed or (len(value) >= 8 and _INNER_SIGN.search(value) is not None)
    return made and is_password(value, plain=False) and not _ABOUT_PASSWORDS.search(value)


def is_key(value: str, *, plain: bool) -> bool:
    """Whether a value that a key's, token's or secret's name stands before looks like one.

    Args:
        plain: as for :func:`is_password`.
    """
    if not _DIGIT.search(value) or value.startswith("[redacted:") or not _KEY_BODY.fullmatch(value):
        return False
    mixed = plain and len(value) >= 8 and _is_mixed(value)
    if not mixed and not (len(value) >= 12 and is_random(value)) and not _is_base64(value):
        return False
    return not is_placeholder(value)


def _is_base64(value: str) -> bool:
    """Letters and digits that change too often for the words of a path, slashes between them or not."""
    return _BASE64.fullmatch(value) is not None and len(_TURNS.findall(value)) >= 0.3 * len(value)


def is_passphrase(value: str, *, least: int) -> bool:
    """Whether this is ``least`` words or more in a row that make no sentence about passwords."""
    words = value.split(" ")
    if len(words) < least or not all(words) or not value.isprintable() or len(value) < 8:
        return False
    return _SENTENCE.search(value) is None and not value.startswith("[redacted:")


def is_worded_secret(value: str) -> bool:
    """Whether somebody may have made up this key of words: three or more of them."""
    if not 12 <= len(value) <= 256 or not _KEY_BODY.fullmatch(value) or value.startswith("[redacted:"):
        return False
    if _CODE.fullmatch(value) or _DOTTED.fullmatch(value) or _VARIABLE.search(value):
        return False
    words = [word for word in re.split("[-_.]", value) if word]
    return len(words) >= 3 and not _INVITING.search(value)


def is_basic_login(value: str) -> bool:
    """Whether base64 hides ``user:password``."""
    try:
        login = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in login


def is_packed_key(value: str) -> bool:
    """Whether base64 hides a private key in armour; certificates and public keys begin like one."""
    return b"PRIVATE KEY" in base64.b64decode(value[:80])
