"""One question per source, made of rare words of its own: a search that finds everything finds the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memu.doctor.checked import Checked, ScopeRows
from memu.doctor.remedies import Remedies
from memu.records import Finding, Layer, Passage, Resource, Scope, Severity, State
from memu.retrieve.states import RetrieveState
from memu.retrieve.workflow import retrieve_workflow
from memu.storage.database import Database
from memu.storage.repository import Repository
from memu.storage.search import SearchFilter
from memu.tokens import index_terms
from memu.workflow import LocalRunner

__all__ = ["Probe", "choose_probes", "run_probes"]

_SAMPLE = 50
_WORDS = 4
_WORD = re.compile(r"\w[\w'.-]*")
_LONGEST_WORD = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A source and the questions that must find one of its passages; no question where it has no words."""

    path: str
    root: str
    passage_id: str | None
    questions: tuple[str, ...]


def choose_probes(rows: ScopeRows, *, thorough: bool) -> tuple[Probe, ...]:
    """A probe for each source that was read, or for a sample spread evenly over them in the order of paths."""
    sources = [
        (source, workspace.root)
        for workspace in rows.workspaces
        for source in rows.repository.resources.in_state(workspace.id, State.DONE, State.PARTIAL)
    ]
    step = 1 if thorough else -(-len(sources) // _SAMPLE) or 1
    return tuple(_choose(rows.repository, source, root) for source, root in sources[::step])


async def run_probes(database: Database, scope: Scope, probes: Sequence[Probe], remedies: Remedies) -> Checked:
    """Ask each through the retrieve workflow, by words alone: no encoder is called."""
    workflow, runner = retrieve_workflow(database, None), LocalRunner()

    async def is_found(probe: Probe) -> bool:
        for question in probe.questions:
            state = RetrieveState(
                scopes=(scope,),
                query=question,
                layers=frozenset({Layer.RESOURCE}),
                within=SearchFilter(among=frozenset({probe.passage_id or ""})),
                max_hits=1,
            )
            if any(hit.path == probe.path for hit in (await runner.run(workflow, state)).hits):
                return True
        return not probe.questions

    missed = [probe for probe in probes if not await is_found(probe)]
    # What a sync has replaced meanwhile is no fault.
    still = await database.read(
        lambda session: session.within(scope).passages.hydrate([each.passage_id or "" for each in missed])
    )
    findings = [_report(probe, remedies) for probe in missed if probe.passage_id in still]
    return Checked(check="probes", count=len(probes), findings=tuple(findings))


def _report(probe: Probe, remedies: Remedies) -> Finding:
    return Finding(
        check="probes",
        severity=Severity.ERROR,
        subject=probe.path,
        message="A search for rare words of its own does not find it.",
        remedy=remedies.rebuild(probe.root),
    )


def _choose(repository: Repository, source: Resource, root: str) -> Probe:
    passages = repository.passages.of_resource(source.id)
    longest = max(passages, key=lambda each: (len(each.text), -each.ordinal), default=None)
    if longest is None:
        return Probe(path=source.path, root=root, passage_id=None, questions=())
    return Probe(
        path=source.path, root=root, passage_id=longest.id, questions=tuple(_questions(repository, longest))
    )


def _questions(repository: Repository, passage: Passage) -> Iterator[str]:
    """Its rarest words; then, where another language is taken for theirs, all of it."""
    words = list(dict.fromkeys(word[:_LONGEST_WORD] for word in _WORD.findall(passage.text)))
    terms = {word: tuple(index_terms(word, passage.language)) for word in words}
    rarity = repository.inspection.rarity([term for found in terms.values() for term in found])
    known = [word for word in words if terms[word]]
    known.sort(key=lambda word: (min(rarity.get(term, 0) or len(words) * 1000 for term in terms[word]), word))
    if known:
        yield " ".join(known[:_WORDS])
        yield passage.text
