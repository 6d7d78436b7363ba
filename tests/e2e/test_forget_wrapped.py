"""F46: what is forgotten is found in whatever it is wrapped, in files of every kind, now and at later readings."""

from __future__ import annotations

import csv
import difflib
import email.message
import io
import json
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.stores import Bench, on_both, on_server_once

from memu import MemoryService

pytestmark = pytest.mark.e2e

SENTENCE = "The vault code word is heliotrope walrus."
BARE = SENTENCE.removesuffix(".")
WAYS = int(os.environ.get("MEMU_TEST_WRAPPINGS", "1"))
WORDS = ("heliotrope", "walrus")
PLAIN = {"a.md": f"# Vault\n\n- {SENTENCE}\n- Boats are always kept dry.\n"}

WRAPPED = {
    "plain": SENTENCE,
    "loud": SENTENCE.upper(),
    "no stop": BARE,
    "asked": f"{BARE}?",
    "bold": f"**{SENTENCE}**",
    "part bold": "The **vault code** word is *heliotrope* walrus.",
    "within a word": "The vault code word is helio**trope** walrus.",
    "underscored": f"__{BARE}__.",
    "struck": f"~~{SENTENCE}~~",
    "code span": f"`{SENTENCE}`",
    "part code": "The vault code word is `heliotrope walrus`.",
    "linked": f"[{SENTENCE}](http://x.example/y)",
    "part linked": "The vault code word is [heliotrope](http://x.example/y) walrus.",
    "titled link": 'The vault code word is [heliotrope](http://x.example/y "flower") walrus.',
    "reference": "The vault code word is [heliotrope][1] walrus.",
    "pictured": f"![{SENTENCE}](x.png)",
    "linked picture": f"[![{SENTENCE}](x.png)](http://x.example)",
    "wiki link": f"[[{BARE}]]",
    "piped wiki link": f"[[word|{BARE}]]",
    "wiki part": "The vault code word is [[flower|heliotrope]] walrus.",
    "footnote": "The vault code word[^1] is heliotrope walrus.",
    "entities": "The vault code word is heliotrope&nbsp;walrus&#46;",
    "letters as entities": "The vault code word is &#104;eliotrope walrus.",
    "tag": f"<b>{SENTENCE}</b>",
    "part tag": "<b>The vault</b> code word is <i class='x'>heliotrope</i> walrus.",
    "broken line": "The vault code word<br>is heliotrope walrus.",
    "remark": f"<!-- {SENTENCE} -->",
    "attribute": f'<img src="x.png" alt="{SENTENCE}">',
    "role": "The vault code word is :ref:`heliotrope <flower>` walrus.",
    "rst link": "The vault code word is `heliotrope <http://x.example>`_ walrus.",
    "asciidoc": "The vault code word is link:http://x.example[heliotrope] walrus.",
    "latex": r"The vault code word is \textbf{heliotrope} walrus.",
    "escaped": r"The vault code word is heliotrope\_walrus.",
    "soft hyphen": "The vault code word is helio\u00adtrope walrus.",
    "no width": "The vault code\u200b word is heliotrope walrus.",
    "wide": unicodedata.normalize("NFKD", "The vault code word is ｈｅｌｉｏｔｒｏｐｅ walrus."),
    "two spaces": "The vault  code word is\theliotrope walrus.",
    "quoted": f'She said "{SENTENCE}" and left.',
    "quoted bare": f"She said “{BARE}” and left.",
    "noted": f"Noted: {SENTENCE} ok",
    "noted bare": f"Noted: {BARE}",
    "goes on": f"{SENTENCE} and so on, as ever.",
    "aside": f"It is known ({BARE}) to few.",
    "ends in dash": f"{BARE} — keep it quiet.",
    "hash remark": f"# {SENTENCE}",
    "trailing remark": f"x = 1  # {SENTENCE}",
    "slashes": f"// {SENTENCE}",
    "starred": f"/* {SENTENCE} */",
    "sql": f"-- {SENTENCE}",
    "docstring": f'"""{SENTENCE}"""',
    "printed": f'print("{SENTENCE}")',
    "assigned": f"note = {BARE}",
    "logged": f"2024-01-01 10:00:00 INFO {SENTENCE}",
    "logged low": f"2024-01-01T10:00:00Z info {SENTENCE.lower()}",
    "to do": f"- [ ] {SENTENCE}",
    "to do named": f"- [ ] TODO {SENTENCE}",
    "mentioned": f"- @bob {SENTENCE}",
    "outline to do": f"** TODO {SENTENCE}",
    "outline done": f"** DONE {SENTENCE}",
    "admonition": f":::note {SENTENCE}",
    "remark within": "The vault code word is heliotrope<!-- c --> walrus.",
    "tagged": f"#flower {SENTENCE}",
    "tags after": f"{BARE} @bob #flower",
    "numbered": f"3. {SENTENCE}",
    "cited": f"> {SENTENCE}",
    "cell": f"| 3 | {SENTENCE} | yes |",
    "heading": f"## {SENTENCE}",
    "defined": f"[^1]: {SENTENCE}",
    "slug": f"See docs/{BARE.lower().replace(' ', '-')}.html for it.",
    "url": f"See http://x.example/?q={BARE.replace(' ', '%20')} for it.",
}
FOLDED = {
    "two lines": "The vault code word\nis heliotrope walrus.",
    "fence": f"```\n# {SENTENCE}\nmake all\n```",
    "indented": f"Look:\n\n    x = 1  # {SENTENCE}\n",
    "underlined": f"{BARE}\n{'=' * len(BARE)}\n\nThe rest is plain enough.",
}
# What several lines say together, where they are one text in such a file.
TOGETHER = {
    "cited lines": (
        "> The vault code word\n> is heliotrope walrus.",
        {"md", "item.md", "txt", "eml", "json", "yaml"},
    ),
    "remark lines": ("# The vault code word\n# is heliotrope walrus.", {"py", "c", "txt", "toml", "yaml"}),
    "slashed lines": ("// The vault code word\n// is heliotrope walrus.", {"c", "txt", "json"}),
    "starred lines": ("/*\n * The vault code word\n * is heliotrope walrus.\n */", {"c"}),
    "front matter": (f"---\ntitle: {BARE}\n---\n\nThe rest is plain.", {"first.md"}),
}


