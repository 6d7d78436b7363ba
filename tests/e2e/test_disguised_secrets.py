"""A source's raw lines show no secret either, however the source wrote it (P11)."""

from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.rows import dump_rows

from memu import MemoryService, Settings
from memu.errors import NotFound
from memu.ingest.disguises import hides_secret
from memu.ingest.redact import redact

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TOKEN = "ghp_" + BODY
WORDS = "The harbour crane is serviced every spring by Orla."
MAIL = "From: a@example.com\nTo: b@example.com\nSubject: Crane\nDate: Mon, 01 Aug 2016 10:00:00 +0000\n"
DISGUISED = {
    "entity.html": f"<html><body><p>{WORDS}</p><p>gh&#112;_{BODY}</p></body></html>",
    "hex.html": f"<html><body><p>{WORDS}</p><p>gh&#x70;&lowbar;{BODY}</p></body></html>",
    "comment.html": f"<html><body><!-- gh&#112;_{BODY} --><p>{WORDS}</p></body></html>",
    "quoted.html": f"<html><body><p>{WORDS}</p><p>password: &quot;hunter2secret&quot;</p></body></html>",
    "entity.md": f"# Crane\n\n{WORDS}\n\nThe token is gh&#112;_{BODY}.\n",
    "escaped.json": '[{"role": "user", "content": "' + WORDS + " gh\\u0070_" + BODY + '"}]',
    "percent.md": f"# Crane\n\n{WORDS} See https://x.example/?q=gh%70_{BODY}\n",
    "strong.md": f"# Crane\n\n{WORDS} It is **ghp_**{BODY}.\n",
    "strong-middle.md": f"# Crane\n\n{WORDS} It is ghp_{BODY[:9]}**{BODY[9:20]}**{BODY[20:]}.\n",
    "code.md": f"# Crane\n\n{WORDS} It is `ghp_`{BODY}.\n",
    "struck.md": f"# Crane\n\n{WORDS} It is gh~~p_~~{BODY}.\n",
    "tag.md": f"# Crane\n\n{WORDS} It is ghp_<b>{BODY[:7]}</b>{BODY[7:]}.\n",
    "tag.html": f"<html><body><p>{WORDS}</p><p>ghp_<b>{BODY}</b></p></body></html>",
    "cell.md": f"# Crane\n\n{WORDS}\n\n| a | b |\n| - | - |\n| **ghp_**{BODY} | x |\n",
    "unseen.md": f"# Crane\n\n{WORDS} It is gh\u200bp_{BODY[:9]}\u2060{BODY[9:]}.\n",
    "unseen-entity.md": f"# Crane\n\n{WORDS} It is gh&#8203;p_{BODY}.\n",
    "unseen-password.md": f"# Crane\n\n{WORDS}\n\npassword: hun\u200bter2secret\n",
    "quoted.eml": f"{MAIL}Content-Transfer-Encoding: quoted-printable\n\n{WORDS} gh=70_{BODY}\n",
    "base64.eml": f"{MAIL}Content-Transfer-Encoding: base64\n\n"
    + base64.encodebytes(f"{WORDS} {TOKEN}\n".encode()).decode(),
}


@pytest.mark.parametrize("name", DISGUISED)
async def test_p11_shown_lines_hold_no_disguised_secret(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(DISGUISED[name], encoding="utf-8")
    async with MemoryService.open(folder=tmp_path, encoder=None) as memu:
        await memu.memorize_workspace(tmp_path)
        for reference in (name, f"{name}#L1-L20"):
            shown = (await memu.get(reference)).text
            assert BODY not in shown
            assert "hunter2secret" not in shown
            assert not hides_secret(shown, "shown.txt")
        assert "harbour crane" in (await memu.get(name)).text


@pytest.mark.parametrize("name", DISGUISED)
async def test_p11_what_is_stored_of_it_holds_no_secret_however_it_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(DISGUISED[name], encoding="utf-8")
    async with MemoryService.open(folder=tmp_path, encoder=None) as memu:
        report = await memu.memorize_workspace(tmp_path)
    # A comment is not even stored.
    assert sum(report.redactions.values()) == (name != "comment.html")
    stored = str(dump_rows(tmp_path / ".memu" / "memu.sqlite3"))
    for undone in (stored, html.unescape(stored), unquote(stored)):
        plain = re.sub(r"[*`~\u200b\u2060]|</?b>|\\u200b|\\u2060", "", undone)
        assert BODY not in plain
        assert "hunter2secret" not in plain


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", f"<p>{WORDS} Tom &amp; Orla</p>"),
        ("a.json", json.dumps({"note": "caf\u00e9 \u2014 open"})),
        ("a.md", "See https://x.example/a%20b and R&amp;D."),
        ("a.md", f"The token is {TOKEN}."),
        ("a.md", f"The **token** is `{TOKEN}`, a *very* long **`snake_case_name_of_a_thing`**."),
        ("a.py", "def scale(*points_of_the_curve, **further_settings_of_it): return points_of_the_curve*2"),
        ("a.md", "The flag \U0001f3f4\u200d\u2620\ufe0f waves."),
    ],
)
def test_ordinary_escapes_leave_the_lines_as_they_are(name: str, text: str) -> None:
    assert not hides_secret(redact(text).text, name)


