"""The tools: what each is called, what it takes and answers, and how memu's errors become a tool's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ValidationError

from memu.errors import ConfigurationError, MemuError, NotFound
from memu.mcp.answers import GetAnswer, SearchAnswer, StatusAnswer, SyncAnswer
from memu.mcp.arguments import Arguments, GetArguments, SearchArguments, StatusArguments, SyncArguments
from memu.records import ScopeValue, Workspace
from memu.service import MemoryService

__all__ = ["Toolbox"]

_Told: TypeAlias = tuple[BaseModel, str]
_READING = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
# A sync forgets what is gone from the folder, and may ask a model that is not on this machine.
_SYNCING = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=True)
_SEARCH = (
    "Search the memory of the workspace: pages, remembered statements and passages of the sources, best first, "
    "each quoted with where it stands. One pass, no model. Ask before you answer from what you only assume."
)
_GET = (
    "Show one thing whole: a page (memory/NAME, skill/NAME), a source or lines of it (PATH, PATH#L10-L12), a "
    "session's turn (PATH#turn-3), or anything by its id."
)
_STATUS = "How the memory stands: each workspace's last sync, its sources and pages, and what failed."
_SYNC = (
    "Read what is new or changed in a workspace's folder, forget what is gone, and bring the pages up to date. "
    "It can take minutes; nothing is lost if it is stopped."
)


@dataclass(frozen=True, slots=True)
class _Offer:
    """One tool. ``run`` gives the structured answer and the text of it for hosts that show text alone."""

    title: str
    description: str
    takes: type[Arguments]
    gives: type[BaseModel]
    annotations: ToolAnnotations
    run: Callable[[Mapping[str, object]], Awaitable[_Told]]


class Toolbox:
    """The tools over one scope of one store. ``user``: the scope, for as long as the server runs."""

    def __init__(
        self, service: MemoryService, user: Mapping[str, ScopeValue] | None = None, *, allow_sync: bool = False
    ) -> None:
        self._service = service
        self._user = user
        self._offers = {
            "search": _Offer("Search memory", _SEARCH, SearchArguments, SearchAnswer, _READING, self._search),
            "get": _Offer("Show from memory", _GET, GetArguments, GetAnswer, _READING, self._get),
            "sync_status": _Offer(
                "How memory stands", _STATUS, StatusArguments, StatusAnswer, _READING, self._sync_status
            ),
        }
        if allow_sync:
            self._offers["sync"] = _Offer("Sync memory", _SYNC, SyncArguments, SyncAnswer, _SYNCING, self._sync)

    @property
    def tools(self) -> list[Tool]:
        """What is offered, each with the schemas of what it takes and answers."""
        return [
            Tool(
                name=name,
                title=offer.title,
                description=offer.description,
                input_schema=offer.takes.model_json_schema(),
                output_schema=offer.gives.model_json_schema(mode="serialization"),
                annotations=offer.annotations,
            )
            for name, offer in self._offers.items()
        ]

    async def call(self, name: str, arguments: Mapping[str, object] | None) -> CallToolResult | None:
        """The tool's answer; what memu refuses or cannot do comes back as a tool's error, in memu's words.

        None: there is no such tool.
        """
        offer = self._offers.get(name)
        if offer is None:
            return None
        try:
            answer, text = await offer.run(arguments or {})
        except ValidationError as error:
            return _failed(_refusal(name, offer.takes, error))
        except MemuError as error:
            return _failed(str(error))
        return CallToolResult(content=[TextContent(text=text)], structured_content=answer.model_dump(mode="json"))

    async def _search(self, arguments: Mapping[str, object]) -> _Told:
        asked = SearchArguments.model_validate(arguments)
        result = await self._service.retrieve_workspace(
            asked.query,
            where=self._user,
            layers=asked.layers or None,
            tracks=asked.tracks or None,
            path=asked.path,
            since=asked.since,
            until=asked.until,
            min_score=asked.min_score,
            max_hits=asked.max_hits,
            max_words=asked.max_words,
        )
        block = result.to_prompt(2 * asked.max_words) or "Nothing found."
        return SearchAnswer.of(result), f"{block}\n\n(degraded: {result.degraded})" if result.degraded else block

    async def _get(self, arguments: Mapping[str, object]) -> _Told:
        asked = GetArguments.model_validate(arguments)
        found = GetAnswer.of(await self._service.get(asked.reference, user=self._user), asked.max_words)
        return found, f"{found.text}\n\n(cut after {asked.max_words} words)" if found.cut else found.text

    async def _sync_status(self, arguments: Mapping[str, object]) -> _Told:
        StatusArguments.model_validate(arguments)
        answer = StatusAnswer.of(await self._service.status(user=self._user))
        return answer, answer.model_dump_json()

    async def _sync(self, arguments: Mapping[str, object]) -> _Told:
        asked = SyncArguments.model_validate(arguments)
        known = [each for each in await self._service.list_workspaces(user=self._user) if each.root]
        chosen = _choose(known, asked.workspace)
        report = await self._service.memorize_workspace(chosen.root, user=self._user, name=chosen.name)
        answer = SyncAnswer.of(report)
        return answer, answer.model_dump_json()


def _choose(known: Sequence[Workspace], wanted: str | None) -> Workspace:
    """A client may sync a folder again, but cannot point memu at one that nobody synced before.

    Raises:
        NotFound: none is known, or none of this name. ConfigurationError: it is not clear which is meant.
    """
    names = ", ".join(each.name or each.root for each in known)
    if wanted is not None:
        found = next((each for each in known if wanted in (each.name, each.root, each.id)), None)
        if found is None:
            raise NotFound(f"No workspace {wanted!r} is known here; there are: {names or 'none'}.")
        return found
    if not known:
        raise NotFound("No workspace is known here yet; sync a folder with `memu sync FOLDER` first.")
    if len(known) > 1:
        raise ConfigurationError(f"Say which workspace to sync: {names}.")
    return known[0]


def _refusal(name: str, takes: type[Arguments], error: ValidationError) -> str:
    """What is wrong with each parameter; values are not repeated."""
    told = []
    for problem in error.errors(include_input=False, include_url=False):
        at = ".".join(str(part) for part in problem["loc"])
        unknown = problem["type"] == "extra_forbidden"
        told.append(f"there is no parameter {at!r}" if unknown else f"{at}: {problem['msg']}")
    known = ", ".join(takes.model_fields) or "none"
    return f"{name}: {'; '.join(told)}. It takes: {known}."


def _failed(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)
