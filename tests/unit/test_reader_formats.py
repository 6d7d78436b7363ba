"""Text, captions, logs, mail, pages, reStructuredText, notebooks and code: what each says, with its lines."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memu.ingest.document import Block, BlockKind, Document, Reader, Source
from memu.ingest.reader import READERS, find_reader
from memu.records import Kind, LineSpan

DATA = Path(__file__).parents[1] / "data" / "readers"


def read(text: str, path: str) -> Document:
    source = Source(path=path, text=text)
    return find_reader(source).read(source)


def read_file(name: str) -> Document:
    return read((DATA / name).read_text("utf-8"), name)


def only(document: Document, kind: BlockKind) -> list[Block]:
    return [block for block in document.blocks if block.kind is kind]


@pytest.mark.parametrize(
    ("name", "kind", "block"),
    [
        ("README.rst", Kind.DOCUMENT, BlockKind.PARAGRAPH),
        ("ansi.1.log", Kind.LOG, BlockKind.LOG_LINE),
        ("docker_compose.0.log", Kind.LOG, BlockKind.LOG_LINE),
        ("fake-email.eml", Kind.MAIL, BlockKind.BULLET),
        ("master_index.html", Kind.DOCUMENT, BlockKind.HEADING),
        ("meeting-001.srt", Kind.MEETING, BlockKind.TURN),
        ("meeting-001.txt", Kind.MEETING, BlockKind.TURN),
        ("pytest_fixtures.py", Kind.CODE, BlockKind.SIGNATURE),
        ("test_notebook.ipynb", Kind.DOCUMENT, BlockKind.CODE),
        ("unicode_speakers.vtt", Kind.MEETING, BlockKind.TURN),
    ],
)
def test_real_files_are_what_they_are(name: str, kind: Kind, block: BlockKind) -> None:
    document = read_file(name)
    assert document.kind is kind
    assert document.damage == ()
    assert only(document, block)


@pytest.mark.parametrize("name", ["meeting-001.srt", "meeting-001.txt"])
def test_a_transcript_says_who_spoke(name: str) -> None:
    turns = read_file(name).blocks
    assert len(turns) == 39
    assert {turn.speaker for turn in turns} == {"Alice", "Bob", "Charlie", "Diana"}
    assert turns[0].text == "Good morning everyone. Let's start our daily standup."


def test_caption_speakers_of_any_script() -> None:
    turns = read_file("unicode_speakers.vtt").blocks
    assert [turn.speaker for turn in turns] == ["李明", "أحمد", "Ελένη", "Müller", "田中太郎", "🎤 Emoji Host"]
    assert (turns[0].text, turns[0].lines, turns[0].place) == ("你好，世界！", LineSpan(7, 7), "00:00.000")


def test_caption_notes_styles_and_tags_are_left_out() -> None:
    document = read(
        "WEBVTT - Planning\n\nSTYLE\n::cue {}\n\nNOTE hidden\nmore\n\n1\n00:01.000 --> 00:02.000 align:left\n"
        "<v.loud Ann>Ship <i>it</i> &amp; go\nBob: when?\n2\n00:02.000 --> 00:03.000\n[music] la\n",
        "m.vtt",
    )
    assert document.title == "Planning"
    assert [(turn.speaker, turn.text, turn.lines) for turn in document.blocks] == [
        ("Ann", "Ship it & go", LineSpan(11, 11)),
        ("Bob", "when?", LineSpan(12, 12)),
        (None, "[music] la", LineSpan(15, 15)),
    ]


@pytest.mark.parametrize(
    "text",
    ["Name: Ann\nCity: Oslo\nAge: 4\nJob: dev\nPet: cat\n", "See: this\n\nWords without a speaker.\n\nMore.\n"],
)
def test_labelled_lines_are_no_transcript(text: str) -> None:
    assert read(text, "card.txt").kind is Kind.DOCUMENT


def test_plain_text_layout() -> None:
    document = read(
        "Runbook\n=======\n\nFirst words\ngo on.\n\n1.1 Setup\n\n- one\n  more\n  - two\n1) step\n"
        "> quoted\n\nOVERVIEW\n\nend\n",
        "r.txt",
    )
    assert document.title == "Runbook"
    assert [(block.kind.value, block.text, block.heading, block.parent) for block in document.blocks] == [
        ("heading", "Runbook", (), None),
        ("paragraph", "First words go on.", (), None),
        ("heading", "1.1 Setup", (), None),
        ("bullet", "one more", ("1.1 Setup",), None),
        ("bullet", "two", ("1.1 Setup",), "one more"),
        ("step", "step", ("1.1 Setup",), None),
        ("quote", "quoted", ("1.1 Setup",), None),
        ("heading", "OVERVIEW", (), None),
        ("paragraph", "end", ("OVERVIEW",), None),
    ]


def test_an_outline_has_headlines_and_things_to_do() -> None:
    """Org: a line with stars ends where it ends, whatever follows it."""
    text = "* Plan\nBoats are dry\n** Ropes\n*** TODO We coil ropes\nclockwise, all of them.\n"
    text += "** DONE Paint it\n* It is red.\n"
    document = read(text, "plan.org")
    assert [(block.kind, block.text, block.heading) for block in document.blocks[1:]] == [
        (BlockKind.PARAGRAPH, "Boats are dry", ()),
        (BlockKind.HEADING, "Ropes", ()),
        (BlockKind.BULLET, "TODO We coil ropes", ("Ropes",)),
        (BlockKind.PARAGRAPH, "clockwise, all of them.", ("Ropes",)),
        (BlockKind.BULLET, "DONE Paint it", ()),
        (BlockKind.BULLET, "It is red.", ()),
    ]
    assert (document.title, [block.lines for block in document.blocks][-1]) == ("Plan", LineSpan(7, 7))


CUES = ("We decided that the quartz", "shipment leaves on", "Friday morning.", "It is blue.")


@pytest.mark.parametrize("form", ["vtt", "srt"])
@pytest.mark.parametrize("voice", ["<v Bob>", "Bob: ", ""])
def test_a_sentence_over_several_cues_is_one_turn_of_its_speaker(voice: str, form: str) -> None:
    """P4: its lines are those of all its cues, and of no other."""
    document = read(captions([(voice, cue) for cue in CUES], form), f"talk.{form}")
    sentence, after = document.blocks
    assert (sentence.text, after.text) == (" ".join(CUES[:3]), CUES[3])
    assert sentence.speaker == after.speaker == ("Bob" if voice else None)
    first = 4 if form == "vtt" else 3
    assert sentence.lines == LineSpan(first, first + (6 if form == "vtt" else 8))
    assert [row.first for row in sentence.rows] == list(range(first, first + 9, 3 if form == "vtt" else 4))
    assert sentence.place is not None
    assert "00:01" in sentence.place


@pytest.mark.parametrize(
    ("cues", "pause"),
    [
        ([("<v Bob>", "We decided that"), ("<v Ann>", "it is blue.")], 1),
        ([("<v Bob>", "We decided that"), ("<v Bob>", "it is blue.")], 60),
        ([("<v Bob>", "so we said that"), ("<v Bob>", "it is blue")], 1),
        ([("<v Bob>", "It is blue."), ("<v Bob>", "it is not")], 1),
        ([("<v Bob>", "a" * 900), ("<v Bob>", f"{'b' * 900}.")], 1),
    ],
    ids=["another speaker", "a long pause", "no full stop", "a new sentence", "too long"],
)
def test_other_cues_are_turns_of_their_own(cues: list[tuple[str, str]], pause: int) -> None:
    document = read(captions(cues, "vtt", pause), "a.vtt")
    assert [block.text for block in document.blocks] == [said for _, said in cues]


DAMAGED = {
    "a letter in it": "00:00:xx.000 --> 00:00:06.000",
    "both unreadable": "??:??:??.??? --> ??:??:??.???",
    "no beginning": "--> 00:00:06.000",
    "another arrow": "00:00:04.000 -> 00:00:06.000",
    "an arrow of another font": "00:00:04.000 → 00:00:06.000",
    "no arrow": "00:00:04.000 00:00:06.000",
    "a dash": "00:00:04.000 - 00:00:06.000",
    "cut behind the arrow": "00:00:04.000 -->",
    "cut in the arrow": "00:00:04.000 --",
    "cut in front of it": "00:00:04.000",
    "missing": None,
}
TAKEN = "We take the boat"


def damaged_captions(line: str | None, form: str, gap: str) -> str:
    """Three cues, the second under this line instead of its own."""
    timings = ["00:00:01.000 --> 00:00:03.000", line, "00:00:07.000 --> 00:00:09.000"]
    said = ["Ann: All is well.", f"Bob: {TAKEN}", "Bob: on Friday. And then home."]
    cues = [
        "\n".join(filter(None, (str(number), timing, words)))
        for number, (timing, words) in enumerate(zip(timings, said, strict=True), 1)
    ]
    text = f"\n{gap}".join(cues) + "\n"
    return f"WEBVTT\n\n{text}" if form == "vtt" else text.replace(".0", ",0")


@pytest.mark.parametrize("form", ["vtt", "srt"])
@pytest.mark.parametrize(
    ("name", "gap"), [*((name, "\n") for name in DAMAGED), *((name, "") for name in DAMAGED if name != "missing")]
)
def test_p4_the_words_of_a_cue_with_a_damaged_time_are_read(name: str, gap: str, form: str) -> None:
    """Its time is what can be read of it, never another cue's; the sentence goes on. Without blank lines too."""
    line = DAMAGED[name]
    text = damaged_captions(line, form, gap)
    document = read(text, f"talk.{form}")
    assert document.damage == (("untimed_cue", 1),)
    first, sentence = document.blocks
    assert (first.speaker, first.text) == ("Ann", "All is well.")
    assert (sentence.speaker, sentence.text) == ("Bob", f"{TAKEN} on Friday. And then home.")
    assert sentence.place in (None, "00:00:04.000", "00:00:04,000")
    assert (sentence.place is None) == (line is None or not line.startswith("00:00:04"))
    lines = text.split("\n")
    assert sentence.lines is not None
    assert TAKEN in lines[sentence.lines.start - 1]
    assert "on Friday" in lines[sentence.lines.end - 1]


