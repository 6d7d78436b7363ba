"""Bytes to text: byte order marks, UTF-8 first, older encodings by plausibility, never a guess kept quiet.

The candidates for what is not UTF-8 come from charset-normalizer; which of them it is, is decided by how well
the decoded text looks like writing (``plausibility``), because short texts often fit several.
"""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass, replace

from memu.errors import ReadError
from memu.ingest.formats import name_binary
from memu.ingest.line_encodings import LEAST_RATING, Lines, decode_lines
from memu.ingest.plausibility import ENCODINGS, rate_text

__all__ = ["Decoded", "decode", "replace_unstorable"]

_REPLACEMENT = "\ufffd"
# UTF-32 first: its little-endian mark begins like that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Tab, line feed, vertical tab, form feed, carriage return, backspace, bell and escape occur in terminal logs.
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\b\a\x1b") + b"\x7f"
_NUL_RUN = re.compile(b"\x00{16,}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_JIS_ESCAPE = re.compile(rb"\x1b\$[@B]|\x1b\(J")

_SAMPLE_LINES = 20
_MAX_CONTROLS = 0.1
_MAX_CONTROLS_8BIT = 0.01
_SAMPLE_SIZE = 32 << 10
_MIN_MARGIN = 0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A file's text. Lines end in ``\\n``; no byte order mark, no NUL, no lone surrogate.

    encoding: as Python names it. replaced: how many characters became U+FFFD. foreign_lines: how many lines of a
        text in UTF-8 were read in another encoding.
    """

    text: str
    encoding: str
    replaced: int = 0
    foreign_lines: int = 0

    @property
    def damage(self) -> dict[str, int]:
        """What was wrong with the bytes, by name."""
        counts = {"undecodable_byte": self.replaced, "foreign_line": self.foreign_lines}
        return {name: count for name, count in counts.items() if count}


def decode(data: bytes) -> Decoded:
    """The text of a file's bytes.

    Only ``\\n``, ``\\r\\n`` and ``\\r`` end lines; form feeds and the Unicode separators stay inside them.

    Raises:
        ReadError: the bytes are no text, or their encoding cannot be told; the message is the reason.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode_marked(data[len(mark) :], encoding)
    reason = name_binary(data[:512])
    if reason:
        raise ReadError(reason)
    wide = _guess_wide(data)
    if wide:
        return _finish(data.decode(wide, errors="replace"), wide)
    if _JIS_ESCAPE.search(data):
        try:
            return _finish(data.decode("iso2022_jp"), "iso2022_jp")
        except UnicodeDecodeError:
            pass
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_other(data)
    _refuse_controls(data, _MAX_CONTROLS)
    return _finish(text, "utf-8")


def replace_unstorable(text: str) -> tuple[str, int]:
    """The text with NUL and lone surrogates as U+FFFD, and how many there were; no database takes them."""
    if "\x00" not in text and not _has_surrogates(text):
        return text, 0
    return _UNSTORABLE.subn(_REPLACEMENT, text)


def _has_surrogates(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _finish(text: str, encoding: str, *, already: int = 0) -> Decoded:
    stored, replaced = replace_unstorable(text)
    if "\r" in stored:
        stored = stored.replace("\r\n", "\n").replace("\r", "\n")
    return Decoded(text=stored.lstrip("\ufeff"), encoding=encoding, replaced=replaced + already)


def _decode_marked(body: bytes, encoding: str) -> Decoded:
    try:
        text = body.decode(encoding)
        broken = 0
    except UnicodeDecodeError:
        text = body.decode(encoding, errors="replace")
        broken = text.count(_REPLACEMENT)
    sample = text[:_SAMPLE_SIZE]
    strange = sum(not char.isprintable() and char not in "\t\n\v\f\r\b\a\x1b\ufeff" for char in sample)
    # A byte order mark is two bytes that a binary file may begin with as well.
    if broken > 1 + len(text) // 100 or strange > len(sample) * _MAX_CONTROLS:
        raise ReadError(f"binary (begins like {encoding} but is no text)")
    return _finish(text, encoding, already=broken)


def _guess_wide(data: bytes) -> str | None:
    """UTF-16 without a mark: in Western text every second byte is NUL and hardly any other."""
    if b"\x00" not in data or len(data) % 2:
        return None
    sample = data[:_SAMPLE_SIZE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    half = len(sample) / 2
    if odd > 0.7 * half and even < 0.02 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.02 * half:
        return "utf-16-be"
    return None


def _refuse_controls(data: bytes, limit: float) -> None:
    # A log that a crash left a hole in is text still: a run of NULs counts as one.
    solid = _NUL_RUN.sub(b"\x00", data) if b"\x00" in data else data
    controls = len(solid) - len(solid.translate(None, _CONTROLS))
    if controls > limit * len(solid):
        raise ReadError("binary (control characters)")


def _decode_other(data: bytes) -> Decoded:
    lines = decode_lines(data)
    if lines.are_utf8(data) or _is_damaged_log(data, lines):
        return _take_lines(data, lines)
    _refuse_controls(data, _MAX_CONTROLS_8BIT)
    rated = _rate_candidates(data)
    if not rated or rated[0][0] < LEAST_RATING:
        if lines.own and not lines.broken:
            return _take_lines(data, lines)
        raise ReadError("encoding unknown: save the file as UTF-8")
    (best, encoding, text), others = rated[0], rated[1:]
    rivals = [name for rating, name, other in others if (best - rating) < _margin(text, other)]
    if rivals:
        raise ReadError(f"encoding unclear ({' or '.join([encoding, *rivals])}): save the file as UTF-8")
    return _finish(text, encoding)


def _is_damaged_log(data: bytes, lines: Lines) -> bool:
    """Whether these are JSON lines, which are UTF-8 by definition, and most of them are in order."""
    sample = [line.strip() for line in data.split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES] if line.strip()]
    whole = sum(line.startswith(b"{") and line.endswith(b"}") for line in sample)
    return 2 * whole > len(sample) and 2 * (lines.foreign + lines.broken) <= data.count(b"\n") + 1


def _margin(text: str, other: str) -> float:
    """How much better a text must be rated than another: less where they differ in few places only."""
    if text == other:
        return 0.0
    if len(text) != len(other):
        return _MIN_MARGIN
    differing = sum(1 for one, two in zip(text, other, strict=True) if one != two)
    return _MIN_MARGIN * differing / sum(1 for char in text if char > "\x7f")


def _take_lines(data: bytes, lines: Lines) -> Decoded:
    _refuse_controls(data, _MAX_CONTROLS_8BIT)
    replaced = lines.text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
    return replace(_finish(lines.text, "utf-8", already=replaced), foreign_lines=lines.foreign)


def _rate_candidates(data: bytes) -> list[tuple[float, str, str]]:
    """Rating, encoding and text of each candidate that decodes the whole, best first."""
    sample = _sample(data)
    rated: list[tuple[float, str, str]] = []
    for encoding in _candidates(sample):
        try:
            text = data.decode(encoding)
            rating = rate_text(sample.decode(encoding), encoding)
        except UnicodeDecodeError:
            continue
        rated.append((rating, encoding, text))
    # Where two say the same, the earlier in the list gives its name.
    return sorted(rated, key=lambda item: (-item[0], ENCODINGS.index(item[1])))


def _sample(data: bytes) -> bytes:
    """Whole lines that hold bytes beyond ASCII, up to a bound: only they tell encodings apart."""
    lines: list[bytes] = []
    size = 0
    for line in io.BytesIO(data):
        if line.isascii():
            continue
        lines.append(line)
        size += len(line)
        if size >= _SAMPLE_SIZE:
            break
    return b"".join(lines)


def _candidates(sample: bytes) -> list[str]:
    # Imported here: it costs more to load than a sync without old files takes to start.
    from charset_normalizer import from_bytes

    matches = from_bytes(sample[:_SAMPLE_SIZE], cp_isolation=list(ENCODINGS), threshold=0.5)
    return [
        encoding for encoding in ENCODINGS if any(encoding in match.could_be_from_charset for match in matches)
    ]
