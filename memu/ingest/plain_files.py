"""The text of a file as it lies there, where it is text and nothing that a library or a model has to open."""

from __future__ import annotations

from pathlib import Path

from memu.ingest.chats.archive import is_archive
from memu.ingest.encoding import decode
from memu.ingest.media import find_medium
from memu.ingest.office.forms import find_form
from memu.ingest.paths import read_source

__all__ = ["read_text"]


def read_text(root: Path, path: str, *, max_size: int) -> str | None:
    """The decoded text, not redacted; None of a document, an archive, an image or a recording.

    Raises:
        ReadError: it is missing, refused, too large, or no text.
    """
    data = read_source(root, path, max_size=max_size)
    if find_medium(path) is not None or find_form(path, data) is not None or is_archive(path, data):
        return None
    return decode(data).text
