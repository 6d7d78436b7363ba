"""Text to terms: the one way that passages are indexed and queries are asked, whatever the database.

A *chunk* is a run of word characters with the joiners that identifiers and paths carry (``src/a.py``,
``ERR_4091``, ``blue-lantern``, ``C++``). A plain word gives its Snowball stem. A compound gives itself whole, its
path and dotted segments, and its parts, cut at case changes, underscores, hyphens and letter-digit borders.
Scripts written without spaces give overlapping pairs of characters. Terms are case-folded, without accents, and
at most 64 characters long.

Everything here is a pure function of its arguments. A change in the terms it gives asks for a reindex.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from memu.languages import MARKS, detect_language, is_letters, stem, stop_words, without_accents

__all__ = [
    "MAX_TERM_LENGTH",
    "QueryTerm",
    "blank_signs",
    "detect_language",
    "fold_case",
    "index_terms",
    "query_terms",
    "text_key",
]

MAX_TERM_LENGTH = 64

# Thai to Burmese, Khmer, kana, Han, and Hangul, whose particles hang on the word.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = rf"(?:[^\W{_UNSPACED}]|[{MARKS}])+"
_JOINT = r"(?:[-./\\:@&]|::)"
_SIGN = r"(?:\+\+|[+\#](?!\w))?"
_CHUNK = rf"[{_UNSPACED}]+|(?:\#(?=\d))?{_WORD}(?:{_JOINT}{_WORD})*{_SIGN}"
# The same without unspaced scripts and marks, much quicker to run and, unlike the other, to compile.
_ASCII_CHUNK = re.compile(rf"(?:\#(?=\d))?\w+(?:{_JOINT}\w+)*{_SIGN}", re.ASCII)
_UNSPACED_START = f"[{_UNSPACED}]"
_JOINTS = (re.compile(r"[/\\]"), re.compile(r"[:@&]+"), re.compile(r"\."), re.compile(r"[-_]+"))
_ANY_JOINT = re.compile(r"[-./\\:@&]+")
_RUNS = re.compile(rf"\d+|(?:[^\W\d_]|[{MARKS}])+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)", re.IGNORECASE)

_PUNCTUATION = (
    r"!\"'()*,.:;?\[\]_{}`\\|~\-\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf\u2010-\u2027\u2030-\u205e"
    r"\u3000-\u3004\u3008-\u303f\u200b"
)
# Any sign but . , : - which fold before what is no digit; . , : also after it, - also after a letter.
_FOLDED = re.compile(rf"[{_PUNCTUATION}](?:(?<![.,:\-])|(?!\d)|(?<=[.,:])(?<!\d[.,:])|(?<=[^\W\d]-))")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One word of a query. ``variants`` are its spellings in the index (plain, and the stems of several
    languages): finding any of them is finding the word. ``exact`` marks an identifier asked for by name, whole;
    ``part`` a piece that one was cut into.
    """

    variants: tuple[str, ...]
    exact: bool = False
    part: bool = False


def index_terms(text: str, language: str | None = None) -> Counter[str]:
    """The terms of a passage and how often each occurs.

    ``language`` is ISO 639-1; without one, or in another script than its own, a word is stemmed by its script.

    >>> sorted(index_terms("Deploys use parseHTTPResponse", "en"))
    ['deploy', 'http', 'pars', 'parsehttprespons', 'parsehttpresponse', 'respons', 'use']
    """
    # Not a Counter yet, which is slow at words that it has not met.
    terms: dict[str, int] = {}
    for chunk, count in Counter(_chunks(text)).items():
        for term in _terms_of(chunk, language):
            terms[term] = terms.get(term, 0) + count
    return Counter(terms)


def query_terms(text: str, languages: Iterable[str] = ()) -> tuple[QueryTerm, ...]:
    """The words of a query, each once, in the order they stand.

    ``languages``: the query's own first (its stop words are dropped, unless nothing else is left), then others
    that the store holds, whose stems count as the same word; without any, English. Any text is safe; one without
    words gives ``()``.
    """
    spoken = tuple(dict.fromkeys(languages)) or ("en",)
    chunks = tuple(dict.fromkeys(_chunks(text)))
    stops = stop_words(spoken[0])
    kept = [[word for word in _spellings(chunk) if word not in stops] for chunk in chunks]
    alone = sum(map(bool, kept)) == 1
    found: dict[tuple[str, ...], QueryTerm] = {}
    for chunk, words in zip(chunks, kept if any(kept) else map(_spellings, chunks), strict=True):
        exact = len(words) > 1 and not _is_unspaced(chunk) and (alone or _is_identifier(chunk))
        for position, word in enumerate(words):
            whole = position == 0
            term = QueryTerm(_variants(word, spoken), exact=exact and whole, part=exact and not whole)
            known = found.get(term.variants)
            # A word that also stands by itself is asked for itself.
            if known is None or (known.part and not term.part):
                found[term.variants] = term
    return tuple(term for term in found.values() if term.variants)


