"""The transfer encodings of mails undone, line by line, with what of a part cannot be decoded counted."""

from __future__ import annotations

import codecs
import email.message
import quopri
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from memu.ingest.readers.runs import NumberedLine, number_lines

__all__ = ["PartDecoding"]

_PLAIN = frozenset({"", "7bit", "8bit", "binary"})
_PACKED = re.compile("[A-Za-z0-9+/][A-Za-z0-9+/=]*")
# Where one ends in its padding, another may follow.
_GROUP = re.compile("[A-Za-z0-9+/]+={0,2}")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LEAST_RUN = 8
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")
_CUT_ESCAPE = re.compile(r"=[0-9A-Fa-f]?\Z")
_REPLACED = "\ufffd"


@dataclass(slots=True)
class PartDecoding:
    """Decodes one part. ``is_last``: the file ends with it. What it meets is in ``damage``, each kind once."""

    charset: str
    encoding: str
    is_last: bool
    damage: Counter[str]
    unparted: bool = False

    @classmethod
    def of(cls, part: email.message.Message, *, is_last: bool) -> PartDecoding:
        """As the part's headers say. ``unparted``: it is several, which were not found."""
        charset = str(part.get_content_charset() or "utf-8")
        encoding = str(part.get("content-transfer-encoding", "")).partition(";")[0].strip().lower()
        return cls(charset, encoding, is_last, Counter(), part.get_content_maintype() == "multipart")

    def read_lines(self, payload: str, first: int) -> Iterator[NumberedLine]:
        """The part's lines with its encoding undone, each with the raw lines that it was written on."""
        match self.encoding:
            case "quoted-printable":
                yield from self._join_soft_breaks(payload, first)
            case "base64":
                yield from self._read_base64(payload, first)
            case _:
                if self.encoding not in _PLAIN or (not payload.isascii() and not _is_known(self.charset)):
                    self._count("bad_part")
                lines = number_lines(payload.split("\n"), first)
                # What is packed in it could be read by everybody but the redaction.
                unknown = self.encoding not in _PLAIN or self.unparted
                yield from self._unpack(lines) if unknown else lines

    def _join_soft_breaks(self, payload: str, first: int) -> Iterator[NumberedLine]:
        held, start = "", first
        for number, line in enumerate(payload.split("\n"), first):
            held += line.rstrip()
            if line.rstrip().endswith("="):
                held = held[:-1]
                continue
            yield NumberedLine(start, number, self._unquote(held))
            held, start = "", number + 1
        if held:
            yield NumberedLine(start, number, self._unquote(held))
        if self.is_last and _CUT_ESCAPE.search(payload):
            self._count("truncated")

    def _unquote(self, text: str) -> str:
        return self._to_text(quopri.decodestring(text.encode("utf-8", "replace")))

    def _read_base64(self, payload: str, first: int) -> Iterator[NumberedLine]:
        lines = number_lines(payload.rstrip("\n").split("\n"), first)
        if self._is_base64(lines):
            yield from _spread(self._decode(lines), lines)
            return
        # Text was put behind it on its way, or it never was base64.
        self._count("bad_part")
        yield from self._unpack(lines)

    def _unpack(self, lines: Sequence[NumberedLine]) -> Iterator[NumberedLine]:
        """The lines, each run of them taken for what it is: what reads well once it is decoded is base64."""
        for packed, group in groupby(lines, key=lambda line: _PACKED.fullmatch(line.text.strip()) is not None):
            run = list(group)
            size = sum(len(line.text) for line in run)
            if packed and size >= _LEAST_RUN and not _are_words(run) and _is_clean(decoded := self._decode(run)):
                yield from _spread(decoded, run)
            else:
                yield from run

    def _is_base64(self, lines: Sequence[NumberedLine]) -> bool:
        """Whether a whole payload is base64; what reads well once decoded, or cannot be words, is."""
        if not _PACKED.fullmatch(_join(lines)):
            return False
        spaced = any(" " in line.text.strip() for line in lines)
        trial = PartDecoding(self.charset, self.encoding, self.is_last, Counter())
        if _is_clean(trial._decode(lines)):
            return True
        return not spaced and not _are_words(lines)

    def _decode(self, lines: Sequence[NumberedLine]) -> str:
        """All that was packed; of one that was cut, up to the last whole character."""
        decoded = bytearray()
        cut = False
        for group in _GROUP.findall(_join(lines)):
            packed = group.rstrip("=")
            if len(group) % 4:
                cut = True
                packed = packed[: len(packed) - (len(packed) % 4 == 1)]
            decoded += b64decode(packed + "=" * (-len(packed) % 4))
        if cut:
            self._count("bad_part")
        return self._to_text(bytes(decoded), cut=cut)

    def _to_text(self, data: bytes, *, cut: bool = False) -> str:
        charset = self.charset
        if not _is_known(charset):
            charset = "utf-8"
            if not data.isascii():
                self._count("bad_part")
        text = _decode(data, charset, cut=cut)
        if _REPLACED not in text or _REPLACED.encode() in data:
            return text
        try:
            # Many say that they are of ASCII, and are not.
            return data.decode("utf-8")
        except UnicodeDecodeError:
            self._count("bad_part")
            return text

    def _count(self, name: str) -> None:
        self.damage[name] = 1


def _decode(data: bytes, charset: str, *, cut: bool) -> str:
    """The text of bytes in a known charset; ``cut``: what is begun at their end is left out."""
    try:
        return codecs.getincrementaldecoder(charset)("replace").decode(data, final=not cut)
    except UnicodeError:
        # Without a mark at its beginning it is read in parts by no codec of two orders.
        return data.decode(charset, "replace")


def _is_known(charset: str) -> bool:
    """Whether it is the name of a charset; some codecs turn bytes into bytes, and one always fails."""
    try:
        b"abcdefgh".decode(charset, "replace")
    except (LookupError, ValueError):
        return False
    return True


def _join(lines: Sequence[NumberedLine]) -> str:
    return "".join("".join(line.text.split()) for line in lines)


def _are_words(lines: Sequence[NumberedLine]) -> bool:
    return all(_WORD.fullmatch(word) for line in lines for word in line.text.split())


def _is_clean(text: str) -> bool:
    return text != "" and len(_ODD.findall(text)) * 10 <= len(text)


def _spread(text: str, lines: Sequence[NumberedLine]) -> Iterator[NumberedLine]:
    for line in text.split("\n"):
        yield NumberedLine(lines[0].first, lines[-1].last, line.rstrip("\r"))
