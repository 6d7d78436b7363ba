"""Mail messages: subject, sender and date from the headers, and the text that a person wrote.

One message is a file of its own (``.eml``); a mailbox (``.mbox``) holds many, one behind the other.
"""

from __future__ import annotations

import email
import email.message
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parseaddr

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import HEAD, assemble, find_suffix
from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.mail_body import MailBody, decode_field
from memu.records import Kind

__all__ = ["MailReader", "MailboxReader"]

_HEADER = re.compile(r"(?:From |[A-Za-z][A-Za-z0-9-]{0,60}:)")
_TELLING = re.compile(
    r"^(from|to|subject|date|message-id|mime-version|received|return-path|delivered-to)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
_LEAST_HEADERS = 3
# The line that a mailbox puts before each mail: "From ", an address and a time. Like the standard library's it
# needs no blank line in front; unlike it, a header has to follow, so that prose which nobody escaped cuts nothing.
_POSTMARK = re.compile(r"^From [^\n]{0,200}\d:\d\d[^\n]{0,80}\n(?=>?From |[!-9;-~]{1,70}:)", re.MULTILINE)
_ESCAPED_FROM = re.compile(r"^>(?=>*From )", re.MULTILINE)


class MailReader:
    """One message, its plain text part before its HTML part; of attachments the names are read."""

    name = "mail"
    suffixes = frozenset([".eml"])

    def recognises(self, source: Source) -> bool:
        return _is_mail(source.text[:HEAD])

    def read(self, source: Source) -> Document:
        damage: Counter[str] = Counter()
        mail = _read_mail(source.text, 1, damage)
        # A mail may end with its headers, but not within one.
        damage["truncated"] += _is_headers(source.text) and not source.text.endswith("\n")
        return assemble(
            source, kind=Kind.MAIL, title=mail.subject, blocks=mail.blocks, happened_at=mail.time, damage=damage
        )


class MailboxReader:
    """Many messages in one file: each a section of its own, named by its subject, its sender and its day."""

    name = "mailbox"
    suffixes = frozenset([".mbox", ".mbx"])

    def recognises(self, source: Source) -> bool:
        opened = _POSTMARK.match(source.text[:1_000])
        if opened is None or not _is_mail(source.text[opened.end() : HEAD]):
            return False
        # A single mail may keep the line of the mailbox that it was in.
        return find_suffix(source.path) != ".eml" or _POSTMARK.search(source.text, opened.end()) is not None

    def read(self, source: Source) -> Document:
        damage: Counter[str] = Counter()
        blocks: list[Block] = []
        times: list[datetime] = []
        for number, (text, first) in enumerate(_cut_mails(source.text), 1):
            mail = _read_mail(text, first, damage)
            damage["truncated"] += _is_headers(text)
            blocks += mail.as_section(number)
            times += [mail.time] if mail.time else []
        return assemble(
            source,
            kind=Kind.MAIL,
            blocks=blocks,
            happened_at=min(times, default=None),
            damage=damage,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mail:
    subject: str
    sender: str
    time: datetime | None
    opening: Block
    blocks: list[Block]

    def as_section(self, number: int) -> Iterator[Block]:
        """The blocks below a heading, in the place ``message N``."""
        place = f"message {number}"
        above = (self.opening.text,) if self.opening.text else ()
        yield replace(self.opening, place=place)
        for block in self.blocks:
            yield replace(
                block,
                heading=(*above, *block.heading),
                place=place if block.place is None else f"{place}, {block.place}",
            )


def _is_mail(head: str) -> bool:
    head = head.split("\n\n", 1)[0]
    telling = {match[1].lower() for match in _TELLING.finditer(head)}
    return bool(_HEADER.match(head)) and len(telling) >= _LEAST_HEADERS and "from" in telling


def _is_headers(text: str) -> bool:
    """Whether no blank line ends the headers."""
    return text.strip() != "" and "\n\n" not in text.lstrip("\n")


def _cut_mails(text: str) -> Iterator[tuple[str, int]]:
    """The raw text of each mail, its postmark left out, and the number of its first line."""
    marks = list(_POSTMARK.finditer(text))
    counted, line = 0, 1
    if not marks:
        yield text, 1
    for at, mark in enumerate(marks):
        end = marks[at + 1].start() if at + 1 < len(marks) else len(text)
        line += text.count("\n", counted, mark.end())
        counted = mark.end()
        yield _ESCAPED_FROM.sub("", text[mark.end() : end]), line


def _read_mail(text: str, first: int, damage: Counter[str]) -> _Mail:
    """One mail, whose first line has that number in its file."""
    body = MailBody(text, first, damage)
    try:
        message = email.message_from_string(text)
    except RecursionError:
        # Parts in parts in parts, as nobody sends them.
        message = email.message.Message()
        damage["bad_part"] += 1
    subject, name = decode_field(message["subject"]), parseaddr(decode_field(message["from"]))
    sender = name[0] or name[1]
    moment = parse_time(decode_field(message["date"]))
    blocks = [
        block if block.place else replace(block, speaker=sender or None, time=moment)
        for block in body.read(message)
    ]
    told = ", ".join(filter(None, (sender, moment.date().isoformat() if moment else "")))
    label = f"{subject} ({told})" if subject and told else subject or told
    opening = Block(
        kind=BlockKind.HEADING,
        text=label,
        lines=body.find_lines(message["subject"], message["from"], message["date"]),
        depth=1,
        speaker=sender or None,
        time=moment,
    )
    return _Mail(subject=subject, sender=sender, time=moment, opening=opening, blocks=blocks)
