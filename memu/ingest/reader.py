"""Which reader takes a source: the content decides first, the suffix second, and plain text takes the rest."""

from __future__ import annotations

from memu.ingest.document import Reader, Source
from memu.ingest.readers.assembly import find_suffix
from memu.ingest.readers.captions import CaptionsReader
from memu.ingest.readers.chat import ChatReader
from memu.ingest.readers.chat_export import ChatExportReader
from memu.ingest.readers.data import DataReader
from memu.ingest.readers.html_page import HtmlReader
from memu.ingest.readers.log import LogReader
from memu.ingest.readers.mail import MailboxReader, MailReader
from memu.ingest.readers.markdown import MarkdownReader
from memu.ingest.readers.notebook import NotebookReader
from memu.ingest.readers.phone_chat import PhoneChatReader
from memu.ingest.readers.plain import PlainReader, TranscriptReader
from memu.ingest.readers.restructured import RestructuredReader
from memu.ingest.readers.session import SessionReader
from memu.ingest.readers.source_code import SourceCodeReader
from memu.ingest.readers.table import TableReader
from memu.ingest.readers.timed_transcript import TimedTranscriptReader

__all__ = ["READERS", "find_reader"]

READERS: tuple[Reader, ...] = (
    NotebookReader(),
    ChatExportReader(),
    SessionReader(),
    ChatReader(),
    CaptionsReader(),
    MailboxReader(),
    MailReader(),
    PhoneChatReader(),
    TimedTranscriptReader(),
    HtmlReader(),
    LogReader(),
    SourceCodeReader(),
    MarkdownReader(),
    TranscriptReader(),
    DataReader(),
    TableReader(),
    RestructuredReader(),
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
