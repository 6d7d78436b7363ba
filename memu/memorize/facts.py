"""What *assign* and *fold* need to know of a source beside its entries: a pure function of that one file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from memu.ingest.document import BlockKind, Document
from memu.memorize.assign.dates import find_path_date, split_date
from memu.memorize.assign.words import plain_title
from memu.memorize.conversation_languages import LANGUAGES, find_languages

__all__ = ["DAMAGE", "JSON", "LAST_AT", "Facts", "damage_of", "facts_of", "read_facts"]

DAMAGE = "damage"
"""Under this name stands what had to be passed over of a source: what was wrong → how often."""
LAST_AT = "last_at"
"""Under this name stands when a session was last heard of, in ISO format: that tells the newest of several."""

JSON: TypeAlias = "str | int | float | bool | list[JSON] | dict[str, JSON] | None"

_UNSEEN = "control_character"
_MAX_HEADINGS = 3
_MAX_LENGTH = 300
# "18. ", "ADR-012: ", "RFC 7 - ", "3) ": where a title stands in a row, not what it is about.
_NUMBER = re.compile(
    r"^(?:(?:adr|rfc|dr|no|nr|nº|n°|part|chapter|第)[-_ .#]*)?#?\d{1,6}(?:\.\d{1,4})*(?:章|节)?"
    r"(?:\s*[.):：\]–—-]\s*|[\s_]+)(?=\S)",
    re.IGNORECASE,
)
_TAIL_NUMBER = re.compile(r"[\s_#(-]*\d{1,6}\)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A source as *assign* sees it.

    titled: whether a person wrote the title (else it is the file's name).
    heading: the first outermost heading where it is not the title, else "".
    date: "2024-01-05" or "2024-01", from the title, the file's name, its folders or the content, else None;
        ``dated`` tells whether it is written in title, name or folders.
    series_title, series_stem: title and file name without date and number, "" where nothing is left.
    """

    titled: bool = False
    category: str | None = None
    tags: tuple[str, ...] = ()
    heading: str = ""
    date: str | None = None
    dated: bool = False
    series_title: str = ""
    series_stem: str = ""


def facts_of(document: Document, path: str) -> dict[str, JSON]:
    """The facts of one source, ready to be stored as JSON. ``path`` is workspace-relative POSIX."""
    title = plain_title(document.title)[:_MAX_LENGTH]
    stem, folder = PurePosixPath(path).stem, PurePosixPath(path).parent.as_posix()
    title_rest, title_date = split_date(title)
    stem_rest, stem_date = split_date(stem)
    written = title_date or stem_date or find_path_date(f"{folder}/{stem}")
    happened = document.happened_at.date().isoformat() if document.happened_at else None
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING][:_MAX_HEADINGS]
    first = next((plain_title(block.text) for block in headings if block.depth == 1), "")[:_MAX_LENGTH]
    return {
        "kind": document.kind.value,
        "title": title,
        # A title of nothing but marks names nothing.
        "titled": document.titled and bool(title),
        "category": document.category,
        "tags": list(document.tags),
        "headings": [plain_title(block.text)[:_MAX_LENGTH] for block in headings],
        "heading": first if first != title else "",
        "folder": "" if folder == "." else folder,
        "date": written or happened,
        "dated": written is not None,
        "series_title": without_numbers(title_rest) if document.titled else "",
        "series_stem": without_numbers(re.sub(r"[-_]+", " ", stem_rest)),
        **_session_facts(document),
        **_damage_facts(document),
        **_language_facts(document),
    }


def damage_of(document: Document) -> dict[str, int]:
    """What of a source is not in memory since it could not be read. Characters that nobody sees are no loss."""
    return {name: count for name, count in document.damage if name != _UNSEEN}


def _damage_facts(document: Document) -> dict[str, JSON]:
    damage = damage_of(document)
    return {DAMAGE: dict(damage)} if damage else {}


def _session_facts(document: Document) -> dict[str, JSON]:
    """When a session was last heard of."""
    ended = max((turn.ended for turn in document.turns if turn.ended is not None), default=None)
    return {LAST_AT: ended.isoformat()} if ended is not None else {}


def _language_facts(document: Document) -> dict[str, JSON]:
    languages = find_languages(document)
    return {LANGUAGES: dict(languages)} if languages else {}


def read_facts(stored: Mapping[str, object]) -> Facts:
    """Stored facts as a record; what is missing or of another type takes its default."""

    def text(name: str) -> str:
        value = stored.get(name)
        return value if isinstance(value, str) else ""

    tags = stored.get("tags")
    return Facts(
        titled=stored.get("titled") is True,
        category=text("category") or None,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list | tuple) else (),
        heading=text("heading"),
        date=text("date") or None,
        dated=stored.get("dated") is True,
        series_title=text("series_title"),
        series_stem=text("series_stem"),
    )


def without_numbers(title: str) -> str:
    """A title without the number that it opens or ends with, unless nothing else is in it.

    >>> without_numbers("18. Use RDS"), without_numbers("ADR-012: DNS"), without_numbers("session 4")
    ('Use RDS', 'DNS', 'session')
    """
    return _TAIL_NUMBER.sub("", _NUMBER.sub("", title.strip())).strip()
