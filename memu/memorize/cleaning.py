"""A source without its secrets: its raw text first, and once more what its encoding had hidden."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from memu.ingest.disguises import redact_disguised
from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.ingest.readers.session import find_log
from memu.ingest.redact import redact
from memu.ingest.redacted_lines import RedactedLines, count_from, redact_lines
from memu.ingest.sessions.borders import Border
from memu.ingest.sessions.log_records import are_lines
from memu.memorize.kept_points import LogTrace

__all__ = ["clean_document", "note_border", "read_clean", "redact_source"]

_LOG = "session"


def redact_source(text: str, path: str) -> tuple[str, Mapping[str, int], RedactedLines | None]:
    """A source's text with marks in place of its secrets, how many of each kind, and those of a log by line."""
    if are_lines(text) and find_reader(Source(path=path, text=text)).name == _LOG:
        lines = redact_lines(text)
        return lines.text, lines.counts, lines
    redacted = redact(text, path=path)
    return redacted.text, redacted.counts, None


def read_clean(text: str, path: str, *, as_log: bool) -> Document:
    """What the source's reader makes of its redacted text.

    ``as_log``: each line was redacted by itself. Whatever is no log then is looked at as a whole too.
    """
    source = Source(path=path, text=text)
    reader = find_reader(source)
    if as_log and reader.name != _LOG:
        source = replace(source, text=redact(text, path=path).text)
    return reader.read(source)


def clean_document(document: Document, path: str) -> tuple[Document, Counter[str]]:
    """The document without the secrets that its encoding had hidden, and how many of each kind."""
    counts: Counter[str] = Counter()

    def clean(text: str) -> str:
        redacted = redact(text, path=path)
        counts.update(redacted.counts)
        plain = redact_disguised(redacted.text)
        counts.update(plain.counts)
        return plain.text

    return document.map_text(clean), counts


def note_border(trace: LogTrace, document: Document, text: str, path: str) -> LogTrace:
    """The trace with what is to be known of a session's redacted ``text``, and of what lies behind its border."""
    border = document.border
    if border is None:
        return trace
    behind = Counter(count_from(trace.redacted, border.line)) + _count_hidden(document, border, path)
    return replace(trace, head_lines=find_log(text)[1], redacted_behind=dict(behind))


def _count_hidden(document: Document, border: Border, path: str) -> Counter[str]:
    behind = tuple(block for block in document.blocks if block.event and block.event.turn >= border.turn)
    bare = replace(document, title="", description="", tags=(), category=None, links=(), blocks=behind)
    return clean_document(bare, path)[1]
