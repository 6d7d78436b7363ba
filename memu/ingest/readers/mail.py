"""Mail messages: subject, sender and date from the headers, and the text that a person wrote."""

from __future__ import annotations

import binascii
import email
import email.message
import quopri
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.utils import parseaddr

from memu.ingest.document import Block, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble
from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.html_blocks import read_html_blocks
from memu.ingest.readers.plain import read_plain_blocks
from memu.ingest.readers.runs import LineIndex, NumberedLine, number_lines
from memu.records import Kind, LineSpan

__all__ = ["MailReader"]

_HEADER = re.compile(r"(?:From |[A-Za-z][A-Za-z0-9-]{0,60}:)")
_TELLING = re.compile(
    r"^(from|to|subject|date|message-id|mime-version|received|return-path|delivered-to)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
_LEAST_HEADERS = 3


class MailReader:
    """One message, its plain text part before its HTML part; attachments are not read."""

    name = "mail"
    suffixes = frozenset([".eml"])

    def recognises(self, source: Source) -> bool:
        head = source.text[:HEAD].split("\n\n", 1)[0]
        telling = {match[1].lower() for match in _TELLING.finditer(head)}
        return bool(_HEADER.match(head)) and len(telling) >= _LEAST_HEADERS and "from" in telling

    def read(self, source: Source) -> Document:
        damage: Counter[str] = Counter()
        message = email.message_from_string(source.text)
        moment = parse_time(_decode(message["date"]))
        sender = parseaddr(_decode(message["from"]))
        speaker = sender[0] or sender[1] or None
        blocks = [
            replace(block, speaker=speaker, time=moment) for block in _read_body(source.text, message, damage)
        ]
        return assemble(
            source,
            kind=Kind.MAIL,
            title=_decode(message["subject"]),
            blocks=blocks,
            happened_at=moment,
            damage=damage,
        )


def _decode(value: object) -> str:
    """A header's text; what cannot be decoded is given as it stands."""
    raw = str(value or "")
    try:
        return str(make_header(decode_header(raw)))
    except (LookupError, ValueError, HeaderParseError):
        return raw


def _read_body(text: str, message: email.message.Message, damage: Counter[str]) -> list[Block]:
    parts = [part for part in message.walk() if not part.is_multipart() and part.get_filename() is None]
    for wanted in ("text/plain", "text/html"):
        chosen = [part for part in parts if part.get_content_type() == wanted]
        if chosen:
            return [
                block for part in chosen for block in _read_part(text, part, damage, is_html=wanted == "text/html")
            ]
    return []


def _read_part(text: str, part: email.message.Message, damage: Counter[str], *, is_html: bool) -> list[Block]:
    payload = part.get_payload()
    if not isinstance(payload, str) or not payload.strip():
        return []
    start = text.find(payload)
    if start < 0:
        # The library normalises line ends in odd places; the lines are then those of the whole message.
        start, payload = 0, text
        damage["bad_part"] += 1
    run = list(_decode_lines(payload, LineIndex(text).line_at(start), part))
    if not is_html:
        return read_plain_blocks(run)
    blocks = read_html_blocks("\n".join(line.text for line in run), damage)
    return [block.moved(lambda lines: _put_back(lines, run)) for block in blocks] if run else blocks


def _put_back(lines: LineSpan, run: list[NumberedLine]) -> LineSpan:
    first, last = run[min(lines.start, len(run)) - 1], run[min(lines.end, len(run)) - 1]
    return LineSpan(first.first, last.last)


def _decode_lines(payload: str, first: int, part: email.message.Message) -> Iterator[NumberedLine]:
    """The part's lines with its transfer encoding undone, each with the raw lines that it was written on."""
    charset = str(part.get_content_charset() or "utf-8")
    match str(part.get("content-transfer-encoding", "")).strip().lower():
        case "quoted-printable":
            yield from _join_soft_breaks(payload, first, charset)
        case "base64":
            last = first + payload.rstrip("\n").count("\n")
            for line in _read_base64(payload, charset).split("\n"):
                yield NumberedLine(first, last, line.rstrip("\r"))
        case _:
            yield from number_lines(payload.split("\n"), first)


def _join_soft_breaks(payload: str, first: int, charset: str) -> Iterator[NumberedLine]:
    held, start = "", first
    for number, line in enumerate(payload.split("\n"), first):
        held += line.rstrip()
        if line.rstrip().endswith("="):
            held = held[:-1]
            continue
        decoded = _to_text(quopri.decodestring(held.encode("utf-8", "replace")), charset)
        yield NumberedLine(start, number, decoded)
        held, start = "", number + 1
    if held:
        yield NumberedLine(start, number, held)


def _read_base64(payload: str, charset: str) -> str:
    try:
        return _to_text(b64decode(payload.encode("ascii", "ignore")), charset)
    except (binascii.Error, ValueError):
        return payload


def _to_text(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")
