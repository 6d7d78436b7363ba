"""What each row of memU's becomes: sources of one text each, and the pages that their entries stand on. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from memu.ingest.redact import redact
from memu.memorize.assign.naming import GENERAL
from memu.names import slugify
from memu.records import IMPORTED, FileProblem, MemoryType, Track
from memu.storage.legacy import LegacyCategory, LegacyItem
from memu.storage.legacy_tables import Vector

__all__ = ["PageLink", "Told", "name_pages", "tell_category", "tell_item"]

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
            problems.append(FileProblem(path=f"category {each.id}", reason="it has no name"))
            continue
        track = Track.MEMORY
        if each.track in set(Track):
            track = Track(each.track)
        elif each.track:
            reason = f"its track {each.track!r} is not known; it is kept as memory"
            problems.append(FileProblem(path=f"category {each.id}", reason=reason))
        pages[each.id] = PageLink(track, name, each.id) if is_sayable(name) else PageLink(track, GENERAL)
    return pages


def tell_category(category: LegacyCategory, page: PageLink) -> Iterator[Told]:
    """Its description and its content, one source each, in one folder."""
    folder = f"{IMPORTED}/categories/{slugify(page.name)}-{_digest(category.id)[:8]}"
    texts = (("description", category.description, category.vector), ("content", category.content, None))
    for order, (part, text, vector) in enumerate(texts):
        if not text.strip():
            continue
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


def tell_item(item: LegacyItem, pages: Mapping[str, PageLink], problems: list[FileProblem]) -> Told | None:
    """The source that an item becomes; ``problems`` gains why it cannot, or what of it is lost."""
    place = f"item {item.id}"
    if not item.text.strip():
        problems.append(FileProblem(path=place, reason="it has no text"))
        return None
    memory_type = MemoryType.KNOWLEDGE
    if item.memory_type in set(MemoryType):
        memory_type = MemoryType(item.memory_type)
    else:
        reason = f"its type {item.memory_type!r} is not known; it is kept as knowledge"
        problems.append(FileProblem(path=place, reason=reason))
    for category in item.categories:
        if category not in pages:
            reason = f"its category {category} is another scope's, has no name or is gone"
            problems.append(FileProblem(path=place, reason=reason))
    links = tuple(pages[category] for category in item.categories if category in pages)
    skill = bool(links) and all(page.track is Track.SKILL for page in links)
    title = _one_line(item.source_caption) or _one_line(item.source_url.rsplit("/", 1)[-1]) or _UNTITLED
    folder = slugify(item.source_url) if item.source_url.strip() else "general"
    return Told(
        id=_fit(item.id),
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


def _one_line(text: str) -> str:
    return " ".join(_mend(text).split())


def _moment(time: datetime | None) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") if time else ""


def _fit(given: str) -> str:
    """An id as it is, if the store can hold it."""
    return given if len(given) <= 64 and not _BROKEN.search(given) else _digest(given)


def _file_part(given: str) -> str:
    return given if _SAFE.fullmatch(given) else _digest(given)[:32]


def _digest(given: str) -> str:
    return hashlib.sha256(given.encode("utf-8", errors="surrogatepass")).hexdigest()
