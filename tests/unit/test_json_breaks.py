"""JSON that is broken in the middle: what stands behind a break is read, what stands in none is as it was."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.ingest.readers.json_tree import Json, find_records, parse_json

pytestmark = pytest.mark.unit

SAID = [
    "Hello",
    "{x}",
    "[y], z",
    'he said "no"',
    "back\\slash",
    "two\nlines",
    "x: y",
    "é",
    "}, {",
    "well,",
    ":smile:",
]
LITERALS = {"true": True, "false": False, "null": None}
Record = dict[str, Any]


def flat(number: int, text: str) -> Record:
    return {"id": number, "text": text, "ok": True}


def chatgpt(number: int, text: str) -> Record:
    message = {"author": {"role": "user", "metadata": {}}, "content": {"content_type": "text", "parts": [text]}}
    nodes = [{"id": f"n{n}", "message": {"id": f"n{n}", **message}, "parent": f"n{n - 1}"} for n in range(3)]
    mapping = {node["id"]: {**node, "children": []} for node in nodes}
    return {"title": text, "mapping": mapping, "current_node": "n2", "conversation_id": f"c{number}"}


def claude(number: int, text: str) -> Record:
    message = {"text": text, "content": [{"type": "text", "text": text}], "sender": "human", "files": []}
    messages = [{"uuid": f"m{n}", **message} for n in range(3)]
    return {"uuid": f"u{number}", "name": text, "account": {"uuid": "a"}, "chat_messages": messages}


def slack(number: int, text: str) -> Record:
    block = {"type": "rich_text", "elements": [{"type": "section", "elements": [{"type": "text", "text": text}]}]}
    return {"user": "U1", "type": "message", "ts": f"17.{number}", "text": text, "blocks": [block], "n": number}


LAYOUTS: dict[str, Callable[[list[Record]], str]] = {
    "one line": json.dumps,
    "dense": lambda records: json.dumps(records, separators=(",", ":"), ensure_ascii=False),
    "pretty": lambda records: json.dumps(records, indent=2),
    "a line each": lambda records: "[\n" + ",\n".join(map(json.dumps, records)) + "\n]",
    "held": lambda records: json.dumps({"name": "n", "type": "t", "messages": records}),
    "held, pretty": lambda records: json.dumps({"name": "n", "messages": records, "end": 1}, indent=1),
}


def value(node: Json) -> object:
    if node.form == "object":
        return {key.text: value(item) for key, item in zip(node.keys, node.items, strict=True)}
    if node.form == "array":
        return [value(item) for item in node.items]
    return node.text if node.form == "string" else LITERALS.get(node.text, node.text)


def items(text: str) -> list[Json]:
    root = parse_json(text).root
    held = root.get("messages") if root is not None and root.form == "object" else root
    return held.items if held is not None else []


def damaged(text: str, node: Json, chance: random.Random) -> str:
    """The text with some characters inside of one record lost, added or exchanged."""
    start = chance.randint(node.start + 1, node.end - 2)
    end = min(start + chance.choice([1, 1, 1, 2, 3, 10, 30]), node.end - 1)
    junk = "".join(chance.choice('"{}[]:,\\x1 \n') for _ in range(chance.choice([1, 1, 2, 3])))
    return chance.choice(
        [text[:start] + text[end:], text[:start] + junk + text[start:], text[:start] + junk + text[end:]]
    )


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("make", [flat, chatgpt, claude, slack])
def test_damage_in_one_record_leaves_all_others_as_they_are(
    make: Callable[[int, str], Record], layout: Callable[[list[Record]], str]
) -> None:
    for seed in range(25):
        chance = random.Random(seed)
        said = [" ".join(chance.choices(SAID, k=chance.randint(0, 4))) for _ in range(chance.randint(3, 7))]
        text = layout([make(number, each) for number, each in enumerate(said)])
        whole = items(text)
        hurt = chance.randrange(len(whole))
        broken = damaged(text, whole[hurt], chance)
        found = [value(each) for each in items(broken)]
        assert [value(each) for at, each in enumerate(whole) if at != hurt and value(each) not in found] == [], (
            broken
        )


BREAKS = {
    "a quote inside a string": ('"Two"', '"Tw"o"'),
    "a string without its end": ('"Two"', '"Two'),
    "a string without its beginning": ('"Two"', 'Two"'),
    "stray characters": ('"Two"', '"Two" oops'),
    "a lost colon": ('"text": "Two"', '"text" "Two"'),
    "a lost value": ('"Two"', ""),
    "a lost bracket": ('["b", 2]', '["b", 2'),
    "a lost brace": ('{"a": ["b", 2]}', '{"a": ["b", 2]'),
    "a bracket too many": ('["b", 2]', '["b", 2]]'),
    "a brace too many": ('{"a": ["b", 2]}', '{"a": ["b", 2]}}'),
    "a lost opening brace": ('{"a": ["b", 2]}', '"a": ["b", 2]}'),
    "a lost opening bracket": ('["b", 2]', '"b", 2]'),
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(("whole", "broken"), BREAKS.values(), ids=BREAKS)
def test_behind_a_break_its_own_record_goes_on(whole: str, broken: str, indent: int | None) -> None:
    said = ["One", "Two", "Three"]
    records = [{"text": text, "more": {"a": ["b", number + 1]}, "id": number} for number, text in enumerate(said)]
    text = json.dumps(records).replace("}, {", "},\n {" if indent else "}, {")
    parsed = parse_json(text.replace(whole, broken, 1))
    assert parsed.root is not None
    assert [each.read_text("id") for each in parsed.root.items] == ["0", "1", "2"]
    assert parsed.faults == {"bad_syntax": 1}
    assert (parsed.damage, parsed.closed) == ("bad_syntax", True)


@pytest.mark.parametrize(
    "text", ['{"name"x": "n", "items": [1], "end": {"a": 1}}', '{x, "items": [1], "end": {"a": 1}}']
)
def test_an_object_that_is_broken_at_its_beginning_is_read_on(text: str) -> None:
    parsed = parse_json(text)
    assert parsed.root is not None
    assert [key.text for key in parsed.root.keys] == ["items", "end"]


@pytest.mark.parametrize("indent", [None, 2])
def test_positions_behind_a_break_are_exact_and_texts_never_merge(indent: int | None) -> None:
    records = [{"text": f"Said {number}", "id": number} for number in range(6)]
    text = json.dumps(records, indent=indent).replace('"Said 1"', '"Said 1').replace('"Said 3"', '"Sa"id 3"')
    parsed = parse_json("  " + text, base=100)
    assert parsed.root is not None
    assert parsed.faults == {"bad_syntax": 2}
    texts = [each.get("text") for each in parsed.root.items]
    assert [each.text for each in texts if each] == ["Said 0", "Said 1", "Said 2", "Sa", "Said 4", "Said 5"]
    for each in texts:
        assert each is not None
        assert text[each.start - 102 : each.end - 102].strip('"') == each.text
    assert all(100 <= start <= end <= parsed.end for start, end in parsed.gaps)


@pytest.mark.parametrize(
    "text",
    [
        '[Notes](https://x.org) of {"role": "user"}, {"role": "user", "content": "x"}]',
        '[2024-01-02 10:00:00] {"level": "info", "a": 1}\n[2024-01-02 10:00:01] {"level": "info", "a": 1}',
        '{"a": 1}\n{"a": 2}',
        '{% if x %}, {"a": 1}]',
    ],
)
def test_what_only_looks_like_json_is_not_read_on(text: str) -> None:
    parsed = parse_json(text)
    found = [parsed.root] if parsed.root else []
    while found:
        node = found.pop()
        assert node.end <= max(parsed.end, 10)
        assert not parsed.gaps
        found += node.items


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([slack(number, "Hello, you") for number in range(4_000)]),
        json.dumps([flat(number, "Hello, you") for number in range(10_000)], indent=1),
        '[{"a": 1} x' + ', {"b": 1}' * 50_000 + "]",
        '[{"a": 1} x' + ', {"a": x' * 50_000,
        '[{"a": 1} x, "a": 1' + "}]" * 200_000,
        '[{"a": 1} x' + '"' * 300_000,
        '[{"a": 1} x' + ', "a": ' * 50_000,
    ],
    ids=["records", "pretty", "strangers", "breaks", "closers", "quotes", "keys"],
)
def test_thousands_of_breaks_end_soon(text: str) -> None:
    chance = random.Random(1)
    places = sorted(chance.sample(range(20, len(text) - 20), 4_000))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    started = time.process_time()
    for each in (text, chance.choice('"{}[]x').join(pieces)):
        parsed = parse_json(each)
        assert parsed.root is not None
        assert sum(parsed.faults.values()) <= 1_002
    assert time.process_time() - started < 30


def test_of_broken_data_all_is_found_once() -> None:
    records = [{"name": f"Person {number} " + "x" * 400, "id": f"id{number}"} for number in range(30)]
    text = json.dumps(records, indent=1).replace('"id7"', '"id"lost words"').replace('"id20"', '"id20" more lost')
    source = Source(path="people.json", text=text)
    blocks = find_reader(source).read(source).blocks
    said = "\n".join(block.text for block in blocks)
    assert [said.count(f"Person {number} ") for number in range(30)] == [1] * 30
    assert (said.count("lost words"), said.count("more lost")) == (1, 1)
    starts = [block.lines.start for block in blocks if block.lines]
    assert starts == sorted(starts)


LINES = [json.dumps({"role": "user", "content": f"Said {number}"}) for number in range(12)]


@pytest.mark.parametrize("bad", [(1, 2, 3, 4, 5), (2, 4, 5, 6, 7, 8), (0, 1, 2, 3, 4)], ids=str)
def test_many_bad_lines_among_the_first_are_counted_and_the_rest_read(bad: tuple[int, ...]) -> None:
    text = "\n".join("# broken" if number in bad else line for number, line in enumerate(LINES))
    if 0 in bad:
        text = text.replace("# broken", '{"role": ', 1)
    source = Source(path="chat.jsonl", text=text)
    document = find_reader(source).read(source)
    assert [block.text for block in document.blocks] == [f"Said {n}" for n in range(12) if n not in bad]
    assert dict(document.damage) == {"bad_record": len(bad)}


@pytest.mark.parametrize("text", ['{"a": 1} tail', '{"a": 1}]', "[1, 2]\nmore", '[{"a": 1}]\n{"b": 1}'])
def test_text_behind_the_root_is_counted(text: str) -> None:
    assert sum(find_records(text)[2].values()) >= 1


@pytest.mark.parametrize(
    "text", ['{\n "a": {"b": 1},\n "c": {"d": 1}\n}', '{"a": 1}\n', '[\n{"a": 1},\n{"a": 2}\n]']
)
def test_one_json_text_on_several_lines_is_one_record(text: str) -> None:
    records, lines, damage = find_records(text)
    assert (len(records), lines, damage) == (1, False, {})
