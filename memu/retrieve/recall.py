"""What was done last: the last turns of the session that was heard of last."""

from __future__ import annotations

from dataclasses import dataclass

from memu.arguments import require_count
from memu.errors import NotFound
from memu.ingest.sessions.events import is_turn
from memu.records import Kind, Listing, Passage, Resource, Scope
from memu.retrieve.turns import quote_turns
from memu.storage.database import Database
from memu.storage.repository import Repository

__all__ = ["Recall"]


@dataclass(frozen=True, slots=True)
class Recall:
    """Reads the newest session of one scope. Newest is the one with the latest event that bears a time."""

    database: Database

    async def recall(self, scope: Scope, last: int) -> Listing:
        """The cards of its last turns as one quoted block, the oldest first.

        Raises:
            ConfigurationError: ``last`` is no number from 1. NotFound: the scope has no session.
        """
        require_count("last", last)
        found = await self.database.read(lambda session: _find_newest(session.within(scope)))
        if found is None:
            raise NotFound(f"There is no agent session in {scope}; sync a folder that holds logs of one.")
        source, cards = found
        return quote_turns(source, cards[-last:])


def _find_newest(repository: Repository) -> tuple[Resource, tuple[Passage, ...]] | None:
    sessions = sorted(repository.resources.of_kind(Kind.SESSION), key=_age, reverse=True)
    for source in sessions:
        cards = tuple(each for each in repository.passages.of_resource(source.id) if is_turn(each.place))
        if cards:
            return source, cards
    return None


def _age(source: Resource) -> tuple[str, str, str]:
    """Sessions without any time come last; equals are told apart by path."""
    last = source.facts.get("last_at")
    began = source.happened_at.isoformat() if source.happened_at else ""
    return last if isinstance(last, str) else began, began, source.path
