"""What the tools may be asked with. A parameter that is not here is refused, whatever it would have meant."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Arguments", "GetArguments", "SearchArguments", "StatusArguments", "SyncArguments"]


class Arguments(BaseModel):
    """Those of any tool. None of them names a scope: that is settled when the server starts."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class SearchArguments(Arguments):
    query: str = Field(
        min_length=1,
        max_length=4000,
        description="A question, words, or a name as it is written.",
    )
    layers: list[Literal["file", "entry", "resource"]] = Field(
        default=[],
        description="Of what: 'file' are pages, 'entry' remembered statements, 'resource' passages of sources. "
        "All by default.",
    )
    tracks: list[Literal["memory", "skill"]] = Field(
        default=[], description="Pages and entries of 'memory' (what is known) or 'skill' (how it is done)."
    )
    path: str | None = Field(
        default=None, min_length=1, max_length=4000, description="Only from sources at such paths: docs/**, *.md."
    )
    since: str | None = Field(
        default=None, max_length=40, description="Only what happened from then on: 2026-03-01, or ISO 8601."
    )
    until: str | None = Field(default=None, max_length=40, description="Only what happened until then.")
    min_score: float = Field(default=0.0, ge=0, le=1, description="Leave out what scores less.")
    max_hits: int = Field(default=10, ge=1, le=50, description="At most so many hits.")
    max_words: int = Field(default=1500, ge=1, le=10000, description="At most so many words of text in all.")


class GetArguments(Arguments):
    reference: str = Field(
        min_length=1,
        max_length=4000,
        description="A hit's `reference`; or memory/NAME, skill/NAME, PATH, PATH#L10-L12, or an id.",
    )
    max_words: int = Field(
        default=4000, ge=1, le=20000, description="Cut the text after so many words; `cut` says that it was."
    )


class StatusArguments(Arguments):
    pass


class SyncArguments(Arguments):
    workspace: str | None = Field(
        default=None,
        max_length=4000,
        description="Name or root, as sync_status tells them; not needed where there is only one.",
    )
