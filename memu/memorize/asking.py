"""How a step asks a chat model: what it answers is remembered until it is used up, and kept within the caps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

from memu.errors import ProviderError, ReplyError
from memu.providers.meter import Meter
from memu.providers.protocols import Attachment, ChatMessage, ChatModel, ChatReply, Heard, Transcriber
from memu.providers.refusals import RequestRefused
from memu.records import Scope, Usage
from memu.storage.database import Database
from memu.storage.session import Session

__all__ = ["Ask", "Asker", "ask_once", "hash_prompt", "listen_once"]

Answer = TypeVar("Answer", ChatReply, Heard)


class Ask(Protocol):
    """Asks one model on behalf of one source or page."""

    async def __call__(
        self,
        messages: Sequence[ChatMessage],
        *,
        template: str,
        schema: Mapping[str, Any] | None = None,
        known_by: Sequence[ChatMessage] | None = None,
    ) -> str:
        """The text of the model's reply; one that arrived earlier and is not used up is not asked for again.

        Args:
            template: name and version of the prompt ("extract/1"): a reply to another version does not count.
            known_by: what the reply is remembered by, where that is less than the messages.

        Raises:
            ReplyError: the reply is cut off, empty or a refusal.
            ProviderError: the model does not answer. CapReached: no more calls may be made in this run.
        """

    async def reject(self, messages: Sequence[ChatMessage], *, template: str) -> None:
        """Forget the reply known by these messages: it is of no use, and is to be asked for anew another time."""

    async def forget_recalled(self, asked: Sequence[Sequence[ChatMessage]], *, template: str) -> bool:
        """Forget the replies known by these messages if all of them came to an earlier run, one that was killed.

        Returns:
            Whether they did. In this run the model was not asked yet then, and what was of no use may be good now.
        """


class Asker:
    """An ``Ask`` for one source (``resource_id``) or page (``file_id``) of a scope.

    A reply is stored as soon as it is there, and dropped by whoever commits what was made of it; it goes with its
    source or page. ``prompts`` are the hashes of what was asked, in order.
    """

    def __init__(
        self,
        database: Database,
        scope: Scope,
        model: ChatModel,
        meter: Meter,
        step: str,
        *,
        resource_id: str | None = None,
        file_id: str | None = None,
    ) -> None:
        self._database = database
        self._scope = scope
        self._model = model
        self._meter = meter
        self._step = step
        self._resource_id = resource_id
        self._file_id = file_id
        self._recalled: set[str] = set()
        self.prompts: list[str] = []

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model.name

    async def __call__(
        self,
        messages: Sequence[ChatMessage],
        *,
        template: str,
        schema: Mapping[str, Any] | None = None,
        known_by: Sequence[ChatMessage] | None = None,
    ) -> str:
        """See :class:`Ask`."""
        key = hash_prompt(template, self._model.name, messages if known_by is None else known_by)
        self.prompts.append(key)
        kept = await self._database.read(lambda session: session.within(self._scope).replies.get(key))
        if kept is not None:
            self._recalled.add(key)
            return kept
        # The next turn begins when this reply is stored: no more of them than calls at once are lost by a kill.
        async with self._meter.turn():
            text = await ask_once(self._model, self._meter, self._step, messages, schema)
            await self._database.write(partial(self._keep, key, text))
        return text

    def _keep(self, key: str, text: str, session: Session) -> None:
        repository = session.within(self._scope)
        repository.replies.keep(key, text, resource_id=self._resource_id, file_id=self._file_id)

    async def reject(self, messages: Sequence[ChatMessage], *, template: str) -> None:
        """See :class:`Ask`."""
        key = hash_prompt(template, self._model.name, messages)
        self._recalled.discard(key)
        await self._database.write(lambda session: session.within(self._scope).replies.drop(key))

    async def forget_recalled(self, asked: Sequence[Sequence[ChatMessage]], *, template: str) -> bool:
        """See :class:`Ask`."""
        keys = {hash_prompt(template, self._model.name, messages) for messages in asked}
        if not keys <= self._recalled:
            return False
        for messages in asked:
            await self.reject(messages, template=template)
        return True


async def ask_once(
    model: ChatModel,
    meter: Meter,
    step: str,
    messages: Sequence[ChatMessage],
    schema: Mapping[str, Any] | None = None,
) -> str:
    """The text of a reply that nobody remembers, counted for ``step``. A model that was down is not asked again.

    Raises:
        ReplyError, ProviderError, CapReached: see :class:`Ask`.
    """
    cost = model.foresee_cost(messages)
    reply = await _count(model.name, meter, step, cost, lambda: model.reply(messages, schema=schema))
    return _whole(reply.text)


async def listen_once(model: Transcriber, meter: Meter, step: str, recording: Attachment) -> Heard:
    """What is said in a recording, counted for ``step``. A model that was down is not asked again.

    Raises:
        ReplyError, ProviderError, CapReached: see :class:`Ask`.
    """
    heard = await _count(model.name, meter, step, 0.0, lambda: model.transcribe(recording))
    return replace(heard, said=tuple(replace(each, text=_whole(each.text)) for each in heard.said))


def _whole(text: str) -> str:
    # Half a character is no text that a row could hold.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


async def _count(name: str, meter: Meter, step: str, cost: float, call: Callable[[], Awaitable[Answer]]) -> Answer:
    if (reason := meter.outage(name)) is not None:
        raise ProviderError(reason)
    meter.reserve(cost)
    # Settled whatever happens, a cancelled call included: it may have been paid for.
    usage = Usage(unanswered=1)
    try:
        answer = await call()
        usage = answer.usage
    except ReplyError as error:
        usage = error.usage or Usage()
        raise
    except RequestRefused:
        raise
    except ProviderError as error:
        meter.note_outage(name, str(error))
        raise
    finally:
        meter.settle(step, usage)
    return answer


def hash_prompt(template: str, model: str, messages: Sequence[ChatMessage]) -> str:
    """What makes two prompts the same: version, model and every character, as hexadecimal SHA-256."""
    told = [template, model, [[each.role, each.content] for each in messages]]
    return hashlib.sha256(json.dumps(told).encode("utf-8")).hexdigest()