@pytest.mark.parametrize(
    ("text", "blocks", "damage"),
    [
        ("00:01.000 --> 00:02.000\nOne.\n\nTwo, in it.\n", [("One.", "00:01.000"), ("Two, in it.", None)], 1),
        ("00:01.000 --> 00:02.000\n\nOne.\n\n2\n\n00:03.000 --> 00:04.000\n\nTwo.\n",
         [("One.", "00:01.000"), ("Two.", "00:03.000")], 0),
        ("0:01 --> 0:02\nOne.\n\n1:00:03 --> 1:00:04\nTwo.\n", [("One.", "0:01"), ("Two.", "1:00:03")], 0),
        ("00:01.000 --> 00:02.000\nOne.\n\n00:03.0 --", [("One.", "00:01.000")], 1),
        ("00:01.000 --> 00:02.000\n \nOne<00:01.500><c> word.</c>\n", [("One word.", "00:01.000")], 0),
        ("00:01.000 --> 00:02.000\nAt 10:30 -> 11:00\n10:30\nFile --> Open.\n",
         [("At 10:30 -> 11:00 10:30 File --> Open.", "00:01.000")], 0),
        ("NOTE one\n\nof two parts\n\n00:01.000 --> 00:02.000\nOne.\n\nNOTE 00:03.0 --\nno cue\n",
         [("One.", "00:01.000")], 0),
        ("STYLE\n::cue { color: red }\n\nREGION\nid:a\n\nid-1\n00:01.000 --> 00:02.000 line:0\nOne.\n",
         [("One.", "00:01.000")], 0),
    ],
    ids=["blank line inside", "blank lines between", "whole seconds", "cut at the end", "white line", "arrows",
         "notes", "styles and names"],
)  # fmt: skip
def test_what_stands_beside_the_cues(text: str, blocks: list[tuple[str, str | None]], damage: int) -> None:
    document = read(f"WEBVTT\n\n{text}", "a.vtt")
    assert [(block.text, block.place) for block in document.blocks] == blocks
    assert document.damage == ((("untimed_cue", damage),) if damage else ())


