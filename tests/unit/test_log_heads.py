"""A log's beginning is known by its bytes, and only text whose parts make up the whole is read in parts (P3)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.ingest.encoding import decode
from memu.ingest.log_heads import LogHead, find_head, is_plain, read_tail
from memu.ingest.redact import redact
from memu.ingest.redacted_lines import redact_lines

pytestmark = pytest.mark.unit

LINES = [f"line {number}\n".encode() for number in range(9)]
DATA = b"".join(LINES)
ODD = st.sampled_from(["a", "é", "漢", "\t", "\r\n", "\n", "\r", "\x00", "\x1b$B", "\ufeff", "\x7f"])


def head_of(data: bytes) -> LogHead:
    return LogHead(size=len(data), digest=hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("line", range(1, 11))
def test_a_head_ends_before_its_line_and_goes_on_from_any_other(tmp_path: Path, line: int) -> None:
    (tmp_path / "a").write_bytes(DATA + b"more")
    known = hashlib.sha256(DATA).hexdigest()
    head = find_head(tmp_path, "a", line=line, size=len(DATA), content_hash=known, plain=True)
    assert head == head_of(b"".join(LINES[: line - 1]))
    tail = read_tail(tmp_path, "a", head_of(b""), most=1000)
    assert tail is not None
    assert tail.find_head(line) == head


def test_a_tail_is_what_was_written_since_and_nothing_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(DATA)
    head = head_of(DATA[:20])
    tail = read_tail(tmp_path, "a", head, most=1000)
    assert tail is not None
    assert (tail.data, tail.size, tail.content_hash) == (DATA[20:], len(DATA), hashlib.sha256(DATA).hexdigest())
    assert read_tail(tmp_path, "a", head, most=len(DATA) - 20) is None
    (tmp_path / "a").write_bytes(DATA[:10])
    assert read_tail(tmp_path, "a", head, most=1000) is None
    (tmp_path / "a").write_bytes(b"X" + DATA[1:])
    assert read_tail(tmp_path, "a", head, most=1000) is None
    assert find_head(tmp_path, "a", line=2, size=len(DATA), content_hash=head.digest, plain=False) is None


@given(st.lists(ODD, min_size=1).map("".join), st.lists(ODD).map("".join))
def test_the_text_of_plain_bytes_is_that_of_their_lines(before: str, after: str) -> None:
    first, second = f"{{x}}{before}\n".encode(), f"{{y}}{after}".encode()
    if is_plain(first + second):
        parts = [part.decode().replace("\r\n", "\n") for part in (first, second)]
        assert decode(first + second).text == "".join(parts)
        assert decode(first + second).damage == {}


SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
PIECES = st.sampled_from(
    [
        SECRET,
        "password: correcthorse77battery",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "said",
    ]
)


@given(st.lists(PIECES.map('{{"text": "{}"}}'.format), min_size=1), st.data())
def test_p11_what_is_redacted_in_a_line_does_not_hang_on_others(lines: list[str], data: st.DataObject) -> None:
    whole = redact_lines("\n".join(lines))
    cut = data.draw(st.integers(0, len(lines) - 1))
    alone = redact_lines("\n".join(lines[cut:]))
    assert whole.text.split("\n")[cut:] == alone.text.split("\n")
    assert {line - cut: counts for line, counts in whole.by_line.items() if line > cut} == alone.by_line
    assert whole.text.split("\n") == [redact(line).text for line in lines]
