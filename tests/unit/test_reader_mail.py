"""Mail and mailboxes: whose words are whose, what is attached, and where each stands (P4, P6)."""

from __future__ import annotations

import base64
import mailbox
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.ingest.readers.mail import MailboxReader, MailReader
from memu.memorize.extractors.policies import extract
from memu.memorize.passages import cut_passages
from memu.records import Kind

HEADERS = (
    "From: Ann Lee <ann@boat.example>\nTo: crew@boat.example\n"
    "Subject: Lock\nDate: Mon, 4 Mar 2024 10:00:00 +0000\n"
)
OWN = "We decided to hire the crane on Friday."
OTHERS = "The yard wants the money before 12 March."
QUOTES = {
    "marks": "On Sun, 3 Mar 2024 at 09:00, Ben Roe <ben@boat.example> wrote:\n\n> {}\n",
    "marks, attribution on two lines": "On Sun, 3 Mar 2024 at 09:00, Ben Roe\n<ben@boat.example> wrote:\n> {}\n",
    "twice": ">> {}\n> Yes.\n",
    "no marks": "On 3 Mar 2024 Ben Roe wrote:\n\n{}\n",
    "german": "Am 03.03.24 um 09:00 schrieb Ben Roe:\n> {}\n",
    "spanish": "El 3 mar 2024, a las 9:00, Ben Roe <b@x.example> escribió:\n\n> {}\n",
    "chinese": "2024年3月3日 Ben Roe 写道：\n> {}\n",
    "outlook": "-----Original Message-----\nFrom: Ben Roe\nSent: Sunday\nTo: Ann\nSubject: Lock\n\n{}\n",
    "outlook, only headers": "From: Ben Roe\nSent: Sunday, 3 March 2024\nTo: Ann Lee\nSubject: Lock\n\n{}\n",
    "outlook, german": "Von: Ben Roe\nGesendet: Sonntag, 3. März 2024\nAn: Ann Lee\nBetreff: Schloss\n\n{}\n",
    "forwarded": "---------- Forwarded message ---------\nFrom: Ben Roe\nDate: Sun\n\n{}\n",
    "signature": "-- \nAnn Lee, harbour office\n{}\n",
    "signature without its space": "--\nAnn Lee, harbour office\n{}\n",
}


def read(text: str, path: str = "m.eml") -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def holds(text: str, block: Block, words: str) -> bool:
    assert block.lines is not None
    return words in "\n".join(text.split("\n")[block.lines.start - 1 : block.lines.end])


@pytest.mark.parametrize("quoted", QUOTES.values(), ids=QUOTES)
def test_p6_what_is_quoted_is_found_and_is_nothing_that_the_replier_said(quoted: str) -> None:
    text = f"{HEADERS}\n{OWN}\n\n{quoted.format(OTHERS)}"
    document = read(text)
    candidates = extract(document, "m.eml").candidates
    assert [each.text for each in candidates] == [OWN]
    own, others = (next(block for block in document.blocks if words in block.text) for words in (OWN, OTHERS))
    assert (own.speaker, others.speaker, others.kind) == ("Ann Lee", None, BlockKind.DATA)
    assert holds(text, own, OWN)
    assert holds(text, others, OTHERS)
    passages = [each for each in cut_passages(document, "m.eml") if OTHERS in each.text]
    assert len(passages) == 1
    assert OWN not in passages[0].text
    assert "Ann Lee" not in passages[0].header


@pytest.mark.parametrize("middle", ["> Shall we?\n", "On 3 Mar 2024, Ben wrote:\n> Shall we?\n"])
def test_answers_between_quotes_are_the_repliers(middle: str) -> None:
    document = read(f"{HEADERS}\n{middle}{OWN}\n\n> And when?\nWe sail on the 12th of May at nine.\n\n--\nAnn\n")
    own = [block.text for block in document.blocks if block.speaker]
    assert own == [OWN, "We sail on the 12th of May at nine."]


