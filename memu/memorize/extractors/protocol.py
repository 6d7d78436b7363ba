"""The port behind which extractors stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from memu.ingest.document import Document
from memu.memorize.candidate import Extraction

if TYPE_CHECKING:
    # Asking brings the store with it, which an extractor without a model does not need.
    from memu.memorize.asking import Ask

__all__ = ["NO_CONTEXT", "CountsChunks", "ExtractContext", "Extractor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractContext:
    """What an extractor may know beside the source.

    names: the pages that stand, as ``memory/NAME`` and ``skill/NAME``: the same all through one sync.
    untrusted: whether anybody may have written the source; it teaches no skill and sets no rule then.
    ask: how to ask the model on behalf of this source; None where there is none to ask.
    """

    names: tuple[str, ...] = ()
    untrusted: bool = False
    ask: Ask | None = None


NO_CONTEXT = ExtractContext()
"""Nothing is known beside the source, and nobody is there to be asked."""


@runtime_checkable
class CountsChunks(Protocol):
    """An extractor that can tell how often it would ask a model, asking nothing."""

    def count_chunks(self, document: Document, path: str) -> int:
        """Into how many prompts the document is cut; 0 where no model is needed for it."""


class Extractor(Protocol):
    """Makes candidates of one source."""

    @property
    def name(self) -> str:
        """What reports and page front matter call it ("extractive", "llm")."""

    async def extract(self, document: Document, path: str, context: ExtractContext = NO_CONTEXT) -> Extraction:
        """The candidates of ``document``, which lies at the workspace-relative POSIX ``path``.

        A model that is down or answers badly is no error: ``Extraction.lost`` says what was lost to it.

        Raises:
            CapReached: the run may make no more calls.
        """
