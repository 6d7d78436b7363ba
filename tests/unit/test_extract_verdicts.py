"""What was marked as decided or to be done has that type, in every language and form; mere talk has not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.policies import extract
from memu.records import Kind, MemoryType

pytestmark = pytest.mark.unit

DECISION, ACTION = MemoryType.DECISION, MemoryType.ACTION


def in_txt(line: str) -> str:
    return f"Ann: Three things are on the table.\nBob: {line}\nAnn: That is a lot.\nBob: It is.\nAnn: Yes.\n"


def in_vtt(line: str) -> str:
    return (
        f"WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ann>Morning.\n\n00:04.000 --> 00:08.000\n<v Bob>{line}\n\n"
        "00:09.000 --> 00:11.000\n<v Ann>Thanks.\n"
    )


def in_srt(line: str) -> str:
    return f"1\n00:00:01,000 --> 00:00:03,000\nAnn: Morning.\n\n2\n00:00:04,000 --> 00:00:08,000\nBob: {line}\n"


def in_minutes(line: str) -> str:
    return f"# Board meeting minutes\n\n## Attendees\n\n- Ann\n- Bob\n\n## Topics\n\n{line}\n"


def types(text: str, path: str) -> dict[str, MemoryType]:
    source = Source(path=path, text=text)
    document = find_reader(source).read(source)
    return {one.text: one.memory_type for one in extract(document, path).candidates}


MARKED = [
    ("Decision: we go with Postgres 16.", DECISION),
    ("DECISION - the Rook budget is frozen.", DECISION),
    ("Agreed: Heron pier closes in May.", DECISION),
    ("So it's settled, we use RabbitMQ.", DECISION),
    ("Let's not ship on Friday; we ship Tuesday instead.", DECISION),
    ("Beschluss: Der Steg bleibt im Mai zu.", DECISION),
    ("Entscheidung - wir bleiben bei Postgres.", DECISION),
    ("Acuerdo: usamos Postgres desde mayo.", DECISION),
    ("Decisión – el muelle se cierra en mayo.", DECISION),
    ("决定：我们使用新的数据库。", DECISION),
    ("Action: Dana to tell the harbour master.", ACTION),
    ("TODO - write the runbook for the pier.", ACTION),
    ("Aufgabe: Dana ruft die Bank an.", ACTION),
    ("Tarea: Dana llama al banco.", ACTION),
    ("待办：小王给银行打电话。", ACTION),
]


@pytest.mark.parametrize(("form", "path"), [(in_txt, "m.txt"), (in_vtt, "m.vtt"), (in_srt, "m.srt")])
@pytest.mark.parametrize(("line", "memory_type"), MARKED)
def test_a_marked_statement_of_a_meeting(
    form: Callable[[str], str], path: str, line: str, memory_type: MemoryType
) -> None:
    assert memory_type in types(form(line), path).values()


@pytest.mark.parametrize(("line", "memory_type"), MARKED)
def test_a_marked_statement_of_minutes(line: str, memory_type: MemoryType) -> None:
    assert types(in_minutes(line), "minutes.md")[line] is memory_type


LISTS = """
- Decisions
  - Raise the mooring fee to 40 euros
- Action items
  - Dana: tell the bank by 10 June
  - Boats
    - Eli: repair the hull of the ferry
- [ ] Eli: post the ad in the paper
- Weather
  - It was windy on both of the days
"""


@pytest.mark.parametrize("text", [in_minutes(LISTS), f"# Harbour board\n\nNotes of the week.\n{LISTS}"])
def test_a_list_below_a_bullet_that_names_its_sort(text: str) -> None:
    found = types(text, "notes.md")
    assert found["Raise the mooring fee to 40 euros"] is DECISION
    actions = {text for text, memory_type in found.items() if memory_type is ACTION}
    assert {each.removeprefix("[ ] ")[:4] for each in actions} == {"Dana", "Eli:"}
    assert len(actions) == 3


def test_a_long_list_of_decisions_is_kept_whole() -> None:
    items = [f"The pier of the {n}th quay stays open in winter" for n in range(4, 16)]
    text = "# Board\n\nDecisions:\n\n" + "".join(f"- {item}\n" for item in items)
    assert types(text, "board.md") == dict.fromkeys(items, DECISION)


BINDS = [
    "I'll send the papers to the bank.",
    "Ann will call the harbour master on Monday.",
    "That is assigned to Bob since the last round.",
    "We need to close the books by Friday.",
    "Ich kümmere mich um die neuen Papiere.",
    "Ann übernimmt den Brief an die Bank.",
    "Yo me encargo de los papeles del banco.",
    "我来给银行发新的文件。",
]
TALK = [
    "We need to discuss the plan for the pier.",
    "Based on that, I think we can have 3 boats ready by Friday.",
    "The ferry should be ready by Wednesday 12 May.",
    "I'll need at least 3 days for the test.",
    "So if that works, I will be done with 4 of them.",
    "It will be 14 degrees in the hall.",
    "Wenn das klappt, werde ich 3 Tage brauchen.",
    "Creo que voy a tener 3 barcos.",
    "如果顺利，我会在3天内完成。",
]


@pytest.mark.parametrize(("lines", "wanted"), [(BINDS, True), (TALK, False)])
def test_only_what_binds_somebody_is_an_action(lines: list[str], wanted: bool) -> None:
    for line in lines:
        assert (ACTION in types(in_txt(line), "m.txt").values()) is wanted, line


def test_a_line_that_opens_with_a_label_is_no_speaker_of_all_that_follows() -> None:
    text = in_txt("Morning.") + "Decision: we go with Redis. It costs 3 euros a day.\n"
    source = Source(path="m.txt", text=text)
    document = find_reader(source).read(source)
    assert document.kind is Kind.MEETING
    found = {one.text: one.memory_type for one in extract(document, "m.txt").candidates}
    assert found["we go with Redis."] is DECISION
    assert found["It costs 3 euros a day."] is not DECISION
