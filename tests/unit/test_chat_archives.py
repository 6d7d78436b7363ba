"""Chats in a zip: read in place and within bounds; anything else in one is left with a reason (P5, P11, F11)."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from memu.errors import ReadError
from memu.ingest.chats.archive import NO_CHATS, is_archive, read_archive
from memu.ingest.document import Document
from memu.records import Kind

pytestmark = pytest.mark.unit

MOST = 1 << 20
NOON = 1_700_000_000


def pack(members: dict[str, object]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return held.getvalue()


def read(members: dict[str, object], most: int = MOST) -> Document:
    data = pack(members)
    assert is_archive("export.zip", data)
    document = read_archive("export.zip", data, most)
    assert document.kind is Kind.CHAT
    assert all(block.lines is None and block.place for block in document.blocks)
    return document


def said(document: Document) -> list[tuple[tuple[str, ...], str | None, str]]:
    return [(block.heading, block.speaker or block.role, block.text) for block in document.blocks]


def slack(second: int, user: str, text: str, **more: object) -> dict[str, object]:
    return {"type": "message", "user": user, "text": text, "ts": f"{NOON + second}.000100", **more}


SLACK: dict[str, object] = {
    "users.json": [
        {"id": "U1", "name": "ob", "real_name": "Orla Byrne", "profile": {"display_name": "orla"}},
        {"id": "U2", "name": "tom", "profile": {"display_name": ""}},
    ],
    "channels.json": [{"id": "C1", "name": "ops"}],
    "ops/2023-11-15.json": [slack(90_000, "U2", "Yes, <@U1>, on Friday.", thread_ts=f"{NOON}.000100")],
    "ops/2023-11-14.json": [slack(0, "U1", "Shall we move the queue?")],
    "random/2023-11-14.json": [slack(1, "U9", "Cake in the kitchen.")],
    "integration_logs.json": [{"user_id": "U1", "date": "1"}],
}


def test_a_slack_export_knows_people_and_threads_over_all_days() -> None:
    assert said(read(SLACK)) == [
        (("ops",), "orla", "Shall we move the queue?"),
        (("ops", "Thread of orla, 2023-11-14 22:13"), "tom", "Yes, @orla, on Friday."),
        (("random",), "U9", "Cake in the kitchen."),
    ]


CLAUDE = [{"uuid": "aa11", "name": "Moving", "chat_messages": [{"sender": "human", "text": "I moved to Oslo."}]}]
TELEGRAM = {
    "name": "Boat club",
    "type": "private_group",
    "id": 4242,
    "messages": [{"id": 2, "type": "message", "date_unixtime": str(NOON), "from": "Orla", "text": "The crane."}],
}
PHONE = "\n".join(f"25.05.23, 15:4{n} - Orla: Message {n} here" for n in range(3))
OTHERS: dict[str, tuple[dict[str, object], tuple[str, ...], int]] = {
    "claude": ({"conversations.json": CLAUDE, "users.json": []}, ("Moving",), 1),
    "telegram": (
        {"ChatExport/result.json": TELEGRAM, "ChatExport/photos/1.jpg": b"\xff\xd8\xff"},
        ("Boat club",),
        1,
    ),
    "phone": ({"_chat.txt": PHONE, "00001-PHOTO.jpg": b"\xff\xd8\xff"}, ("export",), 3),
}


@pytest.mark.parametrize(("members", "heading", "count"), OTHERS.values(), ids=OTHERS)
def test_other_exports_are_read_as_they_are_unpacked(
    members: dict[str, object], heading: tuple[str, ...], count: int
) -> None:
    document = read(members)
    assert [block.heading for block in document.blocks] == [heading] * count
    assert len({block.place for block in document.blocks}) == count


WITHOUT_CHATS: dict[str, dict[str, object]] = {
    "nothing": {},
    "notes": {"readme.txt": "Nothing here.", "data.json": {"a": 1}},
    "program": {"app.exe": b"MZ", "lib/x.py": "print(1)"},
    "a zip in a zip": {"inner.zip": pack(SLACK)},
    "hidden": {"__MACOSX/._x": b"", ".conversations.json": CLAUDE},
}


@pytest.mark.parametrize("members", WITHOUT_CHATS.values(), ids=WITHOUT_CHATS)
def test_an_archive_without_chats_says_what_to_do(members: dict[str, object]) -> None:
    with pytest.raises(ReadError, match="unpack it"):
        read(members)
    assert "unpack" in NO_CHATS


def test_what_unpacks_to_too_much_is_passed_over_and_counted() -> None:
    bomb = b"[" + b" " * (4 * MOST)
    document = read({**SLACK, "ops/2023-11-16.json": bomb})
    assert len(document.blocks) == 3
    assert dict(document.damage)["too_large_member"] == 1
    many = {f"ops/{number:04}.json": b" " * MOST for number in range(80)}
    with pytest.raises(ReadError, match="64 MiB"):
        read({**many, **SLACK})


def test_no_member_is_written_anywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path.cwd().parent.iterdir())
    document = read(
        {
            "../../../escape/2023-11-14.json": [slack(0, "U1", "Out.")],
            "/etc/2023-11-15.json": [slack(1, "U1", "In.")],
        }
    )
    assert {block.text for block in document.blocks} == {"Out.", "In."}
    assert sorted(Path.cwd().parent.iterdir()) == before


def test_a_locked_archive_says_so() -> None:
    data = bytearray(pack(SLACK))
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    with pytest.raises(ReadError, match="encrypted"):
        read_archive("export.zip", bytes(data), MOST)


@pytest.mark.parametrize("part", range(0, 100, 4))
def test_a_damaged_archive_gives_a_reason_or_what_is_left(part: int) -> None:
    whole = pack(SLACK)
    known = {text for _, _, text in said(read(SLACK))}
    at = len(whole) * part // 100
    for broken in (whole[:at], whole[:at] + b"\xff\x00\xff" + whole[at + 3 :]):
        try:
            blocks = read_archive("export.zip", broken, MOST).blocks
        except ReadError:
            continue
        # The list of people may be what is lost.
        assert {block.text.replace("@U1", "@orla") for block in blocks} <= known


def _spoil(data: bytes, *names: str) -> bytes:
    """The archive with some members whose bytes are others than it says."""
    spoiled = bytearray(data)
    for info in zipfile.ZipFile(io.BytesIO(data)).infolist():
        if info.filename in names:
            start = info.header_offset + 30 + len(info.filename)
            spoiled[start : start + info.compress_size] = bytes(info.compress_size)
    return bytes(spoiled)


def test_an_archive_of_damaged_members_says_so_and_names_them() -> None:
    data = pack({"conversations.json": CLAUDE, "more/result.json": TELEGRAM, "readme.txt": "Nothing."})
    with pytest.raises(ReadError, match=r"damaged.* 2 of its members \(conversations.json, more/result.json\)"):
        read_archive("export.zip", _spoil(data, "conversations.json", "more/result.json"), MOST)
    with pytest.raises(ReadError, match=r"damaged.* 1 of its members \(conversations.json\)"):
        read({"conversations.json": '{"nothing" here'})
    with pytest.raises(ReadError, match=r"too large: 1 of its members \(conversations.json\)"):
        read({"conversations.json": CLAUDE}, most=10)


def test_what_is_left_beside_damaged_members_is_read() -> None:
    data = _spoil(pack({**SLACK, "random/2023-11-15.json": [slack(2, "U9", "Tea.")]}), "random/2023-11-14.json")
    document = read_archive("export.zip", data, MOST)
    assert [block.text for block in document.blocks][-1] == "Tea."
    assert dict(document.damage) == {"unread_member": 1}


def test_an_odd_message_costs_no_day_and_no_channel_of_a_zip() -> None:
    days: dict[str, object] = {
        "ops/2023-11-14.json": [None, slack(0, "U1", "Shall we?"), {**slack(1, "U1", "Late."), "ts": "bad"}],
        "ops/2023-11-15.json": [{**slack(2, "U1", "When?"), "ts": None}],
    }
    document = read({**SLACK, **days})
    assert {"Shall we?", "Cake in the kitchen."} <= {block.text for block in document.blocks}
    assert dict(document.damage) == {"bad_record": 3}


def test_conversations_of_nearly_one_id_in_several_members_stay_two() -> None:
    keys = ("6f3a2b1c-83a4-4a17-a2c4-c0a3d9d9c0fe", "6f3a2b1c-99b0-4a17-a2c4-c0a3d9d9c0fe")
    members: dict[str, object] = {
        f"conversations-{n}.json": [{**CLAUDE[0], "uuid": key}] for n, key in enumerate(keys)
    }
    assert [block.place for block in read(members).blocks] == [
        "conversation 6f3a2b1c83a44a17, message 1",
        "conversation 6f3a2b1c99b04a17, message 1",
    ]
