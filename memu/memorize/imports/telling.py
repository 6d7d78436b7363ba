"""What each row of memU's becomes: sources of one text each, and the pages that their entries stand on. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memu.ingest.redact import redact
from memu.memorize.assign.naming import GENERAL
from memu.names import slugify
from memu.records import IMPORTED, FileProblem, MemoryType, Track
from memu.storage.legacy_rows import LegacyCategory, LegacyIds, LegacyItem
from memu.storage.legacy_values import Vector, to_text

__all__ = [
    "LONGEST_ID",
    "PageLink",
    "Told",
    "find_doubtful",
    "find_empty",
    "find_replaced",
    "name_pages",
    "note",
    "tell_category",
    "tell_item",
]

LONGEST_ID = 64
"""The characters of the longest id that the store takes."""

_UNTITLED = "memU"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,50}")
_BROKEN = re.compile("[\x00\ud800-\udfff]")
_MOST_TITLE = 120


@dataclass(frozen=True, slots=True)
class PageLink:
    """A page that a source's entries stand on. ``id`` is the category's, None for a page of ours."""

    track: Track
    name: str
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One text of memU's on its way to be a source.

    id: the source's. entry_id: that of its first entry, None for a new one. order: its place in its folder.
    pages: those that its entries stand on. vector: that of the whole text.
    """

    id: str
    entry_id: str | None = None
    path: str
    title: str
    order: str
    text: str
    memory_type: MemoryType
    track: Track
    pages: tuple[PageLink, ...]
    happened_at: datetime | None = None
    created_at: datetime | None = None
    vector: Vector | None = None

    @property
    def fingerprint(self) -> str:
        """The hash of all that it says: what has the one that is stored is not stored again."""
        pages = sorted([page.track.value, page.name] for page in self.pages)
        happened = self.happened_at.isoformat() if self.happened_at else None
        told = [
            self.text,
            self.path,
            self.title,
            self.order,
            self.memory_type.value,
            self.track.value,
            pages,
            happened,
        ]
        return hashlib.sha256(json.dumps(told).encode("ascii")).hexdigest()


def name_pages(
    categories: tuple[LegacyCategory, ...], problems: list[FileProblem], is_sayable: Callable[[str], bool]
) -> dict[str, PageLink]:
    """Category id → its page; ``problems`` gains what is odd about one.

    ``is_sayable``: whether a name holds nothing that was forgotten. One that does is no page's, nor in any path.
    """
    pages: dict[str, PageLink] = {}
    for each in categories:
        name = _one_line(redact(each.name).text)
        if not name:
            problems.append(note(f"category {each.id}", "it has no name"))
            continue
        problems += [note(f"category {each.id}", reason) for reason in each.odd]
        track = Track.MEMORY
        if each.track in set(Track):
            track = Track(each.track)
        elif each.track:
            reason = f"its track {each.track!r} is not known; it is kept as memory"
            problems.append(note(f"category {each.id}", reason))
        pages[each.id] = PageLink(track, name, _fit(each.id)) if is_sayable(name) else PageLink(track, GENERAL)
    return pages


def note(place: str, reason: str) -> FileProblem:
    """What is told of a row: names, addresses and captions are a database's own words, so it holds no secret."""
    return FileProblem(path=redact(_mend(place)).text, reason=redact(_mend(reason)).text)


def find_doubtful(kind: str, ids: LegacyIds) -> list[FileProblem]:
    """The rows that cannot be told from others."""
    found = [note(f"{kind} {each}", "other rows bear its id; the first was taken") for each in ids.again]
    if ids.nameless:
        found.append(note(f"rows of kind {kind}", f"{ids.nameless} have no id, or one that is no text"))
    return found


def find_replaced(ids: LegacyIds) -> list[tuple[str, str]]:
    """(id, what stands for it here) of the rows whose id the store cannot hold."""
    texts = map(to_text, ids.ids)
    return [(each, fitted) for each in texts if (fitted := _fit(each)) != each]


def find_empty(categories: Sequence[LegacyCategory], used: Collection[str]) -> list[FileProblem]:
    """The categories that no page can be made of: a page rests on what its sources say. ``used``: by items."""
    wordless = (each for each in categories if not (each.description.strip() or each.content.strip()))
    empty = (each for each in wordless if each.id not in used)
    return [note(f"category {each.id}", f"{each.name!r} has neither text nor items") for each in empty]


