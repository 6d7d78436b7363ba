"""Which sentences of a source say what a model worded: those go with the entry, and no others."""

from __future__ import annotations

import pytest

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.memorize.forget.carriers import Part, choose_parts, find_strong
from memu.memorize.forget.cited import cite_document, cite_passages
from memu.memorize.passages import cut_passages
from memu.records import LineSpan, MemoryType, Origin, RecallEntry, Track
from memu.tokens import text_key

pytestmark = pytest.mark.unit

LANTERN = "The blue lantern is hidden under the bridge in Oslo."
MASTER = "The harbour master decides who may enter."
NOON = "Ships report before noon."


def entry_on(first: int, last: int, text: str = "In Oslo a blue lantern lies under a bridge.") -> RecallEntry:
    return RecallEntry(
        id="e",
        resource_id="r",
        ordinal=0,
        memory_type=MemoryType.KNOWLEDGE,
        track=Track.MEMORY,
        text=text,
        text_key=text_key(text),
        lines=LineSpan(first, last),
        origin=Origin.MODEL,
    )


def cited(text: str, first: int, last: int, path: str = "a.md") -> tuple[list[str], bool]:
    source = Source(path=path, text=text)
    found = cite_document(find_reader(source).read(source), entry_on(first, last))
    return [part.text for part in found.parts], found.short


@pytest.mark.parametrize(
    ("entry", "parts", "others", "short", "chosen"),
    [
        # The one that says it, of a long span.
        ("A blue lantern lies under the bridge of Oslo.", [MASTER, LANTERN, NOON], (), False, [LANTERN]),
        # A date is the same however it is written.
        (
            "The bridge was closed on 4 March 2026.",
            ["It was closed that day.", "2026-03-04: Tom called about it."],
            (),
            False,
            None,
        ),
        # Of a short one all that nothing else rests on.
        ("A blue lantern lies under the bridge of Oslo.", [LANTERN, NOON], (), True, [LANTERN, NOON]),
        (
            "A blue lantern lies under the bridge of Oslo.",
            [LANTERN, NOON],
            ("Ships report by noon.",),
            True,
            [LANTERN],
        ),
        # Two sentences that say it together; a third that only shares a word with the first.
        (
            "Dora Hale keeps 14 spare keys in the shed.",
            [
                "Dora Hale has the spare keys.",
                "There are 14 of them in the shed.",
                "The keys of the car are lost.",
            ],
            (),
            False,
            ["Dora Hale has the spare keys.", "There are 14 of them in the shed."],
        ),
        # A number that only one of them has.
        ("The rent is 950 euros.", ["The rent went up again.", "It is 950 now for us."], (), False, None),
        # Another entry's own sentence does not go because it has a word that this one needs.
        (
            "Mira Holt drinks green tea.",
            ["Mira Holt moved to Bergen.", "She drinks only green tea."],
            ("Mira Holt lives in Bergen since she moved.",),
            True,
            ["She drinks only green tea."],
        ),
        # Nothing in common: in doubt all of it.
        ("Die Laterne ist versteckt.", [LANTERN, NOON], (), False, [LANTERN, NOON]),
        # What says too little by itself is never forgotten by itself.
        (
            "Yes, the door is green.",
            ["Yes.", "The door is painted green."],
            (),
            True,
            ["The door is painted green."],
        ),
        (
            "灯笼藏在桥下。",
            ["蓝色的灯笼藏在奥斯陆的桥下面。", "船在中午之前报到。"],
            (),
            False,
            ["蓝色的灯笼藏在奥斯陆的桥下面。"],
        ),
    ],
)
def test_the_parts_that_say_it_go(
    entry: str, parts: list[str], others: tuple[str, ...], short: bool, chosen: list[str] | None
) -> None:
    found = choose_parts(entry, [Part(text) for text in parts], others, short=short)
    assert list(found) == (parts if chosen is None else chosen)


def test_a_heading_goes_only_where_it_says_it_by_itself() -> None:
    body = Part("They go out on Tuesdays at nine.")
    assert find_strong("Deploys go out on Tuesdays.", [Part("Deploys", heading=True), body]) == {1}
    said = Part("Deploys go out on Tuesdays", heading=True)
    assert find_strong("Deploys go out on Tuesdays.", [said, body]) == {0, 1}


TEXT = (
    f"# Harbour\n\n{MASTER}\n{LANTERN} {NOON}\n\n"
    "- one two three\n- four five six\n\nThe boats lie\nin the shed. Last.\n"
)


@pytest.mark.parametrize(
    ("first", "last", "parts", "short"),
    [
        (4, 4, [LANTERN, NOON], True),
        (3, 4, [MASTER, LANTERN, NOON], True),
        (6, 7, ["one two three", "four five six"], True),
        # A sentence that runs on into other lines is cited whole; what follows it there is not.
        (9, 9, ["The boats lie in the shed."], True),
        (3, 9, [MASTER, LANTERN, NOON, "one two three", "four five six", "The boats lie in the shed."], False),
        (40, 41, [], True),
    ],
)
def test_an_entry_cites_the_sentences_of_its_lines_and_no_other(
    first: int, last: int, parts: list[str], short: bool
) -> None:
    assert cited(TEXT, first, last) == (parts, short)


def test_of_a_paragraph_in_one_line_only_what_says_it_goes() -> None:
    line = f"{MASTER} {LANTERN} {NOON} The keeper paints the doors. Gulls are fed at dusk."
    assert cited(f"# A\n\n{line}\n", 3, 3)[1] is False


def test_where_lines_matter_lines_are_cited() -> None:
    assert cited("# A\n\n```sh\nmake one\nmake two\nmake three\n```\n", 5, 5) == (["make two"], True)
    said = "\\n".join(f"line number {number} of it" for number in range(6))
    chat = f'{{"role": "user", "content": "{said}"}}\n'
    assert cited(chat, 1, 1, "chat.jsonl") == ([f"line number {number} of it" for number in range(6)], False)


@pytest.mark.parametrize("first", [3, 4])
def test_a_source_that_is_gone_is_cited_from_its_passages(first: int) -> None:
    """No sentence of the lines is missing; there may be some of the lines beside them, and none from far away."""
    source = Source(
        path="a.md", text=f"{TEXT}\n" + "".join(f"Filler number {n} stands here.\n\n" for n in range(90))
    )
    document = find_reader(source).read(source)
    passages = cut_passages(document, "a.md")
    exact = {part.text for part in cite_document(document, entry_on(first, first)).parts}
    found = cite_passages(passages, entry_on(first, first))
    assert exact <= {part.text for part in found.parts}
    assert not found.short
    assert not any("Filler number 50" in part.text for part in found.parts)
