"""*Assign*: from a workspace's candidates to pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from memu.memorize.assign.boilerplate import BOILERPLATE_KINDS, find_boilerplate
from memu.memorize.assign.naming import name_procedure, name_sources
from memu.memorize.assign.records import AssignCandidate, AssignedPage, Assignment, AssignSource
from memu.memorize.assign.words import plain_title
from memu.names import choose_display_name, fold_name
from memu.records import Origin, Track

__all__ = ["assign"]

_Named = tuple[AssignCandidate, str]


def assign(sources: Sequence[AssignSource], candidates: Sequence[AssignCandidate]) -> Assignment:
    """The pages of one workspace: a pure function of what its sources say and of their paths.

    The order of the arguments and the ids decide nothing. Every candidate is either hidden (boilerplate) or on
    exactly one page. Each candidate's path must be among the sources.
    """
    by_path = {source.path: source for source in sources}
    ordered = sorted(candidates, key=lambda candidate: candidate.place_key)
    boilerplate = find_boilerplate(by_path, ordered)
    shown: list[AssignCandidate] = []
    hidden: list[AssignCandidate] = []
    for candidate in ordered:
        is_hidden = (
            candidate.track is Track.MEMORY
            and candidate.text_key in boilerplate
            and by_path[candidate.path].kind in BOILERPLATE_KINDS
        )
        (hidden if is_hidden else shown).append(candidate)
    memory = [candidate for candidate in shown if candidate.track is Track.MEMORY]
    skill = [candidate for candidate in shown if candidate.track is Track.SKILL]
    procedures = ((candidate, _name_skill(candidate, by_path[candidate.path])) for candidate in skill)
    pages = [*_gather(Track.MEMORY, _name_memory(by_path, memory)), *_gather(Track.SKILL, procedures)]
    return Assignment(pages=tuple(pages), hidden=frozenset(candidate.id for candidate in hidden))


def _name_memory(by_path: dict[str, AssignSource], memory: Sequence[AssignCandidate]) -> Iterable[_Named]:
    """Each candidate with its page's name; what says the same stands with the first that says it."""
    leaders: dict[str, AssignCandidate] = {}
    for candidate in memory:
        leaders.setdefault(_identity_of(candidate), candidate)
    hints = {key: plain_title(leader.page_hint or "") for key, leader in leaders.items()}
    # Only sources with something on a page that is still to be named have a say in how pages are called.
    leading = {leader.path for key, leader in leaders.items() if not hints[key]}
    names = name_sources([by_path[path] for path in sorted(leading)], sorted({*hints.values()} - {""}))
    for candidate in memory:
        key = _identity_of(candidate)
        yield candidate, hints[key] or names[leaders[key].path]


def _name_skill(candidate: AssignCandidate, source: AssignSource) -> str:
    """A model has read the source, and its names were settled with those that stand: they are taken as given."""
    given = plain_title(candidate.page_hint or "") if candidate.origin is Origin.MODEL else ""
    return given or name_procedure(candidate, source)


def _identity_of(candidate: AssignCandidate) -> str:
    """What makes two candidates the same statement; one without any letter or digit equals no other."""
    return candidate.text_key or f"\0{candidate.path}\0{candidate.ordinal}"


def _gather(track: Track, named: Iterable[_Named]) -> Iterable[AssignedPage]:
    """Pages by folded name, each with the lowest of its spellings."""
    members: dict[str, list[str]] = defaultdict(list)
    spellings: dict[str, set[str]] = defaultdict(set)
    for candidate, name in named:
        folded = fold_name(name)
        members[folded].append(candidate.id)
        spellings[folded].add(name)
    for folded in sorted(members):
        yield AssignedPage(
            track=track,
            folded_name=folded,
            name=choose_display_name(spellings[folded]),
            entry_ids=tuple(members[folded]),
        )