def text_key(text: str) -> str:
    """What makes two statements the same: case, space and punctuation folded.

    Signs that carry meaning stay: symbols (``+ < = $ %`` and emoji), signs between digits, and a minus before a
    number. A text of nothing but punctuation is its own key.

    >>> text_key("Deploys go out on **Tuesdays**."), text_key("C++ 1.5"), text_key("-5")
    ('deploys go out on tuesdays', 'c++ 1.5', '-5')
    """
    folded = fold_case(text)
    return " ".join(blank_signs(folded).split()) or " ".join(folded.split())


def fold_case(text: str) -> str:
    """Letters as keys compare them. A text in ASCII keeps its length."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def blank_signs(folded: str) -> str:
    """A folded text with a space in the place of each sign that says nothing; its length stays."""
    return _FOLDED.sub(" ", folded)


def _chunks(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_CHUNK.findall(text)
    return _compile(_CHUNK).findall(unicodedata.normalize("NFKC", text))


def _is_unspaced(chunk: str) -> bool:
    """Whether a chunk is of a script written without spaces."""
    return not chunk.isascii() and _compile(_UNSPACED_START).match(chunk) is not None


_compile = cache(re.compile)
"""What no text in ASCII needs is compiled when it is first met."""


@lru_cache(maxsize=100_000)
def _terms_of(chunk: str, language: str | None) -> tuple[str, ...]:
    """The terms that a chunk stands under in the index: a compound whole is kept unstemmed too."""
    spellings = _spellings(chunk)
    terms = [_cut(without_accents(spellings[0]))] if len(spellings) > 1 else []
    terms += [_cut(stem(spelling, language)) for spelling in spellings]
    return tuple(term for term in dict.fromkeys(terms) if term)


def _variants(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    forms = (without_accents(word), *(stem(word, language) for language in languages))
    return tuple(form for form in dict.fromkeys(map(_cut, forms)) if form)


def _cut(term: str) -> str:
    return term[:MAX_TERM_LENGTH]


def _spellings(chunk: str) -> tuple[str, ...]:
    """The chunk case-folded, then its segments and parts; pairs of characters for an unspaced script."""
    if _is_unspaced(chunk):
        return tuple(chunk[at : at + 2] for at in range(max(1, len(chunk) - 1)))
    bare = chunk.strip("_")
    if is_letters(bare) and not _has_inner_capital(bare):
        return (bare.casefold(),)
    level = [chunk if chunk.startswith("__") else bare]
    pieces = list(level)
    for joint in _JOINTS:
        level = [part for piece in level for part in joint.split(piece)]
        pieces += level
    pieces += [part for piece in level for part in _cut_word(piece)]
    return tuple(dict.fromkeys(piece.casefold() for piece in pieces if piece.strip("_")))


def _cut_word(word: str) -> list[str]:
    """Letters and digits apart, and letters cut where a capital begins a word: HTTPResponse → HTTP, Response."""
    parts: list[str] = []
    for run in _RUNS.findall(word):
        start = 0
        for at in range(1, len(run) if _has_inner_capital(run) else 0):
            rises = run[at].isupper() and run[at - 1].islower()
            begins = run[at - 1].isupper() and run[at].isupper() and run[at + 1 : at + 2].islower()
            if rises or begins:
                parts.append(run[start:at])
                start = at
        parts.append(run[start:])
    return parts


def _has_inner_capital(word: str) -> bool:
    """Whether case changes inside the word; neither ``Word`` nor ``WORD`` nor the plural of an acronym counts."""
    plural = word[:-1] if word.endswith("s") and len(word) > 2 else word
    return word[1:] != word[1:].lower() and plural != plural.upper()


def _is_identifier(chunk: str) -> bool:
    """Whether a compound names a thing (ERR_4091, GitHub, v2, a.py) and is not mere words or numbers joined."""
    bare = chunk.strip("_")
    if "_" in bare or bare[0] == "#" or bare[-1] in "+#":
        return True
    parts = [part for part in _ANY_JOINT.split(bare) if part]
    digits = any(part.isdigit() for part in parts)
    for part in parts:
        if _has_inner_capital(part) and is_letters(part):
            return True
        if not part.isdigit() and not is_letters(part) and not _ORDINAL.fullmatch(part):
            return True
        if digits and len(part) > 1 and part.isupper():
            return True
    worded = any(len(part) > 1 and not part.isdigit() for part in parts)
    return worded and (bool(re.search(r"[.:\\@]", bare)) or bare.count("/") > 1)
