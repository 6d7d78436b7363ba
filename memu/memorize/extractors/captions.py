"""One line that says what a source is: its own summary where it states one, else counts."""

from __future__ import annotations

from collections.abc import Iterable

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.extractors.noise import is_noise, strip_markup
from memu.memorize.extractors.sections import split_sections
from memu.memorize.extractors.tables import count_warnings
from memu.memorize.extractors.trust import instructs_model
from memu.memorize.sentences import count_words, cut_pieces, split_lines, split_sentences
from memu.records import Kind

__all__ = ["caption", "caption_session"]

_MAX_CHARS = 160
_MIN_WORDS = 4
_MAX_NAMES = 4
_ROWS = frozenset({BlockKind.ROW, BlockKind.TABLE})
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.DOCSTRING, BlockKind.BULLET, BlockKind.STEP, BlockKind.QUOTE})


def caption(document: Document) -> str:
    """At most 160 characters on one line; "" when there is nothing to say. A pure function of the document."""
    if document.description and not instructs_model(document.description):
        return _shorten(document.description)
    match document.kind:
        case Kind.TABLE:
            return _caption_table(document)
        case Kind.LOG:
            return _caption_log(document)
        case Kind.SESSION if document.turns:
            return caption_session(len(document.turns))
        case Kind.CHAT | Kind.SESSION:
            return _caption_turns(document, "turn")
        case Kind.MEETING:
            turns = any(block.kind is BlockKind.TURN for block in document.blocks)
            return _caption_turns(document, "turn") if turns else _caption_prose(document)
        case Kind.CODE:
            return _caption_prose(document) or _count_kind(document, BlockKind.SIGNATURE, "definition")
        case _:
            return _caption_prose(document)


def caption_session(turns: int) -> str:
    """What a session of so many turns is called."""
    return _number(turns, "turn")


def _caption_table(document: Document) -> str:
    rows = [block for block in document.blocks if block.kind in _ROWS]
    lines = sum(len(split_lines(block.text)) for block in rows)
    if not lines:
        return _caption_prose(document)
    header = split_lines(rows[0].text)[0].text
    mark = max(",\t;|", key=header.count)
    columns = header.strip("|").count(mark) + 1
    return f"{_number(lines - 1, 'row')}, {_number(columns, 'column')}"


def _caption_log(document: Document) -> str:
    lines = sum(len(split_lines(block.text)) for block in document.blocks)
    return f"{_number(lines, 'line')}, {_number(count_warnings(document.blocks), 'warning')}"


def _caption_turns(document: Document, noun: str) -> str:
    turns = [block for block in document.blocks if block.kind is BlockKind.TURN]
    names = list(dict.fromkeys(block.speaker for block in turns if block.speaker))
    count = _number(len(turns), noun)
    if not names:
        return count if turns else _caption_prose(document)
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return _shorten(f"{count} by {', '.join(names[:_MAX_NAMES])}{more}")


def _caption_prose(document: Document) -> str:
    """The first sentence that states something, decisions' and metadata's lines aside."""
    for text in _opening_texts(document):
        for sentence in split_sentences(text):
            plain = strip_markup(sentence.text)
            if count_words(plain) >= _MIN_WORDS and not (is_noise(sentence.text) or instructs_model(plain)):
                return _shorten(plain)
    sections = len(split_sections(document))
    return _number(sections, "section") if sections else ""


def _opening_texts(document: Document) -> Iterable[str]:
    skipped = load_phrases("skipped_headings")
    return (
        block.text
        for section in split_sections(document)
        if not section.is_under(skipped)
        for block in section.blocks
        if block.kind in _PROSE
    )


def _count_kind(document: Document, kind: BlockKind, noun: str) -> str:
    blocks: tuple[Block, ...] = document.blocks
    count = sum(block.kind is kind for block in blocks)
    return _number(count, noun) if count else ""


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _MAX_CHARS:
        return line
    return cut_pieces(line, _MAX_CHARS, _MAX_CHARS - 2)[0].text.rstrip(" ,;:，；：") + " …"
