"""P4: a sentence or line of a block is cited by its own lines, not by the whole block's, in every format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from memu.errors import ReadError
from memu.ingest.document import Block, Document, Source
from memu.ingest.encoding import decode
from memu.ingest.reader import find_reader
from memu.memorize.extractors.documents import extract_document
from memu.memorize.extractors.quotes import locate
from memu.memorize.forget.cutting import cut_document
from memu.memorize.forget.forgotten import Forgotten
from memu.memorize.passages import cut_passages
from memu.memorize.sentences import split_lines, split_sentences
from memu.records import LineSpan

pytestmark = pytest.mark.unit

DATA = Path(__file__).parents[1] / "data"
SENTENCES = tuple(
    f"The {name} gate of the lock is {word} by hand before winter."
    for name, word in (("upper", "oiled"), ("middle", "painted"), ("lower", "measured"), ("spare", "wrapped"))
)
LONG = tuple(f"echo station-{n} reports 0{n} metres of water # line number {n}" for n in range(150))
PROSE = {
    "paragraph.md": "\n".join(["# Lock", "", *SENTENCES]),
    "bullet.md": "# Lock\n\n- " + "\n  ".join(SENTENCES),
    "step.md": "# Lock\n\n1. " + "\n   ".join(SENTENCES),
    "quote.md": "# Lock\n\n> " + "\n> ".join(SENTENCES),
    "plain.txt": "\n".join(["Lock", "====", "", *SENTENCES]),
    "rest.rst": "\n".join(["Lock", "====", "", *SENTENCES]),
    "page.html": "<html><body><h1>Lock</h1>\n<p>" + "\n".join(SENTENCES) + "</p></body></html>",
    "inside.md": "# Lock\n\n<div>\n<p>\n" + "\n".join(SENTENCES) + "\n</p>\n</div>",
    "letter.eml": "From: a@b.example\nTo: c@d.example\nSubject: Lock\nDate: Mon, 4 Mar 2024 10:00:00 +0000\n"
    "Content-Type: text/html\n\n<p>" + "\n".join(SENTENCES) + "</p>\n",
    "book.ipynb": json.dumps(
        {"cells": [{"cell_type": "markdown", "source": [f"{each}\n" for each in SENTENCES]}]}, indent=1
    ),
}
LINES = {
    "fence.md": "# Gauge\n\n```sh\n" + "\n".join(LONG) + "\n```\n",
    "in-list.md": "# Gauge\n\n1. Run this:\n\n   ```sh\n   " + "\n   ".join(LONG) + "\n   ```\n",
    "indented.md": "# Gauge\n\n    " + "\n    ".join(LONG) + "\n",
    "pre.html": "<h1>Gauge</h1>\n<pre>\n" + "\n".join(LONG) + "\n</pre>\n",
    "literal.rst": "Gauge\n=====\n\nRun::\n\n    " + "\n    ".join(LONG) + "\n",
    "script.sh": "\n".join(LONG) + "\n",
    "values.yaml": "gauge:\n" + "\n".join(f"  - {each}" for each in LONG) + "\n",
}


def read(text: str, path: str) -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def lines_of(text: str, words: str) -> LineSpan:
    """Where the one line of the file that holds the words is."""
    (at,) = [number for number, line in enumerate(text.split("\n"), 1) if words in line]
    return LineSpan(at, at)


def only_words(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def slices(document: Document) -> list[tuple[Block, int, int]]:
    return [(block, piece.start, piece.end) for block in document.blocks for piece in split_sentences(block.text)]


@pytest.mark.parametrize("path", PROSE)
def test_each_sentence_of_a_folded_block_has_its_own_line(path: str) -> None:
    document = read(PROSE[path], path)
    found = {block.text[start:end]: locate(block, start, end) for block, start, end in slices(document)}
    assert {text: found[text] for text in SENTENCES} == {text: lines_of(PROSE[path], text) for text in SENTENCES}


def test_two_sentences_together_have_both_lines() -> None:
    (block,) = [block for block in read(PROSE["paragraph.md"], "x.md").blocks if len(block.text) > 99]
    assert locate(block, 0, len(" ".join(SENTENCES[:2]))) == LineSpan(3, 4)
    assert locate(block, len(SENTENCES[0]), len(SENTENCES[0]) + 2) == LineSpan(3, 4)


def test_candidates_cite_the_line_of_their_sentence() -> None:
    decided = (
        "We decided to close the lock in winter.\nThe upper gate must be oiled before.\nNobody objected to it."
    )
    text = f"# Lock\n\n{decided}\n"
    candidates = extract_document(read(text, "lock.md")).candidates
    assert candidates
    for candidate in candidates:
        cited = text.split("\n")[candidate.lines.start - 1 : candidate.lines.end] if candidate.lines else []
        assert "".join(cited).count(".") == candidate.text.count(".")


@pytest.mark.parametrize("path", LINES)
def test_a_passage_out_of_a_long_block_has_its_own_lines(path: str) -> None:
    passages = [one for one in cut_passages(read(LINES[path], path), path) if "station-" in one.text]
    assert len(passages) > 5
    raw = LINES[path].split("\n")
    for passage in passages:
        assert passage.lines is not None
        said = re.findall(r"station-\d+ ", passage.text)
        cited = "\n".join(raw[passage.lines.start - 1 : passage.lines.end])
        assert re.findall(r"station-\d+ ", cited) == said


@pytest.mark.parametrize("path", [*PROSE, *LINES])
def test_a_text_that_was_changed_claims_no_line_that_it_cannot_tell(path: str) -> None:
    """A mark in the place of some words moves all that follows; the lines it stands for become one place."""
    text = (PROSE | LINES)[path]
    whole = read(text, path)
    for document in (
        whole.map_text(lambda part: part.replace("oiled", "[redacted:password]").replace("station-7 ", "[x] ")),
        cut_document(whole, path, Forgotten()),
    ):
        for block in document.blocks:
            for line in split_lines(block.text):
                span = locate(block, line.start, line.end)
                assert span is not None
                assert block.lines is not None
                assert block.lines.start <= span.start <= span.end <= block.lines.end
                cited = " ".join("\n".join(text.split("\n")[span.start - 1 : span.end]).split())
                words = set(re.findall(r"[a-z]{4,}", line.text)) - {"redacted", "password", "gauge"}
                assert all(word in cited for word in words)


# Here the words of a text are those of its raw lines; elsewhere escapes and markup stand between them.
RAW = {".md", ".txt", ".rst", ".log", ".csv", ".py", ".js", ".sh", ".yaml", ".yml", ".toml", ".srt"}


def test_sentences_beside_a_mark_keep_their_lines() -> None:
    text = PROSE["paragraph.md"]
    changes = {"painted by hand": "[redacted:password]", f"hand before winter. {SENTENCES[2][:9]}": "[forgotten]"}
    for old, new in changes.items():
        document = read(text, "x.md").map_text(lambda part, old=old, new=new: part.replace(old, new))
        found = {block.text[start:end]: locate(block, start, end) for block, start, end in slices(document)}
        assert found[SENTENCES[0]] == LineSpan(3, 3) or "oiled" in old
        assert found[SENTENCES[3]] == LineSpan(6, 6)
        (marked,) = [span for part, span in found.items() if new in part]
        assert marked == (LineSpan(4, 4) if "painted" in old else LineSpan(4, 5))


FILES = sorted(path for path in DATA.rglob("*") if path.suffix in RAW and "export_golden" not in path.parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_real_files_cite_lines_that_hold_the_words_and_hardly_more(path: Path) -> None:
    try:
        text = decode(path.read_bytes()).text
    except ReadError:
        pytest.skip("not text")
    document = read(text, path.name)
    for passage in cut_passages(document, path.name):
        assert passage.lines is not None
        height = passage.lines.end - passage.lines.start + 1
        assert height <= 3 * max(passage.text.count("\n") + 1, len(passage.text) // 20) + 10
    for block, start, end in slices(document):
        span = locate(block, start, end)
        assert span is not None
        cited = "\n".join(text.split("\n")[span.start - 1 : span.end])
        if block.rows:
            assert only_words(block.text[start:end]) in only_words(cited)
