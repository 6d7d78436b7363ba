"""What a file's bytes are: a text, a document that a library has to open, or nothing that is read.

Pictures and recordings are left to the step that has a model look and listen.
"""

from __future__ import annotations

from dataclasses import replace

from memu.errors import ReadError
from memu.ingest.chats.archive import is_archive, read_archive
from memu.ingest.encoding import decode
from memu.ingest.marks import OWN_EXPORT, is_own_export
from memu.ingest.media import find_medium
from memu.ingest.office.apart import Documents, Unread
from memu.ingest.office.forms import find_form
from memu.memorize.states import MemorizeState

__all__ = ["take_contents"]

_HEAD_CHARACTERS = 8000


def take_contents(state: MemorizeState, documents: Documents) -> MemorizeState:
    """The state with the file's text or document, or with the reason why it is skipped.

    Raises:
        ReadError: it is a document, and why it was not read may pass.
    """
    path, data = state.file.path, state.data
    if find_medium(path) is not None:
        return state
    form = find_form(path, data)
    if form is not None:
        opened = documents.read(path, form, data)
        if not isinstance(opened, Unread):
            return replace(state, document=opened)
        if opened.passing:
            raise ReadError(opened.reason)
        return replace(state, skipped=opened.reason)
    try:
        if is_archive(path, data):
            return replace(state, document=read_archive(path, data, documents.most_text))
        decoded = decode(data)
    except ReadError as error:
        return replace(state, skipped=str(error))
    text = decoded.text
    if not text.strip() or is_own_export(text[:_HEAD_CHARACTERS]):
        return replace(state, skipped=OWN_EXPORT if text.strip() else "empty")
    return replace(state, text=text, damage=decoded.damage)
