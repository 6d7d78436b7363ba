"""What a model saw in an image or heard in a recording: as it is kept, and as a document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from memu.errors import ReplyError
from memu.ingest.disguises import redact_disguised
from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import assemble
from memu.ingest.redact import redact
from memu.providers.protocols import Heard, Said
from memu.providers.replies import parse_items
from memu.records import Kind

__all__ = ["CAPTION", "keep_heard", "keep_seen", "tell_heard", "tell_seen"]

CAPTION = "image"
"""The place of what a model says of an image; what is written in it stands in another."""
_WRITTEN = "image, text"
_WHOLE = "recording"
_LONGEST_STRETCH = 60.0
_MOST_LINES = 400


def _read_lines(value: Any) -> Any:
    return value.split("\n") if isinstance(value, str) else [] if value is None else value


class _Seen(BaseModel):
    """A model's reply."""

    model_config = ConfigDict(frozen=True)

    caption: str
    text: Annotated[list[str], BeforeValidator(_read_lines)] = []


_SAID = TypeAdapter(list[tuple[str, float | None, float | None]])


def keep_seen(reply: str) -> str:
    """A model's reply about an image, without secrets, as it may be stored.

    Raises:
        ReplyError: it says nothing of the form that was asked for.
    """
    seen = next((each for each in parse_items(reply, _Seen).items if each.caption.strip()), None)
    if seen is None:
        raise ReplyError("The reply holds no caption.")
    # One text, since a secret may take several lines.
    whole = "\n".join([" ".join(seen.caption.split()), *seen.text[:_MOST_LINES]])
    caption, _, text = _clean(whole).partition("\n")
    return json.dumps({"caption": caption, "text": text.split("\n") if text.strip() else []})


def keep_heard(heard: Heard) -> str:
    """What a recording says, without secrets, as it may be stored."""
    texts = _clean("\n".join(" ".join(each.text.split()) for each in heard.said)).split("\n")
    pairs = zip(texts, heard.said, strict=True)
    return json.dumps([[text, each.start, each.end] for text, each in pairs])


def tell_seen(kept: str, path: str) -> Document | None:
    """The document of an image: its caption, and the text in it. None where what was kept is damaged."""
    try:
        seen = _Seen.model_validate_json(kept)
    except ValidationError:
        return None
    blocks = [Block(kind=BlockKind.PARAGRAPH, text=seen.caption, lines=None, place=CAPTION)]
    if seen.text:
        blocks.append(Block(kind=BlockKind.QUOTE, text="\n".join(seen.text), lines=None, place=_WRITTEN))
    return assemble(Source(path=path, text=""), kind=Kind.IMAGE, blocks=blocks)


def tell_heard(kept: str, path: str) -> Document | None:
    """The document of a recording, in stretches of a minute at most; None where what was kept is damaged."""
    try:
        said = [Said(text=text, start=start, end=end) for text, start, end in _SAID.validate_json(kept)]
    except ValidationError:
        return None
    blocks = (
        Block(
            kind=BlockKind.PARAGRAPH,
            text=" ".join(each.text for each in stretch),
            lines=None,
            place=_name_stretch(stretch[0].start, stretch[-1].end),
        )
        for stretch in _stretches(said)
    )
    return assemble(Source(path=path, text=""), kind=Kind.AUDIO, blocks=blocks)


def _stretches(said: Sequence[Said]) -> Iterator[list[Said]]:
    held: list[Said] = []
    for each in said:
        if held and not _within(held[0], each):
            yield held
            held = []
        held.append(each)
    if held:
        yield held


def _within(first: Said, last: Said) -> bool:
    if first.start is None or last.end is None:
        return first.start is None and last.end is None
    return last.end - first.start <= _LONGEST_STRETCH


def _name_stretch(start: float | None, end: float | None) -> str:
    return _WHOLE if start is None or end is None else f"{_clock(start)}–{_clock(end)}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _clean(text: str) -> str:
    return redact_disguised(redact(text).text).text
