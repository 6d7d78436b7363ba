"""The instructions for models: Markdown files of the package, each with its version in the first line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = ["Prompt", "load_prompt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """``template`` is its name and version ("extract/1"). Nothing is filled into ``text``: braces stay braces."""

    template: str
    text: str


@cache
def load_prompt(name: str) -> Prompt:
    """The instructions in ``prompts/NAME.md``."""
    raw = resources.files("memu.memorize").joinpath("prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    head, _, body = raw.partition("\n")
    return Prompt(template=f"{name}/{int(head.removeprefix('version:'))}", text=body.strip())
