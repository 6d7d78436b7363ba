"""What the database says when it fails, in words that say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError, StatementError

from memu.errors import StoreError
from memu.storage.engine import show_url, store_path
from memu.storage.hindrances import has_room
from memu.storage.side_files import closed_side_files, has_no_room

__all__ = ["is_passing", "translated"]

_FULL = "the disk is full; free some space and run again; no change was stored in halves"
_ADVICE = (
    ("locked", "another process has been writing to it for over a minute; end that process or try again"),
    ("unable to open", "it cannot be opened; check that its folder exists and that you may write there"),
    ("readonly database", "it is read-only: you may not write the file or its folder; or a reader tried to write"),
    (
        "read-only transaction",
        "a reader tried to write, or the server takes no writes (a standby, or so set)",
    ),
    ("disk is full", _FULL),
    ("not a database", "the file is no SQLite database; name another store with --db"),
    ("malformed", "the file is damaged; restore a backup, or remove it and sync again"),
    ("disk i/o", "the disk would not read or write it: it fails, or a limit is reached; check it, then run again"),
    ("no such table", "it holds no memu tables; run `memu db upgrade`"),
    ("no such column", "its tables are another version's; run `memu db upgrade`"),
    (
        "permission denied to create extension",
        "the role may not install pgvector; let an administrator run CREATE EXTENSION vector in this database",
    ),
    ('extension "vector" is not available', "pgvector is not installed on the server; install it there"),
    (
        'type "vector" does not exist',
        "pgvector is not installed in this database; let an administrator run CREATE EXTENSION vector",
    ),
    ("no schema has been selected", "the search_path names no schema that is there; run CREATE SCHEMA first"),
    ("must be owner", "the role does not own memu's tables; let their owner do it"),
    ("permission denied", "the role may not do that; ask the owner of the database"),
    ("idle-in-transaction", "the server ended a transaction in which nothing happened for too long; run it again"),
    ("statement timeout", "a statement took longer than the server's statement_timeout allows"),
    ("lock timeout", "it waited for another transaction for longer than the server's lock_timeout allows"),
    ("deadlock", "other transactions stood in the way again and again; try again when there are fewer"),
    ("could not serialize", "other transactions stood in the way again and again; try again when there are fewer"),
    ("too many", "it has no room for another connection; close some, or raise max_connections"),
    ("remaining connection slots", "it has no room for another connection; close some, or raise max_connections"),
    ("fatal:  database", "there is no such database; make it with createdb"),
    ("fatal:  role", "it does not know that user name"),
    ("does not exist", "a table or database is missing; run `memu db upgrade`"),
    ("password authentication", "it refused the user name or password"),
    ("connection", "it cannot be reached; check the address and that the server runs"),
)


# Of SQLSTATE: serialization failure, deadlock, shutdown by an administrator, crash, starting up, no room.
_PASSING_STATES = frozenset({"40001", "40P01", "57P01", "57P02", "57P03", "53300"})
# Of SQLSTATE, by its class: a broken connection, a server that ends.
_GONE = ("08", "57P")
# A connection that is not made has no SQLSTATE, only words.
_PASSING_WORDS = (
    "refused",
    "starting up",
    "shutting down",
    "not yet accepting",
    "in recovery",
    "no such file",
    "closed the connection",
    "reset by peer",
    "timeout expired",
    "too many",
    "remaining connection slots",
)


def is_passing(error: DBAPIError) -> bool:
    """Whether the same transaction may work if it is run again: the server was away, or others in the way."""
    state = getattr(error.orig, "sqlstate", None)
    if error.connection_invalidated or state in _PASSING_STATES:
        return True
    words = str(error.orig).lower()
    return state is None and isinstance(error, OperationalError) and any(each in words for each in _PASSING_WORDS)


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Database errors inside become StoreError, without passwords or the values of any row.

    A value that a column type refuses (a naive datetime) stays the ValueError that it was.
    """
    try:
        yield
    except IntegrityError as error:
        raise StoreError(f"The store {_shown(url)} refused a row: {_reason(error)}.") from error
    except DBAPIError as error:
        done = "refused this" if _has_answered(error) else "does not answer"
        raise StoreError(f"The store {_shown(url)} {done}: {_say(error.orig, url)}.") from error
    except sqlite3.Error as error:
        # While a connection is being prepared the driver's own errors come through.
        raise StoreError(f"The store {_shown(url)} does not answer: {_say(error, url)}.") from error
    except StatementError as error:
        if isinstance(error.orig, ValueError | TypeError):
            raise error.orig from None
        raise
    except SQLAlchemyError as error:
        raise StoreError(f"The store {_shown(url)} failed: {_first_line(str(error))}.") from error


def _has_answered(error: DBAPIError) -> bool:
    """Whether a server said no, and did not go away or turn down the connection."""
    state = getattr(error.orig, "sqlstate", None)
    return state is not None and not error.connection_invalidated and not state.startswith(_GONE)


def _shown(url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        return url.database or "in memory"
    return show_url(url)


def _reason(error: DBAPIError) -> str:
    # Later lines of a Postgres message (DETAIL) repeat the row's values.
    return _first_line(str(error.orig))


def _first_line(message: str) -> str:
    lines = message.strip().splitlines()
    return lines[0].rstrip(".") if lines else "no reason given"


def _say(error: BaseException | None, url: URL) -> str:
    reason = _first_line(str(error))
    path = store_path(url)
    if path is None:
        return _advice(reason)
    closed = closed_side_files(path)
    if "readonly" in reason and closed:
        named = " and ".join(map(str, closed))
        return f"it may be written, but not {named} beside it; let the owner chmod or remove that ({reason})"
    # Of a full disk SQLite knows only where it writes to the store itself.
    if has_no_room(error) or ("disk i/o" in reason and not has_room(path)):
        return f"{_FULL} ({reason})"
    return _advice(reason)


def _advice(reason: str) -> str:
    lowered = reason.lower()
    for sign, advice in _ADVICE:
        if sign in lowered:
            return f"{advice} ({reason})"
    return reason
