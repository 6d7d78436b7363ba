"""Topics: the longest phrases that several titles share."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from memu.memorize.assign.stop_phrases import is_edge, is_stop_words
from memu.memorize.assign.words import Word, split_words
from memu.names import choose_display_name

__all__ = ["Topic", "Voice", "choose_topics"]

_LONGEST = 12
_LEAST_VOICES = 2
# Two characters of a script without spaces, or one word of another.
_LEAST_WEIGHT = 2
# From so many titles on, what more than half of them share names the whole folder and no page of it.
_ENOUGH_VOICES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """One source's say: its title first, then its first heading. Sources of one content have one voice."""

    path: str
    content: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    """A title or heading, its words and their keys."""

    text: str
    words: Sequence[Word]
    keys: Sequence[str]

    @classmethod
    def of(cls, text: str) -> _Text:
        words = split_words(text)
        return cls(text, words, [word.key for word in words])

    def key(self, start: int, end: int) -> str:
        return " ".join(self.keys[start:end])

    def spans(self, shared: Mapping[str, int]) -> Iterator[tuple[int, int]]:
        """Every run of words whose key is in ``shared``, as are those of all shorter runs from the same start."""
        for start in range(len(self.keys)):
            for end in range(start + 1, min(len(self.keys), start + _LONGEST) + 1):
                if self.key(start, end) not in shared:
                    break
                yield start, end


@dataclass(frozen=True, slots=True)
class Topic:
    """The page name that a source's title gives. ``broad``: over half of all titles share it."""

    name: str
    broad: bool


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase in one source's texts; sorts longest first, then by position, then by alphabet."""

    rank: tuple[int, int, str]
    spelling: str

    @property
    def key(self) -> str:
        return self.rank[2]


def choose_topics(voices: Iterable[Voice], names: Iterable[str] = ()) -> dict[str, Topic]:
    """The topic of each path whose title shares one with another title, or with the ``names`` of standing pages.

    Each source takes the longest phrase it shares (then by position, then by alphabet). A phrase that only one
    source took is given up, longest first, and that source takes its next, until every topic has two sources.
    """
    ordered = sorted(voices, key=lambda voice: voice.path)
    texts: dict[str, list[_Text]] = {}
    for voice in ordered:
        if voice.content not in texts:
            texts[voice.content] = [_Text.of(text) for text in voice.texts]
    standing = {" ".join(_Text.of(name).keys) for name in names}
    shared = _count_shared(texts, standing)
    found = {content: _phrases_in(parts, shared, standing) for content, parts in texts.items()}
    broad = {
        key
        for key, count in shared.items()
        if len(texts) >= _ENOUGH_VOICES and count * 2 > len(texts) and key not in standing
    }
    options = {
        content: sorted(phrases, key=lambda phrase: (phrase.key in broad, phrase.rank))
        for content, phrases in found.items()
    }
    chosen = _settle(options, standing)
    spellings: dict[str, list[str]] = defaultdict(list)
    for phrase in chosen.values():
        spellings[phrase.key].append(phrase.spelling)
    topics = {
        content: Topic(choose_display_name(spellings[phrase.key]), phrase.key in broad)
        for content, phrase in chosen.items()
    }
    return {voice.path: topics[voice.content] for voice in ordered if voice.content in topics}


def _settle(options: Mapping[str, Sequence[_Phrase]], standing: set[str]) -> dict[str, _Phrase]:
    """Each content's phrase, such that no phrase is left with one content alone (unless its page stands)."""
    takers: dict[str, set[str]] = defaultdict(set)
    at = dict.fromkeys(options, 0)
    lone: list[tuple[tuple[int, int, str], str]] = []

    def take(content: str) -> None:
        if at[content] < len(options[content]):
            phrase = options[content][at[content]]
            takers[phrase.key].add(content)
            if len(takers[phrase.key]) < _LEAST_VOICES and phrase.key not in standing:
                heapq.heappush(lone, ((phrase.rank[0], 0, phrase.key), content))

    for content in sorted(options):
        take(content)
    given_up: set[str] = set()
    while lone:
        (_, _, key), _content = heapq.heappop(lone)
        if len(takers[key]) != 1 or key in given_up:
            continue
        given_up.add(key)
        (content,) = takers.pop(key)
        while at[content] < len(options[content]) and options[content][at[content]].key in given_up:
            at[content] += 1
        take(content)
    return {content: options[content][at[content]] for found in takers.values() for content in found}


def _count_shared(texts: Mapping[str, Sequence[_Text]], standing: AbstractSet[str]) -> dict[str, int]:
    """How many contents hold each phrase that two or more hold, or that begins a standing page's name.

    Level by level (Agrawal and Srikant's Apriori): a phrase is shared only if the phrase one word shorter is.
    """
    prefixes = {" ".join(words[:end]) for words in map(str.split, standing) for end in range(1, len(words) + 1)}
    shared: dict[str, int] = {}
    starts = [
        (content, part, start)
        for content, parts in texts.items()
        for part in parts
        for start in range(len(part.words))
    ]
    for length in range(1, _LONGEST + 1):
        grams = [
            (content, part, start, part.key(start, start + length))
            for content, part, start in starts
            if start + length <= len(part.words)
        ]
        counts = Counter(key for _, key in {(content, key) for content, _, _, key in grams})
        shared.update((key, count) for key, count in counts.items() if count >= _LEAST_VOICES or key in standing)
        starts = [
            (content, part, start)
            for content, part, start, key in grams
            if counts[key] >= _LEAST_VOICES or key in prefixes
        ]
    return shared


def _phrases_in(parts: Sequence[_Text], shared: Mapping[str, int], standing: AbstractSet[str]) -> list[_Phrase]:
    """The shared phrases of a source's texts that could name a page; of each the first place counts."""
    found: dict[str, _Phrase] = {}
    offset = 0
    for part in parts:
        words = part.words
        for start, end in part.spans(shared):
            key = part.key(start, end)
            is_shared = shared[key] >= _LEAST_VOICES or key in standing
            if is_shared and key not in found and _can_name(words[start:end]):
                weight = sum(word.weight for word in words[start:end])
                spelling = part.text[words[start].start : words[end - 1].end]
                found[key] = _Phrase((-weight, offset + start, key), spelling)
        offset += len(words)
    return list(found.values())


def _can_name(words: Sequence[Word]) -> bool:
    """Whether the words may be a page's name: not too short, with telling words at both ends."""
    return (
        sum(word.weight for word in words) >= _LEAST_WEIGHT
        and not words[0].key.isdigit()
        and is_edge(words[0])
        and is_edge(words[-1])
        and not is_stop_words(words)
    )