def tell_category(category: LegacyCategory, page: PageLink, problems: list[FileProblem]) -> Iterator[Told]:
    """Its description and its content, one source each, in one folder; ``problems`` gains what is odd in them."""
    folder = f"{IMPORTED}/categories/{slugify(page.name)}-{_digest(category.id)[:8]}"
    texts = (("description", category.description, category.vector), ("content", category.content, None))
    for order, (part, text, vector) in enumerate(texts):
        if not text.strip():
            continue
        _note_broken(f"category {category.id}", text, problems)
        yield Told(
            id=_fit(category.id if part == "content" else f"{category.id}.{part}"),
            path=f"{folder}/{part}.md",
            title=page.name,
            order=str(order),
            text=_mend(text),
            memory_type=MemoryType.SKILL if page.track is Track.SKILL else MemoryType.KNOWLEDGE,
            track=page.track,
            pages=(page,),
            created_at=category.created_at,
            vector=vector,
        )


def tell_item(
    item: LegacyItem, pages: Mapping[str, PageLink], taken: Collection[str], problems: list[FileProblem]
) -> Told | None:
    """The source that an item becomes; ``problems`` gains why it cannot, or what of it is lost.

    ``taken``: the ids of sources that categories became.
    """
    place = f"item {item.id}"
    if not item.text.strip():
        problems.append(note(place, "it has no text"))
        return None
    problems += [note(place, reason) for reason in item.odd]
    _note_broken(place, item.text, problems)
    memory_type = MemoryType.KNOWLEDGE
    if item.memory_type in set(MemoryType):
        memory_type = MemoryType(item.memory_type)
    else:
        reason = f"its type {item.memory_type!r} is not known; it is kept as knowledge"
        problems.append(note(place, reason))
    for category in item.categories:
        if category not in pages:
            reason = f"its category {category} is another scope's, has no name or is gone"
            problems.append(note(place, reason))
    links = tuple(pages[category] for category in item.categories if category in pages)
    skill = bool(links) and all(page.track is Track.SKILL for page in links)
    title = _one_line(item.source_caption) or _one_line(item.source_url.rsplit("/", 1)[-1]) or _UNTITLED
    folder = slugify(_mend(item.source_url)) if item.source_url.strip() else "general"
    source_id = _fit(item.id)
    return Told(
        # Where ids are numbers a category may have the same.
        id=_digest(f"item {item.id}") if source_id in taken else source_id,
        entry_id=_fit(item.id),
        path=f"{IMPORTED}/items/{folder}/{_file_part(item.id)}.md",
        title=title[:_MOST_TITLE],
        order=f"{_moment(item.happened_at or item.created_at)} {item.id}",
        text=_mend(item.text),
        memory_type=memory_type,
        track=Track.SKILL if skill else Track.MEMORY,
        # What memU filed nowhere is not lost: it stands where notes stand that nothing names.
        pages=links or (PageLink(Track.MEMORY, GENERAL),),
        happened_at=item.happened_at,
        created_at=item.created_at,
        vector=item.vector,
    )


def _mend(text: str) -> str:
    """Line breaks of one kind, and nothing that no database keeps."""
    return _BROKEN.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n").replace("\r", "\n"))


def _note_broken(place: str, text: str, problems: list[FileProblem]) -> None:
    if count := len(_BROKEN.findall(text)):
        reason = f"no store holds {count} characters of it; it is kept as a text with U+FFFD in their place"
        problems.append(note(place, reason))


def _one_line(text: str) -> str:
    return " ".join(_mend(text).split())


def _moment(time: datetime | None) -> str:
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") if time else ""


def _fit(given: str) -> str:
    """An id as it is, if the store can hold it."""
    return given if len(given) <= LONGEST_ID and not _BROKEN.search(given) else _digest(given)


def _file_part(given: str) -> str:
    return given if _SAFE.fullmatch(given) else _digest(given)[:32]


def _digest(given: str) -> str:
    return hashlib.sha256(given.encode("utf-8", errors="surrogatepass")).hexdigest()
