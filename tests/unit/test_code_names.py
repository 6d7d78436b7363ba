"""Code: definitions and comments stand under the qualified name of what they are in, in whatever language."""

from __future__ import annotations

import pytest

from memu.ingest.document import BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.code import extract_code

pytestmark = pytest.mark.unit

WHY = "It waits for the tide, since the quay is low."
LANGUAGES = {
    "a.ts": f"""namespace Harbour {{
  export class Crane {{
    // {WHY}
    function lift(weight) {{
    }}
  }}
  function weigh() {{
  }}
}}
function outside() {{
}}
""",
    "a.rb": f"""module Harbour
  class Crane
    # {WHY}
    def lift
    end
  end
  def weigh
  end
end
def outside
end
""",
    "a.rs": f"""mod Harbour {{
\timpl Crane {{
\t\t/// {WHY}
\t\tpub fn lift(&self) {{
\t\t}}
\t}}
\tfn weigh() {{
\t}}
}}
fn outside() {{
}}
""",
    "a.py": f"""class Harbour:
    class Crane:
        # {WHY}
        def lift(self):
            pass
    def weigh(self):
        pass
def outside():
    pass
""",
}


def read(path: str, text: str) -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


@pytest.mark.parametrize("path", LANGUAGES)
def test_each_definition_and_comment_is_under_its_qualified_name(path: str) -> None:
    document = read(path, LANGUAGES[path])
    assert [block.heading for block in document.blocks if block.kind is BlockKind.SIGNATURE] == [
        ("Harbour",),
        ("Harbour", "Crane"),
        ("Harbour", "Crane", "lift"),
        ("Harbour", "weigh"),
        ("outside",),
    ]
    [comment] = [block for block in document.blocks if block.kind is BlockKind.COMMENT]
    assert WHY in comment.text
    assert comment.heading == ("Harbour", "Crane")
    assert comment.lines is not None
    assert WHY in LANGUAGES[path].split("\n")[comment.lines.start - 1]


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("#!/usr/bin/env python\n# The ledger is weighed before the crane lifts.\n", True),
        ("# -*- coding: utf-8 -*-\n", False),
        ("x = 1  # The ledger is weighed before the crane lifts.\n", False),
        ("# total = weigh(ledger) + crane.lift()\n# print(total)\n", False),
        ("# noqa: everything in this file is left alone\n", False),
        ("# short one\n", False),
        ('text = """\n# The ledger is weighed before the crane lifts.\n"""\n', False),
        ("# Wird gewogen, bevor der Kran hebt: sonst kippt er.\n", True),
    ],
)
def test_of_pythons_comments_those_are_kept_that_explain(code: str, kept: bool) -> None:
    found = [block for block in read("a.py", code).blocks if block.kind is BlockKind.COMMENT]
    assert bool(found) is kept
    assert not any("#!" in block.text for block in found)


def test_what_stands_in_nothing_but_a_namespace_is_public() -> None:
    told = "namespace Harbour {\n  class Crane {\n    void lift() {\n    }\n  }\n}\n"
    texts = [candidate.text for candidate in extract_code(read("a.cs", told), "a.cs").candidates]
    assert any("class Crane" in text for text in texts)
    assert not any("lift" in text for text in texts)
