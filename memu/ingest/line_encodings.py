"""Texts whose lines are not all in one encoding: UTF-8 into which an old program wrote, or that was cut."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from memu.ingest.plausibility import rate_text

__all__ = ["LEAST_RATING", "Lines", "decode_lines"]

LEAST_RATING = 0.65
"""A text that looks less like writing than this is of another encoding."""

_REPLACEMENT = "\ufffd"


class Lines(NamedTuple):
    """A text decoded line by line, and how many lines beyond ASCII were UTF-8, of another encoding, or broken."""

    text: str
    own: int
    foreign: int
    broken: int

    def are_utf8(self, data: bytes) -> bool:
        """Whether most of what is beyond ASCII is UTF-8: a log cut in the middle of a letter, or one to which an
        old program wrote a line."""
        text = data.decode("utf-8", errors="replace")
        broken = text.count(_REPLACEMENT) - data.count(_REPLACEMENT.encode())
        whole = len(text) - len(text.encode("ascii", "ignore")) - broken
        return broken * 10 <= whole or self.own >= max(1, self.foreign + self.broken)


def decode_lines(data: bytes) -> Lines:
    """Each line as UTF-8, else as Windows-1252 if it reads like words then, else with U+FFFD for what is not."""
    texts: list[str] = []
    kinds: Counter[str] = Counter()
    for line in data.split(b"\n"):
        text, kind = _decode_line(line)
        texts.append(text)
        kinds[kind] += 1
    return Lines("\n".join(texts), own=kinds["own"], foreign=kinds["foreign"], broken=kinds["broken"])


def _decode_line(line: bytes) -> tuple[str, str]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        text = line.decode("utf-8", errors="replace")
    else:
        return text, "ascii" if line.isascii() else "own"
    # A line that is UTF-8 elsewhere was cut or changed, not written in another encoding.
    if text.replace(_REPLACEMENT, "").isascii():
        other = line.decode("cp1252", errors="replace")
        if _REPLACEMENT not in other and rate_text(other, "cp1252") >= LEAST_RATING:
            return other, "foreign"
    return text, "broken"
