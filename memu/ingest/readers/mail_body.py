"""What a mail says: its text, decoded, with the raw lines of each part; what others wrote; what is attached."""

from __future__ import annotations

import email.message
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from email.errors import CloseBoundaryNotFoundDefect, HeaderParseError
from email.header import decode_header, make_header

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.html_blocks import read_html_blocks
from memu.ingest.readers.mail_decoding import PartDecoding
from memu.ingest.readers.mail_quotes import QUOTED, cut_quoted, quote_lines, set_quotes_apart
from memu.ingest.readers.plain import read_plain_blocks
from memu.ingest.readers.runs import LineIndex, NumberedLine
from memu.records import LineSpan

__all__ = ["MailBody", "decode_field"]

_MOST_PARTS = 1_000
_PLAIN, _PAGE = "text/plain", "text/html"
_WORD = re.compile(r"\w+")
_MOSTLY = 0.7


def decode_field(value: object) -> str:
    """A header's text; what cannot be decoded is given as it stands."""
    raw = str(value or "")
    try:
        return " ".join(str(make_header(decode_header(raw))).split())
    except (LookupError, ValueError, HeaderParseError):
        return raw


@dataclass(slots=True)
class MailBody:
    """Reads the parts of one mail. ``text``: the raw mail; ``first``: the number of its first line in the file."""

    text: str
    first: int
    damage: Counter[str]
    _index: LineIndex | None = None
    _reached: int = 0

    def read(self, message: email.message.Message) -> list[Block]:
        """Text, then what is attached: plain text where there is any, else pages."""
        self._index = LineIndex(self.text)
        found: list[tuple[str, list[Block]]] = []
        for part, forwarded in _walk(message, self.damage):
            kind = _find_kind(part)
            if part.get_filename() is not None:
                found.append(("", self._name_attachment(part)))
            elif kind in (_PLAIN, _PAGE):
                found.append((kind, self._read_part(part, forwarded=forwarded)))
        plain = _words_of(blocks for kind, blocks in found if kind == _PLAIN)
        return [
            block
            for kind, blocks in found
            # Some put text and page beside one another without a word that they say the same.
            if kind != _PAGE or not plain or not _are_told(_words_of([blocks]), plain)
            for block in blocks
        ]

    def find_lines(self, *values: object) -> LineSpan:
        """The lines of the first of some headers' raw values that stands in the file, else its first line."""
        for raw in filter(None, map(str, filter(None, values))):
            start = self.text.find(raw)
            if start >= 0:
                return self._span(start, start + len(raw))
        return LineSpan(self.first, self.first)

    def _span(self, start: int, end: int) -> LineSpan:
        index = self._index or LineIndex(self.text)
        span = index.span(start, end)
        return LineSpan(self.first + span.start - 1, self.first + span.end - 1)

    def _name_attachment(self, part: email.message.Message) -> list[Block]:
        """The file's name, so that a search for it finds the mail."""
        name = decode_field(part.get_filename())
        raw = next((value for key in ("content-disposition", "content-type") if (value := part.get(key))), "")
        start = self.text.find(str(raw), self._reached) if raw else -1
        lines = self._span(start, start + len(str(raw))) if start >= 0 else self.find_lines()
        self._reached = max(self._reached, start)
        return [Block(kind=BlockKind.DATA, text=name, lines=lines, heading=())] if name.strip() else []

    def _read_part(self, part: email.message.Message, *, forwarded: bool) -> list[Block]:
        payload = part.get_payload()
        if not isinstance(payload, str) or not payload.strip():
            return []
        start = self.text.find(payload, self._reached)
        if start < 0:
            # The library normalises line ends in odd places; the lines are then those of the whole message.
            start, payload = 0, self.text
            self.damage["bad_part"] += 1
        else:
            self._reached = start + len(payload)
        decoding = PartDecoding.of(part, is_last=start + len(payload) == len(self.text))
        run = list(decoding.read_lines(payload, self._span(start, start + 1).start))
        self.damage.update(decoding.damage)
        if part.get_content_type() == "text/html":
            return self._read_page(run, forwarded=forwarded)
        if forwarded:
            return quote_lines(run)
        return [
            block
            for own, lines in cut_quoted(run)
            for block in (read_plain_blocks(lines) if own else quote_lines(lines))
        ]

    def _read_page(self, run: list[NumberedLine], *, forwarded: bool) -> list[Block]:
        blocks = read_html_blocks("\n".join(line.text for line in run), self.damage)
        if run:
            blocks = [block.moved(lambda lines: _put_back(lines, run)) for block in blocks]
        if forwarded:
            return [Block(kind=BlockKind.DATA, text=each.text, lines=each.lines, place=QUOTED) for each in blocks]
        return set_quotes_apart(blocks)


def _choose(parts: Sequence[email.message.Message]) -> list[email.message.Message]:
    """Of parts that say the same, the plain text where it says anything; what is no text stays."""
    texts = [each for each in parts if each.get_content_type() == _PLAIN and _says_anything(each)]
    if not texts:
        return list(parts)
    told = {_PLAIN, _PAGE, "multipart/related"}
    return [each for each in parts if each is texts[0] or each.get_content_type() not in told]


def _says_anything(part: email.message.Message) -> bool:
    payload = part.get_payload()
    return isinstance(payload, str) and bool(payload.strip()) and part.get_filename() is None


def _words_of(parts: Iterable[Sequence[Block]]) -> frozenset[str]:
    return frozenset(word for blocks in parts for block in blocks for word in _WORD.findall(block.text.lower()))


def _are_told(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= _MOSTLY * len(words)


def _find_kind(part: email.message.Message) -> str:
    """What it says of itself; where the parts that it speaks of are not found, it is one text."""
    return _PLAIN if part.get_content_maintype() == "multipart" else part.get_content_type()


def _walk(message: email.message.Message, damage: Counter[str]) -> Iterator[tuple[email.message.Message, bool]]:
    """The parts that hold something, in order, and whether each is of a mail that was forwarded whole."""
    waiting = [(message, False)]
    is_cut = False
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        part, forwarded = waiting.pop()
        held = part.get_payload()
        is_cut = is_cut or any(isinstance(each, CloseBoundaryNotFoundDefect) for each in part.defects)
        if isinstance(held, list):
            forwarded = forwarded or part.get_content_maintype() == "message"
            inner = [each for each in held if isinstance(each, email.message.Message)]
            inner = _choose(inner) if part.get_content_type() == "multipart/alternative" else inner
            waiting += [(each, forwarded) for each in reversed(inner)]
        else:
            damage["bad_part"] += part.get_content_maintype() == "multipart"
            yield part, forwarded
    damage["bad_part"] += len(waiting)
    damage["truncated"] += is_cut


def _put_back(lines: LineSpan, run: list[NumberedLine]) -> LineSpan:
    first, last = run[min(lines.start, len(run)) - 1], run[min(lines.end, len(run)) - 1]
    return LineSpan(first.first, last.last)
