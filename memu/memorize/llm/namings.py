"""Names and identifiers in text of several languages: what a text may not say unless its source says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from memu.languages import detect_language, stem, stop_words
from memu.memorize.extractors.cue_words import load_phrases
from memu.memorize.llm.figures import is_calendar_word, load_words

__all__ = ["Wording", "read_wording", "strange_names"]

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"[^\s{_CJK}\"“”„«»‹›「」『』《》()\[\]{{}}<>,;!?，。；：、！？|*`…]+")
_WORD = re.compile(rf"[^\W\d_{_CJK}]+(?:['’][^\W\d_{_CJK}]+)*")
_EDGES = ".:'’*_`~…-–—"
_INITIALS = re.compile(r"(?:\w\.)+\w?\.?")
_MEASURE = re.compile(r"[\W_]*\d[\d.,:/'’-]*(?:-?[a-zäöüß%°µ]+|[KMGT]?i?B|[A-Z]{1,3})?(?:/[a-z]+)?")
_MARKS_NAME = re.compile(r"_(?=\w)|[@=\\]|::|\d[^\W\d_]|[^\W\d_]\d|^--?\w|^\$\w|\w\.\w|/.*/|/\.|^[./~]\S*/")
_BREAK = re.compile(r"[.!?:。！？：\n][\s\"“”„«»'’()\[\]*_`-]*$|^[\W_]*$|[-*•]\s+$|\d[.)]\s+$")
_ENDINGS = ("s", "es", "e", "en", "n", "er", "r", "em", "ns", "ern", "'s", "’s", "'", "’")
_LEAST_SHARED = 5
_CUES = (
    "imperatives", "requests", "remarks", "identity", "preferences", "decisions", "actions", "reasons",
    "obligations", "done", "announcements", "lasting", "decision_headings", "action_headings", "summary_headings",
    "howto_headings", "generic_headings", "note_headings",
)  # fmt: skip
# Endings of words that are no names: a text may choose its own nouns and verbs, it may not choose names.
_ORDINARY = re.compile(
    r"\w{2,}(?:ing|ed|ly|tions?|sions?|ments?|ness(?:es)?|ities|ity|ances?|ences?|able|ible|ful|less|ships?|ures?"
    r"|ung(?:en)?|heit(?:en)?|keit(?:en)?|schaft(?:en)?|ionen|täten|tät|lich|isch|weise|iert"
    r"|ción|ciones|sión|siones|dad|dades|mente|[aei]mos|ando|iendo|ados?|adas?|idos?|idas?)",
    re.IGNORECASE,
)
_SURNAMES = (
    "王李张刘陈杨赵黄吴徐孙胡朱林郭罗梁宋郑谢韩唐冯董萧曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎潘杜戴夏钟汪田姜范姚谭廖邹熊陆郝孔崔邱秦"
    "江顾侯邵孟雷汤尹黎乔贺赖龚周马高何于程余任方石金白康毛史万段钱常武文"
)
# A surname with one or two characters, where a name would stand and somebody do something.
_WIDE_NAME = re.compile(
    rf"(?:^|(?<=[，。；：、！？\s由和与跟向让请给找是的]))([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?)"
    r"(?=先生|女士|总|老师|经理|说|负责|认为|喜欢|决定|建议|要求|提出|主持|偏好|同意|批准|使用|希望)"
)
_WIDE_WORDS = re.compile(
    r"周[一二三四五六日天末期报会]|马上|高[级度峰管可性]|何[时人]|于是|程序|余[额下]|任[务何]|方[法案式便]|石油|金额|白名|"
    r"毛利|史料|万一|段落|钱包|常[用见]|文[件档字]|许[多可]|曾经|谢谢|顾[客问]|江湖|雷达|田野|张贴|黄金|罗列|林业|白天"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """A source as names are looked for in it: folded text, its words, and the language it is in."""

    text: str
    words: frozenset[str]
    language: str | None


def read_wording(text: str) -> Wording:
    """The words of a source, liberally: an identifier counts whole and in its parts."""
    words = {word.casefold() for word in _WORD.findall(text)}
    words |= {part for word in tuple(words) for part in re.split(r"['’]", word)}
    return Wording(text=fold(text), words=frozenset(words), language=detect_language(text))


def fold(text: str) -> str:
    """Case, white space and the form of apostrophes folded."""
    return " ".join(text.casefold().replace("’", "'").split())


def strange_names(text: str, known: Wording) -> Iterator[str]:
    """The names and identifiers of ``text``, as written, that ``known`` does not hold.

    A word that opens a sentence, and a German noun, may be an ordinary word: those pass when they look like one.
    """
    german = (detect_language(text) or known.language) == "de"
    for token in _TOKEN.finditer(text):
        bare = token.group().strip(_EDGES) if not token.group().startswith(("-", "/", "~", ".")) else token.group()
        bare = bare.rstrip(_EDGES)
        if not bare or _INITIALS.fullmatch(bare) or _MEASURE.fullmatch(bare):
            continue
        if _MARKS_NAME.search(bare):
            if fold(bare) not in known.text and not _stands_in_parts(bare, known):
                yield bare
            continue
        for word in _WORD.finditer(bare):
            at = token.start() + token.group().index(bare) + word.start()
            if word.group()[0].isupper() and not _is_known(word.group(), text, at, known, german=german):
                yield word.group()
    for name in _WIDE_NAME.finditer(text):
        if name[1] not in known.text and not _WIDE_WORDS.match(name[1]):
            yield name[1]


def _stands_in_parts(token: str, known: Wording) -> bool:
    """Whether a possessive, or a joint that the text put in (``done.Then``), is all that is new."""
    for ending in ("'s", "’s"):
        if token.endswith(ending) and fold(token.removesuffix(ending)) in known.text:
            return True
    return False


def _is_known(word: str, text: str, at: int, known: Wording, *, german: bool) -> bool:
    folded = re.sub(r"['’].*", "", word.casefold())
    if len(folded) == 1 or is_calendar_word(folded) or _is_grammar(folded) or folded in load_words("anybody"):
        return True
    if _is_among(folded, known.words):
        return True
    opens = _BREAK.search(text[max(0, at - 12) : at]) is not None
    if word.isupper() or not (opens or (german and _may_be_noun(text[:at]))):
        # A German noun without its article is still ordinary if it looks like one.
        return german and not word.isupper() and _ORDINARY.fullmatch(folded) is not None
    ordinary = _ORDINARY.fullmatch(folded) is not None or _is_opener(folded)
    return ordinary or _shares_stem(folded, known.words) or (german and not opens)


def _may_be_noun(before: str) -> bool:
    """Whether an article, or an article and an adjective, stands in front."""
    return not load_words("articles").isdisjoint(word.casefold() for word in _WORD.findall(before[-40:])[-2:])


@lru_cache(maxsize=4096)
def _is_grammar(word: str) -> bool:
    if word in load_words("also_names"):
        return False
    return any(word in stop_words(language) for language in ("en", "de", "es"))


def _is_opener(word: str) -> bool:
    """Whether statements are known to begin with this word, or with another form of it (Uses, Prefers)."""
    return word in _openers() or stem(word, "en") in _openers()


@cache
def _openers() -> frozenset[str]:
    """The words of the lists by which statements are told apart, and their stems: no names are in them."""
    words = set(load_words("openers"))
    words.update(word for phrase in load_phrases(*_CUES).words for word in _WORD.findall(phrase))
    return frozenset(words | {stem(word, "en") for word in words}) - load_words("also_names")


def _is_among(word: str, words: frozenset[str]) -> bool:
    """Whether a word, or the same in another case or number, is there."""
    if word in words:
        return True
    if any(word.endswith(ending) and word.removesuffix(ending) in words for ending in _ENDINGS):
        return True
    return any(word + ending in words for ending in _ENDINGS)


def _shares_stem(word: str, words: frozenset[str]) -> bool:
    """Whether another word begins alike for most of its length (Deployments, deploying), or is its other form."""
    root = stem(word, "en")
    for other in words:
        if _shared(word, other) >= max(_LEAST_SHARED, 0.6 * min(len(word), len(other))):
            return True
        # Spanish stems would take Marta for a Tuesday.
        if other[:3] == word[:3] and stem(other, "en") == root:
            return True
    return False


def _shared(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
