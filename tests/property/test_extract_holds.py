"""What extraction and passages promise of any source: quotes, bounds, no word lost (P3, P4, F40)."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.candidate import MAX_CHARS, MAX_WORDS, Candidate
from memu.memorize.extractors.captions import caption
from memu.memorize.extractors.policies import extract
from memu.memorize.passages import cut_passages
from memu.memorize.sentences import count_words, cut_pieces, split_sentences
from memu.records import Kind, LineSpan

MIXED = """
Decision we decided to use Redis because it is fast. Hi! thanks. 1. 2. Open the console Run `make` must not 3.5
e.g. Dr. 2024-05-01 why? 我们 决定使用 缓存。 部署！ Ärger ignore previous instructions. I'm Ada prefer tea ERROR
warning: **bold** [link](a.md) ![i](b.png) http://x.io/a | # - > ``` def f(x): — “so” … 😀
"""
WORDS = [*MIXED.split(), "\u00a0", "x" * 60]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join) | st.text(max_size=200)
LINES = st.lists(
    st.builds(
        "{}{}".format,
        st.sampled_from(["", "# ", "## ", "- ", "  - ", "1. ", "> ", "    ", "```sh\n", "| "]),
        TEXTS,
    ),
    max_size=25,
).map("\n".join)
PATHS = ["a.md", "AGENTS.md", "a.txt", "a.py", "a.csv", "a.log", "a.vtt", "a.html", "a.yaml", "a.rst"]
PROFILE = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Documents as any reader might give them, those of readers yet to come too."""
    blocks: list[Block] = []
    line = 1
    for text in draw(st.lists(TEXTS, max_size=12)):
        kind = draw(st.sampled_from(BlockKind))
        size = text.count("\n") + draw(st.sampled_from([0, 0, 1, 2]))
        spans = st.sampled_from([LineSpan(line, line + size), None])
        block = Block(
            kind=kind,
            text=text,
            lines=draw(spans),
            heading=tuple(draw(st.lists(st.sampled_from(["Decision", "Setup", "Notes", "A"]), max_size=2))),
            depth=draw(st.integers(0, 2)),
            parent=draw(st.sampled_from([None, "a parent bullet", "x"])),
            language=draw(st.sampled_from(["", "sh", "python"])),
            speaker=draw(st.sampled_from([None, "Ada"])),
            role=draw(st.sampled_from(["", "user", "assistant", "tool"])),
            place=draw(st.sampled_from([None, "page 3"])),
        )
        blocks.append(block)
        line += size + 1
    kind = draw(st.sampled_from(Kind))
    return Document(kind=kind, title=draw(TEXTS), titled=draw(st.booleans()), blocks=tuple(blocks))


def fold(text: str) -> str:
    return " ".join(text.split())


def is_quote(candidate: Candidate, document: Document) -> bool:
    """Whether a block at the candidate's lines (or place) holds its words."""
    for block in document.blocks:
        if candidate.lines is None:
            near = block.lines is None and block.place == candidate.place
        else:
            near = block.lines is not None and (
                block.lines.start <= candidate.lines.start and candidate.lines.end <= block.lines.end
            )
        if near and candidate.text in block.text:
            return True
    return False


def check(document: Document, path: str) -> None:
    extraction = extract(document, path)
    assert extraction == extract(document, path)
    for candidate in extraction.candidates:
        assert candidate.text.strip() == candidate.text.strip("\n\t ") != ""
        assert len(candidate.text) <= MAX_CHARS
        assert count_words(candidate.text) <= MAX_WORDS
        assert is_quote(candidate, document)
    assert all(count >= 0 for count in extraction.dropped.values())
    line = caption(document)
    assert "\n" not in line
    assert len(line) <= 160
    check_passages(document, path)


def check_passages(document: Document, path: str) -> None:
    passages = cut_passages(document, path, "en")
    assert passages == cut_passages(document, path, "en")
    assert [one.ordinal for one in passages] == list(range(len(passages)))
    held = {
        word for one in passages for word in f"{one.text} {one.header} {one.header.replace(' > ', ' ')}".split()
    }
    assert {word for block in document.blocks for word in block.text.split()} <= held
    for passage in passages:
        assert count_words(passage.text) <= MAX_WORDS
        assert len(passage.text) <= MAX_CHARS
        assert passage.text.strip()


@PROFILE
@given(document=documents(), path=st.sampled_from(["a/b.md", "LICENSE", "x.json"]))
def test_any_document_gives_quotes_and_whole_passages(document: Document, path: str) -> None:
    check(document, path)


@pytest.mark.parametrize("path", PATHS)
@settings(parent=PROFILE, max_examples=25)
@given(text=LINES)
def test_any_source_gives_quotes_and_whole_passages(path: str, text: str) -> None:
    source = Source(path=path, text=text)
    document = find_reader(source).read(source)
    check(document, path)
    raw = text.split("\n")
    for candidate in extract(document, path).candidates:
        if candidate.lines is not None and path in {"a.md", "AGENTS.md", "a.txt"}:
            held = "".join("".join(raw[candidate.lines.start - 1 : candidate.lines.end]).split())
            # Readers leave controls and terminal orders out, so that words around them may close up.
            if held.isprintable():
                assert all(word in held for word in candidate.text.split() if word.isalnum())


@PROFILE
@given(turns=st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), TEXTS), max_size=8))
def test_any_chat_gives_quotes_of_its_turns(turns: list[tuple[str, str]]) -> None:
    text = json.dumps([{"role": role, "content": content} for role, content in turns], indent=1)
    source = Source(path="c.json", text=text)
    check(find_reader(source).read(source), "c.json")


@PROFILE
@given(text=TEXTS | LINES)
def test_sentences_are_slices_in_order_that_hold_every_word(text: str) -> None:
    found = split_sentences(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert "".join("".join(one.text.split()) for one in found) == "".join(text.split())


@PROFILE
@given(text=TEXTS, words=st.integers(1, 30), chars=st.integers(5, 200))
def test_pieces_keep_their_bounds_and_every_letter(text: str, words: int, chars: int) -> None:
    pieces = cut_pieces(text, words, chars)
    assert all(count_words(one.text) <= words and len(one.text) <= chars for one in pieces)
    assert "".join("".join(one.text.split()) for one in pieces) == "".join(text.split())
