"""Checks of what search stands on: postings and vectors against the passages that they were made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from memu.doctor.checked import Checked, ScopeRows
from memu.doctor.remedies import NOTHING_TO_DO, RESTORE
from memu.providers.protocols import Encoder
from memu.records import Finding, Severity
from memu.storage.encoders import StoredEncoder
from memu.storage.inspection import StoredTerms
from memu.storage.session import Session
from memu.storage.words import index_passage

__all__ = ["check_vectors", "find_wrong_terms", "report_postings"]


def find_wrong_terms(indexed: Sequence[StoredTerms]) -> list[str]:
    """The passages whose postings are not what their text and header give today. Stemming each takes time."""
    return [each.passage.id for each in indexed if dict(index_passage(each.passage).terms) != dict(each.terms)]


def report_postings(rows: ScopeRows, wrong: Sequence[str], count: int) -> Checked:
    """``wrong`` passages as findings by source or page; ``count`` were looked at."""
    fault = "passages have postings that do not match their text; searches may miss them"
    return Checked(check="postings", count=count, findings=tuple(_by_owner(rows, "postings", wrong, fault)))


def check_vectors(session: Session, rows: ScopeRows, encoder: Encoder | None) -> Checked:
    """Vectors of another size or of nothing, unlike what is packed, of an encoder not in use, and missing ones."""
    inspection, active = rows.repository.inspection, session.encoders.active()
    counts = inspection.vectors_by_encoder()
    fault = "passages have a vector that cannot be compared"
    packs = inspection.pack_faults()
    findings = [
        *_by_owner(rows, "vectors", inspection.unusable_vectors(), fault),
        *_by_owner(rows, "vectors", packs.wrong, "passages have a vector that searches do not see as it is"),
        *_strange(packs.strange),
        *_foreign(counts, session.encoders.list()),
        *_missing(rows, encoder, active),
    ]
    return Checked(check="vectors", count=sum(counts.values()), findings=tuple(findings))


def _by_owner(rows: ScopeRows, check: str, passage_ids: Sequence[str], fault: str) -> Iterator[Finding]:
    owners: Counter[tuple[str, str]] = Counter()
    for found in rows.repository.passages.hydrate(list(dict.fromkeys(passage_ids))).values():
        page = found.pages[0] if found.pages else None
        if found.resource is not None:
            owners[(found.resource.path, rows.roots.get(found.resource.workspace_id, ""))] += 1
        elif page is not None:
            entries = rows.repository.entries.of_page(page.id)
            root = min((each.workspace.root for each in entries), default="")
            owners[(f"{page.track.value}/{page.name}", root)] += 1
    for (subject, root), count in sorted(owners.items()):
        yield Finding(
            check=check,
            severity=Severity.ERROR,
            subject=subject,
            message=f"{count} of its {fault}.",
            remedy=rows.remedies.rebuild(root) if root else RESTORE,
        )


def _strange(count: int) -> Iterator[Finding]:
    if count:
        yield Finding(
            check="vectors",
            severity=Severity.ERROR,
            subject="vector_pack",
            message=f"{count} packed vectors belong to no passage.",
            remedy=RESTORE,
        )


def _foreign(counts: dict[str, int], stored: Sequence[StoredEncoder]) -> Iterator[Finding]:
    for each in stored:
        if not each.active and counts.get(each.id):
            yield Finding(
                check="vectors",
                severity=Severity.NOTICE,
                subject=each.identity.name,
                message=f"{counts[each.id]} vectors come from an encoder that is not the active one.",
                remedy=f"{NOTHING_TO_DO} They are never searched.",
            )


def _missing(rows: ScopeRows, encoder: Encoder | None, active: StoredEncoder | None) -> Iterator[Finding]:
    if encoder is None:
        return
    identity = active.identity if active else encoder.identity
    count = rows.repository.passages.count_without_vector(
        active.id if active else "", languages=identity.languages
    )
    if count:
        yield Finding(
            check="vectors",
            severity=rows.left(),
            subject=identity.name,
            message=f"{count} passages have no vector yet; words find them.",
            remedy=rows.remedies.sync(rows.workspaces[0].root) if rows.workspaces else RESTORE,
        )
