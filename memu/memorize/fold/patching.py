"""A page patched by a model: asked once, once more about what did not hold, and mended without it for the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from memu.errors import CapReached, ProviderError, ReplyError
from memu.memorize.asking import Ask
from memu.memorize.fold.mend import mend
from memu.memorize.fold.operations import SCHEMA, Operation, parse_operations
from memu.memorize.fold.patch import PageDraft, Patched
from memu.memorize.fold.patch_numbers import number_page
from memu.memorize.fold.patch_prompt import ask_again, ask_for_patch
from memu.memorize.fold.patch_reading import Reading, read_draft
from memu.memorize.fold.patch_trial import PROMPT_TOKENS, Verdict, try_operations
from memu.memorize.prompt_files import load_prompt
from memu.providers.protocols import ChatMessage
from memu.providers.refusals import ContextExceeded

__all__ = ["needs_model", "patch_page"]

_TRIES = 2
_LEAST_TOKENS = 400


def needs_model(reading: Reading) -> bool:
    """Whether there is anything to be worded: something new, or several that one block said together."""
    return bool(reading.gained) or any(len(together) > 1 for together in reading.open.values())


async def patch_page(draft: PageDraft, ask: Ask, *, tokens: int = PROMPT_TOKENS) -> Patched:
    """The draft brought up to date with a model's help, if there is anything for it to do.

    What it does not say, or says wrong twice, is done as by ``mend``; so is everything where it does not answer.

    Args:
        tokens: about how many of the page and of what is new are shown; fewer where the model reads less.

    Raises:
        CapReached: no more calls may be made in this run; the page stays as it is.
    """
    reading = await asyncio.to_thread(read_draft, draft)
    if not needs_model(reading):
        return await asyncio.to_thread(mend, draft)
    while True:
        try:
            return await _patch(reading, ask, tokens)
        except ContextExceeded as error:
            if tokens <= _LEAST_TOKENS:
                return replace(await asyncio.to_thread(mend, draft), asked=1, failed=str(error))
            tokens //= 2


async def _patch(reading: Reading, ask: Ask, tokens: int) -> Patched:
    numbers = await asyncio.to_thread(number_page, reading, tokens)
    first = messages = ask_for_patch(reading, numbers)
    verdict: Verdict | None = None
    accepted: tuple[Operation, ...] = ()
    unread, refused, fault = 0, 0, ""
    asked: list[Sequence[ChatMessage]] = []
    template = load_prompt("fold").template
    while len(asked) < _TRIES:
        asked.append(messages)
        try:
            reply = await ask(messages, template=template, schema=SCHEMA)
            operations, unread = _read(reply)
        except (CapReached, ContextExceeded):
            raise
        except ReplyError as error:
            fault = str(error)
            messages = ask_again(first, (), fault)
            continue
        except ProviderError as error:
            fault = str(error)
            break
        verdict = await asyncio.to_thread(try_operations, reading, numbers, (*accepted, *operations))
        accepted = verdict.accepted
        refused += len(verdict.refused)
        if not verdict.refused:
            break
        messages = ask_again(first, verdict.refused)
    if not accepted and (refused or fault) and await ask.forget_recalled(asked, template=template):
        return await _patch(reading, ask, tokens)
    if verdict is None:
        return replace(await asyncio.to_thread(mend, reading.draft), asked=len(asked), failed=fault)
    left_out = (f"{unread} that could not be read",) if unread else ()
    useless = "None of its operations could be carried out." if refused and not accepted else None
    rejected = (*verdict.patched.rejected, *left_out)
    return replace(verdict.patched, asked=len(asked), rejected=rejected, failed=useless)


def _read(reply: str) -> tuple[tuple[Operation, ...], int]:
    """The operations of a reply and how many of them could not be read.

    Raises:
        ReplyError: it is none at all, or none of it can be read.
    """
    parsed = parse_operations(reply)
    if parsed.dropped and not parsed.items:
        raise ReplyError("None of its operations can be read.")
    return parsed.items, parsed.dropped
