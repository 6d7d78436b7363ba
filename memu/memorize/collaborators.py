"""What the steps of the write workflows work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memu.memorize.extractors.extractive import ExtractiveExtractor
from memu.memorize.extractors.protocol import Extractor
from memu.memorize.file_work import Carry
from memu.providers.protocols import Encoder
from memu.records import ExportReport, Scope
from memu.storage.database import Database

if TYPE_CHECKING:
    from memu.providers.models import ChatModels, MediaModels

__all__ = ["Collaborators"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    """What the steps work with.

    models: which chat model each step asks; None where none is to be asked. media: who looks and listens.
    export: publishes a scope's tree, for the workspace at a root; None where there was nothing to do.
    outputs: export trees and stores that a scan leaves out. max_file_bytes: larger files are skipped.
    changed: whether memorize is not as it is made here.
    """

    database: Database
    extractor: Extractor
    encoder: Encoder | None
    carry: Carry
    models: ChatModels | None
    media: MediaModels | None
    export: Callable[[Scope, Path], Awaitable[ExportReport | None]]
    outputs: tuple[Path, ...]
    max_file_bytes: int
    concurrency: int
    changed: bool = False

    @property
    def appends(self) -> bool:
        """Whether a log may be read on: then every step is known, and each looks at a turn by itself."""
        return self.models is None and type(self.extractor) is ExtractiveExtractor and not self.changed
