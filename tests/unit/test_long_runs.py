"""Runs of one sign, as broken files and models that go round and round have them: read in a moment.

Each of these took minutes to hours, by the square or the cube of the run's length. Nothing is timed: a test that
comes to its end has passed. ``benchmarks/fuzz.py --runs`` tries every sign in every form of file.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from memu import ReplyError
from memu.ingest.document import Source
from memu.ingest.encoding import decode
from memu.ingest.reader import find_reader
from memu.memorize.extractors.policies import extract
from memu.memorize.fold.operations import parse_operations
from memu.memorize.forget.cutting import cut_document
from memu.memorize.forget.forgotten import Forgotten, statement_keys

pytestmark = pytest.mark.unit

LONG = 400_000
PHONE = "[03.02.24, 10:11:1{}] {}: {}\n"
FILES = {
    "markup.rst": ("Title\n=====\n\n", "*"),
    "rule.rst": ("Title\n=====\n\nWords.\n\n", "-"),
    "lists.rst": ("Title\n=====\n\nWords.\n\n", f"{'* ' * 30}\n"),
    "definition.md": ("# Links\n\n[a]: ", "x"),
    "comment.md": ("# Notes\n\n<!-- a --> and", " "),
    "label.md": ("# Notes\n\nA label: the value. ", "*"),
    "phone.txt": (PHONE.format(1, "Ann", "hello") * 3 + PHONE.format(2, "Bob", "so").rstrip(), " "),
}


@pytest.mark.parametrize(("path", "head", "sign"), [(path, *parts) for path, parts in FILES.items()], ids=FILES)
def test_p5_a_run_of_one_sign_does_not_keep_a_sync(path: str, head: str, sign: str) -> None:
    source = Source(path=path, text=f"{head}{sign * (LONG // len(sign))}x: y\n\nDeploys go out on Tuesdays.\n")
    document = find_reader(source).read(source)
    assert "".join(block.text for block in document.blocks).replace("\n", " ").endswith("Tuesdays.")
    forgotten = Forgotten("00" * 32)
    gone = Forgotten(forgotten.salt, forgotten.tombstones(statement_keys("Deploys go out on Tuesdays.")))
    assert "Tuesdays" not in "".join(block.text for block in cut_document(document, path, gone).blocks)
    extract(document, path)


def test_p5_a_long_line_before_old_bytes_does_not_keep_a_sync() -> None:
    """A minified file in Latin-1: a search that begins anew at each of its bytes."""
    line = b'{"text": "' + b"a" * 3_000_000 + b'"}\n'
    text = "Die Küche schließt für längere Zeit, und das Büro öffnet später."
    assert decode(line + text.encode("latin-1")).text.endswith(text)


@pytest.mark.parametrize("head", ["[", '[{"op": "add", "cites": ["', '{"operations": [{"op": "'])
@pytest.mark.parametrize("run", ['"\\' * 100_000, "9" * 5000, "\n" * LONG, ",]" * 100_000])
def test_f36_a_model_that_goes_round_and_round_is_a_failure_or_no_use(head: str, run: str) -> None:
    with suppress(ReplyError):
        assert not parse_operations(f'{head}{run}"}}]').items
