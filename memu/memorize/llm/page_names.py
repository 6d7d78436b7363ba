"""Whether two names of pages mean one thing: a bounded list of pairs, asked about in one call."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel

from memu.errors import CapReached, ProviderError
from memu.memorize.asking import ask_once
from memu.memorize.assign.joining import PageName
from memu.memorize.prompt_files import load_prompt
from memu.providers.meter import Meter
from memu.providers.protocols import ChatMessage, ChatModel
from memu.providers.replies import parse_items

__all__ = ["judge_pairs"]

# The template's example speaks of pairs 1 and 2: a copy of it joins nothing.
_FIRST = 11


class _Verdict(BaseModel):
    """Whether the pair of this number is one thing."""

    pair: int
    same: bool


async def judge_pairs(
    model: ChatModel, meter: Meter, pairs: Sequence[tuple[PageName, PageName]]
) -> tuple[dict[PageName, PageName], str | None]:
    """First name of each pair → second, where the model says that they are one; where it fails, none and why.

    Raises:
        CapReached: it may not be asked in this run.
    """
    numbered = dict(enumerate(pairs, _FIRST))
    shown = [{"pair": n, "one": one[1], "other": other[1]} for n, (one, other) in numbered.items()]
    messages = (
        ChatMessage(role="system", content=load_prompt("names").text),
        ChatMessage(role="user", content=json.dumps(shown, ensure_ascii=False)),
    )
    try:
        verdicts = parse_items(await ask_once(model, meter, "names", messages), _Verdict).items
    except CapReached:
        raise
    except ProviderError as error:
        return {}, str(error)
    said: dict[int, set[bool]] = {}
    for verdict in verdicts:
        said.setdefault(verdict.pair, set()).add(verdict.same)
    # Who says both has said nothing.
    clear = {n for n in numbered if len(said.get(n, ())) == 1}
    unclear = len(numbered) - len(clear)
    failed = (
        f"The model did not say of {unclear} of {len(numbered)} pairs whether they are one." if unclear else None
    )
    return {one: other for n, (one, other) in numbered.items() if n in clear and said[n] == {True}}, failed
