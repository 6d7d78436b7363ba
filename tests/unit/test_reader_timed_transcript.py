"""Transcripts with the speaker and the time on a line of their own: who said what, and when (P4)."""

from __future__ import annotations

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.formats import explain_suffix
from memu.ingest.reader import find_reader
from memu.records import Kind

STAMPS = [
    "{}   0:0{}",
    "{} 00:00:0{}",
    "{}  0:00:0{}  ",
    "[{}] 00:00:0{}",
    "**{}**   0:0{}",
    "{}\u00a0\u00a00:0{}",
]
SAID = [
    ("Ann Lee", "We decided to sell the dinghy.\nIt leaks."),
    ("Ben van der Roe (Guest)", "I will call the yard by Monday."),
    ("李明", "好的。"),
    ("Ann Lee", "Good.\n\nThen: until Monday at 9:30"),
]


def read(text: str, path: str = "meeting.txt") -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def write(stamp: str, joint: str, count: int = len(SAID)) -> str:
    turns = ((f"{stamp.format(name, number)}\n{words}") for number, (name, words) in enumerate(SAID[:count]))
    return joint.join(turns) + "\n"


@pytest.mark.parametrize("stamp", STAMPS)
@pytest.mark.parametrize("joint", ["\n", "\n\n"])
@pytest.mark.parametrize("lead", ["", "Weekly meeting\nDate: 2024-03-04\n\n"])
@pytest.mark.parametrize("count", [2, 4])
def test_each_stamp_begins_a_turn(stamp: str, joint: str, lead: str, count: int) -> None:
    text = lead + write(stamp, joint, count)
    document = read(text)
    assert document.kind is Kind.MEETING
    turns = [block for block in document.blocks if block.speaker]
    assert [(block.speaker, block.text) for block in turns] == [
        (name, " ".join(words.split())) for name, words in SAID[:count]
    ]
    assert [(block.place or "")[-1] for block in turns] == list(map(str, range(count)))
    assert bool(lead) is (document.happened_at is not None)
    lines = text.split("\n")
    for block in turns:
        assert block.lines is not None
        assert block.text in " ".join(" ".join(lines[block.lines.start - 1 : block.lines.end]).split())


@pytest.mark.parametrize(
    "text",
    [
        "Intro 0:00\nSetup 1:30\nQuestions 5:10\n",
        "".join(f"{name} {at}:00\nAbout it.\n" for at, name in enumerate(["Intro", "Setup", "Use", "End"])),
        "Breakfast 7:30\nwith the crew\nlunch 12:00\nashore\n",
        "Train 9:30\nto Cork\nBus 8:15\nback\n",
        "Ann Lee 0:02\nOne line is none.\n",
        "The start was at 0:02\nand so on\nThe end was at 0:03\nand so on\n",
    ],
)
def test_chapters_and_timetables_are_none(text: str) -> None:
    assert find_reader(Source(path="a.txt", text=text)).name != "timed_transcript"


@pytest.mark.parametrize("name", ["Plan.SVG", "plan.svgz"])
def test_a_drawing_is_no_image_that_a_model_would_look_at(name: str) -> None:
    assert explain_suffix(name) == "drawing (SVG): the words in it are not read, and no model looks at it"