def captions(cues: list[tuple[str, str]], form: str, pause: int = 1) -> str:
    """Cues of a second each, so many seconds apart."""
    parts = ["WEBVTT\n"] if form == "vtt" else []
    for number, (voice, said) in enumerate(cues):
        at = 1 + number * (1 + pause)
        times = [f"00:{each // 60:02d}:{each % 60:02d}.000" for each in (at, at + 1)]
        timing = " --> ".join(times)
        parts.append(f"{timing}\n{voice}{said}\n" if form == "vtt" else f"{number + 1}\n{timing}\n{voice}{said}\n")
    return "\n".join(parts)


def test_log_records_times_levels_and_services() -> None:
    document = read(
        "2026-11-30 10:00:00,123 ERROR boom\nTraceback:\n  at x\n2026-11-30 10:00:01 INFO fine\n"
        "2026-11-30 10:00:02 [WARN] hot\n\x1b[33m2026-11-30T10:00:03Z\x1b[0m level=debug y\n",
        "app.txt",
    )
    assert document.kind is Kind.LOG
    assert [block.level for block in document.blocks] == ["error", "info", "warning", "debug"]
    assert document.blocks[0].lines == LineSpan(1, 3)
    assert document.blocks[0].time == datetime(2026, 11, 30, 10, 0, 0, 123000, tzinfo=UTC)
    assert document.blocks[3].text == "2026-11-30T10:00:03Z level=debug y"
    assert document.happened_at == datetime(2026, 11, 30, 10, 0, 0, 123000, tzinfo=UTC)
    compose = read_file("docker_compose.0.log").blocks
    assert {block.speaker for block in compose} == {"web-1", "redis-1"}
    assert next(block.text.split(":")[0] for block in compose if block.level == "warning") == "WARNING"
    assert all("\x1b" not in block.text for block in compose)
    assert read_file("syslog.3.log").blocks[2].lines == LineSpan(3, 5)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30 went home\n2026-12-01 came back\n2026-12-02 slept\n",
        "# Error log\n\nSome notes on errors.\n\nINFO is a level.\n",
    ],
)
def test_diaries_are_no_logs(text: str) -> None:
    assert read(text, "notes.md").kind is Kind.DOCUMENT


