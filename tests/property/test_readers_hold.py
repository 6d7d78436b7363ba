"""What every reader promises of any text: no raise, lines within the file, bounded blocks, verbatim words."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memu.ingest.document import Block, Document, Reader, Source
from memu.ingest.reader import READERS, find_reader
from memu.ingest.readers.runs import LIMIT

PATHS = {
    "notebook": "n.ipynb",
    "session": "s.jsonl",
    "chat": "c.json",
    "chat_export": "conversations.json",
    "captions": "m.vtt",
    "mail": "m.eml",
    "mailbox": "m.mbox",
    "html": "p.html",
    "log": "a.log",
    "code": "x.go",
    "markdown": "a.md",
    "transcript": "t.txt",
    "data": "d.yaml",
    "table": "t.csv",
    "restructured": "r.rst",
    "phone_chat": "w.txt",
    "timed_transcript": "z.txt",
    "plain": "p.txt",
}
FRAGMENTS = [
    "",
    "# Heading",
    "## Sub *heading*",
    "Title",
    "=====",
    "-----",
    "- bullet one",
    "  - nested",
    "    deeper text",
    "* star",
    "1. first step",
    "   continued",
    "2) second",
    "> quoted words",
    "> > twice",
    ">",
    "```json",
    "```",
    "~~~",
    '{"a": [1, {"b": "c"}]}',
    '{"role": "user", "content": "hi there"}',
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
    "---",
    "title: x",
    "tags: [a, b",
    "key: value",
    "  inner: 2",
    "[section.part]",
    "a,b,c",
    'x,"open,y',
    "Alice: hello there",
    "Bob: 你好，世界",
    "2026-11-30 10:00:00 ERROR it broke",
    "\tat frame (file.py:1)",
    "\x1b[31mred\x1b[0m",
    "00:01.000 --> 00:02.000",
    "WEBVTT",
    "Subject: hello",
    "From: a@b.example",
    "Subject: on",
    "  and on",
    "Date: Tue, 3 Mar 2026 09:00:00 +0000",
    "From a@b.example Tue Mar  3 09:00:00 2026",
    "Content-Type: multipart/mixed; boundary=b",
    "--b",
    'Content-Disposition: attachment; filename="a.pdf"',
    "Content-Transfer-Encoding: quoted-printable",
    "caf=C3=A9 =",
    "def f(x):",
    '    """Says\\d what',
    '    it does."""',
    "func Main(a int) {",
    "// a comment that is long enough to keep",
    "/* open",
    "*/",
    ".. code:: sh",
    ".. include:: /etc/passwd",
    "   echo hi",
    "term",
    "    definition \\*here\\*",
    "مرحبا بالعالم كيف الحال",
    "word " * 30,
    "x" * 90,
    "\u2028sep\x85nel\x0cfeed\rreturn",
    "nul\x00byte",
    "[[Page|name]] and [b](../c.md#d)",
]
MARKUP = [
    "<div>",
    "</div>",
    "<p>para &amp; more",
    "<ul><li>one<li>two</ul>",
    "<!-- no -->",
    "<pre>",
    "</pre>",
    "<![x",
]
FREE_LINE = st.text(alphabet=st.characters(exclude_characters="\n<&\x1b", exclude_categories=("Cs",)), max_size=40)
PLAIN_LINES = st.lists(st.one_of(st.sampled_from(FRAGMENTS), FREE_LINE), max_size=25)
ANY_LINES = st.lists(
    st.one_of(st.sampled_from(FRAGMENTS + MARKUP), st.text(max_size=40).map(lambda text: text.replace("\n", " "))),
    max_size=25,
)


def squeeze(text: str) -> str:
    """The text without white space, quote marks of Markdown, terminal orders, unseen and unstorable signs."""
    text = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[@-Z\\^_])", "", text)
    unseen = "[>\ufffd\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufeff\u202a-\u202e\u2066-\u2069]"
    return re.sub(unseen, "", "".join(text.split()))


def lines_of(source: Source, block: Block) -> str:
    assert block.lines is not None
    return "\n".join(source.text.split("\n")[block.lines.start - 1 : block.lines.end])


def check_bounds(source: Source, document: Document) -> None:
    total = max(1, len(source.text.split("\n")) - source.text.endswith("\n"))
    for block in document.blocks:
        assert block.lines is not None
        assert 1 <= block.lines.start <= block.lines.end <= total
        assert block.text.strip()
        assert len(block.text) <= LIMIT
        for text in (block.text, *block.heading, block.parent or "", block.speaker or ""):
            assert "\x00" not in text
            text.encode("utf-8")
    assert document.title.strip()
    assert all(count > 0 for _, count in document.damage)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@settings(max_examples=25, deadline=None)