def mail(text: str) -> str:
    message = email.message.EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@x.example", "b@x.example", "Boats"
    message.set_content(f"Hello.\n\n{text}\n\nBye.\n", cte="quoted-printable")
    return message.as_string()


def cells(text: str) -> str:
    held = io.StringIO()
    csv.writer(held).writerows([("who", "what"), ("Ann", text), ("Bob", "nothing at all")])
    return held.getvalue()


def notebook(text: str) -> str:
    kinds = ({"cell_type": "markdown"}, {"cell_type": "code", "outputs": [], "execution_count": None})
    made = [{**kind, "metadata": {}, "source": text} for kind in kinds]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def chat(text: str) -> str:
    turns = (("user", f"Remember this.\n\n{text}"), ("assistant", "Understood, I will keep that in mind."))
    return "".join(json.dumps({"role": role, "content": said}) + "\n" for role, said in turns)


FORMS: dict[str, Callable[[str], str]] = {
    "md": lambda text: f"# Notes\n\n{text}\n\nBoats are always kept dry.\n",
    "item.md": lambda text: f"# Notes\n\n- {text}\n- Boats are always kept dry.\n",
    "first.md": lambda text: text,
    "txt": lambda text: f"Some notes.\n\n{text}\n\nBoats are always kept dry.\n",
    "org": lambda text: f"* Notes\n{text}\n* Boats\nBoats are always kept dry.\n",
    "rst": lambda text: f"Notes\n=====\n\n{text}\n\nBoats are always kept dry.\n",
    "html": lambda text: f"<html><body><h1>Notes</h1><p>{text}</p><p>Boats are dry.</p></body></html>",
    "py": lambda text: f"import boats\n\n{text}\n\nboats.dry()\n",
    "c": lambda text: f"int main() {{\n    {text}\n    return 0;\n}}\n",
    "log": lambda text: f"2024-01-01 10:00:00 INFO started\n2024-01-01 10:00:01 WARN {text}\n",
    "csv": cells,
    "json": lambda text: json.dumps({"notes": [text, "Boats are dry."], "about": {"what": text}}, indent=1),
    "yaml": lambda text: f"notes:\n  - {json.dumps(text)}\nwhat: |\n  " + text.replace("\n", "\n  ") + "\n",
    "toml": lambda text: f"[notes]\nwhat = {json.dumps(text)}\n",
    "xml": lambda text: f"<notes><note>{text}</note></notes>\n",
    "eml": mail,
    "vtt": lambda text: f"WEBVTT\n\n00:01.000 --> 00:09.000\n<v Ann>{text}\n",
    "srt": lambda text: f"1\n00:00:01,000 --> 00:00:09,000\n{text}\n",
    "ipynb": notebook,
    "jsonl": chat,
    "meeting.txt": lambda text: f"Ann: {text}\nBob: We meet on Mondays at nine.\nAnn: Good.\nBob: Bye.\n",
    "phone.txt": lambda text: f"[01/02/2024, 10:00:00] Ann: {text}\n[01/02/2024, 10:01:00] Bob: Fine by me.\n",
}


