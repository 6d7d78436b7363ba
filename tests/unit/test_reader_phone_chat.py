"""Chats exported from a phone: one turn a message, with who spoke and, where the date is clear, when (F11)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.records import Kind, LineSpan

pytestmark = pytest.mark.unit

STAMPS = {
    "ios": "[25.05.23, 15:48:1{}] ",
    "ios us": "[5/25/23, 3:48:1{} PM] ",
    "android": "5/25/23, 3:4{} PM - ",
    "android german": "25.05.23, 15:4{} - ",
    "narrow space": "5/25/23, 3:4{}\u202fPM - ",
    "year first": "[2023/5/25, 15:48:1{}] ",
    "left to right": "\u200e[25/05/2023, 15:48:1{}] ",
    "half before": "[2023/5/25 下午3:48:1{}] ",
    "half before, korean": "2023/5/25 오후 3:4{} - ",
    "half spelled": "25/5/23, 3:4{} p. m. - ",
    "klo": "[25.5.2023 klo 15.48.1{}] ",
}


def read(text: str, path: str = "chat.txt") -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def said(document: Document) -> list[tuple[str | None, str]]:
    return [(block.speaker, block.text) for block in document.blocks]


@pytest.mark.parametrize("stamp", STAMPS.values(), ids=STAMPS)
@pytest.mark.parametrize("path", ["chat.txt", "WhatsApp Chat with Orla", "_chat.text"])
def test_each_message_is_a_turn_of_its_speaker(stamp: str, path: str) -> None:
    lines = [
        stamp.format(0) + "Messages and calls are end-to-end encrypted.",
        stamp.format(1) + "Orla Byrne: The crane is serviced in May.",
        "And the gate in June.",
        "",
        "- bring the long ladder",
        stamp.format(2) + "~ Tom: I moved to Cork: a flat by the harbour.",
        stamp.format(3) + "+353 1 555 0000: <Media omitted>",
        stamp.format(4) + "Orla Byrne: Good to know.",
        stamp.format(5) + "Tom left",
    ]
    document = read("\n".join(lines) + "\n", path)
    assert document.kind is Kind.CHAT
    assert said(document) == [
        ("Orla Byrne", "The crane is serviced in May.\nAnd the gate in June.\n\n- bring the long ladder"),
        ("Tom", "I moved to Cork: a flat by the harbour."),
        ("Orla Byrne", "Good to know."),
    ]
    first: Block = document.blocks[0]
    assert first.kind is BlockKind.TURN
    assert first.lines == LineSpan(2, 5)
    assert first.time is not None
    assert (first.time.date().isoformat(), first.time.hour) == ("2023-05-25", 15)


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (("05.06.23", "25.06.23", "26.06.23"), datetime(2023, 6, 5, 9, 5, tzinfo=UTC)),
        (("5/6/23", "5/26/23", "5/27/23"), datetime(2023, 5, 6, 9, 5, tzinfo=UTC)),
        (("5/6/23", "5/7/23", "5/8/23"), None),
        (("5/5/23", "5/7/23", "5/8/23"), datetime(2023, 5, 5, 9, 5, tzinfo=UTC)),
        (("03/04/23", "04/04/23", "01/05/23"), datetime(2023, 4, 3, 9, 5, tzinfo=UTC)),
        (("3/4/23", "4/2/23", "5/1/23"), datetime(2023, 3, 4, 9, 5, tzinfo=UTC)),
        (("3/4/23", "2/3/23", "3/2/23"), None),
        (("05.06.23", "06.06.23", "07.06.23"), datetime(2023, 6, 5, 9, 5, tzinfo=UTC)),
        (("25/6/23", "6/25/23", "1/2/23"), None),
    ],
)
def test_a_time_only_where_the_file_tells_the_order_of_its_dates(
    dates: tuple[str, ...], expected: datetime | None
) -> None:
    document = read("\n".join(f"{date}, 09:05 - Name {n}: Words {n}" for n, date in enumerate(dates)))
    assert document.blocks[0].time == expected


@pytest.mark.parametrize(
    "hour", [("12:05 AM", 0), ("12:05 pm", 12), ("1:05 p.m.", 13), ("11:05_AM", 11), ("23:05", 23)]
)
def test_hours_of_both_clocks(hour: tuple[str, int]) -> None:
    document = read("\n".join(f"[1/25/23, {hour[0]}] Name {n}: Words {n}" for n in range(4)))
    assert [block.time.hour for block in document.blocks if block.time] == [hour[1]] * 4


@pytest.mark.parametrize(
    "text",
    [
        "Notes\n\n5/25/23, 3:40 PM - Orla: one message quoted.\n\nMore prose about it.\n" * 1,
        "25.05.23, 15:48 - server started\n25.05.23, 15:49 - server stopped\n25.05.23, 15:50 - done\n",
        "Alice: hello there\nBob: hi\nAlice: how are you\nBob: fine\n",
        "2026-11-30 10:00:00 INFO app: started\n" * 5,
    ],
)
def test_other_texts_are_left_to_other_readers(text: str) -> None:
    assert find_reader(Source(path="a.txt", text=text)).name != "phone_chat"


def test_days_and_months_of_one_figure() -> None:
    document = read("\n".join(f"[2023/5/{day}, 9:05:00] Name {day}: Words {day}" for day in range(1, 5)))
    assert [block.time.day for block in document.blocks if block.time] == [1, 2, 3, 4]


def test_what_an_iphone_writes_itself_is_no_message() -> None:
    lines = [
        "[25.05.23, 15:48:10] Boat club: \u200eMessages and calls are end-to-end encrypted.",
        "[25.05.23, 15:48:11] Orla: Look at this \u200e<attached: 00000002-PHOTO.jpg>",
        "\u200e[25.05.23, 15:48:12] Orla: \u200eimage omitted",
        "\u200e[25.05.23, 15:48:13] Tom: \u200e<attached: 00000003-AUDIO.opus>",
        "[25.05.23, 15:48:14] Tom: We sail on Friday \u200e<This message was edited>",
        "[25.05.23, 15:48:15] Orla: Good.",
    ]
    document = read("\n".join(lines), "WhatsApp Chat - Boat club/_chat.txt")
    assert said(document) == [("Orla", "Look at this"), ("Tom", "We sail on Friday"), ("Orla", "Good.")]
    assert (document.title, document.titled) == ("WhatsApp Chat - Boat club", False)


def test_what_android_leaves_in_the_place_of_a_file_is_no_message() -> None:
    lines = [
        "25/05/23, 3:48 pm - Orla: IMG-20230525-WA0001.jpg (file attached)",
        "25/05/23, 3:49 pm - Orla: The harbour",
        "25/05/23, 3:50 pm - Tom: null",
        "25/05/23, 3:51 pm - Tom: Nice.",
    ]
    assert said(read("\n".join(lines))) == [("Orla", "The harbour"), ("Tom", "Nice.")]
