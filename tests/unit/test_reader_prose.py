"""FIELD: prose under the name of a data format keeps its entries, and no data file is taken for prose."""

from __future__ import annotations

import json

import pytest

from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.policies import extract
from memu.records import Kind

pytestmark = pytest.mark.unit

SUFFIXES = ["json", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "env", "json5"]
PROSE = """The Heron pier closes in May because its planks are rotten.
We decided to use oak for the new ones, which lasts for thirty years.

Dana pays the harbour master forty euros for each month
that a boat lies there over winter.
"""
WIDE = "我们决定在五月关闭码头，因为木板已经腐烂。\n新的木板将使用橡木，可以使用三十年。\n"
SPOKEN = "Ann: The pier closes in May.\nBob: We use oak.\nAnn: I will call the yard.\nBob: It is old.\n"
DATA = {
    "a.json": json.dumps({"text": PROSE, "n": [1, 2]}, indent=1),
    "b.json": json.dumps(PROSE),
    "c.jsonc": '// The settings of the pier. They are read once.\n{"a": 1}\n',
    "cut.json": f'"text": {json.dumps(PROSE)},\n"more": [1, 2',
    "rows.jsonl": "".join(json.dumps({"text": PROSE, "n": n}) + "\n" for n in range(4)),
    "a.yaml": "# The settings. They are read once.\ntext: |\n  The pier closes in May.\n  It is old.\nn: 4\n",
    "b.yaml": "- The pier closes in May.\n- The planks are made of oak.\n",
    "a.toml": '# The settings.\n[pier]\ntext = "The pier closes in May."\nn = 4\n',
    "a.ini": "; The settings.\n[pier]\ntext = The pier closes in May.\n",
    "nginx.conf": "worker_processes auto;\nserver {\n    listen 80;\n    root /srv/pier;\n}\n",
    "sshd.conf": "# Host keys.\nPort 22\nPermitRootLogin no\nAcceptEnv LANG\n",
    "pier.env": "# Of the pier.\nTEXT=The pier closes in May.\n",
    "a.properties": "pier.text=The pier closes in May.\npier.n: 4\n",
}


def read(text: str, path: str) -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("text", [PROSE, WIDE, f"PIERS\n\n{PROSE}"])
def test_p3_prose_is_read_alike_under_every_name(suffix: str, text: str) -> None:
    plain, other = read(text, "notes.txt"), read(text, f"notes.{suffix}")
    assert other.blocks == plain.blocks
    entries = extract(other, f"notes.{suffix}").candidates
    assert entries == extract(plain, "notes.txt").candidates
    assert entries


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_p3_a_transcript_too(suffix: str) -> None:
    assert read(SPOKEN, f"notes.{suffix}").kind is Kind.MEETING


def test_a_bracket_in_front_makes_no_data() -> None:
    text = f"[Draft] {PROSE}"
    assert read(text, "notes.json").blocks == read(text, "notes.txt").blocks


@pytest.mark.parametrize("path", DATA)
def test_data_stays_data(path: str) -> None:
    document = read(DATA[path], path)
    assert {block.kind.value for block in document.blocks} == {"data"}
