"""Files in requests: beside the fields of a form, and as parts of a message."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memu.providers.protocols import Attachment, ChatMessage

__all__ = ["Form", "content_of"]

_SUFFIXES = {
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/mp4": "m4a",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A file with fields beside it, as a browser's form sends them."""

    fields: Mapping[str, str]
    attachment: Attachment

    def encode(self) -> tuple[bytes, str]:
        """Body and content type."""
        import httpx

        # Servers tell the form of a recording by the suffix of a name.
        name = f"file.{_SUFFIXES.get(self.attachment.media_type, 'bin')}"
        file = (name, self.attachment.data, self.attachment.media_type)
        request = httpx.Request("POST", "http://localhost", data=self.fields, files={"file": file})
        return request.read(), request.headers["content-type"]


def content_of(message: ChatMessage, form: Literal["openai", "anthropic"]) -> str | list[dict[str, Any]]:
    """A message's content as a chat server takes it: its text, after its images where it has any."""
    if not message.images:
        return message.content
    return [*(_part_of(each, form) for each in message.images), {"type": "text", "text": message.content}]


def _part_of(image: Attachment, form: str) -> dict[str, Any]:
    packed = b64encode(image.data).decode("ascii")
    if form == "anthropic":
        source = {"type": "base64", "media_type": image.media_type, "data": packed}
        return {"type": "image", "source": source}
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{packed}"}}