@pytest.mark.parametrize(
    "words",
    [
        "On Tuesday the harbour master wrote: nothing new.",
        "From: the yard we hear that the crane is late.",
        "--\n" + "This goes on for long after a line.\n" * 30,
        "On we go.\n\nShe wrote: come soon.",
    ],
)
def test_prose_that_only_looks_so_stays_the_writers(words: str) -> None:
    document = read(f"{HEADERS}\n{words}\n\n{OWN}\n")
    assert OWN in [block.text for block in document.blocks if block.speaker]


def test_quotes_of_a_page() -> None:
    page = f"<p>{OWN}</p><div>On 3 Mar 2024, Ben &lt;b@x.example&gt; wrote:</div><blockquote>{OTHERS}</blockquote>"
    document = read(f"{HEADERS}Content-Type: text/html; charset=utf-8\n\n{page}\n")
    assert [block.text for block in document.blocks if block.speaker] == [OWN]
    assert OTHERS in [block.text for block in document.blocks if block.kind is BlockKind.DATA]


@pytest.mark.parametrize("name", ["crane-offer.pdf", "Angebot für Käte.pdf", "报价.xlsx"])
def test_attachments_are_named(name: str) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ann Lee <a@b.example>", "c@d.example", "Offer"
    message.set_content(OWN)
    message.add_attachment(b"%PDF-1.7 \x00\x01" * 30, maintype="application", subtype="pdf", filename=name)
    text = message.as_string()
    document = read(text)
    block = next(block for block in document.blocks if block.text == name)
    assert holds(text, block, "filename")
    assert any(name in each.text for each in cut_passages(document, "m.eml"))
    assert [each.text for each in extract(document, "m.eml").candidates] == [OWN]


def test_a_mail_forwarded_whole_is_not_the_forwarders() -> None:
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "Ben <b@x.example>", "Money"
    inner.set_content(OTHERS)
    outer = EmailMessage()
    outer["From"], outer["To"], outer["Subject"] = "Ann Lee <a@b.example>", "c@d.example", "Fwd: Money"
    outer.set_content(OWN)
    outer.add_attachment(inner)
    said = {block.text: block.speaker for block in read(outer.as_string()).blocks}
    assert (said[OWN], said[OTHERS]) == ("Ann Lee", None)


BOX = (
    "From ann@boat.example Mon Mar  4 10:00:00 2024\n"
    + HEADERS
    + f"\n{OWN}\n>From here we row.\n\n"
    + "From ben@boat.example Tue Mar  5 10:00:00 2024\n"
    + "From: =?utf-8?q?Zo=C3=AB?= <z@boat.example>\nTo: a@boat.example\n"
    + "Subject: =?utf-8?b?5L2g5aW9?=\nDate: Tue, 5 Mar 2024 10:00:00 +0000\n"
    + "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    + "The caf=C3=A9 opens at =\nten.\nFrom the start we said so.\n"
)


@pytest.mark.parametrize("path", ["inbox.mbox", "INBOX.MBX", "Inbox", "sent.txt"])
def test_a_mailbox_is_read_mail_by_mail(path: str) -> None:
    document = read(BOX, path)
    assert document.kind is Kind.MAIL
    assert document.happened_at == datetime(2024, 3, 4, 10, tzinfo=UTC)
    assert [(block.text, block.heading, block.speaker, block.place) for block in document.blocks] == [
        ("Lock (Ann Lee, 2024-03-04)", (), "Ann Lee", "message 1"),
        (f"{OWN} From here we row.", ("Lock (Ann Lee, 2024-03-04)",), "Ann Lee", "message 1"),
        ("你好 (Zoë, 2024-03-05)", (), "Zoë", "message 2"),
        ("The café opens at ten. From the start we said so.", ("你好 (Zoë, 2024-03-05)",), "Zoë", "message 2"),
    ]
    lines = [block.lines for block in document.blocks]
    assert all(lines)
    assert holds(BOX, document.blocks[0], "Subject: Lock")
    assert holds(BOX, document.blocks[1], OWN)
    assert holds(BOX, document.blocks[3], "From the start we said so.")


