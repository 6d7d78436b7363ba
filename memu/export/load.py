"""One scope's rows as the input of ``render``, read in a single transaction so that they belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from memu.errors import NotFound
from memu.export.exporter import name_extractor
from memu.export.snapshot import Citation, TreePage, TreeSentence, TreeSnapshot, TreeSource, TreeWorkspace
from memu.records import OverviewSentence, RecallFile, Resource, Scope, Track
from memu.storage.entries import CitedEntry
from memu.storage.repository import Repository

__all__ = ["load_snapshot"]


def load_snapshot(repository: Repository, scope: Scope) -> TreeSnapshot:
    """Everything that the scope's tree shows.

    Raises:
        NotFound: nothing was ever stored in this scope.
    """
    version = repository.publications.scope_version()
    if not version:
        raise NotFound(f"Nothing is stored for {scope}; sync a folder into it first.")
    workspaces = repository.workspaces.list()
    entries = repository.entries.of_pages()
    # A page without content waits to be written.
    pages = {page.id: _to_page(page, entries.get(page.id, ())) for page in repository.pages.list() if page.content}
    return TreeSnapshot(
        scope=scope,
        extractor=name_extractor(repository),
        version=version,
        workspaces=tuple(TreeWorkspace(id=each.id, name=each.name, root=each.root) for each in workspaces),
        sources=tuple(
            TreeSource(
                workspace_id=each.workspace_id,
                path=each.path,
                kind=each.kind,
                title=each.title,
                caption=each.caption,
                state=each.state,
                reason=each.reason,
                withheld=each.facts.get("forgotten") is True,
                kept=_kept_text(repository, each),
            )
            for workspace in workspaces
            for each in repository.resources.of_workspace(workspace.id)
        ),
        pages=tuple(pages.values()),
        overviews={track: _to_sentences(repository.overviews.get(track) or (), pages) for track in Track},
    )


def _kept_text(repository: Repository, source: Resource) -> str | None:
    """The text that was kept of an imported source; where words of it were cut, what its passages still say."""
    if source.kept_text == "":
        return "\n\n".join(passage.text for passage in repository.passages.of_resource(source.id))
    return source.kept_text


def _to_sentences(found: Sequence[OverviewSentence], pages: Mapping[str, TreePage]) -> tuple[TreeSentence, ...]:
    return tuple(
        TreeSentence(text=each.text, pages=tuple(pages[page] for page in each.pages))
        for each in found
        if pages.keys() >= set(each.pages)
    )


def _to_page(page: RecallFile, entries: Sequence[CitedEntry]) -> TreePage:
    cited: dict[str, list[Citation]] = defaultdict(list)
    for each in entries:
        cited[each.mark].append(
            Citation(workspace_id=each.workspace_id, path=each.path, lines=each.lines, place=each.place)
        )
    # Until a page is folded its entries have no mark yet.
    cited.pop("", None)
    return TreePage(
        track=page.track,
        name=page.name,
        folded_name=page.folded_name,
        description=page.description,
        content=page.content,
        entries=len(entries),
        citations={mark: tuple(citations) for mark, citations in sorted(cited.items())},
    )