def test_mail_in_every_transfer_encoding() -> None:
    mail = read_file("family-day.eml")
    assert (mail.title, mail.happened_at) == ("Family Day", datetime(2022, 12, 21, 16, 28, 53, tzinfo=UTC))
    assert [(block.text, block.speaker, block.lines) for block in mail.blocks][1] == (
        "Get excited for our first annual family day!",
        "Dana Field",
        LineSpan(14, 14),
    )
    packed = read_file("mime-html-only.eml")
    assert packed.blocks[0].text == "This is a text/html part."
    assert packed.blocks[0].lines == LineSpan(9, 14)
    quoted = read(
        "From: =?utf-8?q?Zo=C3=AB?= <z@e.org>\nTo: a@e.org\nSubject: =?utf-8?b?5L2g5aW9?=\n"
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        "A caf=C3=A9 that is =\nlong.\n\nNext.\n",
        "q.eml",
    )
    assert quoted.title == "你好"
    assert [(block.text, block.speaker, block.lines) for block in quoted.blocks] == [
        ("A café that is long.", "Zoë", LineSpan(7, 8)),
        ("Next.", "Zoë", LineSpan(10, 10)),
    ]


def test_html_is_undone_with_lines() -> None:
    document = read(
        "<!doctype html>\n<html><head><title>T &amp; x</title><style>p{}</style>\n"
        "<meta name=description content='about'></head><body><nav>menu</nav>\n"
        "<h1>Guide</h1><p>Caf&eacute; is\n<b>open</b>.</p>\n"
        "<ol><li>first<ul><li>inner</ul><li>second</ol>\n"
        "<pre class='language-sh'>a  b\n  c</pre><script>evil()</script>\n"
        "<table><tr><th>k<th>v<tr><td>1<td>2</table>\n"
        "<blockquote><p>said</p></blockquote><a href='../x.html#y'>z</a>",
        "p.html",
    )
    assert (document.title, document.description, document.links) == ("T & x", "about", ("../x.html",))
    found = [(block.kind.value, block.text, block.parent, str(block.lines)) for block in document.blocks]
    assert found == [
        ("heading", "Guide", None, "L4"),
        ("paragraph", "Café is open.", None, "L4-L5"),
        ("step", "first", None, "L6"),
        ("bullet", "inner", "first", "L6"),
        ("step", "second", None, "L6"),
        ("fence", "a  b\n  c", None, "L7-L8"),
        ("table", "k v", None, "L9"),
        ("table", "1 2", "k v", "L9"),
        ("quote", "said", None, "L10"),
        ("paragraph", "z", None, "L10"),
    ]
    assert document.blocks[5].language == "sh"