WORDS = st.text(st.sampled_from("abc XYZ\n>-.é"), min_size=1, max_size=60)


@settings(max_examples=40, deadline=None)
@given(bodies=st.lists(WORDS, min_size=1, max_size=5))
def test_as_many_mails_as_the_standard_library_finds(
    bodies: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("box") / "all.mbox"
    box = mailbox.mbox(path)
    for number, body in enumerate(bodies):
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = (
            f"P{number} <p@x.example>",
            "q@x.example",
            f"S{number}",
        )
        message["Date"] = format_datetime(datetime(2024, 3, 4, 10, number, tzinfo=UTC))
        message.set_content(f"From here on.\n{body}")
        box.add(message)
    box.flush()
    found = len(box)
    box.close()
    text = Path(path).read_bytes().decode("utf-8", "replace")
    document = read(text, "all.mbox")
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING and block.depth == 1]
    assert len([each for each in headings if each.heading == ()]) == found == len(bodies)
    assert [each.text for each in headings if each.heading == ()] == [
        f"S{number} (P{number}, 2024-03-04)" for number in range(found)
    ]


def test_parts_in_parts_end() -> None:
    opened = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3_000))
    assert read(HEADERS + opened + "\nhello\n").kind is Kind.MAIL
    parts = "--b\nContent-Type: text/plain\n\nhello there\n" * 5_000
    document = read(f"{HEADERS}Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n")
    assert dict(document.damage)["bad_part"] == 4_001


@pytest.mark.parametrize("reader", [MailReader(), MailboxReader()], ids=lambda reader: reader.name)
@pytest.mark.parametrize("headers", [*combinations(HEADERS.splitlines(), 2)], ids=str)
def test_p4_whatever_headers_a_mail_lacks_each_of_its_blocks_has_lines(
    reader: MailReader | MailboxReader, headers: tuple[str, str]
) -> None:
    text = "\n".join(headers) + "\n\nHello.\n"
    blocks = reader.read(Source(path="a.mbox", text=text)).blocks
    assert blocks
    assert all(block.lines is not None and block.lines.start <= text.count("\n") for block in blocks)


BODY = "Wir nehmen am Freitag den Kran. Grüße an alle im Hafen! " * 4
PACKED = base64.encodebytes(BODY.encode()).decode()
PLAIN = "Content-Type: text/plain; charset={}\nContent-Transfer-Encoding: {}\n\n"
UTF_8 = PLAIN.format("utf-8", "base64")


def body(text: str, path: str = "m.eml") -> tuple[str, dict[str, int]]:
    """What the mail says, and its damage."""
    document = read(f"{HEADERS}{text}", path)
    return " ".join(block.text for block in document.blocks), dict(document.damage)


@pytest.mark.parametrize("cut", range(2, 60))
def test_p4_a_packed_text_that_was_cut_is_read_up_to_the_cut(cut: int) -> None:
    said, damage = body(UTF_8 + PACKED[:-cut])
    assert BODY.startswith(said)
    assert len(said) > len(BODY) - cut
    assert damage == ({"bad_part": 1} if len("".join(PACKED[:-cut].split())) % 4 else {})


@pytest.mark.parametrize(
    "text", ["We take the crane on Friday.\nThanks\nAnn\n", "Thanks\n", "Meet at 10\n", "Grüße!\n"]
)
def test_what_says_to_be_packed_and_is_not_is_read_as_it_stands(text: str) -> None:
    assert body(UTF_8 + text) == (" ".join(text.split()), {"bad_part": 1})


