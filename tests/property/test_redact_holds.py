"""What holds for any text: redacting again changes nothing, lines stay, and no planted secret is left (P11)."""

from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from memu.ingest.disguises import redact_disguised
from memu.ingest.redact import redact

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
MARK = re.compile(r"""(?:\\*")?\[redacted:[a-z0-9-]+\](?:\\*")?""")


def body(length: int) -> st.SearchStrategy[str]:
    return st.text(LETTERS, min_size=length, max_size=length).map(lambda text: "a1B2c" + text[5:])


SECRETS = st.one_of(
    body(48).map(lambda text: "sk-" + text),
    body(36).map(lambda text: "ghp_" + text),
    body(24).map(lambda text: "xoxb-" + text),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=16).map(lambda text: "AKIA" + text),
    body(30).map(lambda text: "hvs." + text),
)
PIECES = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "password", "token", "API_KEY", "secret", ": ", "=", '"', "'", "\n", "://", "@", "user:", "sk-",
            "ghp_", " ",
            "eyJ", ".", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\\n", "\\", "|", "`", "**",
            "<td>", "hunter2", "12345678", '": ', "a1b2c3d4e5f6a7b8c9", "[redacted:password]", "[redacted:", "]",
            "Bearer ", "Authorization: ", "curl -u ", "--password ", "value: ", "\n    value: ", "密码：", "İ",
            "%3D", "host", "&", ";", ",",
        ]
    ),
    SECRETS,
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=14).map("".join)


@given(TEXTS)
def test_redacting_again_changes_nothing(text: str) -> None:
    once = redact(text)
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.counts == {}


@given(TEXTS)
def test_lines_stay_where_they_are(text: str) -> None:
    redacted = redact(text).text
    assert redacted.count("\n") == text.count("\n")


@given(TEXTS)
def test_only_marks_are_new(text: str) -> None:
    """What is left around the marks is the text itself, in order."""
    redacted = redact(text).text
    position = 0
    for piece in MARK.split(redacted):
        for part in piece.split("\n"):
            position = text.find(part, position)
            assert position >= 0
            position += len(part)


@given(
    before=st.text(max_size=20),
    secret=SECRETS,
    after=st.sampled_from(["", " ", "\n", '"', "'", ".", ",", ")", "`"]),
)
def test_a_planted_secret_is_gone_wherever_it_stands_apart(before: str, secret: str, after: str) -> None:
    redacted = redact(f"{before} {secret}{after}")
    assert secret not in redacted.text
    assert sum(redacted.counts.values()) >= 1


@given(before=st.text(max_size=20), secret=SECRETS, after=st.text(max_size=20))
def test_a_json_string_stays_one(before: str, secret: str, after: str) -> None:
    record = json.dumps({"content": f"{before} {secret} {after}", "n": 1})
    parsed = json.loads(redact(record).text)
    assert parsed["n"] == 1
    assert secret not in parsed["content"]


@given(st.text())
def test_any_text_passes(text: str) -> None:
    assert redact(text).text.count("\n") == text.count("\n")


UNSEEN_MARKS = st.sampled_from(
    ["**", "*", "***", "`", "~~", "<b>", "</b>", "<!---->", "\u200b", "\u2060", "\u00ad"]
)
AROUND = st.sampled_from(["", "Take it. ", "**Bold** and `code`, ", "令牌是", "(", "- a list\n- and "])


@given(AROUND, SECRETS, st.lists(st.tuples(st.integers(1, 18), UNSEEN_MARKS), min_size=1, max_size=4), AROUND)
def test_no_mark_inside_hides_a_secret(before: str, secret: str, cuts: list[tuple[int, str]], after: str) -> None:
    """What a viewer does not show parts no token; the words around it keep their marks."""
    marked = secret
    for at, mark in sorted(cuts, reverse=True):
        marked = marked[:at] + mark + marked[at:]
    text = redact_disguised(redact(f"{before}{marked} {after}").text).text
    plain = re.sub(r"[*`~\u200b\u2060\u00ad]|</?b>|<!---->", "", text)
    assert secret not in plain
    assert secret[6:16] not in plain
    assert "[redacted:" in text
    assert text.endswith(after)
    assert text.startswith(before.rstrip("("))


@given(TEXTS)
def test_undoing_again_changes_nothing(text: str) -> None:
    once = redact_disguised(redact(text).text)
    assert redact_disguised(once.text).counts == {}
