"""Topics: the longest phrases that several titles share."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memu.memorize.assign.stop_phrases import is_edge, is_stop_words
from memu.memorize.assign.words import Word, split_words
from memu.names import choose_display_name

__all__ = ["Topic", "Voice", "choose_topics"]

_LONGEST = 12
_LEAST_VOICES = 2
# From so many titles on, what more than half of them share names the whole folder and no page of it.
_ENOUGH_VOICES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """One source's say: its title first, then its first heading. Sources of one content have one voice."""

    path: str
    content: str
    texts: tuple[str, ...]


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
    contents: dict[str, Voice] = {}
    for voice in ordered:
        contents.setdefault(voice.content, voice)
    standing = {_key_of(split_words(name)) for name in names}
    found = {content: _phrases_in(voice) for content, voice in contents.items()}
    shared = Counter(key for phrases in found.values() for key in phrases)
    broad = {
        key
        for key, count in shared.items()
        if len(contents) >= _ENOUGH_VOICES and count * 2 > len(contents) and key not in standing
    }
    options = {
        content: sorted(
            (phrase for key, phrase in phrases.items() if shared[key] >= _LEAST_VOICES or key in standing),
            key=lambda phrase: (phrase.key in broad, phrase.rank),
        )
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


def _phrases_in(voice: Voice) -> dict[str, _Phrase]:
    """Every phrase of a source's texts that could name a page, by key; the first place counts."""
    found: dict[str, _Phrase] = {}
    offset = 0
    for text in voice.texts:
        words = split_words(text)
        edges = [is_edge(word) and not word.key.isdigit() for word in words]
        for start in range(len(words)):
            if not edges[start]:
                continue
            for end in range(start + 1, min(len(words), start + _LONGEST) + 1):
                part = words[start:end]
                weight = sum(word.weight for word in part)
                if weight < 2 or not is_edge(part[-1]) or is_stop_words(part):
                    continue
                key = _key_of(part)
                rank = (-weight, offset + start, key)
                if key not in found:
                    found[key] = _Phrase(rank, text[part[0].start : part[-1].end])
        offset += len(words)
    return found


def _key_of(words: Sequence[Word]) -> str:
    return " ".join(word.key for word in words)
