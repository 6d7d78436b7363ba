"""The languages of a file that holds conversations: each has its own, so that another one more changes none."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from memu.ingest.chats.conversation import read_conversation
from memu.ingest.document import Document
from memu.tokens import detect_language

__all__ = ["LANGUAGES", "find_languages", "language_at"]

LANGUAGES = "languages"
"""The fact of a source that tells the language of each of its conversations ("" where it is unsure)."""

_SAMPLE = 6000


def find_languages(document: Document) -> Mapping[str, str]:
    """Conversation → ISO 639-1 code, "" where it is unsure; nothing for what holds no conversations."""
    if not document.conversations:
        return {}
    texts: defaultdict[str, list[str]] = defaultdict(list)
    sizes: defaultdict[str, int] = defaultdict(int)
    for block in document.blocks:
        key = read_conversation(block.place)
        if key is not None and sizes[key] < _SAMPLE:
            texts[key].append(block.text)
            sizes[key] += len(block.text)
    return {key: detect_language("\n".join(said)[:_SAMPLE]) or "" for key, said in texts.items()}


def language_at(languages: object, place: str | None, otherwise: str | None) -> str | None:
    """The language of what stands at a place; ``otherwise`` where the source has one language."""
    key = read_conversation(place) if isinstance(languages, Mapping) and languages else None
    told = languages.get(key) if isinstance(languages, Mapping) and key is not None else None
    return (told or None) if isinstance(told, str) else otherwise
