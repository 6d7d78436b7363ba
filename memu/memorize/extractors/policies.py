"""The policies of the extractor that needs no model: one per kind of source, each choosing verbatim quotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from memu.ingest.document import Document
from memu.memorize.candidate import Candidate, Extraction
from memu.memorize.extractors.agent_skills import extract_agent_skill, is_agent_skill
from memu.memorize.extractors.chats import extract_chat
from memu.memorize.extractors.code import extract_code
from memu.memorize.extractors.documents import extract_document, extract_sections
from memu.memorize.extractors.images import extract_image
from memu.memorize.extractors.meetings import extract_meeting
from memu.memorize.extractors.noise import find_source_noise
from memu.memorize.extractors.procedures import extract_procedure, is_procedure
from memu.memorize.extractors.quotes import order_by_source
from memu.memorize.extractors.rules import extract_rules
from memu.memorize.extractors.sections import split_sections
from memu.memorize.extractors.sessions import extract_session
from memu.memorize.extractors.tables import extract_log, extract_table
from memu.memorize.extractors.trust import may_teach
from memu.records import Kind

__all__ = ["extract"]

Policy = Callable[[Document], Extraction]


def extract(document: Document, path: str) -> Extraction:
    """The candidates, by the policy of the document's kind.

    Licences, lock files, templates and codes of conduct give nothing.
    """
    noise = find_source_noise(document, path)
    if noise is not None:
        return Extraction(dropped={noise: len(document.blocks)})
    if is_agent_skill(document, path):
        return extract_agent_skill(document)
    if document.kind is Kind.CODE:
        return extract_code(document, path)
    policy = _POLICIES.get(document.kind)
    return policy(document) if policy else Extraction(dropped={"no_policy": len(document.blocks)})


def _extract_prose(document: Document) -> Extraction:
    """Procedures to the skill track whole, everything else to the memory track by sentences."""
    sections = split_sections(document)
    if not may_teach(document):
        return extract_document(document)
    found: list[tuple[int, Candidate]] = []
    dropped: Counter[str] = Counter()
    others = []
    for section in sections:
        taught = extract_procedure(document, section, dropped) if is_procedure(section, document.title) else []
        found += taught
        if not taught:
            others.append(section)
    rest = extract_sections(document, tuple(others))
    dropped.update(rest.dropped)
    return Extraction(candidates=(*order_by_source(found), *rest.candidates), dropped=dict(dropped))


_POLICIES: dict[Kind, Policy] = {
    Kind.DOCUMENT: _extract_prose,
    Kind.MAIL: extract_document,
    Kind.CHAT: extract_chat,
    Kind.SESSION: extract_session,
    Kind.MEETING: extract_meeting,
    Kind.RULES: extract_rules,
    Kind.TABLE: extract_table,
    Kind.LOG: extract_log,
    Kind.IMAGE: extract_image,
    Kind.AUDIO: extract_document,
}
