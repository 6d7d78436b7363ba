"""An export made again is an edit: what stood keeps its ids, words and vectors, wherever it stands now (P3, P7).

The file stays one source; its conversations are told apart by place and heading, never by where they stand.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from support.stores import Bench, on_both

pytestmark = pytest.mark.e2e

Talks = dict[str, list[str]]
NOON = 1_700_000_000
KEYS = {"Moving": "aa11bb22cc33", "Bicycles": "dd44ee55ff66", "Umzug": "cc77dd88ee99"}

BEFORE: Talks = {
    "Moving": ["I moved to Oslo in May with my two cats.", "The flat is by the harbour and rather cold."],
    "Bicycles": ["My bike is a red tandem from the year 1980."],
}
AFTER: Talks = {
    # Newest first, as apps export them, and in another language than the rest.
    "Umzug": ["Ich bin im Herbst nach Bergen umgezogen und wohne jetzt in der Nähe der Universität."],
    "Bicycles": [*BEFORE["Bicycles"], "I sold the tandem to a friend in Bergen."],
    "Moving": BEFORE["Moving"],
}


def chatgpt(talks: Talks) -> str:
    trees = []
    for title, said in talks.items():
        mapping: dict[str, Any] = {"0": {"id": "0", "message": None, "parent": None, "children": ["1"]}}
        for number, text in enumerate(said, 1):
            message = {
                "author": {"role": "user"},
                "create_time": NOON + 60 * number,
                "content": {"content_type": "text", "parts": [text]},
            }
            mapping[str(number)] = {
                "id": str(number),
                "message": message,
                "parent": str(number - 1),
                "children": [],
            }
        last = str(len(said))
        trees.append(
            {"title": title, "id": KEYS[title], "mapping": mapping, "current_node": last, "create_time": NOON}
        )
    return json.dumps(trees)


def claude(talks: Talks) -> str:
    return json.dumps(
        [
            {
                "uuid": KEYS[title],
                "name": title,
                "created_at": "2024-05-01T10:00:00Z",
                "chat_messages": [
                    {"sender": "human", "text": text, "created_at": f"2024-05-01T10:0{number}:00Z"}
                    for number, text in enumerate(said)
                ],
            }
            for title, said in talks.items()
        ],
        indent=1,
    )


def telegram(talks: Talks) -> str:
    chats = [
        {
            "name": title,
            "type": "personal_chat",
            "id": KEYS[title],
            "messages": [
                {
                    "id": number,
                    "type": "message",
                    "date_unixtime": str(NOON + number),
                    "from": "Orla",
                    "text": text,
                }
                for number, text in enumerate(said)
            ],
        }
        for title, said in talks.items()
    ]
    return json.dumps({"about": "Your data.", "personal_information": {}, "chats": {"list": chats}}, indent=1)


EXPORTS: dict[str, Callable[[Talks], str]] = {"chatgpt": chatgpt, "claude": claude, "telegram": telegram}
PATH = "exports/conversations.json"


def _known(bench: Bench) -> dict[tuple[Any, ...], Any]:
    """(kind, header or label, text) → id, of each entry and each passage of the source and of its entries."""
    passages = bench.read("SELECT id, header, text, language FROM passage WHERE file_id IS NULL")
    entries = bench.read("SELECT id, label, text FROM recall_entry")
    return {each[1:]: each[0] for each in (*passages, *entries)}


def _said(talks: Talks) -> set[str]:
    return {text for said in talks.values() for text in said}


def _vectors(bench: Bench) -> set[str]:
    """The passages with a vector, those of pages aside: a page's description counts its statements."""
    of_source = "SELECT id FROM passage WHERE file_id IS NULL"
    return {
        each for (each,) in bench.read(f"SELECT passage_id FROM passage_vector WHERE passage_id IN ({of_source})")
    }


@on_both
@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
async def test_a_later_export_keeps_what_stood(bench: Bench, export: Callable[[Talks], str]) -> None:
    bench.write({PATH: export(BEFORE)})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        before, vectors = _known(bench), _vectors(bench)
        bench.write({PATH: export(AFTER)})
        report = await memu.memorize_workspace(bench.work)
        assert (report.added, report.modified) == ((), (PATH,))
        after = _known(bench)
        shown = await memu.get(f"{PATH}#conversation-dd44ee55")
    assert before.items() <= after.items()
    assert vectors <= _vectors(bench)
    assert {text for key in after.keys() - before.keys() for text in key if text in _said(AFTER)} == _said(
        AFTER
    ) - _said(BEFORE)
    speaker = "Orla" if export is telegram else "user"
    assert shown.text == "\n\n".join(["## Bicycles", *(f"{speaker}: {text}" for text in AFTER["Bicycles"])])
    pages = bench.trees()
    bench.remove()
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
    assert bench.trees() == pages


@on_both
async def test_what_a_conversation_alone_said_goes_with_it(bench: Bench) -> None:
    bench.write({PATH: chatgpt(AFTER)})
    async with bench.open() as memu:
        await memu.memorize_workspace(bench.work)
        assert bench.holding("tandem")
        bench.write({PATH: chatgpt({"Moving": AFTER["Moving"]})})
        await memu.memorize_workspace(bench.work)
    assert bench.holding("tandem") == []
    assert not any(b"tandem" in content for content in bench.trees().values())


async def test_a_zip_is_a_source_like_any_other(bench: Bench) -> None:
    def pack(talks: Talks) -> bytes:
        held = io.BytesIO()
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("conversations.json", chatgpt(talks))
            archive.writestr("user.json", "{}")
        return held.getvalue()

    bench.write({"notes.md": "# Notes\n\n- The gate opens at noon.\n"})
    (bench.work / "export.zip").write_bytes(pack(BEFORE))
    (bench.work / "photos.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    async with bench.open() as memu:
        report = await memu.memorize_workspace(bench.work)
        assert {each.path: each.reason.partition(":")[0] for each in report.skipped} == {"photos.zip": "archive"}
        before = _known(bench)
        hits = (await memu.retrieve_workspace("red tandem bike", layers=["entry"])).hits
        assert (hits[0].path, hits[0].lines, hits[0].title) == ("export.zip", None, "export")
        assert hits[0].place is not None
        (bench.work / "export.zip").write_bytes(pack(AFTER))
        await memu.memorize_workspace(bench.work)
        assert before.items() <= _known(bench).items()
        health = await memu.examine(thorough=True)
        assert health.ok, health.findings
