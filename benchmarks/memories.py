"""What is remembered of chats against what should be: recall and precision at the rules in force and around them.

    python benchmarks/memories.py SESSIONS ANSWERS

SESSIONS/USER/*.json are chats; ANSWERS/USER.json says under ``sessions[].expected_memories_after[].fact`` what has
to be remembered. A fact is found when one entry covers at least half of its content words; an entry is useful when
it covers half of the words of some fact, or half of its own are in one. Means over the users; no store, no model.

The points: every sentence that a person said; the rules in force; of those the statements with at least so many
words; and those of a personal sort only.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from memu.ingest.document import Document, Source
from memu.ingest.reader import find_reader
from memu.memorize.candidate import Candidate
from memu.memorize.extractors.policies import extract
from memu.memorize.sentences import count_words, split_sentences
from memu.records import MemoryType

Choice = Callable[[Document, Sequence[Candidate]], Iterable[str]]
_STOP_WORDS = """
a an the and or of to in on at for with by from is are was were be been has have had it its this that as their his
her our my your they he she we i you not no do does did so but if then than
"""
_STOP = frozenset(_STOP_WORDS.split())
_PERSONAL = frozenset(
    {MemoryType.PROFILE, MemoryType.EVENT, MemoryType.BEHAVIOR, MemoryType.TOOL, MemoryType.ACTION}
)


def content_words(text: str) -> frozenset[str]:
    """The words of a text that say something, without their plural."""
    found = re.findall(r"[a-z0-9]+|[^\x00-\x7f]", text.lower())
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found if word not in _STOP
    )


def score(facts: Sequence[str], entries: Sequence[str]) -> tuple[float, float]:
    """Recall and precision."""
    wanted, told = [content_words(fact) for fact in facts], [content_words(entry) for entry in entries]
    found = sum(any(2 * len(fact & entry) >= len(fact) for entry in told) for fact in wanted if fact)
    useful = sum(
        any(2 * len(fact & entry) >= min(len(fact), len(entry)) for fact in wanted if fact)
        for entry in told
        if entry
    )
    return found / max(1, len(facts)), useful / max(1, len(entries))


def read_facts(answers: Mapping[str, object]) -> list[str]:
    """What should be remembered, each once."""
    sessions = answers.get("sessions")
    listed = (
        [each for session in sessions for each in session["expected_memories_after"]]
        if isinstance(sessions, list)
        else []
    )
    return list(dict.fromkeys(each["fact"] for each in listed if each.get("fact")))


def say_all(document: Document, _: Sequence[Candidate]) -> Iterable[str]:
    """Every sentence of every person."""
    return (part.text for block in document.blocks if block.role == "user" for part in split_sentences(block.text))


def keep_all(_: Document, candidates: Sequence[Candidate]) -> Iterable[str]:
    """What the rules in force keep."""
    return (each.text for each in candidates)


def keep_long(least: int) -> Choice:
    """Of that, what has at least so many words."""
    return lambda _, candidates: (each.text for each in candidates if count_words(each.text) >= least)


def keep_personal(_: Document, candidates: Sequence[Candidate]) -> Iterable[str]:
    """Of that, what is of a personal sort."""
    return (each.text for each in candidates if each.memory_type in _PERSONAL)


POINTS: Mapping[str, Choice] = {
    "every sentence": say_all,
    "the rules": keep_all,
    **{f"... of {least} words": keep_long(least) for least in (6, 10, 15)},
    "... of a personal sort": keep_personal,
}


def main() -> None:
    """Print a line for each point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", type=Path)
    parser.add_argument("answers", type=Path)
    given = parser.parse_args()
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in POINTS}
    counts = dict.fromkeys(POINTS, 0)
    for folder in sorted(path for path in given.sessions.iterdir() if path.is_dir()):
        facts = read_facts(json.loads((given.answers / f"{folder.name}.json").read_text(encoding="utf-8")))
        entries: dict[str, list[str]] = {name: [] for name in POINTS}
        for path in sorted(folder.glob("*.json")):
            source = Source(path=path.name, text=path.read_text(encoding="utf-8"))
            document = find_reader(source).read(source)
            candidates = extract(document, path.name).candidates
            for name, choose in POINTS.items():
                entries[name] += choose(document, candidates)
        for name, texts in entries.items():
            scores[name].append(score(facts, texts))
            counts[name] += len(texts)
    for name, each in scores.items():
        recall, precision = (sum(side) / len(each) for side in zip(*each, strict=True))
        print(f"{name}: recall {recall:.3f} precision {precision:.3f} ({counts[name]} entries)")


if __name__ == "__main__":
    main()
