"""The one error tree.

    MemuError
    ├── ConfigurationError        a setting, argument or installation is wrong          (exit 2)
    │   ├── ScopeError            a scope or ``where`` names an unknown field, or None
    │   ├── ExtraMissing          an optional dependency is needed; names the install command
    │   └── WorkflowError         a workflow's steps do not fit together
    ├── BusyError                 somebody else holds the workspace or the tree         (exit 3)
    │   └── LeaseLost             our lock was taken over; nothing more is written
    ├── UnavailableError          something outside is missing or refuses               (exit 4)
    │   ├── RootError             the folder is missing, unreadable, empty or overlaps
    │   ├── StoreError            the database cannot be opened, or has another schema
    │   │   ├── SchemaOutdated    run ``memu db upgrade``
    │   │   └── SchemaTooNew      the store was written by a newer memu
    │   ├── EncoderMismatch       the store's vectors come from another encoder
    │   └── ProviderError         a model or encoder endpoint failed
    │       ├── ReplyError        a model answered, but not with what can be used
    │       └── CapReached        the run may make no more calls; the next one goes on
    ├── NotFound                  no such page, source or entry                          (exit 2)
    └── ReadError                 one file cannot be read; the sync goes on without it

Every message says what happened, to which file or page, and what to do. ``exit_code`` is what the command
line returns for it; 1 is kept for a sync that ended with some files failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memu.records import Usage

__all__ = [
    "BusyError",
    "CapReached",
    "ConfigurationError",
    "EncoderMismatch",
    "ExtraMissing",
    "LeaseLost",
    "MemuError",
    "NotFound",
    "ProviderError",
    "ReadError",
    "ReplyError",
    "RootError",
    "SchemaOutdated",
    "SchemaTooNew",
    "ScopeError",
    "StoreError",
    "UnavailableError",
    "WorkflowError",
]


class MemuError(Exception):
    """Something that memu can name went wrong."""

    exit_code = 1


class ConfigurationError(MemuError):
    """A setting, an argument or the installation is wrong."""

    exit_code = 2


class ScopeError(ConfigurationError):
    """A scope or a ``where`` filter names an unknown field, or gives None as a value."""


class ExtraMissing(ConfigurationError):
    """An optional dependency is needed and not installed; the message names the command."""


class WorkflowError(ConfigurationError):
    """A workflow's steps do not fit together, or a step changed a field it did not declare."""


class BusyError(MemuError):
    """Another process holds the workspace or the export tree."""

    exit_code = 3


class LeaseLost(BusyError):
    """The lock was taken over by another process while we were stalled; nothing more is written."""


class UnavailableError(MemuError):
    """A folder, a database or a provider is missing or refuses."""

    exit_code = 4


class RootError(UnavailableError):
    """The workspace folder is missing, unreadable, suddenly empty, or overlaps another workspace."""


class StoreError(UnavailableError):
    """The database cannot be opened or does not answer."""


class SchemaOutdated(StoreError):
    """The store was made by an older memu; ``memu db upgrade`` brings it up to date."""


class SchemaTooNew(StoreError):
    """The store was written by a newer memu than this one."""


class EncoderMismatch(UnavailableError):
    """The store's vectors come from another encoder; they cannot be compared with this one's."""


class ProviderError(UnavailableError):
    """A chat or embedding endpoint failed after its retries."""


class ReplyError(ProviderError):
    """A model answered, but its reply cannot be used: cut off, empty, a refusal, not of the form asked for.

    ``usage`` is what the reply cost, None where it was paid for elsewhere.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class CapReached(ProviderError):
    """The run may make no more calls, or spend no more, than it has; the next one goes on."""


class NotFound(MemuError):
    """No page, source or entry of that name is in this scope."""

    exit_code = 2


class ReadError(MemuError):
    """One file cannot be read; it is reported with the reason and the sync goes on."""