def all_files(ways: int) -> dict[str, str]:
    """Every wrapping in files of so many kinds, each alone in its file; every kind holds some."""
    kinds = list(FORMS)
    files: dict[str, str] = {}
    for at, (name, text) in enumerate((WRAPPED | FOLDED).items()):
        chosen = {"first.md", *(kinds[(at * ways + step) % len(kinds)] for step in range(ways))}
        files |= {_path_of(name, kind): FORMS[kind](text) for kind in sorted(chosen)}
    for name, (text, fit) in TOGETHER.items():
        files |= {_path_of(name, kind): FORMS[kind](text) for kind in sorted(fit)}
    return files


def _path_of(name: str, kind: str) -> str:
    return f"{kind.rsplit('.')[-1]}/{name.replace(' ', '_')}.{kind}"


async def search(memu: MemoryService) -> str:
    found = await memu.retrieve_workspace("what is the vault code word heliotrope walrus")
    return " ".join(f"{hit.title} {hit.heading} {hit.text}" for hit in found.hits).casefold()


@pytest.mark.parametrize("later", [True, False], ids=["written later", "stored before"])
async def test_f46_no_wrapping_brings_back_what_was_forgotten(later: bool, tmp_path: Path) -> None:
    bench, files = Bench(tmp_path), all_files(WAYS)
    bench.write({**PLAIN, **({} if later else files)})
    async with bench.open(encoder=None) as memu:
        assert (await memu.memorize_workspace(bench.work)).failed == ()
        receipt = await memu.forget(match="heliotrope walrus")
        assert (receipt.left, receipt.unread) == ((), ())
        if later:
            bench.write(files)
            assert (await memu.memorize_workspace(bench.work)).failed == ()
        else:
            # A reader may leave out what is hidden, such as a remark or an attribute.
            assert len(receipt.sources) > len(files) * 0.9
        assert bench.holding(*WORDS) == []
        found = await search(memu)
        assert not any(word in found for word in WORDS)
        outcome = bench.outcome()
        report = await memu.memorize_workspace(bench.work)
        assert (report.failed, report.export.written) == ((), ())
    fresh = bench.empty("fresh")
    async with fresh.open(encoder=None) as memu:
        assert (await memu.memorize_workspace(bench.work)).failed == ()
    assert (list_differences(outcome, bench.outcome()), list_differences(outcome, fresh.outcome())) == ([], [])


def list_differences(one: Any, other: Any) -> list[str]:
    """The lines of trees, and the rows, that only one of two outcomes has, each with its file or table."""
    found: list[str] = []
    for before, after in zip(one, other, strict=True):
        for name in sorted(before.keys() | after.keys()):
            pair = [_list_parts(each.get(name, ())) for each in (before, after)]
            found += (line for line in difflib.unified_diff(*pair, name, name, n=0, lineterm=""))
    return found


def _list_parts(value: Any) -> list[str]:
    return value.decode("utf-8").splitlines() if isinstance(value, bytes) else list(map(repr, value))


@on_server_once("way", ["entry", "match"])
async def test_f46_the_receipt_names_every_source_that_says_it(way: str, bench: Bench) -> None:
    """Two statements that differ in markup alone are one, whichever was pointed at."""
    bench.write({**PLAIN, "l.md": "The vault code word is [heliotrope](http://x.y) walrus.\n"})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        entry = next(one.id for one in await memu.list_entries() if one.path == "a.md" and "walrus" in one.text)
        chosen = {"match": "heliotrope walrus"} if way == "match" else {"reference": entry}
        receipt = await memu.forget(**chosen, purge=True)
    assert (receipt.sources, receipt.entries) == (("a.md", "l.md"), 2)
    assert bench.holding(*WORDS) == []
    assert not any(word.encode() in bench.raw().lower() for word in WORDS)


@on_both
async def test_f46_a_stale_caption_is_cut_too(bench: Bench) -> None:
    """Whatever way the words got into a row that is shown, forgetting looks there."""
    bench.write({**PLAIN, "b.md": "# Boats\n\nBoats are always painted in May.\n"})
    async with bench.open(encoder=None) as memu:
        await memu.memorize_workspace(bench.work)
        bench.change("UPDATE resource SET caption = ? WHERE path = ?", f"It says: {SENTENCE}", "b.md")
        receipt = await memu.forget(match="heliotrope walrus")
    assert receipt.sources == ("a.md", "b.md")
    assert bench.holding(*WORDS) == []
