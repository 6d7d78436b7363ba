"""The extractor that needs no model: every candidate is a verbatim quote, chosen by a policy per kind."""

from __future__ import annotations

from memu.ingest.document import Document
from memu.memorize.candidate import Extraction
from memu.memorize.extractors.protocol import NO_CONTEXT, ExtractContext

__all__ = ["ExtractiveExtractor"]


class ExtractiveExtractor:
    """Deterministic; no network, no clock, no state."""

    name = "extractive"

    async def extract(self, document: Document, path: str, context: ExtractContext = NO_CONTEXT) -> Extraction:
        """The candidates of ``document``; the same for the same document and path, always."""
        # Loaded with the first document: a sync that finds nothing new needs no policies.
        from memu.memorize.extractors.policies import extract
        from memu.memorize.extractors.trust import distrust

        found = extract(document, path)
        return distrust(found) if context.untrusted else found
