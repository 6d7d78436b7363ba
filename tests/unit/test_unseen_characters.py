"""No page holds what a terminal or a viewer would obey: every reader leaves it out (FIELD F11)."""

from __future__ import annotations

import json
import re

import pytest

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.ingest.redact import redact

pytestmark = pytest.mark.unit

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\u202a-\u202e\u2066-\u2069]")
UNSEEN_CHARACTERS = [
    *map(chr, (1, 7, 8, 0x0E, 0x1B, 0x7F, 0x80, 0x9B)), "\ufeff", "\u202a", "\u202e", "\u2066", "\u2069",
    "\x1b[31m", "\x1b]0;title\x07",
]  # fmt: skip
FORMS = {
    "a.md": "# The crane{}\n\n- a point{} kept\n\nWe decided{} to keep the crane.\n\n```sh\nmake{} all\n```\n",
    "a.txt": "We decided{} to keep the crane.\n\nThe gate{} stays.\n",
    "a.html": "<html><head><title>The crane{}</title></head><body><p>We decided{} to keep it.</p></body></html>",
    "a.csv": "name,place\ncrane{},harbour\ngate,north\n",
    "a.rst": "Crane{}\n======\n\nWe decided{} to keep the crane.\n",
    "a.py": '"""We decided{} to keep it."""\n\n# A crane{} is kept.\n',
    "a.vtt": "WEBVTT\n\n00:00.000 --> 00:02.000\n<v Orla>We decided{} to keep it.\n",
    "a.eml": "From: a@x.example\nTo: b@x.example\nSubject: Crane{}\n\nWe decided{} to keep it.\n",
}


@pytest.mark.parametrize("unseen", UNSEEN_CHARACTERS, ids=ascii)
@pytest.mark.parametrize("name", FORMS)
def test_unseen_characters_reach_no_block_and_no_label(name: str, unseen: str) -> None:
    read, plain = (
        find_reader(source).read(source)
        for source in (Source(path=name, text=FORMS[name].replace("{}", put)) for put in (unseen, ""))
    )
    words = [
        text
        for block in read.blocks
        for text in (block.text, *block.heading, block.parent or "", block.speaker or "")
    ]
    assert words
    assert not [text for text in (read.title, *words) if UNSEEN.search(text)]
    assert [block.text for block in read.blocks] == [block.text for block in plain.blocks]


def test_unseen_characters_of_json_strings_are_left_out() -> None:
    text = json.dumps([{"role": "user", "content": "I live\u202e in\x07 Cork\x1b[0m."}])
    source = Source(path="a.json", text=text)
    document = find_reader(source).read(source)
    assert [block.text for block in document.blocks] == ["I live in Cork."]
    assert dict(document.damage) == {"control_character": 3}


@pytest.mark.parametrize("end", ["\v", "\f", "\x1c", "\x85"])
def test_what_ends_a_line_or_page_leaves_two_words(end: str) -> None:
    source = Source(path="a.txt", text=f"The first page.{end}The second page.\n")
    assert find_reader(source).read(source).blocks[0].text == "The first page. The second page."


def test_p11_a_secret_cut_by_unseen_characters_is_found_once_they_are_gone() -> None:
    source = Source(path="a.md", text="The token is gh\u2066p_" + "a1B2c3D4e5" * 3 + "\ufeffF6G7H8.\n")
    document = find_reader(source).read(source).map_text(lambda text: redact(text).text)
    assert document.blocks[0].text == "The token is [redacted:github-token]."


@pytest.mark.parametrize("kept", ["\u200d", "\u200e", "\u200c", "\u00ad", "🏴\u200d☠️", "e\u0301"])
def test_what_letters_need_stays(kept: str) -> None:
    source = Source(path="a.txt", text=f"Words with {kept}x in them.\n")
    assert find_reader(source).read(source).blocks[0].text == f"Words with {kept}x in them."
