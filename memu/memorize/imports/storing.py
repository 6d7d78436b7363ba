"""Storing imported sources: their rows, the pages that their entries stand on, and vectors that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from memu.errors import ConfigurationError
from memu.memorize.forget.cutting import cut_text
from memu.memorize.forget.forgotten import Forgotten, read_forgotten
from memu.memorize.imports.source import ImportedSource
from memu.memorize.imports.telling import PageLink, Told
from memu.memorize.source_rows import store_source
from memu.names import fold_name
from memu.records import IMPORTED, EncoderIdentity, FileProblem, RecallFile, Scope, Workspace
from memu.storage.legacy_values import Vector
from memu.storage.repository import Repository
from memu.storage.session import Session
from memu.storage.vectors import quantise

__all__ = ["Standing", "Stored", "look", "store"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a scope holds of earlier imports: source id → fingerprint; and what it was told to forget."""

    known: Mapping[str, str] = field(default_factory=dict)
    forgotten: Forgotten = Forgotten()

    def is_new(self, told: Told) -> bool:
        """Whether this text is not stored as it is."""
        return self.known.get(told.id) != told.fingerprint

    def is_sayable(self, name: str) -> bool:
        """Whether a name holds nothing that was forgotten."""
        return not self.forgotten or cut_text(name, self.forgotten) == name

    def is_forgotten(self, told: Told) -> bool:
        """Whether this source was forgotten whole."""
        place = Workspace(id="", name=IMPORTED, root="")
        return self.forgotten.covers_path(place, told.path) or self.forgotten.covers_content(
            told.fingerprint, place, told.path
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What one transaction stored: counts by name, the pages joined, and what was odd."""

    counts: Counter[str]
    notes: tuple[FileProblem, ...]


def look(repository: Repository) -> Standing:
    """What stands in a scope.

    Raises:
        ConfigurationError: a synced folder has the name that imports are known by.
    """
    workspace = _find(repository)
    if workspace is None:
        return Standing(forgotten=read_forgotten(repository))
    known = repository.resources.known(workspace.id)
    return Standing(
        known={each.id: each.content_hash for each in known.values()}, forgotten=read_forgotten(repository)
    )


def store(
    session: Session, scope: Scope, sources: Iterable[ImportedSource], encoder: EncoderIdentity | None
) -> Stored:
    """Store sources in one transaction and queue the pages that change. ``encoder``: whose vectors are kept."""
    repository = session.within(scope)
    workspace = _find(repository) or repository.workspaces.add(name=IMPORTED, root="")
    encoder_id = session.encoders.register(encoder).id if encoder else None
    counts: Counter[str] = Counter()
    notes: list[FileProblem] = []
    for source in sources:
        existed = repository.resources.get(source.resource.id) is not None
        stored = store_source(
            repository,
            replace(source.resource, workspace_id=workspace.id),
            source.entries,
            source.passages,
            source.entry_passages,
        )
        counts["changed" if existed else "sources"] += 1
        ids = [entry.id for entry in repository.entries.of_resource(stored.id)]
        counts["entries"] += 0 if existed else len(ids)
        _place(repository, source.told, ids, counts, notes)
        if encoder is not None and encoder_id is not None and source.told.vector is not None:
            vectors = _keep_vector(repository, source, source.told.vector, encoder, encoder_id)
            counts["vectors"] += vectors
            counts["unusable"] += not vectors
    settled = repository.workspaces.get(workspace.id)
    assert settled is not None
    repository.workspaces.mark_assigned(settled.id, settled.version)
    return Stored(counts=counts, notes=tuple(notes))


def _find(repository: Repository) -> Workspace | None:
    found = repository.workspaces.find(name=IMPORTED)
    if found is not None and found.root:
        raise ConfigurationError(
            f"The folder {found.root} is synced as {IMPORTED!r}, which is the name of what is imported; "
            "sync it under another name first."
        )
    return found


def _place(
    repository: Repository, told: Told, ids: list[str], counts: Counter[str], notes: list[FileProblem]
) -> None:
    """Let the pages rest on the entries, and no others."""
    if not ids:
        return
    pages = {page.id: link for link in told.pages for page in [_open_page(repository, link, counts, notes)]}
    standing = repository.pages.pages_of_entries(ids)
    for page_id in sorted({page for on in standing.values() for page in on} - pages.keys()):
        repository.pages.unlink(page_id, ids)
        repository.queue.add([page_id])
    for page_id, link in pages.items():
        new = [each for each in ids if page_id not in standing.get(each, ())]
        repository.pages.link(page_id, ids, dict.fromkeys(ids, link.name))
        counts["links"] += len(new)
        repository.queue.add([page_id])


def _open_page(
    repository: Repository, link: PageLink, counts: Counter[str], notes: list[FileProblem]
) -> RecallFile:
    standing = repository.pages.by_name(link.track, fold_name(link.name))
    # A category that was renamed: its id is still that of the page of its old name.
    used = standing is None and link.id is not None and repository.pages.get(link.id) is not None
    page = standing or repository.pages.ensure(link.track, link.name, page_id=None if used else link.id)
    counts["pages"] += standing is None
    if link.id is not None and page.id != link.id:
        how = "has a new name and becomes" if used else "joins"
        reason = f"it {how} the page {page.track.value}/{page.name}, which has an id of its own"
        note = FileProblem(path=f"category {link.id}", reason=reason)
        if note not in notes:
            notes.append(note)
    return page


def _keep_vector(
    repository: Repository, source: ImportedSource, vector: Vector, encoder: EncoderIdentity, encoder_id: str
) -> int:
    """Store the vector of the whole text for the passages that are the whole text; how many it served."""
    import numpy as np

    groups = (
        repository.passages.of_resource(source.resource.id),
        repository.passages.of_entries(source.resource.id),
    )
    whole = [group[0].id for group in groups if len(group) == 1]
    # What is too large becomes infinite, which is no vector that can be compared.
    with np.errstate(over="ignore"):
        rows = np.array([vector] * len(whole), dtype=np.float32).reshape(len(whole), len(vector))
    return repository.passages.add_vectors(encoder_id, quantise(whole, rows, encoder.dimension).rows)
