"""The form of one entry in a model's reply, read with patience: what is optional and wrong is left out."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from memu.records import MemoryType

__all__ = ["Item"]


def _read_type(value: Any) -> Any:
    return value.strip().casefold() if isinstance(value, str) else value


def _read_lines(value: Any) -> Any:
    """``[3, 5]``, ``[3, 4, 5]``, ``[3]``, ``3`` and ``"3-5"`` are all lines 3 to 5 or 3."""
    if isinstance(value, str):
        value = [int(number) for number in re.findall(r"\d{1,9}", value)]
    if isinstance(value, int) and not isinstance(value, bool):
        value = [value]
    if isinstance(value, list) and value and all(type(each) is int for each in value):
        return (min(value), max(value))
    return value


def _read_step(value: Any) -> Any:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    return value if type(value) is int and 0 < value < 1000 else None


def _read_page(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else ""


class Item(BaseModel):
    """One entry as a model gives it."""

    model_config = ConfigDict(frozen=True)

    type: Annotated[MemoryType, BeforeValidator(_read_type)]
    text: str
    lines: Annotated[tuple[int, int], BeforeValidator(_read_lines)]
    page: Annotated[str, BeforeValidator(_read_page)] = ""
    step: Annotated[int | None, BeforeValidator(_read_step)] = None
    time: Annotated[str | None, BeforeValidator(lambda value: value if isinstance(value, str) else None)] = None
