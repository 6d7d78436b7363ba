"""Tables and logs: the header line, and the distinct warnings, quoted. Counts belong to the caption."""

from __future__ import annotations

import re
from collections import Counter

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import MAX_CHARS, MAX_WORDS, Candidate, Extraction
from memu.memorize.extractors.cue_words import load_source_words
from memu.memorize.extractors.quotes import quote
from memu.memorize.extractors.trust import instructs_model
from memu.memorize.sentences import Slice, cut_pieces, split_lines
from memu.records import MemoryType

__all__ = ["count_warnings", "extract_log", "extract_table", "reports_trouble"]

_MAX_WARNINGS = 20
_MAX_SHEETS = 50
_SCANNED_CHARS = 400
_ROWS = frozenset({BlockKind.ROW, BlockKind.TABLE})
_WORD = re.compile(r"[^\W\d_]{3,}")
_LEVEL_ZERO = re.compile(
    r"\b0+ (?:errors?|warnings?|failures?|failed)\b|\b(?:no|without) (?:errors?|warnings?|failures?)\b",
    re.IGNORECASE,
)
_CHANGING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8,}|\d+", re.IGNORECASE)
_STAMP = re.compile(
    r"^\W*(?:\d{4}-\d\d-\d\d[T ]?)?(?:[A-Z][a-z]{2} +\d{1,2} )?"
    r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\W*"
)


def extract_table(document: Document) -> Extraction:
    """The header line of the table, of each sheet where it has several, from its start, as far as one candidate
    may hold it."""
    rows = [block for block in document.blocks if block.kind in _ROWS]
    firsts: dict[tuple[str, ...], Block] = {}
    for row in rows:
        firsts.setdefault(row.heading, row)
    told = [each for each in firsts.values() if _WORD.search(each.text) and not instructs_model(each.text)]
    found = tuple(_quote_header(document, each) for each in told[:_MAX_SHEETS])
    left = len(rows) - len(found)
    return Extraction(candidates=found, dropped={"rows": left} if left else {})


def _quote_header(document: Document, row: Block) -> Candidate:
    first_line = split_lines(row.text)[0]
    header = cut_pieces(first_line.text, MAX_WORDS, MAX_CHARS)[0]
    like = Candidate(
        text="",
        lines=None,
        memory_type=MemoryType.KNOWLEDGE,
        label=" > ".join(row.heading),
        section=document.title if document.titled else None,
        happened_at=document.happened_at,
    )
    piece = Slice(header.text, first_line.start + header.start, first_line.start + header.end)
    return quote(row, piece, like)


def extract_log(document: Document) -> Extraction:
    """Each warning or error once, where it first stands; those that differ in numbers only are one."""
    found: list[Candidate] = []
    seen: set[str] = set()
    dropped: Counter[str] = Counter()
    for block in document.blocks:
        for line in split_lines(block.text):
            if not reports_trouble(block, line.text):
                dropped["log_line"] += 1
                continue
            key = _CHANGING.sub("#", _STAMP.sub("", line.text[:_SCANNED_CHARS]).lower())
            if key in seen or len(found) >= _MAX_WARNINGS or instructs_model(line.text):
                dropped["repeated" if key in seen else "over_source_limit"] += 1
                continue
            seen.add(key)
            found.append(_quote_line(document, block, line))
    return Extraction(candidates=tuple(found), dropped=dict(dropped))


def reports_trouble(block: Block, line: str) -> bool:
    """Whether a line says that something went wrong: by its level where it states one, else by its words."""
    if block.level:
        return block.level in {"error", "warning"}
    head = line[:_SCANNED_CHARS]
    words = {word.lower() for word in re.findall(r"[A-Za-z]+", _LEVEL_ZERO.sub("", head))}
    return bool(words & load_source_words("warning_words"))


def count_warnings(blocks: tuple[Block, ...]) -> int:
    """How many lines report that something went wrong."""
    return sum(reports_trouble(block, line.text) for block in blocks for line in split_lines(block.text))


def _quote_line(document: Document, block: Block, line: Slice) -> Candidate:
    piece = cut_pieces(line.text, MAX_WORDS, MAX_CHARS)[0]
    like = Candidate(
        text="",
        lines=None,
        memory_type=MemoryType.EVENT,
        section=document.title if document.titled else None,
        happened_at=block.time or document.happened_at,
    )
    return quote(block, Slice(piece.text, line.start + piece.start, line.start + piece.end), like)
