"""A JSON text in pieces of a readable size, each below its key path."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.json_tree import Json
from memu.ingest.readers.runs import LineIndex, split_long

__all__ = ["PIECE_CHARS", "PIECE_LINES", "JsonCut"]

PIECE_CHARS = 1_500
PIECE_LINES = 40
_DEEPEST = 8
_ESCAPED = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\u[0-9a-fA-F]{4})+)")


@dataclass(slots=True)
class JsonCut:
    """Cuts a JSON text into pieces of a readable size, small neighbours together."""

    text: str
    blocks: list[Block] = field(default_factory=list)
    _taken: list[tuple[int, int]] = field(default_factory=list)
    index: LineIndex = field(init=False)

    def __post_init__(self) -> None:
        self.index = LineIndex(self.text)

    def take(self, value: Json, path: tuple[str, ...], start: int) -> None:
        """Emits ``value``, whose key (if any) begins at ``start``."""
        if not value.items or len(path) >= _DEEPEST or self._is_small(start, value.end):
            self._emit(start, value.end, path)
            return
        held: tuple[int, int] | None = None
        keys = value.keys or value.items
        for key, item in zip(keys, value.items, strict=False):
            if not self._is_small(key.start, item.end):
                self._flush(held, path)
                held = None
                self.take(
                    item, (*path, key.text) if value.keys else path, key.start if not item.items else item.start
                )
            elif held and self._is_small(held[0], item.end):
                held = (held[0], item.end)
            else:
                self._flush(held, path)
                held = (key.start, item.end)
        self._flush(held, path)

    def find_left(self, stretches: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """What no piece holds of these stretches of the text."""
        taken = sorted(self._taken)
        for start, end in stretches:
            at = max(0, bisect_right(taken, (start, end)) - 1)
            while start < end and at < len(taken) and taken[at][0] < end:
                if start < taken[at][0]:
                    yield start, taken[at][0]
                start = max(start, taken[at][1])
                at += 1
            if start < end:
                yield start, end

    def _flush(self, held: tuple[int, int] | None, path: tuple[str, ...]) -> None:
        if held:
            self._emit(held[0], held[1], path)

    def _is_small(self, start: int, end: int) -> bool:
        return end - start <= PIECE_CHARS and self.index.line_at(end) - self.index.line_at(start) < PIECE_LINES

    def _emit(self, start: int, end: int, path: tuple[str, ...]) -> None:
        raw = self.text[start:end]
        leading = len(raw) - len(raw.lstrip())
        offset = start + leading
        self._taken.append((start, end))
        for part in split_long(raw):
            # Parts are found again in order; what was stripped between them is white space only.
            offset = self.text.index(part, offset, end)
            self.blocks.append(
                Block(
                    kind=BlockKind.DATA,
                    text=_ESCAPED.sub(_decode_escapes, part),
                    lines=self.index.span(offset, offset + len(part)),
                    heading=path,
                )
            )
            offset += len(part)


def _decode_escapes(match: re.Match[str]) -> str:
    """Letters written as ``\\uXXXX`` become letters, so that they can be found; control signs stay escaped."""
    codes = [int(code, 16) for code in match[2].split("\\u")[1:]]
    if any(code < 0xA0 for code in codes):
        return match[0]
    decoded = b"".join(code.to_bytes(2, "big") for code in codes).decode("utf-16-be", errors="replace")
    return match[1] + decoded