def test_restructured_text_has_structure_and_reads_no_file(capfd: pytest.CaptureFixture[str]) -> None:
    document = read_file("README.rst")
    assert document.title == "Example Docs"
    fence = only(document, BlockKind.FENCE)[0]
    assert (fence.language, fence.lines) == ("bash", LineSpan(24, 26))
    assert fence.text.startswith("curl -O \\\n  -A '${organization} ${email}'")
    assert only(document, BlockKind.BULLET)[2].lines == LineSpan(8, 9)
    evil = read(
        "Title\n=====\n\n.. include:: /etc/passwd\n\n.. raw:: html\n   :file: /etc/passwd\n\n"
        "`broken\n\n.. nope::\n\nText\n",
        "e.rst",
    )
    assert "root:" not in "".join(block.text for block in evil.blocks)
    assert evil.blocks[-1].text == "Text"
    assert capfd.readouterr() == ("", "")


def test_restructured_tables_are_rows() -> None:
    rows = read("===  ===\nkey  val\n===  ===\na    one\nb    two\n===  ===\n", "t.rst").blocks
    assert [(row.kind.value, row.text, row.lines) for row in rows] == [
        ("table", "key val", LineSpan(2, 2)),
        ("table", "a one", LineSpan(4, 4)),
        ("table", "b two", LineSpan(5, 5)),
    ]


def test_notebook_cells_have_lines_of_the_file() -> None:
    document = read_file("test_notebook.ipynb")
    assert document.title == "Test Notebook Title"
    assert [(block.kind.value, block.text, str(block.lines), block.place) for block in document.blocks][:3] == [
        ("heading", "Test Notebook", "L8", "cell 1"),
        ("code", 'print("markitdown")', "L26", "cell 2"),
        ("data", "markitdown", "L21", "cell 2"),
    ]
    assert only(document, BlockKind.CODE)[1].heading == ("Code Cell Below",)


