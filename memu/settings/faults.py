"""What does not fit, in words: where it stands and why, never its value, which may be a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

__all__ = ["explain", "name_place"]


def explain(error: ValidationError) -> str:
    """Every setting that does not fit."""
    problems = "; ".join(f"{name_place(item)}: {item['msg']}" for item in error.errors())
    return f"A setting does not fit (argument, MEMU_* or config file): {problems}."


def name_place(item: Mapping[str, Any]) -> str:
    """Where one error of pydantic stands."""
    return ".".join(str(part) for part in item["loc"]) or "value"