@pytest.mark.parametrize(
    ("text", "expected", "damage"),
    [
        (PACKED, BODY.strip(), {}),
        (PACKED + PACKED, f"{BODY}{BODY}".strip(), {}),
        (PACKED + "______\nThe list of boats\n", f"{BODY}______ The list of boats", {"bad_part": 1}),
        ("SGVsbG8gYm9hdHMu\n______\nlist\n", "Hello boats. ______ list", {"bad_part": 1}),
        (PACKED.rstrip("=\n") + "\n", BODY.strip(), {"bad_part": 1}),
    ],
    ids=["whole", "twice", "with a foot", "short with a foot", "without padding"],
)
def test_what_stands_beside_packed_text_is_read_too(text: str, expected: str, damage: dict[str, int]) -> None:
    assert body(UTF_8 + text) == (expected, damage)


@pytest.mark.parametrize("charset", ["x-boat", "unknown-8bit", "idna", "undefined", "rot13"])
@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
def test_text_of_an_unknown_charset_is_read_and_counted(charset: str, encoding: str) -> None:
    packed = {"base64": PACKED, "8bit": BODY}.get(encoding, BODY.replace("ü", "=C3=BC").replace("ß", "=C3=9F"))
    assert body(PLAIN.format(charset, encoding) + packed) == (BODY.strip(), {"bad_part": 1})
    assert body(PLAIN.format(charset, "7bit") + "Hello.\n") == ("Hello.", {})


def test_text_of_another_charset_than_it_says() -> None:
    assert body(PLAIN.format("us-ascii", "base64") + PACKED) == (BODY.strip(), {})
    assert body(UTF_8 + base64.b64encode("Grüße".encode("latin-1")).decode()) == ("Gr��e", {"bad_part": 1})


@pytest.mark.parametrize("encoding", ["x-zip", "uuencode", "8-bit", "binhex40"])
def test_an_unknown_transfer_encoding_is_shown_and_counted(encoding: str) -> None:
    assert body(PLAIN.format("utf-8", encoding) + f"{OWN}\n") == (OWN, {"bad_part": 1})


@pytest.mark.parametrize(
    ("end", "said", "damage"),
    [
        ("=C3=A9 =", "A é", {"truncated": 1}),
        ("=C3=A9 =C", "A é =C", {"truncated": 1}),
        ("=C3=A9 =\n", "A é", {}),
        ("=C3=A9", "A é", {}),
    ],
)
def test_quoted_text_that_ends_within_an_escape(end: str, said: str, damage: dict[str, int]) -> None:
    assert body(PLAIN.format("utf-8", "quoted-printable") + "A " + end) == (said, damage)


PART = f"--b\nContent-Type: text/plain\n\n{OWN}\n"
MIXED = "Content-Type: multipart/mixed; boundary={}\n\n"


@pytest.mark.parametrize(
    "kind", [MIXED.format("c"), MIXED.format('""'), "Content-Type: multipart/alternative\n\n"]
)
def test_parts_that_are_not_found_are_one_text(kind: str) -> None:
    said, damage = body(f"{kind}{PART}--b--\n")
    assert OWN in said
    assert damage == {"bad_part": 1}
    inner = kind.replace("\n\n", f"\n\n{PART}")
    said, damage = body(f"{MIXED.format('outer')}--outer\n{inner}\n--outer--\n")
    assert OWN in said
    assert damage == {"bad_part": 1}


@pytest.mark.parametrize("end", ["", "--b", "--b\n", "--b\nContent-Ty", "--b\nContent-Type: text/html\n\n<p>Hel"])
@pytest.mark.parametrize("path", ["m.eml", "m.mbox"])
def test_a_mail_that_is_cut_within_its_parts_is_read_and_counted(end: str, path: str) -> None:
    text = f"{HEADERS}{MIXED.format('b')}{PART}{end}"
    document = read(BOX + "\n" + BOX.split("\n")[0] + "\n" + text if path == "m.mbox" else text, path)
    assert OWN in document.blocks[-1].text or OWN in document.blocks[-2].text
    assert dict(document.damage) == {"truncated": 1}
    assert read(f"{HEADERS}{MIXED.format('b')}{PART}--b--\n").damage == ()


