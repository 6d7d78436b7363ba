"""``get`` of what is no text, or is gone, shows titles, headings, sheets and speakers."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from memu import MemoryService
from memu.records import Kind, Passage
from memu.retrieve.source_text import show_stored

pytestmark = pytest.mark.e2e

OFFICE = Path(__file__).parents[1] / "data" / "office"
SHOWN = {
    "test.docx": [
        "# AutoGen: Enabling Next-Gen LLM Applications via Multi-Agent Conversation",
        "## Abstract",
        "## Introduction",
    ],
    "test.xlsx": ["## Sheet1", "## 09060124-b5e7-4717-9d07-3c046eb"],
    "test.epub": ["# Test EPUB Document", "## Chapter 1: Test Content", "## Chapter 2: More Content"],
    "talk.pptx": ["# The pier in May", "## The pier in June"],
}


def make_slides() -> bytes:
    import pptx

    deck = pptx.Presentation()
    for month in ("May", "June"):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"The pier in {month}"
        slide.placeholders[1].text = f"The pier stays open on all days of {month}."
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


async def shown(folder: Path, reference: str) -> str:
    async with MemoryService.open(f"sqlite:///{folder.parent / 'm.sqlite3'}", encoder=None) as memu:
        await memu.memorize_workspace(folder)
        return (await memu.get(reference)).text


@pytest.mark.parametrize("name", SHOWN)
async def test_a_document_is_shown_under_its_headings(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / name).write_bytes(make_slides() if name == "talk.pptx" else (OFFICE / name).read_bytes())
    lines = (await shown(folder, name)).split("\n")
    at = [lines.index(heading) for heading in SHOWN[name]]
    assert at == sorted(at)
    assert all(lines.count(heading) == 1 for heading in SHOWN[name])


async def test_a_conversation_is_shown_with_who_said_what(tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()
    said = [("Ann", "The pier closes in May."), ("Bob", "Its planks are rotten."), ("Bob", "We use oak.")]
    messages = [
        {"id": n, "type": "message", "date": f"2024-05-0{n}T10:00:00", "from": who, "from_id": who, "text": text}
        for n, (who, text) in enumerate(said, 1)
    ]
    chat = {"name": "Harbour", "type": "private_group", "id": 17, "messages": messages}
    (folder / "result.json").write_text(json.dumps(chat), encoding="utf-8")
    assert (await shown(folder, "result.json#conversation-17")).split("\n\n") == [
        "## Harbour",
        *(f"{who}: {text}" for who, text in said),
    ]


async def test_of_conversations_with_nearly_one_id_each_is_shown_by_its_own_key(tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()
    said = {
        "6f3a2b1c-83a4-4a17-a2c4-c0a3d9d9c0fe": "The pier closes.",
        "6f3a2b1c-99b0-4a17-a2c4-c0a3": "We use oak.",
    }
    talks = [{"uuid": key, "chat_messages": [{"sender": "human", "text": text}]} for key, text in said.items()]
    (folder / "conversations.json").write_text(json.dumps(talks), encoding="utf-8")
    for key, text in zip(("6f3a2b1c83a44a17", "6f3a2b1c99b04a17"), said.values(), strict=True):
        assert await shown(folder, f"conversations.json#conversation-{key}") == f"user: {text}"


def spoken(speaker: str, text: str, place: str, heading: str = "") -> Passage:
    header = "\n".join(filter(None, ("Talk", heading, "a b.json", "2024-05-01", speaker)))
    return Passage(id="", ordinal=0, header=header, text=text, heading=heading, place=place, kind=Kind.CHAT)


def test_a_long_turn_names_its_speaker_once_and_headings_come_where_they_change() -> None:
    passages = [
        spoken("Ann", "One.", "message 1", "Pier > May"),
        spoken("Ann", "Two.", "message 1", "Pier > May"),
        spoken("", "Three.", "message 2", "Pier > June"),
        spoken("Bob", "Four.", "message 3"),
        spoken("Bob", "Five.", "message 4", "Pier > May"),
    ]
    assert show_stored(passages, "a b.json", None, "Talk").split("\n\n") == [
        *("# Talk", "## Pier", "### May", "Ann: One.", "Two.", "### June", "Three.", "Bob: Four."),
        *("## Pier", "### May", "Bob: Five."),
    ]