def test_python_by_qualified_name() -> None:
    source = (
        '"""About the module."""\n\nimport x\n\n\nclass Deck:\n    """A deck\n    of cards \\d."""\n\n'
        "    @property\n    def top(\n        self,\n    ) -> int:\n        r'''The top.'''\n        return 1\n"
    )
    document = read(source, "deck.py")
    assert document.kind is Kind.CODE
    assert not document.titled
    found = [
        (block.kind.value, block.text, block.heading, str(block.lines))
        for block in document.blocks
        if block.kind is not BlockKind.CODE
    ]
    assert found == [
        ("docstring", "About the module.", (), "L1"),
        ("signature", "class Deck:", ("Deck",), "L6"),
        ("docstring", "A deck\nof cards \\d.", ("Deck",), "L7-L8"),
        ("signature", "def top(\n    self,\n) -> int:", ("Deck", "top"), "L11-L13"),
        ("docstring", "The top.", ("Deck", "top"), "L14"),
    ]


@pytest.mark.parametrize(
    ("path", "line", "name"),
    [
        ("a.go", "func (s *Server) Start(ctx context.Context) error {", "Start"),
        ("a.rs", "pub(crate) async fn run(args: Args) -> Result<()> {", "run"),
        ("a.ts", "export default class Store extends Base {", "Store"),
        ("a.js", "export const load = async (path) => {", "load"),
        ("a.java", "    public static int parseHTTPResponse(String raw) {", "parseHTTPResponse"),
        ("a.c", "static int open_store(const char *path)", "open_store"),
        ("a.sql", "CREATE TABLE public.items (", "public.items"),
        ("a.rb", "def save!(user)", "save"),
        ("a.sh", "deploy() {", "deploy"),
        ("a.tf", 'resource "aws_db_instance" "main" {', "aws_db_instance"),
        ("a.py", "def broken(x): pass", "broken"),
    ],
)
def test_signatures_of_other_languages(path: str, line: str, name: str) -> None:
    broken = "\nclass (:\n" if path.endswith(".py") else "\n"
    document = read(f"// A comment that explains the thing\n{line}\n{broken}  body\n", path)
    signature = only(document, BlockKind.SIGNATURE)[0]
    assert signature.heading == (name,)
    assert signature.text == line.strip()
    assert signature.lines == LineSpan(2, 2)


@pytest.mark.parametrize("path", ["big.py", "big.js", "big.go", "Makefile"])
def test_all_code_is_in_bounded_pieces(path: str) -> None:
    lines = [f"word{n} = {n}" if n % 9 else "" for n in range(1, 500)]
    document = read("\n".join(lines), path)
    pieces = only(document, BlockKind.CODE)
    assert all(block.text.count("\n") < 60 for block in pieces)
    covered = {n for block in pieces if block.lines for n in range(block.lines.start, block.lines.end + 1)}
    assert covered >= {n for n, line in enumerate(lines, 1) if line}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@pytest.mark.parametrize(
    "text",
    [
        "One sentence. " * 5_000,
        "x" * 50_000,
        "你好世界。" * 5_000,
        "<div>" * 5_000,
        "<!--" * 5_000,
        "> " * 2_000 + "x",
        "[" * 20_000,
        "(" * 20_000,
        '"' * 50_000,
        "\n".join(" " * depth + "- x" for depth in range(300)),
    ],
    ids=lambda text: repr(text[:8]),
)
def test_f40_vast_and_hostile_texts_stay_bounded(reader: Reader, text: str) -> None:
    """F40: no block without an end, no raise, no time without an end."""
    document = reader.read(Source(path="x", text=text))
    assert all(len(block.text) <= 4_000 for block in document.blocks)


@pytest.mark.parametrize("text", ["", "\n", "  \n\t\n", "\ufffd"])
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_f39_nothing_is_read_as_nothing(reader: Reader, text: str) -> None:
    document = reader.read(Source(path="empty", text=text))
    assert document.title == "empty"
    assert all(block.text == "\ufffd" for block in document.blocks)
