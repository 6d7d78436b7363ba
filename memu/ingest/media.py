"""Pictures and recordings: what they are by their names, and what their first bytes say of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO

from memu.ingest.readers.assembly import find_suffix

__all__ = ["Medium", "MediumFile", "describe", "explain_unperceived", "find_medium", "is_signed"]


class Medium(StrEnum):
    """What a model perceives. The value is the name of the profile that is asked."""

    IMAGE = "vision"
    AUDIO = "audio"


@dataclass(frozen=True, slots=True, kw_only=True)
class MediumFile:
    """A file of a medium: its form as people call it, and as a server is told."""

    medium: Medium
    form: str
    media_type: str


_FORMS = {
    ".png": MediumFile(medium=Medium.IMAGE, form="PNG", media_type="image/png"),
    ".jpg": MediumFile(medium=Medium.IMAGE, form="JPEG", media_type="image/jpeg"),
    ".jpeg": MediumFile(medium=Medium.IMAGE, form="JPEG", media_type="image/jpeg"),
    ".gif": MediumFile(medium=Medium.IMAGE, form="GIF", media_type="image/gif"),
    ".webp": MediumFile(medium=Medium.IMAGE, form="WebP", media_type="image/webp"),
    ".mp3": MediumFile(medium=Medium.AUDIO, form="MP3", media_type="audio/mpeg"),
    ".wav": MediumFile(medium=Medium.AUDIO, form="WAV", media_type="audio/wav"),
    ".flac": MediumFile(medium=Medium.AUDIO, form="FLAC", media_type="audio/flac"),
    ".ogg": MediumFile(medium=Medium.AUDIO, form="Ogg", media_type="audio/ogg"),
    ".oga": MediumFile(medium=Medium.AUDIO, form="Ogg", media_type="audio/ogg"),
    ".m4a": MediumFile(medium=Medium.AUDIO, form="MPEG-4", media_type="audio/mp4"),
}
_SIGNS = ((b"ID3", 0), (b"fLaC", 0), (b"OggS", 0), (b"WAVE", 8), (b"ftyp", 4))
_UNPERCEIVED = {
    Medium.IMAGE: "known by this only, for no model looks at images (MEMU_VISION_MODEL)",
    Medium.AUDIO: "known by this only, for no model listens (MEMU_AUDIO_MODEL)",
}


def find_medium(path: str) -> MediumFile | None:
    """What medium a file is of, by its suffix; None for any other, and for forms that no server takes.

    >>> find_medium("a/Photo.JPG").media_type, find_medium("notes.md")
    ('image/jpeg', None)
    """
    return _FORMS.get(find_suffix(path))


def explain_unperceived(medium: Medium) -> str:
    """The end of the reason why a file of a medium is skipped without a model."""
    return _UNPERCEIVED[medium]


def describe(file: MediumFile, data: bytes) -> str:
    """What a file is without a model: its form, and the size of an image where its first bytes tell it.

    >>> describe(find_medium("a.gif"), b"GIF89a" + bytes([64, 1, 240, 0]) + bytes(16))
    'GIF image, 320 × 240 pixels'
    """
    if file.medium is Medium.AUDIO:
        return f"{file.form} recording"
    width, height = _measure(data)
    return f"{file.form} image, {width} × {height} pixels" if width > 0 and height > 0 else f"{file.form} image"


def is_signed(file: MediumFile, data: bytes) -> bool:
    """Whether the head of the bytes is that of such a file: a name alone sends nothing anywhere."""
    if file.medium is Medium.IMAGE:
        return min(_measure(data)) > 0
    # A recording's frames may begin at once, or behind a table of their own.
    return (data[:1] == b"\xff" and len(data) > 1 and data[1] & 0xE0 == 0xE0) or any(
        data[at : at + len(sign)] == sign for sign, at in _SIGNS
    )


def _measure(data: bytes) -> tuple[int, int]:
    import imagesize

    try:
        width, height = imagesize.get(BytesIO(data))
    except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError):
        # What a damaged head makes the library do is of many kinds.
        return -1, -1
    return int(width), int(height)