@given(lines=ANY_LINES)
def test_any_text_is_read_within_bounds(reader: Reader, lines: list[str]) -> None:
    source = Source(path=PATHS[reader.name], text="\n".join(lines))
    reader.recognises(source)
    check_bounds(source, reader.read(source))


@pytest.mark.parametrize(
    "reader",
    [
        reader
        for reader in READERS
        if reader.name not in ("mail", "mailbox", "chat", "chat_export", "session", "notebook")
    ],
    ids=lambda reader: reader.name,
)
@settings(max_examples=30, deadline=None)
@given(lines=PLAIN_LINES)
def test_words_stand_on_the_named_lines(reader: Reader, lines: list[str]) -> None:
    """P4: what a block says is found, white space aside, on the raw lines that it names."""
    source = Source(path=PATHS[reader.name], text="\n".join(lines))
    for block in reader.read(source).blocks:
        assert squeeze(block.text) in squeeze(lines_of(source, block)), block


@settings(max_examples=30, deadline=None)
@given(lines=ANY_LINES, suffix=st.sampled_from(sorted(PATHS.values())))
def test_there_is_always_one_reader(lines: list[str], suffix: str) -> None:
    source = Source(path=suffix, text="\n".join(lines))
    reader = find_reader(source)
    assert reader in READERS
    check_bounds(source, reader.read(source))


@pytest.mark.parametrize("name", ["plain", "markdown", "log", "code", "data", "table", "restructured"])
@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.from_regex(r"[a-z]{3,9}", fullmatch=True), min_size=1, max_size=30))
def test_no_word_is_lost(name: str, words: list[str]) -> None:
    """P5: every word of an ordinary text is in some block."""
    reader = next(reader for reader in READERS if reader.name == name)
    text = "\n".join(" ".join(words[at : at + 4]) + ("\n" if at % 3 else "") for at in range(0, len(words), 4))
    said = " ".join(block.text for block in reader.read(Source(path=PATHS[name], text=text)).blocks)
    assert set(words) <= set(said.split())


MESSAGES = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text(min_size=1, max_size=60)),
    min_size=1,
    max_size=8,
)


@settings(max_examples=30, deadline=None)
@given(messages=MESSAGES, indent=st.sampled_from([None, 0, 1, 4]), ascii_only=st.booleans(), lines=st.booleans())
def test_f11_chat_turns_are_the_strings_as_written(
    messages: list[tuple[str, str]], indent: int | None, ascii_only: bool, lines: bool
) -> None:
    """F11: role/content records are a chat in every layout; each turn is its decoded string on its own line."""
    records = [{"role": role, "content": content} for role, content in messages]
    if lines:
        text = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    else:
        text = json.dumps({"messages": records}, indent=indent, ensure_ascii=ascii_only)
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    source = Source(path="anything.txt", text=text)
    reader = find_reader(source)
    assert reader.name == "chat"
    document = reader.read(source)
    check_bounds(source, document)
    written = [(role, squeeze(re.sub("[\ud800-\udfff]", "", content))) for role, content in messages]
    read = [(block.role, squeeze(block.text)) for block in document.blocks]
    assert [turn for turn in read if turn[1]] == [turn for turn in written if turn[1]]
    for block in document.blocks:
        raw = lines_of(source, block)
        strings = [json.loads(match) for match in re.findall(r'"(?:[^"\\]|\\.)*"', raw)]
        assert any(squeeze(block.text) == squeeze(string) for string in strings)


@settings(max_examples=25, deadline=None)
@given(
    value=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=30)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=6), st.dictionaries(st.text(max_size=10), inner, max_size=6)
        ),
        max_leaves=40,
    ),
    indent=st.sampled_from([None, 2]),
    cut=st.integers(min_value=0, max_value=400),
)
def test_json_whole_or_broken_keeps_its_words(value: object, indent: int | None, cut: int) -> None:
    text = json.dumps({"root": value}, indent=indent, ensure_ascii=False)
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    broken = text[:cut]
    reader = next(reader for reader in READERS if reader.name == "data")
    for written in (text, broken):
        source = Source(path="d.json", text=written)
        document = reader.read(source)
        check_bounds(source, document)
        for block in document.blocks:
            assert squeeze(block.text) in squeeze(lines_of(source, block))
        if written is not text and len(written) < len(text) and written.strip():
            assert document.damage
