"""The exported trees of a service: where each lies, and publishing, bringing up to date and removing them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlalchemy.engine import URL

from memu.carrier import Carrier
from memu.errors import ConfigurationError, NotFound
from memu.export.private import ensure_private
from memu.records import ExportReport, Scope
from memu.settings import STORE_FOLDER
from memu.storage.database import Database
from memu.storage.engine import store_path

if TYPE_CHECKING:
    from memu.export.exporter import Exporter

__all__ = ["Trees"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """out: the folder that somebody named for them. resources: whether trees link to sources or hold copies."""

    database: Database
    carrier: Carrier
    resources: Literal["link", "copy"]
    out: Path | None = None

    def folder_for(self, root: Path) -> Path:
        """The folder that holds the tree of a workspace at ``root``."""
        return self.out or _private_folder(self.database.url) or root / STORE_FOLDER

    async def publish(self, scope: Scope, root: Path) -> ExportReport:
        """Publish the scope's tree where it belongs for a workspace at ``root``."""
        folder = self.folder_for(root)
        if self.out is None:
            await asyncio.to_thread(ensure_private, folder)
        return await self._exporter().export(scope, folder)

    async def publish_known(self, scope: Scope, force: Iterable[str] = ()) -> ExportReport:
        """Publish the scope's tree without a sync. ``force`` names files of the user's that memu takes over.

        Raises:
            ConfigurationError: it is not clear where the tree goes.
        """
        return await self._exporter().export(scope, await self._find_folder(scope), force)

    async def publish_if_placed(self, scope: Scope) -> ExportReport | None:
        """Publish the scope's tree, where it is known where it lies and anything is stored."""
        try:
            return await self.publish_known(scope)
        except (ConfigurationError, NotFound):
            return None

    async def refresh(self, scope: Scope) -> tuple[ExportReport, ...]:
        """Bring every tree of the scope up to date that is still there."""
        exporter = self._exporter()
        trees = await exporter.find_trees(scope, _private_folder(self.database.url))
        return tuple([await exporter.export(scope, tree.parent) for tree in trees])

    async def withdraw(self, scope: Scope) -> tuple[ExportReport, ...]:
        """Remove every tree of the scope, as far as it is memu's."""
        exporter = self._exporter()
        trees = await exporter.find_trees(scope, _private_folder(self.database.url))
        return tuple([await exporter.withdraw(scope, tree) for tree in trees])

    async def _find_folder(self, scope: Scope) -> Path:
        if self.out is not None:
            return self.out
        private = _private_folder(self.database.url)
        if private is not None:
            return private
        published = await self._exporter().find_trees(scope, None)
        if len(published) == 1:
            return published[0].parent
        workspaces = await self.database.read(lambda session: session.within(scope).workspaces.list())
        roots = [each.root for each in workspaces if each.root]
        if len(roots) != 1:
            raise ConfigurationError(f"It is not clear where the tree of {scope} goes; give --out or MEMU_OUT.")
        return Path(roots[0]) / STORE_FOLDER

    def _exporter(self) -> Exporter:
        from memu.export.exporter import Exporter

        return Exporter(
            database=self.database,
            find_workflow=lambda: self.carrier.workflows["export"],
            runner=self.carrier.runner,
            interceptors=self.carrier.interceptors,
            resources=self.resources,
        )


def _private_folder(url: URL) -> Path | None:
    """The ``.memu`` that the store lies in, if it does."""
    path = store_path(url)
    return path.parent.resolve() if path is not None and path.resolve().parent.name == STORE_FOLDER else None
