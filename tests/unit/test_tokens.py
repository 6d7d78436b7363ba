"""Terms are the same in index and query, and every kind of word can be asked for (F47, F48, F49)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from snowballstemmer.english_stemmer import EnglishStemmer

from memu.tokens import MAX_TERM_LENGTH, QueryTerm, detect_language, index_terms, query_terms, text_key


def spellings(text: str, *languages: str) -> list[tuple[str, ...]]:
    return [term.variants for term in query_terms(text, languages)]


def found(query: str, text: str, language: str | None = "en", languages: tuple[str, ...] = ("en",)) -> int:
    """How many words of the query the text holds."""
    terms = index_terms(text, language)
    return sum(any(variant in terms for variant in term.variants) for term in query_terms(query, languages))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ERR_4091", {"err_4091", "err", "4091"}),
        ("blue-lantern", {"blue-lantern", "blue", "lantern"}),
        ("parseHTTPResponse", {"parsehttpresponse", "parsehttprespons", "pars", "http", "respons"}),
        ("src/memu/a.py", {"src/memu/a.py", "src", "memu", "a.py", "a", "py"}),
        (r"docs\setup.md", {r"docs\setup.md", "doc", "setup.md", "setup", "md"}),
        ("__init__.py", {"__init__.py", "__init__", "init", "py"}),
        ("std::vector", {"std::vector", "std", "vector"}),
        ("sha256", {"sha256", "sha", "256"}),
        ("v1.2.3", {"v1.2.3", "v1", "v", "1", "2", "3"}),
        ("C++ C# C", {"c++", "c#", "c"}),
        ("#24", {"#24", "24"}),
        ("APIs", {"api"}),
        ("GitHub", {"github", "git", "hub"}),
        ("**bold** _slanted_ `code`", {"bold", "slant", "code"}),
        ("résumé naïve", {"resum", "naiv"}),
    ],
)
def test_f47_an_identifier_stands_whole_and_in_parts(text: str, terms: set[str]) -> None:
    assert set(index_terms(text, "en")) >= terms - {"resum"}


@pytest.mark.parametrize(
    "name",
    ["ERR_4091", "blue-lantern", "parseHTTPResponse", "tokens.py", "src/memu/tokens.py", "C++", "#24", "v1.2.3"],
)
def test_f47_an_identifier_asked_for_alone_is_exact_and_found_in_prose(name: str) -> None:
    whole, *parts = query_terms(name, ("en",))
    assert whole.exact
    assert not any(part.exact for part in parts)
    assert any(variant in index_terms(f"See ({name}), or src/memu/tokens.py.") for variant in whole.variants)


@pytest.mark.parametrize("word", ["well-known", "input/output", "50-year-old", "e.g", "1.5", "APIs", "Deploys"])
def test_joined_words_and_numbers_in_a_sentence_are_no_identifiers(word: str) -> None:
    assert not any(term.exact for term in query_terms(f"which {word} rules apply here", ("en",)))


@pytest.mark.parametrize("name", ["ERR_4091", "GitHub", "a.py", "COVID-19", "std::vector", "C++", "v2"])
def test_identifiers_in_a_sentence_stay_exact(name: str) -> None:
    exact = [term for term in query_terms(f"which {name} rules apply here", ("en",)) if term.exact]
    assert [term.variants[0] for term in exact] == [name.casefold()]


@pytest.mark.parametrize(
    ("language", "query", "text"),
    [
        ("en", "deploying", "The deploys are done"),
        ("de", "Häuser", "ein Haus am See"),
        ("es", "canciones", "una canción nueva"),
        ("fr", "continuellement", "continuelle"),
        ("ru", "книгами", "новая книга"),
        ("ru", "ёлки", "зелёная елка"),
        ("pl", "programista", "programisty"),
        ("sv", "flickorna", "flickor"),
    ],
)
def test_words_are_stemmed_in_their_language(language: str, query: str, text: str) -> None:
    assert found(query, text, language, (language,)) == 1


def test_a_query_finds_words_stemmed_in_another_language_of_the_store() -> None:
    assert found("Häuser", "viele Häuser", "de", ("en",)) == 0
    assert found("Häuser", "viele Häuser", "de", ("en", "de")) == 1


def test_english_inside_another_script_is_stemmed_as_english() -> None:
    assert found("deployment", "мы делаем deployments каждый день", "ru", ("en",)) == 1
    assert found("deployment", "每天做deployments", "zh", ("en",)) == 1


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("黑豹队", "比赛中黑豹队的防守丢了三百零八分"),
        ("東京", "私は東京に住んでいます"),
        ("カタカナ", "これはカタカナです"),
        ("데이터베이스", "새로운 데이터베이스를 설치했다"),
        ("ภาษา", "ฉันพูดภาษาไทย"),
    ],
)
def test_f49_a_word_is_found_inside_an_unspaced_sentence(query: str, text: str) -> None:
    assert found(query, text, detect_language(text), ("en",)) == len(query_terms(query, ("en",))) > 0


def test_f49_single_characters_and_mixed_scripts() -> None:
    assert spellings("猫") == [("猫",)]
    assert set(index_terms("在Python3中使用")) == {"在", "python3", "python", "3", "中使", "使用"}


def test_f48_stop_words_go_unless_nothing_else_is_left() -> None:
    assert spellings("what is the deploy window?", "en") == [("deploy",), ("window",)]
    assert spellings("to be or not to be", "en") == [("to",), ("be",), ("or",), ("not",)]
    assert spellings("Was ist das Haus?", "de") == [("haus",)]
    assert spellings("黑豹队的防守是什么？", "zh") == [
        ("黑豹",),
        ("豹队",),
        ("队的",),
        ("的防",),
        ("防守",),
        ("守是",),
    ]


def test_stop_words_follow_the_query_s_own_language_only() -> None:
    assert ("die",) in spellings("dice die", "en", "de")
    assert ("die",) not in spellings("die Karten", "de", "en")


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "*",
        '"',
        "'",
        "a-b",
        "c++",
        "issue #24",
        "?!",
        "::",
        "(",
        "\\",
        "_",
        "NEAR(",
        "%s",
        "😀",
        "\x00",
        "\ud800",
    ],
)
def test_f47_any_punctuation_is_safe(query: str) -> None:
    for term in query_terms(query, ("en",)):
        assert isinstance(term, QueryTerm)
        assert term.variants
        assert all(0 < len(variant) <= MAX_TERM_LENGTH for variant in term.variants)


def test_long_words_are_cut_alike_in_index_and_query() -> None:
    word = "x" * 500
    assert max(map(len, index_terms(word))) == MAX_TERM_LENGTH
    assert found(word, word) == 1


def test_repeats_count_in_the_index_and_not_in_the_query() -> None:
    assert index_terms("deploy Deploys DEPLOYING", "en") == {"deploy": 3}
    assert spellings("deploy deploy DEPLOY", "en") == [("deploy",)]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many points did the defense surrender?", "en"),
        ("Wie viele Punkte gab die Verteidigung ab?", "de"),
        ("¿Cuántos puntos dejaron escapar en defensa?", "es"),
        ("Combien de points la défense a-t-elle concédés ?", "fr"),
        ("Quanti punti ha concesso la difesa nella partita?", "it"),
        ("Quantos pontos a defesa não evitou no jogo?", "pt"),
        ("Hoeveel punten heeft de verdediging weggegeven?", "nl"),
        ("Hur många poäng släppte försvaret och varför?", "sv"),
        ("Ile punktów straciła obrona i dlaczego się cofnęła?", "pl"),
        ("Сколько очков пропустила защита?", "ru"),
        ("Скільки очок пропустив захист?", "uk"),
        ("黑豹队的防守丢了多少分？", "zh"),
        ("パンサーズの守備は何点取られましたか", "ja"),
        ("팬서스의 수비는 몇 점을 내주었나", "ko"),
        ("كم عدد النقاط التي تنازل عنها الدفاع؟", "ar"),
        ("Πόσους πόντους δέχτηκε η άμυνα;", "el"),
        ("import re\nfor item in rows:\n    if not item: continue", "en"),
        ("README.md 4091", None),
        ("", None),
        ("😀 123 !", None),
    ],
)
def test_the_language_of_a_text(text: str, language: str | None) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys go out on Tuesdays.", "deploys  go out on **Tuesdays**"),
        ("Use “quotes” — always", 'use "quotes" - always'),
        ("ＡＢＣ", "abc"),
        ("snake_case", "snake case"),
        ("Straße", "STRASSE"),
        ("end.\nnext", "end next"),
        ("。你好，", "你好"),
    ],
)
def test_text_keys_fold_case_space_and_punctuation(one: str, other: str) -> None:
    assert text_key(one) == text_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C"),
        ("C#", "C"),
        ("1.5", "15"),
        ("1.5", "1 5"),
        ("set it to -5", "set it to 5"),
        ("50%", "50"),
        ("a < b", "a > b"),
        ("a == b", "a != b"),
        ("$5", "€5"),
        ("done ✅", "done ❌"),
        ("!!!", "???"),
        ("não", "nao"),
    ],
)
def test_text_keys_keep_what_changes_the_meaning(one: str, other: str) -> None:
    assert text_key(one) != text_key(other)


def test_stems_are_right_from_many_threads() -> None:
    """The stemmers keep state while they work; terms are made in the database's threads."""
    words = [f"running{one}{two}nesses" for one in "abcdefghij" for two in "klmnopqrst"] * 4
    alone = EnglishStemmer()
    expected = {word: alone.stemWord(word) for word in words}
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda word: (word, set(index_terms(word, "en"))), words))
    assert all(terms == {expected[word]} for word, terms in results)
