"""Passages: every source cut to 80–120 words at block and sentence borders, with a header."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.passages import MAX_PASSAGE_WORDS, MIN_PASSAGE_WORDS, cut_passages
from memu.memorize.sentences import count_words
from memu.records import Kind, LineSpan, Passage

DATA = Path(__file__).parents[1] / "data" / "documents"
SENTENCE = "The {n}th harbour of the coast keeps its ledger in a dry room. "


def read(text: str, path: str) -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def cut(text: str, path: str = "notes/x.md") -> tuple[Passage, ...]:
    return cut_passages(read(text, path), path, "en")


def test_long_text_is_cut_at_sentences_into_80_to_120_words() -> None:
    passages = cut("# T\n\n" + "".join(SENTENCE.format(n=n) for n in range(100)) + "\n")
    assert len(passages) > 5
    assert all(MIN_PASSAGE_WORDS <= count_words(one.text) <= MAX_PASSAGE_WORDS for one in passages[:-1])
    assert all(one.text.endswith("room.") and one.text.startswith("The ") for one in passages)
    assert [one.ordinal for one in passages] == list(range(len(passages)))


def test_headings_end_passages_and_stand_in_the_header() -> None:
    body = "".join(SENTENCE.format(n=n) for n in range(5))
    passages = cut(f"# Title\n\nDate: 2024-05-01\n\n## Costs\n\n{body}\n\n### Rent\n\n{body}\n", "notes/x.md")
    assert [one.heading for one in passages][-2:] == ["Costs", "Costs > Rent"]
    assert passages[-1].header.split("\n") == ["Title", "Costs > Rent", "notes/x.md", "2024-05-01"]
    assert "Rent" not in passages[-1].text
    assert passages[-1].happened_at == datetime(2024, 5, 1, tzinfo=UTC)


def test_small_sections_join_below_the_heading_that_they_share() -> None:
    sections = "".join(f"### Room {n}\n\nIt is number {n} here.\n\n" for n in range(4))
    passages = cut(f"# Title\n\n## Rooms\n\n{sections}")
    (joined,) = [one for one in passages if "number 0" in one.text]
    assert joined.heading == "Rooms"
    assert all(f"Room {n}" in joined.text and f"number {n} here" in joined.text for n in range(4))


def test_a_turn_is_a_passage_and_a_long_one_several() -> None:
    long = "".join(SENTENCE.format(n=n) for n in range(30)).strip()
    blocks = tuple(
        Block(kind=BlockKind.TURN, text=text, lines=LineSpan(at, at), role=role, speaker=speaker)
        for at, (text, role, speaker) in enumerate(
            [("Hi there.", "user", None), ("Hello.", "assistant", "Ada"), (long, "user", None)], 1
        )
    )
    passages = cut_passages(Document(kind=Kind.CHAT, title="C", titled=False, blocks=blocks), "c.json")
    assert [one.text for one in passages[:2]] == ["Hi there.", "Hello."]
    assert [one.header.split("\n")[-1] for one in passages[:3]] == ["user", "Ada", "user"]
    assert len(passages) > 4
    assert {str(one.lines) for one in passages[2:]} == {"L3"}


@pytest.mark.parametrize(
    ("text", "path", "kind"),
    [
        ("MIT License\n\nPermission is hereby granted, free of charge.\n", "LICENSE", Kind.DOCUMENT),
        ("a,b\n1,2\n", "t.csv", Kind.TABLE),
        ("2024-01-01T10:00:00 INFO start\n2024-01-01T10:00:01 INFO end\n", "a.log", Kind.LOG),
        ("def f() -> int:\n    return 1\n", "f.py", Kind.CODE),
        ("key: value\nother: 3\n", "c.yaml", Kind.DOCUMENT),
        ("# Rules\n\nAlways test.\n", "AGENTS.md", Kind.RULES),
        ("# Only a title\n", "t.md", Kind.DOCUMENT),
    ],
)
def test_every_kind_is_searchable(text: str, path: str, kind: Kind) -> None:
    passages = cut(text, path)
    assert passages
    assert {(one.kind, one.language, one.track, one.id) for one in passages} == {(kind, "en", None, "")}
    assert {one.resource_id for one in passages} == {None}
    said = " ".join(f"{one.header} {one.text}" for one in passages).split()
    assert {word.strip("#") for word in text.split()} - {""} <= {word.strip("#") for word in said}


def test_an_empty_source_has_no_passage() -> None:
    assert cut("") == ()


def test_chinese_is_measured_by_half_its_characters() -> None:
    text = (DATA / "crontab.md").read_text(encoding="utf-8")
    passages = cut_passages(read(text, "crontab.md"), "crontab.md", "zh")
    assert all(count_words(one.text) <= MAX_PASSAGE_WORDS + 4 for one in passages)
    assert any(count_words(one.text) >= 60 for one in passages)


@pytest.mark.parametrize("name", ["0018-use-rds-instead-of-provisioned-ec2-databases.md", "crontab.md"])
def test_lines_hold_the_words_of_a_passage(name: str) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    raw = text.split("\n")
    for passage in cut_passages(read(text, name), name):
        assert passage.lines is not None
        held = set("\n".join(raw[passage.lines.start - 1 : passage.lines.end]).split())
        assert set(passage.text.split()) <= held | {word.strip("#") for word in held}


def test_f40_a_line_without_spaces_is_cut_too() -> None:
    passages = cut("x" * 50_000, "x.txt")
    assert all(len(one.text) <= 1200 for one in passages)
    assert "".join(one.text for one in passages) == "x" * 50_000
