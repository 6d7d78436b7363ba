"""Which reader takes a source: the content decides first, the suffix second, and plain text takes the rest."""

from __future__ import annotations

from memu.ingest.document import Reader, Source
from memu.ingest.readers.assembly import find_suffix
from memu.ingest.readers.chat import ChatReader
from memu.ingest.readers.data import DataReader
from memu.ingest.readers.html_page import HtmlReader
from memu.ingest.readers.markdown import MarkdownReader
from memu.ingest.readers.plain import PlainReader, TranscriptReader
from memu.ingest.readers.session import SessionReader

__all__ = ["READERS", "find_reader"]

READERS: tuple[Reader, ...] = (
    SessionReader(),
    ChatReader(),
    HtmlReader(),
    MarkdownReader(),
    TranscriptReader(),
    DataReader(),
    PlainReader(),
)
"""Every reader; the more particular ones first, for the first that recognises a content takes it."""


def find_reader(source: Source) -> Reader:
    """The reader for this source. There is always one."""
    suffix = find_suffix(source.path)
    for reader in READERS:
        if reader.recognises(source):
            return reader
    return next((reader for reader in READERS if suffix in reader.suffixes), READERS[-1])
