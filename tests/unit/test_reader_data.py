"""JSON, YAML, TOML, tables: raw pieces below their keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memu.ingest.document import BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.ingest.readers.json_tree import parse_json
from memu.records import Kind, LineSpan

DATA = Path(__file__).parents[1] / "data" / "readers"


def read(text: str, path: str) -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def test_broken_json_is_read_and_counted() -> None:
    document = read((DATA / "fake-incomplete-json.txt").read_text("utf-8"), "fake-incomplete-json.txt")
    assert dict(document.damage) == {"truncated": 1}
    said = "\n".join(block.text for block in document.blocks)
    assert '"email": "johndoe@example.com"' in said
    assert '"hobbies": ["reading", "running", "cooking"]' in said


@pytest.mark.parametrize(
    "junk", ["{'a': 1} tail words", '{"a": 1} tail words', '{"a" 1, tail words', "[1, tail words"]
)
def test_what_stands_behind_the_damage_is_found(junk: str) -> None:
    document = read('{"ok": true,\n' + junk + "\nmore tail", "x.json")
    assert document.damage
    assert "tail" in "\n".join(block.text for block in document.blocks)


def test_records_are_a_table() -> None:
    document = read((DATA / "arbitrary-records.ndjson").read_text("utf-8"), "r.ndjson")
    assert document.kind is Kind.TABLE
    assert [(block.kind, block.lines) for block in document.blocks] == [
        (BlockKind.DATA, LineSpan(n, n)) for n in (1, 2, 3)
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_large_json_is_cut_below_its_keys(indent: int | None) -> None:
    value = {
        "name": "x",
        "deps": {f"package-{n}": {"version": f"1.{n}", "about": "y" * 60} for n in range(60)},
        "end": "last words",
    }
    document = read(json.dumps(value, indent=indent), "package-lock.json")
    assert document.kind is Kind.DOCUMENT
    assert all(len(block.text) <= 4_000 for block in document.blocks)
    below = [block for block in document.blocks if block.heading == ("deps",)]
    assert len(below) > 3
    assert "package-59" in below[-1].text
    assert document.blocks[-1].text == '"end": "last words"'


def test_escaped_letters_can_be_found() -> None:
    document = read(json.dumps({"city": "東京", "sign": "\x01", "path": "C:\\u4f60"}), "x.json")
    assert "東京" in document.blocks[0].text
    assert "\\u0001" in document.blocks[0].text
    assert "\\\\u4f60" in document.blocks[0].text


@pytest.mark.parametrize(
    ("text", "damage"),
    [
        ("[" * 100_000, "too_deep"),
        ('{"a":' * 100_000, "too_deep"),
        ('{"a": tru', "bad_syntax"),
        ('{"a": [1, 2', "truncated"),
        ('["unclosed', "truncated"),
        ("[1}", "bad_syntax"),
        ('{"a"}', "bad_syntax"),
    ],
)
def test_json_damage_is_named(text: str, damage: str) -> None:
    assert parse_json(text).damage == damage


@pytest.mark.parametrize(
    "text", ['{"a": 1, /* x */ "b": [1, 2,],} // end', "[NaN, -Infinity, 1e9]", '"only"', "[]"]
)
def test_lenient_json(text: str) -> None:
    parsed = parse_json(text)
    assert parsed.damage is None
    assert parsed.root is not None


@pytest.mark.parametrize(
    "text", ['{"k": "v\\u00e9\\n"}', '[1, "two", {"three": [true, null]}]', '{"a": {"b": "c\\\\"}}']
)
def test_positions_are_those_of_the_values(text: str) -> None:
    """Every node's slice is the JSON that the standard library reads as the same value."""
    root = parse_json("  " + text, base=0).root
    pending = [root]
    while pending:
        node = pending.pop()
        assert node is not None
        value = json.loads(("  " + text)[node.start : node.end])
        if node.form == "string":
            assert node.text == value
        pending += [*node.items, *node.keys]


def test_yaml_and_toml_are_cut_by_layout() -> None:
    yaml = "name: x\njobs:\n" + "".join(
        f"  job{n}:\n" + "".join(f"    key{k}: value\n" for k in range(15)) for n in range(5)
    )
    document = read(yaml, "ci.yml")
    assert document.blocks[0].text == "name: x"
    assert {block.heading for block in document.blocks[1:]} == {("jobs",)}
    toml = read('a = 1\n\n[tool.x]\nb = "y"\n\n[[list]]\nc = 2\n', "p.toml")
    assert [(block.heading, block.lines) for block in toml.blocks] == [
        ((), LineSpan(1, 1)),
        (("tool", "x"), LineSpan(3, 4)),
        (("list",), LineSpan(6, 7)),
    ]


def test_yaml_documents_are_no_front_matter() -> None:
    document = read("---\nkind: Pod\n---\nkind: Service\n", "k8s.yaml")
    assert document.damage == ()
    assert "\n".join(block.text for block in document.blocks).count("kind:") == 2


def test_a_table_has_a_header_and_rows() -> None:
    document = read((DATA / "people.csv").read_text("utf-8"), "people.csv")
    assert document.kind is Kind.TABLE
    assert [(block.text, block.parent, block.depth) for block in document.blocks][:2] == [
        ("名前,年齢,住所", None, 0),
        ("佐藤太郎,30,東京", "名前,年齢,住所", 1),
    ]


@pytest.mark.parametrize(("suffix", "sign"), [(".csv", ","), (".csv", ";"), (".tsv", "\t"), (".csv", "|")])
def test_a_quoted_line_end_keeps_its_row_whole(suffix: str, sign: str) -> None:
    text = f'name{sign}note\nann{sign}"two\nlines"\nbob{sign}one\n'
    document = read(text, "t" + suffix)
    assert [block.lines for block in document.blocks] == [LineSpan(1, 1), LineSpan(2, 3), LineSpan(4, 4)]


def test_an_open_quote_does_not_swallow_the_file() -> None:
    text = 'a,b\n1,"open\n' + "".join(f"{n},x\n" for n in range(300))
    document = read(text, "t.csv")
    assert dict(document.damage) == {"unclosed_quote": 1}
    assert len(document.blocks) == 302


def test_f40_long_cells_are_bounded() -> None:
    document = read("a,b\n" + "1," + "word " * 60_000 + "\n", "t.csv")
    assert all(len(block.text) <= 4_000 for block in document.blocks)
    assert sum(block.text.count("word") for block in document.blocks) == 60_000
