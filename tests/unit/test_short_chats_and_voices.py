"""Chats of one or two messages, and cues in which several speak: who said what (P4, P6)."""

from __future__ import annotations

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.records import Kind

STAMPS = [
    "[25.05.23, 15:48:1{}] ", "[5/25/23, 3:48:1{} PM] ", "5/25/23, 3:4{} PM - ", "25.05.23, 15:4{} - ",
    "25/05/2023, 15:4{} - ", "\u200e[25/05/2023, 15:48:1{}] ", "[2023/5/25 下午3:48:1{}] ",
    "2023/5/25 오후 3:4{} - ", "[25.5.2023 klo 15.48.1{}] ",
]  # fmt: skip
NAMES = ["Orla Byrne", "~ Tom", "+353 1 555 0000", "李明"]


def read(text: str, path: str = "chat.txt") -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def said(document: Document) -> list[tuple[str | None, str]]:
    return [(block.speaker, block.text) for block in document.blocks]


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("opened", ["", "Messages and calls are end-to-end encrypted."])
def test_one_message_is_a_chat(stamp: str, name: str, count: int, opened: str) -> None:
    lines = [stamp.format(0) + opened] if opened else []
    lines += [f"{stamp.format(n)}{name}: The crane is serviced in May {n}." for n in range(count)]
    document = read("\n".join(lines) + "\n")
    assert document.kind is Kind.CHAT
    assert said(document) == [
        (name.removeprefix("~ "), f"The crane is serviced in May {n}.") for n in range(count)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "25.05.23, 15:48 - server: started\n",
        "25.05.23 15:48 - Server: started\n",
        "[2023/05/25 15:48:10] Worker: started\n[2023/05/25 15:48:11] Worker: done\n",
        "2023-05-25 15:48 - Worker: started\n",
        "2023-05-25, 15:48 - ERROR: failed\n",
        "25.05.23, 15:48 - Info: disk at 80 %\n",
        "5/25/23, 3:40 PM - Note: bring the plans\n",
        "Notes of May\n\n5/25/23, 3:40 PM - Orla: one message quoted.\n",
        "5/25/23, 3:40 PM - GET /a=b: 200\n",
        "5/25/23, 3:40 PM - Orla: hello\n" + "A line of the paper that follows it.\n" * 12,
    ],
)
def test_a_line_of_a_log_or_note_is_none(text: str) -> None:
    assert find_reader(Source(path="a.txt", text=text)).name != "phone_chat"


HEAD = "WEBVTT\n\n00:01.000 --> 00:04.000\n"


@pytest.mark.parametrize("joint", ["", " ", "\n", " - ", "\n- "])
@pytest.mark.parametrize("first", ["<v.loud Ann Lee>", "- <v Ann Lee>", "<v Ann&#32;Lee>"])
@pytest.mark.parametrize("end", ["</v>", ""])
def test_each_voice_of_a_cue_is_a_turn_of_its_own(joint: str, first: str, end: str) -> None:
    text = f"{HEAD}{first}We decided to sell the dinghy.{end}{joint}<v Ben>I will call the yard by Monday.{end}\n"
    document = read(text, "m.vtt")
    found = [(block.speaker, block.text.rstrip(" -")) for block in document.blocks]
    assert found == [("Ann Lee", "We decided to sell the dinghy."), ("Ben", "I will call the yard by Monday.")]
    for block in document.blocks:
        assert block.lines is not None
        raw = text.split("\n")[block.lines.start - 1 : block.lines.end]
        assert block.text.rstrip(" -") in "\n".join(raw)


def test_what_stands_outside_of_voices_is_nobodys() -> None:
    text = f"{HEAD}[door] <v Ann>It is late.</v> All leave. <v Ben>Good night,\nall of you.</v>\nThe end.\n"
    assert said(read(text, "m.vtt")) == [
        (None, "[door]"),
        ("Ann", "It is late."),
        (None, "All leave."),
        ("Ben", "Good night, all of you."),
        (None, "The end."),
    ]
