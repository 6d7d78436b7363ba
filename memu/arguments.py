"""Arguments as an app hands them over. What no database could take is refused in words, before one sees it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from memu.errors import ConfigurationError, RootError

__all__ = [
    "is_storable",
    "mend_text",
    "require_count",
    "require_given",
    "require_name",
    "require_path",
    "require_root",
    "require_text",
]

# NUL and halves of surrogate pairs.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether a store can hold this text: nothing that is called otherwise is in any."""
    return _UNSTORABLE.search(text) is None


def mend_text(text: str) -> str:
    """The text with U+FFFD for what no store holds, as readers write it."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def require_text(name: str, given: object) -> str:
    """``given``, a text that a store can hold.

    Raises:
        ConfigurationError: it is no text, or holds a NUL or half a character.
    """
    if not isinstance(given, str):
        raise ConfigurationError(f"{name} is a {type(given).__name__}; it must be a text.")
    if not is_storable(given):
        raise ConfigurationError(f"{name} holds a NUL or half a character, which no store holds: {given[:80]!r}.")
    return given


def require_count(name: str, given: object) -> None:
    """See that ``given`` is a whole number of at least one. None, for no bound, passes; a boolean is no number.

    Raises:
        ConfigurationError: it is not.
    """
    if given is None:
        return
    if not isinstance(given, int) or isinstance(given, bool):
        raise ConfigurationError(f"{name} is {given!r}; it must be a whole number, 1 or more.")
    if given < 1:
        raise ConfigurationError(f"{name} is {given}; it must be 1 or more.")


def require_given(name: str, given: str | None) -> str | None:
    """``given``, unless it is an empty text: of an app whose variable is not set, the default would be meant.

    Raises:
        ConfigurationError: it is one.
    """
    if isinstance(given, str) and not given.strip():
        raise ConfigurationError(f"{name} is an empty text; is a variable not set?")
    return given


def require_path(name: str, given: Path | str) -> Path:
    """``given``, a path that the system can be asked for.

    Raises:
        ConfigurationError: it is no path, an empty text, or holds what no name on a disk does.
    """
    if not isinstance(given, str | Path):
        raise ConfigurationError(f"{name} is a {type(given).__name__}; it must be a path.")
    if isinstance(given, str):
        # The system would take an empty one for the folder that the process is in.
        require_given(name, given)
    try:
        # Bytes that are no UTF-8 come as halves of characters, which lead back to them.
        nameable = b"\x00" not in os.fsencode(given)
    except UnicodeEncodeError:
        nameable = False
    if not nameable:
        shown = repr(str(given)[:80])
        raise ConfigurationError(f"{name} holds a NUL or half a character, which no path does: {shown}.")
    path = Path(given)
    try:
        path.expanduser()
    except RuntimeError:
        raise ConfigurationError(f"{name} is {str(given)!r}, the home of a user that is not known here.") from None
    return path


def require_root(folder: Path) -> str:
    """The real path that a folder's workspace is known by.

    Raises:
        RootError: no store can hold it.
    """
    root = str(folder.expanduser().resolve())
    if not is_storable(root):
        raise RootError(f"The path {root!r} is no UTF-8, so no store can hold it; rename the folder.")
    return root


def require_name(name: str | None) -> str | None:
    """A workspace's name, if one is given. Raises as ``require_text``."""
    return None if name is None else require_text("name", name)
