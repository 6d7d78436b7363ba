"""What is forgotten gives way to marks, by sentence and line, everywhere in a document; nothing else does."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.candidate import Candidate
from memu.memorize.forget.cutting import cut_document, cut_text, sift
from memu.memorize.forget.forgotten import MARK, Forgotten, is_telling, statement_keys
from memu.memorize.forget.marks import trim_marks
from memu.memorize.forget.scissors import Scissors
from memu.memorize.forget.units import list_units
from memu.memorize.forget.visible import read_views
from memu.records import Kind, LineSpan, Workspace
from memu.tokens import text_key

pytestmark = pytest.mark.unit

SALT = "5a" * 32
SECRET = "Alice keeps the spare key under the mat."


def told(*statements: str, salt: str = SALT) -> Forgotten:
    """The tombstones of these statements."""
    bare = Forgotten(salt)
    keys = {key for statement in statements for key in statement_keys(statement)}
    return Forgotten(salt, bare.tombstones(keys))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (SECRET, MARK),
        (f"Before it. {SECRET} After it.", f"Before it. {MARK} After it."),
        ("Before it. Alice KEEPS the\nspare key under **the mat**! After it.", f"Before it. {MARK} After it."),
        (f"x = 1\n{SECRET}\ny = 2", f"x = 1\n{MARK}\ny = 2"),
        (f"Bob: {SECRET}", f"Bob: {MARK}"),
        (f"1. {SECRET}", f"1. {MARK}"),
        (f"- [x] {SECRET}", f"- [x] {MARK}"),
        (f"| 3 | {SECRET} | yes |", f"| 3 |{MARK}| yes |"),
        (f'Ann,"{SECRET}",yes', f"Ann,{MARK},yes"),
        (f"Ann\t{SECRET}\tyes", f"Ann\t{MARK}\tyes"),
        (f"{SECRET} {SECRET}", MARK),
        ("Alice keeps the spare key under the mat and the bowl.", None),
        ("Alice keeps the spare key.", None),
        ("", None),
    ],
)
def test_a_statement_is_cut_wherever_it_stands_as_one(text: str, left: str | None) -> None:
    cut = cut_text(text, told(SECRET))
    assert cut.replace(" ", "") == (text if left is None else left).replace(" ", "")


def test_chinese_sentences_need_no_space() -> None:
    assert (
        cut_text("我们开会。钥匙藏在门口的垫子下面。散会。", told("钥匙藏在门口的垫子下面。"))
        == f"我们开会。{MARK}散会。"
    )


def test_parts_are_forgotten_with_the_whole_but_none_that_says_too_little() -> None:
    forgotten = told("Yes. The door code is four five six. No.", "if open:\n    ring_the_bell_twice()\n}")
    assert cut_text("Was it? Yes. Was that all? No.", forgotten) == "Was it? Yes. Was that all? No."
    assert cut_text("Sure. The door code is four five six.", forgotten) == f"Sure. {MARK}"
    # Together they are the statement.
    assert cut_text("Well. Yes. The door code is four five six. No. Ok.", forgotten) == f"Well. {MARK} Ok."
    assert cut_text("a\n    ring_the_bell_twice()\n}\nb", forgotten) == f"a\n    {MARK}\n}}\nb"


def test_a_long_sentence_is_cut_by_the_pieces_that_memory_was_made_of() -> None:
    from memu.memorize.extractors.quotes import bound

    sentence = " ".join(f"Word{number}" for number in range(500)) + "."
    piece = list(bound(sentence))[1].text
    cut = cut_text(f"Before. {sentence} After.", told(piece))
    assert MARK in cut
    assert piece not in cut
    assert cut.startswith("Before. Word0")


SHORT = "Feed the walrus."


@pytest.mark.parametrize(
    "statement", [SECRET, SHORT, "Ключ лежит под ковриком у двери.", "钥匙藏在门口的垫子下面。"]
)
@pytest.mark.parametrize(
    "wrapping",
    [
        "**{}**", "`{}`", "[{}](http://x.example)", "![{}](x.png)", "[![{}](x.png)](y)", "[[page|{}]]",
        "<b>{}</b>", "<!-- {} -->", '<img alt="{}">', "x<br>{}<br>y", "# {}", "x = 1  # {}", "// {}", "/* {} */",
        "f();  /* {} */", "-- {}", "/**\n * {}\n */", '"""{}"""', "; {}", "% {}", "> {}", "> - {}", "- [ ] {}",
        "Noted: {} ok", "{} and so on", "“{}” he said.", "2024-01-01 10:00:00 INFO {}", "[10:02] {}",
        "2024-01-01T10:00:00Z warn {}", "[main] ERROR {}", "a, b | {} | c", '"text": "{}\\nmore"',
        "see https://x.example/?q={} there",
        "- [ ] TODO {}", "- @bob {}", "** TODO {}", "** DONE {}", "* TODO [#A] {} :work:", ":::note {}",
        "::: warning {}", "!!! note {}", "# TODO {}", "// FIXME(bob) {}", "#tag {}", "NOTE {} @bob #tag",
        "{} #tag", "{} @bob", "+project {}", "> [!NOTE] {}", "TODO @bob #x {}", "So far. TODO {}",
    ],
)  # fmt: skip
def test_a_statement_is_cut_out_of_its_wrapping(wrapping: str, statement: str) -> None:
    said = quote(statement) if "q={}" in wrapping else statement
    text = f"First of all.\n{wrapping.replace('{}', said)}\nLast of all."
    cut = cut_text(text, told(statement))
    assert MARK in cut
    assert statement.strip(".。") not in cut
    assert (cut[:13], cut[-12:]) == ("First of all.", "Last of all.")
    assert Scissors.of([statement]).cut(text, own=False).text == cut
    assert cut_text(cut, told(statement)) == cut


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Deploys go out on Tuesdays.", "Deploys go out on Tuesdays and Thursdays."),
        ("Deploys go out on Tuesdays.", "Thanks to @bob deploys go out on Tuesdays."),
        ("Deploys go out on Tuesdays.", "NASA deploys go out on Tuesdays."),
        ("Deploys go out on Tuesdays.", "Deploys go out on Tuesdays #3 and #4 of a month."),
        ("Deploys go out on Tuesdays.", "Deploys go out on **Tuesdays** and Thursdays."),
        ("Deploys go out on Tuesdays.", "Our Berlin deploys go out on Tuesdays."),
        ("Deploys go out on Tuesdays.", "In 2024 deploys go out on Tuesdays-only terms."),
        ("The limit of it is 1.5", "The limit of it is 1.52, says Ann."),
        ("The limit of it is 1 5", "The limit of it is 15, says Ann."),
        ("We write all drivers in C++.", "We write all drivers in C, says Ann."),
        ("We write all drivers in C.", "We write all drivers in C++, says Ann."),
        ("We feed the walrus", "We feed the walrus's friends."),
        ("We feed the walrus", "We feed the walrus + the seal."),
        ("Feed the walrus.", "Noted: feed the walrus daily."),
    ],
)
def test_another_statement_with_the_same_words_stays(statement: str, text: str) -> None:
    assert cut_text(text, told(statement)) == text


@pytest.mark.parametrize(
    "aside",
    [
        "<!-- c -->",
        " <!-- see\nbelow --> ",
        "%%c%%",
        "<sup>1</sup>",
        "\\label{c}",
        "{>> why? <<}",
        "{.c}",
        "<!---->",
    ],
)
def test_what_is_no_part_of_a_sentence_parts_none(aside: str) -> None:
    text = f"Before it. Alice keeps{aside} the spare key under the mat. After it."
    assert cut_text(text, told(SECRET)) == f"Before it. {MARK} After it."
    assert cut_text(f"Before it. {SECRET} After it.", told(text[11:-10])) == f"Before it. {MARK} After it."
    inside = f"Boats are <!-- {SECRET} --> dry."
    assert SECRET not in cut_text(inside, told(SECRET))


MARKUP = st.sampled_from(
    ["**", "*", "`", "[", "](x)", "<b>", "</b>", "&nbsp;", "\u200b", "\n> ", "# ", "é", "|", " "]
)


@given(st.lists(MARKUP, max_size=12), st.data())
def test_what_is_seen_is_found_where_it_stands(marks: list[str], data: st.DataObject) -> None:
    """Each stretch of what is seen lies in the stretch of the text that it is located in."""
    text = "".join(f"{mark}word{at}" for at, mark in enumerate(marks)) or "word0"
    at = data.draw(st.integers(0, max(0, len(marks) - 1)))
    for view in read_views(text):
        start = view.text.find(f"word{at}")
        left, right = view.locate(start, start + len(f"word{at}"))
        assert start < 0 or f"word{at}" in text[left:right]


words = st.text(alphabet="abcdefg ABC", min_size=1, max_size=20).map(str.strip).filter(lambda text: len(text) > 3)


@given(st.lists(words, min_size=1, max_size=6), st.sampled_from([". ", ".\n", "\n", ".\n\n"]), st.data())
def test_no_covered_unit_is_left_and_the_rest_stands_in_order(
    parts: list[str], joint: str, data: st.DataObject
) -> None:
    text = joint.join(parts) + "."
    forgotten = told(data.draw(st.sampled_from(parts)))
    cut = cut_text(text, forgotten)
    assert not any(forgotten.covers(unit.text) for unit in list_units(cut))
    pieces = cut.split(MARK)
    at = 0
    for piece in pieces:
        at = text.index(piece, at) + len(piece)
    assert cut_text(cut, forgotten) == cut


def test_every_part_of_a_document_is_cut_but_speakers_and_places() -> None:
    block = Block(kind=BlockKind.BULLET, text=SECRET, lines=LineSpan(3, 3))
    document = Document(
        kind=Kind.DOCUMENT,
        title=SECRET,
        titled=True,
        tags=("keys", SECRET),
        category=SECRET,
        description=f"It says: {SECRET}",
        blocks=(
            Block(kind=BlockKind.HEADING, text=SECRET, lines=LineSpan(1, 1)),
            block,
            replace(
                block, text="Bob knows.", heading=(SECRET, "More"), parent=SECRET, speaker=SECRET, place=SECRET
            ),
        ),
    )
    cut = cut_document(document, "notes/spare_key.md", told(SECRET))
    assert (cut.title, cut.titled, cut.tags, cut.category) == ("spare key", False, ("keys",), None)
    assert cut.description == f"It says: {MARK}"
    assert [each.text for each in cut.blocks] == [MARK, MARK, "Bob knows."]
    last = cut.blocks[2]
    assert (last.heading, last.parent, last.speaker, last.place) == ((MARK, "More"), MARK, SECRET, SECRET)


def test_an_untouched_document_is_the_same_object() -> None:
    source = Source(path="a.md", text="# A\n\nNothing of it is forgotten.\n")
    document = find_reader(source).read(source)
    assert cut_document(document, "a.md", told(SECRET)) is document


def test_no_candidate_is_made_of_marks_or_of_a_forgotten_text() -> None:
    whole = Candidate(text=SECRET, lines=LineSpan(1, 1))
    texts = [SECRET.upper(), MARK, f"{MARK}\n{MARK}", f"Bob knows. {MARK}", f"{MARK} He does.", "Bob swims."]
    kept = sift([replace(whole, text=text, page_hint=MARK, section="Keys") for text in texts], told(SECRET))
    assert [each.text for each in kept] == ["Bob knows.", "He does.", "Bob swims."]
    assert {(each.page_hint, each.section) for each in kept} == {(None, "Keys")}
    assert trim_marks(f"{MARK} one {MARK} two {MARK}") == f"one {MARK} two"


def test_a_hash_needs_the_scopes_key_and_hides_the_words() -> None:
    forgotten = told(SECRET)
    assert forgotten.covers(" alice keeps the SPARE key — under the mat ")
    assert not Forgotten("6b" * 32, forgotten.hashes).covers(SECRET)
    assert not any(word in "".join(forgotten.hashes) for word in text_key(SECRET).split())
    assert not Forgotten()
    assert not forgotten.covers("")


def test_a_file_stays_forgotten_when_its_folder_moves() -> None:
    old = Workspace(id="1", name=None, root="/home/ann/notes")
    bare = Forgotten(SALT)
    forgotten = Forgotten(SALT, bare.hash_path(old, "a/b.md"))
    assert forgotten.covers_path(Workspace(id="2", name=None, root="/mnt/notes"), "a/b.md")
    assert not forgotten.covers_path(old, "a/c.md")
    assert not forgotten.covers_path(Workspace(id="3", name=None, root="/home/ann/other"), "a/b.md")
    named = Workspace(id="4", name="vault", root="/x/y")
    kept = Forgotten(SALT, bare.hash_path(named, "a/b.md"))
    assert kept.covers_path(Workspace(id="4", name="vault", root="/p/q"), "a/b.md")


@pytest.mark.parametrize(
    ("text", "own", "left"),
    [
        (f"Bob says that {SECRET[:-1]} today. He left.", True, f"{MARK} He left."),
        (f"Bob says that {SECRET[:-1]} today. He left.", False, None),
        ("the spare key under the mat", True, MARK),
        ("the spare key under the mat", False, None),
        ("under the mat there is dust, they say", True, None),
    ],
)
def test_where_a_statement_is_known_to_stand_its_surroundings_and_pieces_go(
    text: str, own: bool, left: str | None
) -> None:
    assert Scissors.of([SECRET]).cut(text, own=own).text == (text if left is None else left)


def test_what_surrounds_a_statement_is_a_statement_to_be_kept_away_too() -> None:
    cut = Scissors.of([SECRET]).cut(f"Bob says that {SECRET[:-1]} today.", own=True)
    assert cut.keys == {text_key(f"Bob says that {SECRET} today")}
    assert Scissors.of([SECRET]).cut("the spare key under the mat", own=True).keys == frozenset()


def test_only_what_says_something_is_known_by_itself() -> None:
    assert [is_telling(key) for key in ("yes", "do it", "do it now", "ring_the_bell", "}")] == [
        False,
        False,
        True,
        True,
        False,
    ]
