"""Operations carried out on a page's draft without the model that would have asked for them."""

from __future__ import annotations

from collections.abc import Sequence

from memu.memorize.fold.operations import Operation
from memu.memorize.fold.patch import PageDraft, Patched
from memu.memorize.fold.patch_numbers import number_page
from memu.memorize.fold.patch_reading import read_draft
from memu.memorize.fold.patch_trial import PROMPT_TOKENS, try_operations

__all__ = ["apply"]


def apply(draft: PageDraft, operations: Sequence[Operation]) -> Patched:
    """The draft with these operations, each checked by itself; what no accepted one says is added as it stands.

    Names (b1, e1) are those that the prompt would show.
    """
    reading = read_draft(draft)
    return try_operations(reading, number_page(reading, PROMPT_TOKENS), operations).patched
