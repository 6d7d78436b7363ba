"""What a file's bytes are: a text, a document that a library has to open, or nothing that is read.

Pictures and recordings are left to the step that has a model look and listen.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

from memu.errors import ReadError
from memu.ingest.chats.archive import is_archive, read_archive
from memu.ingest.encoding import decode
from memu.ingest.marks import OWN_EXPORT, is_own_export
from memu.ingest.media import find_medium
from memu.ingest.office.apart import Documents, Unread
from memu.ingest.office.forms import Finder, find_form
from memu.ingest.paths import read_source
from memu.memorize.kept_points import LogTrace
from memu.memorize.states import MemorizeState

__all__ = ["read_contents"]

_HEAD_CHARACTERS = 8000


def read_contents(state: MemorizeState, max_size: int, find: Finder) -> MemorizeState:
    """The state with the file's hash and its text or document, or with the reason why it is skipped.

    Args:
        max_size: bytes that are read, and characters taken from a document, at most.
        find: tells whether the libraries that open documents are there.

    Raises:
        ReadError: it cannot be read; or it is a document, and why it was not read may pass.
    """
    data = read_source(state.root, state.file.path, max_size=max_size)
    state = replace(state, data=data, content_hash=hashlib.sha256(data).hexdigest(), log=LogTrace(size=len(data)))
    return _take_contents(state, Documents(most_text=max_size, find=find))


def _take_contents(state: MemorizeState, documents: Documents) -> MemorizeState:
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
