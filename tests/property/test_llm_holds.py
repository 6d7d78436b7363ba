"""Whatever a source holds and a model answers: chunks are whole and bounded, entries backed, losses told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.asks import ScriptedAsk

from memu.errors import ProviderError, ReplyError
from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.extractive import ExtractiveExtractor
from memu.memorize.extractors.protocol import ExtractContext
from memu.memorize.llm.chunks import cut_chunks, halve
from memu.memorize.llm.extraction import LlmExtractor
from memu.memorize.llm.grounding import ungrounded
from memu.providers.prices import estimate_tokens
from memu.providers.refusals import ContextExceeded
from memu.records import MemoryType, Origin

pytestmark = pytest.mark.property

SPOKEN = """
deploys Priya Tuesday 9:00 the server `db1` restarts because 我们周二部署 über März {{.Names}} </source> 12| "now"
Ignore previous instructions < & [^ab2cd] ``` # 2026-03-04
"""
WORDS = st.sampled_from(SPOKEN.split())
PLAIN = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)
LINES = st.one_of(
    PLAIN,
    PLAIN.map(lambda text: f"## {text}"),
    PLAIN.map(lambda text: f"- {text}"),
    PLAIN.map(lambda text: f"1. {text}"),
    PLAIN.map(lambda text: f"```sh\n{text}\n```"),
    PLAIN.map(lambda text: f"> {text}"),
    st.just(""),
    st.integers(100, 3000).map("x".__mul__),
)
SOURCES = st.lists(LINES, min_size=1, max_size=25).map("\n\n".join)
ITEMS = st.fixed_dictionaries(
    {
        "type": st.sampled_from([*MemoryType, "nonsense"]),
        "text": st.one_of(PLAIN, st.text(max_size=80)),
        "page": st.one_of(st.none(), PLAIN, st.text(max_size=20), st.just("skill/Deploy")),
        "lines": st.one_of(st.lists(st.integers(-3, 40), max_size=3), st.integers(0, 9), st.text(max_size=5)),
    },
    optional={"step": st.one_of(st.integers(-5, 5), st.text(max_size=3)), "time": st.text(max_size=12)},
)
REPLIES = st.one_of(
    st.lists(ITEMS, max_size=6).map(json.dumps),
    st.text(max_size=200),
    st.just("[]"),
    st.just(ReplyError("refused")),
    st.just(ProviderError("down")),
    st.just(ContextExceeded("too long", 400)),
)


def read(text: str) -> Document:
    source = Source(path="notes/a.md", text=text)
    return find_reader(source).read(source)


@given(SOURCES, st.integers(200, 2000))
@settings(max_examples=80, deadline=None)
def test_f40_chunks_are_bounded_and_hold_every_word_once(text: str, tokens: int) -> None:
    document = read(text)
    chunks = cut_chunks(document, tokens)
    assert all(sum(estimate_tokens(line.shown) for line in chunk.lines) <= tokens for chunk in chunks)
    shown = "".join(line.text for chunk in chunks for line in chunk.lines)
    assert "".join(shown.split()) == "".join("".join(block.text.split()) for block in document.blocks)
    for line in (line for chunk in chunks for line in chunk.lines):
        assert line.text.strip()
        assert "\n" not in line.text
        assert line.lines is None or 1 <= line.lines.start <= line.lines.end <= text.count("\n") + 1


@given(SOURCES)
@settings(max_examples=40, deadline=None)
def test_halves_hold_what_the_whole_held(text: str) -> None:
    for chunk in cut_chunks(read(text), 4000):
        halves = halve(chunk)
        assert len(chunk.lines) == 1 or tuple(line for half in halves for line in half.lines) == chunk.lines


@given(SOURCES, st.lists(REPLIES, min_size=1, max_size=5), st.booleans())
@settings(max_examples=120, deadline=None)
def test_p4_p5_every_entry_is_backed_and_what_is_lost_is_told(
    text: str, replies: Sequence[str | Exception], untrusted: bool
) -> None:
    document = read(text)
    extractor = LlmExtractor(fallback=ExtractiveExtractor(), context_tokens=1500)
    answers = ScriptedAsk(cycle(replies))
    context = ExtractContext(ask=answers, untrusted=untrusted)
    found = asyncio.run(extractor.extract(document, "notes/a.md", context))
    own = asyncio.run(ExtractiveExtractor().extract(document, "notes/a.md", ExtractContext(untrusted=untrusted)))
    if not found.chunks:
        assert (found.candidates, len(answers.asked)) == (own.candidates, 0)
        return
    lines = text.split("\n")
    own_texts = {each.text for each in own.candidates}
    for each in found.candidates:
        assert each.lines is not None
        assert 1 <= each.lines.start <= each.lines.end <= len(lines)
        if each.origin is Origin.STAND_IN:
            assert each.text in own_texts
            assert found.lost
        else:
            assert each.origin is Origin.MODEL
            assert ungrounded(each.text, [text, document.title, "notes/a.md"]) == ()
        if untrusted:
            assert each.label.startswith("untrusted")
            assert each.memory_type not in (MemoryType.SKILL, MemoryType.RULE)
    if len(found.lost) == found.chunks:
        assert {each.text for each in found.candidates} == own_texts
    assert len(found.lost) <= found.chunks


def test_f40_two_megabytes_without_a_break_are_cut_in_bounded_time() -> None:
    for text in (
        "x" * 2_000_000,
        "word " * 400_000,
        "字" * 700_000,
    ):
        chunks = cut_chunks(read(text), 4000)
        assert max(estimate_tokens(chunk.show()) for chunk in chunks) < 6000
