"""Sentences: right for abbreviations and for Chinese, always slices of the text, linear in its length (F40)."""

from __future__ import annotations

import time

import pytest

from memu.memorize.sentences import count_words, cut_pieces, split_lines, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Ask Dr. Roe, e.g. by mail, i.e. now. Done.", ["Ask Dr. Roe, e.g. by mail, i.e. now.", "Done."]),
        ("J. R. Smith wrote v1.2.3. It works.", ["J. R. Smith wrote v1.2.3.", "It works."]),
        ("It costs 3.5 Mio. Euro. Das war am 3. Mai.", ["It costs 3.5 Mio. Euro.", "Das war am 3. Mai."]),
        ("Wir nutzen z.B. Redis. Das genügt.", ["Wir nutzen z.B. Redis.", "Das genügt."]),
        ("La Sra. Gil llegó. ¿Cuándo? Ayer.", ["La Sra. Gil llegó.", "¿Cuándo?", "Ayer."]),
        ("周二部署。没有问题！对吗？是", ["周二部署。", "没有问题！", "对吗？", "是"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
        ("We have 30. They have 40.", ["We have 30.", "They have 40."]),
        ("It takes 800 ms. Also no. Next.", ["It takes 800 ms.", "Also no.", "Next."]),
        ("See No. 5 and Fig. 3, p. 9. Good.", ["See No. 5 and Fig. 3, p. 9.", "Good."]),
        ("First part\n\nsecond part", ["First part", "second part"]),
        ("Open example.com/a.b?c=d now. Then wait…", ["Open example.com/a.b?c=d now.", "Then wait…"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_says(text: str, sentences: list[str]) -> None:
    found = split_sentences(text)
    assert [part.text for part in found] == sentences
    assert all(text[part.start : part.end] == part.text for part in found)


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), ("one two", 2), ("周二部署", 2), ("用 Docker 部署", 3), ("a-b c_d", 2)]
)
def test_words_count_half_a_chinese_character_each(text: str, words: int) -> None:
    assert count_words(text) == words


def test_lines_are_slices_without_the_space_around_them() -> None:
    text = "  a\n\n\tb  \nc"
    assert [(part.text, text[part.start : part.end]) for part in split_lines(text)] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
    ]


@pytest.mark.parametrize("text", ["word " * 900, "x" * 5000, "部署" * 2000, "a, b; c: " * 400])
def test_f40_pieces_keep_both_bounds_and_all_words(text: str) -> None:
    pieces = cut_pieces(text, 50, 300)
    assert all(count_words(piece.text) <= 50 and len(piece.text) <= 300 for piece in pieces)
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(text.split())


@pytest.mark.parametrize("unit", ["word ", "3. ", "a.", "e.g. ", "。", "x", '"', "\n\n", ". . "])
def test_f40_time_stays_linear(unit: str) -> None:
    """Eight times the text takes eight times as long, and not sixty-four times."""

    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        taken = []
        for _ in range(2):
            started = time.process_time()
            split_sentences(text)
            taken.append(time.process_time() - started)
        return min(taken)

    assert seconds(320_000) < 24 * max(seconds(40_000), 0.005)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "**Bold text that spans. Two sentences.** Then one.",
            ["**Bold text that spans. Two sentences.**", "Then one."],
        ),
        ("**Note.** Run it.", ["**Note.**", "Run it."]),
        ("Run `a. b` now. Then `c`.", ["Run `a. b` now.", "Then `c`."]),
        ("Run ``a. ` b`` now. Then.", ["Run ``a. ` b`` now.", "Then."]),
        ("An *odd. One* here. Then.", ["An *odd. One* here.", "Then."]),
        ("Ends __so. And__ on. Then.", ["Ends __so. And__ on.", "Then."]),
        ("One 2 * 3. Two 4 * 5. Three.", ["One 2 * 3.", "Two 4 * 5.", "Three."]),
        ("A lone ` tick. Then more.", ["A lone ` tick.", "Then more."]),
        ("No ** end. Then more.", ["No ** end.", "Then more."]),
        ("A **start. No end.\n\nOther** one.", ["A **start.", "No end.", "Other** one."]),
        ("`a*b. c` d. *e f.", ["`a*b. c` d.", "*e f."]),
        ("Escaped \\*one. Two\\*. Three.", ["Escaped \\*one.", "Two\\*.", "Three."]),
        ("`" + "Long. " * 120 + "`", ["`Long.", *["Long."] * 119, "`"]),
    ],
)
def test_no_sentence_is_cut_inside_a_span(text: str, parts: list[str]) -> None:
    """P4: half of a code span or of bold text would not read as its source does."""
    assert [part.text for part in split_sentences(text)] == parts
