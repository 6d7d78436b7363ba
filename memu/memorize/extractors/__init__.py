"""Extractors: from a document to the candidates of memory."""

from __future__ import annotations

from memu.memorize.extractors.captions import caption
from memu.memorize.extractors.extractive import ExtractiveExtractor, extract
from memu.memorize.extractors.protocol import Extractor

__all__ = ["ExtractiveExtractor", "Extractor", "caption", "extract"]
