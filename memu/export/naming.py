"""The folder that a scope's tree gets: readable where it can be, never shared by two scopes."""

from __future__ import annotations

import hashlib
import re

from memu.records import EMPTY_SCOPE, Scope

__all__ = ["COPIES", "EMPTY_SCOPE_TREE", "MAX_TREE_NAME", "tree_name"]

EMPTY_SCOPE_TREE = "workspace-memory"
COPIES = "sources"
"""The folder in a tree that holds copies of sources."""
# What the Agent Skill specification allows a skill's name, and so its folder, to be.
MAX_TREE_NAME = 64
_HASH_DIGITS = 12
_USUAL_FIELDS = ("agent_id", "user_id")
_FIELD = re.compile(r"[a-z]+(?:_[a-z]+)*")
_WORD = re.compile(r"[a-z0-9]+")
_WORDS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LIKE_HASH = re.compile(rf"(?:^|-)[0-9a-f]{{{_HASH_DIGITS}}}$")


def tree_name(scope: Scope) -> str:
    """The folder name of a scope's tree, also the ``name`` of its Agent Skill: ``[a-z0-9-]``, at most 64.

    A name from which the scope could not be read back gets twelve hex digits of the scope's hash.

    >>> tree_name(EMPTY_SCOPE), tree_name(Scope.of({"user_id": "alice"}))
    ('workspace-memory', 'user-id-alice')
    """
    if scope == EMPTY_SCOPE:
        return EMPTY_SCOPE_TREE
    plain = _lossless_name(scope)
    if plain is not None:
        return plain
    digest = hashlib.sha256(scope.key.encode("utf-8")).hexdigest()[:_HASH_DIGITS]
    text = "-".join(f"{name}-{value}" for name, value in scope.fields.items())
    readable = re.sub(r"[^a-z0-9]+", "-", text.lower())[: MAX_TREE_NAME - len(digest) - 1].strip("-")
    return f"{readable or 'scope'}-{digest}"


def _lossless_name(scope: Scope) -> str | None:
    """``field-value`` where it stands for this scope alone: one field, a string, nothing folded or ambiguous.

    After a usual field the value may hold hyphens; after any other it is the last word, so that the two
    parts can always be told apart.
    """
    if len(scope.fields) != 1:
        return None
    [(field, value)] = scope.fields.items()
    if not isinstance(value, str) or not _FIELD.fullmatch(field):
        return None
    name = f"{field.replace('_', '-')}-{value}"
    usual = tuple(f"{item.replace('_', '-')}-" for item in _USUAL_FIELDS)
    if field in _USUAL_FIELDS:
        readable = _WORDS.fullmatch(value) is not None
    else:
        readable = _WORD.fullmatch(value) is not None and not name.startswith(usual)
    clear = len(name) <= MAX_TREE_NAME and name != EMPTY_SCOPE_TREE and not _LIKE_HASH.search(name)
    return name if readable and clear else None