@pytest.mark.parametrize("kept", [20, len(HEADERS) - 50, len(HEADERS) - 20, len(HEADERS)])
def test_a_mailbox_that_is_cut_within_headers_says_so(kept: int) -> None:
    text = f"{BOX}\n{BOX.splitlines()[0]}\n{HEADERS[:kept]}"
    assert dict(read(text, "m.mbox").damage) == {"truncated": 1}
    assert read(f"{BOX}\n{BOX.splitlines()[0]}\n{HEADERS}\n", "m.mbox").damage == ()
    assert dict(read(HEADERS[:-20], "m.eml").damage) == {"truncated": 1}
    assert read(HEADERS, "m.eml").damage == ()


PAGE_PART = "--b\nContent-Type: text/html\n\n<p>The crane comes at noon on Friday.</p>\n"
FOOTER = "--b\nContent-Type: text/plain\n\nTo leave this list, write to us.\n"
SAME = "--b\nContent-Type: text/plain\n\nThe crane comes at noon on Friday.\n"
BLANK = "--b\nContent-Type: text/plain\n\n   \n"
ALTERNATIVE = "Content-Type: multipart/alternative; boundary=b\n\n"
LAID_OUT = {
    "a page with a footer": (MIXED.format("b") + PAGE_PART + FOOTER, ["crane", "leave this list"]),
    "text, a page, a footer": (MIXED.format("b") + SAME + PAGE_PART + FOOTER, ["crane", "leave this list"]),
    "another page beside a text": (MIXED.format("b") + FOOTER + PAGE_PART, ["leave this list", "crane"]),
    "text or a page": (ALTERNATIVE + SAME + PAGE_PART, ["crane"]),
    "a page, its text blank": (ALTERNATIVE + BLANK + PAGE_PART, ["crane"]),
}


@pytest.mark.parametrize("form", LAID_OUT)
def test_each_part_that_says_something_of_its_own_is_read_once(form: str) -> None:
    text, wanted = LAID_OUT[form]
    said, damage = body(f"{text}--b--\n")
    assert [said.count(each) for each in wanted] == [1] * len(wanted)
    assert damage == {}


@pytest.mark.parametrize(
    "charset",
    [
        *(
            "utf-16",
            "utf-32",
            "utf-16-le",
            "hex",
            "base64",
            "bz2",
            "zlib",
            "quopri",
            "uu",
            "punycode",
            "rot13",
            "idna",
        ),
        *("undefined", "utf-7", "mbcs", "unknown-8bit", "utf_8_sig", "raw_unicode_escape", "x" * 300, "ä"),
    ],
)
def test_no_name_of_a_charset_stops_the_reading(charset: str) -> None:
    packed = base64.b64encode(b"The crane comes at nine.").decode()
    text = HEADERS + PLAIN.format(charset, "base64") + packed
    assert read(text).blocks
    box = f"{BOX}\n{BOX.split(chr(10))[0]}\n{text}\n"
    assert len(read(box, "m.mbox").blocks) > len(read(BOX, "m.mbox").blocks)


@pytest.mark.parametrize(
    "headers",
    [PLAIN.format("utf-8", "x-unknown"), MIXED.format("lost") + "--b\nContent-Transfer-Encoding: base64\n\n"],
)
def test_what_is_packed_in_a_part_that_is_not_understood_is_unpacked(headers: str) -> None:
    said = "The crane comes at nine. password = hunter2isgone"
    packed = base64.b64encode(said.encode()).decode()
    told, damage = body(f"{headers}{packed}\n")
    assert said in told
    assert packed not in told
    assert damage == {"bad_part": 1}
