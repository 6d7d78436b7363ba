"""The port behind which extractors stand."""

from __future__ import annotations

from typing import Protocol

from memu.ingest.document import Document
from memu.memorize.candidate import Extraction

__all__ = ["Extractor"]


class Extractor(Protocol):
    """Makes candidates of one source."""

    @property
    def name(self) -> str:
        """What reports and page front matter call it ("extractive", "llm")."""

    async def extract(self, document: Document, path: str) -> Extraction:
        """The candidates of ``document``, which lies at the workspace-relative POSIX ``path``.

        Raises:
            ProviderError: a model was needed and does not answer.
        """
