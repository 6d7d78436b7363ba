"""The perceive step of memorize: a model looks at an image or listens to a recording, once for its bytes.

What it told is kept with the source, so that neither another name nor another reading of it sends the file again.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakValueDictionary

from memu.errors import ReadError, ReplyError
from memu.ingest.media import Medium, MediumFile, describe, explain_unperceived, find_medium, is_signed
from memu.ingest.office.forms import MISSING, is_installed
from memu.ingest.paths import hash_source
from memu.memorize.asking import ask_once, listen_once
from memu.memorize.file_survey import work_of
from memu.memorize.prompt_files import load_prompt
from memu.memorize.states import MemorizeState, SyncState
from memu.providers.protocols import Attachment, ChatMessage
from memu.records import Scope
from memu.storage.database import Database
from memu.storage.session import Session

if TYPE_CHECKING:
    from memu.providers.models import MediaModels

__all__ = ["STEP", "TRIES", "Perceive", "key_of", "list_overcome", "list_unperceived"]

STEP = "perceive"
TRIES = 2
_LISTENING = "listen/1"


@dataclass(frozen=True, slots=True)
class Perceive:
    """Look at an image, or listen to a recording; without a model for it, the reason tells what its head says."""

    database: Database
    media: MediaModels | None
    locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    reads: ClassVar[tuple[str, ...]] = (
        *("scope", "workspace_id", "file", "data", "content_hash", "meter", "skipped"),
    )
    writes: ClassVar[tuple[str, ...]] = ("document", "skipped", "perceived")

    async def __call__(self, state: MemorizeState) -> MemorizeState:
        file = find_medium(state.file.path)
        if file is None or state.skipped:
            return state
        if not is_signed(file, state.data):
            reason = f"not what its name says: no {file.form} in it" if state.data else "empty"
            return replace(state, skipped=reason)
        key = key_of(file.medium, state.content_hash)
        # Of two files with the same bytes, the second waits for what the first is told.
        lock = self.locks.setdefault(f"{state.scope} {key}", asyncio.Lock())
        async with lock:
            kept = await self.database.read(partial(_get, state.scope, key))
            if kept is None:
                if not _has_model(self.media, file.medium):
                    told = f"{describe(file, state.data)}: {explain_unperceived(file.medium)}"
                    return replace(state, skipped=told)
                async with state.meter.turn():
                    kept = await self._ask(state, file)
            await self.database.write(partial(_keep, state, key, kept))
        return await asyncio.to_thread(_tell, state, file.medium, key, kept)

    async def _ask(self, state: MemorizeState, file: MediumFile) -> str:
        from memu.memorize.perceived import keep_heard, keep_seen

        assert self.media is not None
        attachment = Attachment(media_type=file.media_type, data=state.data)
        if file.medium is Medium.AUDIO:
            assert self.media.audio is not None
            heard = await listen_once(self.media.audio, state.meter, STEP, attachment)
            return await asyncio.to_thread(keep_heard, heard)
        assert self.media.vision is not None
        messages = (
            ChatMessage(role="system", content=load_prompt(STEP).text),
            ChatMessage(role="user", content="This is the image.", images=(attachment,)),
        )
        for left in reversed(range(TRIES)):
            try:
                reply = await ask_once(self.media.vision, state.meter, STEP, messages)
                return await asyncio.to_thread(keep_seen, reply)
            except ReplyError:
                if not left:
                    raise
        raise AssertionError("there is a last try")


def list_overcome(media: MediaModels | None) -> tuple[str, ...]:
    """How reasons end for which files were skipped and are not any more, by what is installed and asked."""
    told = [explain_unperceived(medium) for medium in Medium if _has_model(media, medium)]
    return (*([MISSING] if is_installed() else []), *told)


async def list_unperceived(database: Database, state: SyncState, media: MediaModels | None) -> frozenset[str]:
    """The hashes of what is to be read and has to be sent to a model: nothing that was told of it is kept."""
    assert state.diff is not None
    found: set[str] = set()
    for file in work_of(state.diff):
        medium = find_medium(file.path)
        if medium is None or not _has_model(media, medium.medium):
            continue
        try:
            content_hash = await asyncio.to_thread(hash_source, state.folder, file.path)
        except ReadError:
            continue
        get = partial(_get, state.scope, key_of(medium.medium, content_hash))
        if await database.read(get) is None:
            found.add(content_hash)
    return frozenset(found)


def _has_model(media: MediaModels | None, medium: Medium) -> bool:
    if media is None:
        return False
    return (media.vision if medium is Medium.IMAGE else media.audio) is not None


def _get(scope: Scope, key: str, session: Session) -> str | None:
    return session.within(scope).replies.get(key)


def key_of(medium: Medium, content_hash: str) -> str:
    """By what a reply about these bytes is known, whatever they are called and whoever is asked."""
    template = load_prompt(STEP).template if medium is Medium.IMAGE else _LISTENING
    return hashlib.sha256(f"{template}\n{content_hash}".encode("ascii")).hexdigest()


def _keep(state: MemorizeState, key: str, kept: str, session: Session) -> None:
    repository = session.within(state.scope)
    resource = repository.resources.by_path(state.workspace_id, state.file.path)
    if resource is not None:
        repository.replies.keep(key, kept, resource_id=resource.id)


def _tell(state: MemorizeState, medium: Medium, key: str, kept: str) -> MemorizeState:
    from memu.memorize.perceived import tell_heard, tell_seen

    document = (tell_seen if medium is Medium.IMAGE else tell_heard)(kept, state.file.path)
    if document is None or not document.blocks:
        return replace(state, skipped="nothing to be seen" if medium is Medium.IMAGE else "nothing to be heard")
    return replace(state, document=document, perceived=(key,))
