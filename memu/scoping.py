"""From the fields that a caller gives to the scopes that are meant, and what may leave this machine for them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from sqlalchemy.engine import URL

from memu.errors import ScopeError
from memu.providers.endpoint import require_local
from memu.records import Scope
from memu.settings import Settings, check_standing_scopes, conditions_of, fit, scope_of
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["LONGEST_KEY", "Scoping", "open_scoped"]

LONGEST_KEY = 2000
"""The bytes of the longest scope, as JSON in UTF-8. A server's index takes 2,704 in one entry."""

# So many are looked at when a store is opened: all of most stores, and a sample of a large one's.
_SAMPLE = 1000


def open_scoped(url: str | URL, model: type[BaseModel]) -> Database:
    """A store whose scopes ``model`` can name.

    Raises:
        ConfigurationError: another scope model wrote it. StoreError: it cannot be opened.
    """
    database = Database.open(url)
    try:
        check_standing_scopes(model, database.read_now(lambda session: session.some_scopes(_SAMPLE)))
    except BaseException:
        database.close()
        raise
    return database


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoping:
    """model: whose fields name a scope."""

    database: Database
    settings: Settings
    model: type[BaseModel]

    def one(self, user: Mapping[str, Any] | None) -> Scope:
        """The scope with these fields; None is the empty one.

        Raises:
            ScopeError: they do not fit the model, or are longer than a store holds.
            ConfigurationError: its texts must stay on this machine, and an endpoint of the settings does not lie
                there.
        """
        return self.keep_local(self._require_short(scope_of(self.model, user)))

    async def several(self, where: Mapping[str, Any] | None, *, across: bool) -> tuple[Scope, ...]:
        """The scopes that ``where`` names; with ``across`` every stored one that it matches. Raises as ``one``."""
        conditions = conditions_of(self.model, where, across=across)
        if across:

            def work(session: Session) -> tuple[Scope, ...]:
                return session.matching(fit(self.model, conditions, session.scopes()))

            return tuple(map(self.keep_local, await self.database.read(work)))
        choices = itertools.product(*conditions.values())
        return tuple(self.one(dict(zip(conditions, values, strict=True))) for values in choices)

    def _require_short(self, scope: Scope) -> Scope:
        """This scope, if every database can hold its key, or this one does since before there was a limit."""
        size = len(scope.key.encode("utf-8"))
        if size > LONGEST_KEY and scope not in self.database.read_now(lambda session: session.scopes()):
            raise ScopeError(
                f"The scope takes {size} bytes, fields and values together; a store holds {LONGEST_KEY} at most. "
                "Give shorter values, such as a hash of these."
            )
        return scope

    def keep_local(self, scope: Scope) -> Scope:
        """This scope, if what the settings ask may be asked about its texts. Raises ConfigurationError."""
        if self.settings.local_only_scopes and self.settings.is_local_only(scope, self.model):
            require_local(self.settings.endpoints())
        return scope