LINED = {
    "lined.md": f"# Crane\n\nThe first line is here.\nA second one follows it.\nThe key is **ghp_**{BODY}.\n\n"
    "```sh\necho seven\necho eight\n```\n\nThe last line is this.\n",
    "lined.txt": f"Crane\n\nThe first line is here.\nA second one follows it.\n\ngh\u200bp_{BODY}\n\necho seven\n"
    "echo eight\n\n\nThe last line is this.\n",
    "lined.html": "<h1>Crane</h1>\n<p>\nThe first line is here.\nA second one follows it.\n</p>\n"
    f"<p>gh&#112;_{BODY}</p>\n<pre>\necho seven\necho eight\n</pre>\n\n<p>The last line is this.</p>\n",
}


@pytest.mark.parametrize("name", LINED)
async def test_lines_of_a_file_that_hides_a_secret_are_obeyed_and_the_reason_is_said(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text(LINED[name], encoding="utf-8")
    raw = LINED[name].split("\n")
    async with MemoryService.open(folder=tmp_path, encoder=None) as memu:
        await memu.memorize_workspace(tmp_path)
        for words in (
            "The first line is here.",
            "A second one follows it.",
            "echo eight",
            "The last line is this.",
        ):
            (line,) = [number for number, text in enumerate(raw, 1) if words in text]
            found = await memu.get(f"{name}#L{line}")
            assert found.text == words
            assert "disguised" in (found.notice or "")
        both = await memu.get(f"{name}#L3-L4")
        assert both.text.split() == ["The", "first", "line", "is", "here.", "A", "second", "one", "follows", "it."]
        for line in range(1, len(raw)):
            assert BODY not in (await memu.get(f"{name}#L{line}")).text
        for lines in ("L99", "L13-L14", "L0", "L4-L3"):
            with pytest.raises(NotFound, match="has 12 lines"):
                await memu.get(f"{name}#{lines}")
        (tmp_path / name).unlink()
        gone = await memu.get(f"{name}#L3")
        assert "The first line is here." in gone.text
        assert "cannot be read" in (gone.notice or "")
        with pytest.raises(NotFound, match="it has no L99"):
            await memu.get(f"{name}#L99")


async def test_the_lines_of_a_clean_file_come_without_a_notice(tmp_path: Path) -> None:
    (tmp_path / "clean.md").write_text(f"# Crane\n\n{WORDS} The key is {TOKEN}.\n", encoding="utf-8")
    async with MemoryService.open(folder=tmp_path, encoder=None) as memu:
        await memu.memorize_workspace(tmp_path)
        found = await memu.get("clean.md#L3")
    assert (found.text, found.notice) == (f"{WORDS} The key is [redacted:github-token].", None)


def test_the_command_line_says_why_on_stderr(memu, tmp_path: Path) -> None:
    (tmp_path / "lined.md").write_text(LINED["lined.md"], encoding="utf-8")
    memu("sync", ".")
    ended = memu("get", "lined.md#L3")
    assert (ended.code, ended.out) == (0, "The first line is here.\n")
    assert ended.err.startswith("lined.md: a secret is disguised")
    assert len(ended.err.splitlines()) == 1
    assert memu("get", "lined.md#L3", "--json").document["notice"]
    beyond = memu("get", "lined.md#L99")
    assert (beyond.code, beyond.out) == (2, "")


@pytest.mark.parametrize("name", DISGUISED)
async def test_p11_no_copy_of_a_source_in_the_tree_shows_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(DISGUISED[name], encoding="utf-8")
    settings = Settings.load(resources="copy")
    async with MemoryService.open(folder=tmp_path, encoder=None, settings=settings) as memu:
        await memu.memorize_workspace(tmp_path)
    for copy in (tmp_path / ".memu").rglob(f"*{Path(name).suffix}"):
        shown = copy.read_text(encoding="utf-8", errors="replace")
        assert not hides_secret(shown, "shown.txt")
        assert BODY not in shown
