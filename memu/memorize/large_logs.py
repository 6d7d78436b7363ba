"""Files over the limit of size: the log of an agent session is read as a stream, anything else is skipped."""

from __future__ import annotations

from dataclasses import replace

from memu.ingest.document import Source
from memu.ingest.formats import explain_size
from memu.ingest.paths import hash_source, read_head, stream_source
from memu.ingest.scan import MAX_LOG_SIZE
from memu.memorize.kept_points import LogTrace
from memu.memorize.states import MemorizeState

__all__ = ["HEAD_BYTES", "read_large"]

HEAD_BYTES = 1 << 18
"""By so many bytes it is told whether a file is a log."""


def read_large(state: MemorizeState, max_size: int) -> MemorizeState:
    """The state with the text of a log, shrunk to what is read of it, or with the reason why it is skipped.

    Raises:
        ReadError: the file cannot be read, or grew beyond what any log may have.
    """
    from memu.ingest.readers.session import SessionReader
    from memu.ingest.sessions.log_records import are_lines
    from memu.ingest.sessions.shrinking import shrink_log

    path = state.file.path
    head = read_head(state.root, path, size=HEAD_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff")
    if not (are_lines(head) and SessionReader().recognises(Source(path=path, text=head))):
        skipped = explain_size(state.file.size, max_size)
        return replace(state, skipped=skipped, content_hash=hash_source(state.root, path))
    log = shrink_log(stream_source(state.root, path, max_size=MAX_LOG_SIZE))
    return replace(state, text=log.text, content_hash=log.content_hash, log=LogTrace(size=log.size))
