"""What a tree that holds copies of its sources shows of one: its text without secrets."""

from __future__ import annotations

from pathlib import Path

from memu.errors import ReadError
from memu.ingest.disguises import hides_secret
from memu.ingest.plain_files import read_text
from memu.ingest.redact import redact

__all__ = ["read_copy"]


def read_copy(root: Path, path: str, *, max_size: int) -> bytes | None:
    """The redacted text as UTF-8. None of what is no text, cannot be read, or has lines that only look harmless:
    footnotes lead to the source itself."""
    try:
        text = read_text(root, path, max_size=max_size)
    except ReadError:
        return None
    shown = redact(text or "", path=path).text
    return None if text is None or hides_secret(shown, path) else shown.encode("utf-8")
