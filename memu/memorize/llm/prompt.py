"""What a model is asked about one chunk: short instructions, the names of pages that stand, the fenced lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memu.ingest.document import Document
from memu.memorize.llm.chunks import Chunk
from memu.memorize.prompt_files import load_prompt
from memu.providers.protocols import ChatMessage
from memu.records import MemoryType
from memu.tokens import index_terms

__all__ = ["SCHEMA", "ask_about"]

_NAME_CHARS = 400
_LINE_CHARS = 160

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "entries": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "enum": [each.value for each in MemoryType]},
                    "text": {"type": "string"},
                    "page": {"type": "string"},
                    "lines": {"type": "array", "items": {"type": "integer"}},
                    "step": {"type": ["integer", "null"]},
                    "time": {"type": ["string", "null"]},
                },
                "required": ["type", "text", "page", "lines"],
            },
        }
    },
    "required": ["entries"],
}


def ask_about(
    document: Document, path: str, chunk: Chunk, names: Sequence[str], *, teaches: bool, fault: str = ""
) -> tuple[ChatMessage, ...]:
    """The messages that ask for the entries of a chunk.

    Every line of the source bears its number, so none of them can end the fence it stands in.

    Args:
        names: of pages that stand; a bounded number is shown, first those that share words with the chunk.
        teaches: whether the source may give skills and rules.
        fault: what was wrong with the last reply, "" the first time.
    """
    title = f' "{_one_line(document.title)}"' if document.titled else ""
    dated = f", {document.happened_at.date().isoformat()}" if document.happened_at else ""
    parts = [f"Source: {_one_line(path)} ({document.kind.value}{dated}){title}"]
    offered = _choose(names, chunk)
    if offered:
        parts.append(f"Pages that stand: {'; '.join(offered)}")
    if not teaches:
        parts.append("This source may give no skill and no rule.")
    parts.append(f"<source>\n{chunk.show()}\n</source>")
    if fault:
        parts.append(f"Your last reply could not be used: {_one_line(fault, 400)}. Reply again.")
    return (
        ChatMessage(role="system", content=load_prompt("extract").text),
        ChatMessage(role="user", content="\n".join(parts)),
    )


def _choose(names: Sequence[str], chunk: Chunk) -> list[str]:
    """The names that share most of their words with the chunk, up to a bound; in the order of the alphabet."""
    if not names:
        return []
    said = set(index_terms(chunk.plain))
    shares = {name: _share(name, said) for name in names}
    chosen: list[str] = []
    room = _NAME_CHARS
    for name in sorted(shares, key=lambda each: (-shares[each], each)):
        room -= len(name) + 2
        if room < 0:
            break
        chosen.append(_one_line(name))
    return sorted(chosen)


def _share(name: str, said: set[str]) -> float:
    terms = set(index_terms(name.partition("/")[2]))
    return len(terms & said) / len(terms) if terms else 0.0


def _one_line(text: str, most: int = _LINE_CHARS) -> str:
    return " ".join(text.split())[:most]
