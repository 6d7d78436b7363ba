"""Which files are documents that a library has to open, and whether the libraries are there."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import util

from memu.extras import install_command
from memu.ingest.readers.assembly import find_suffix

__all__ = ["MISSING", "SUFFIXES", "Finder", "Form", "find_form", "is_installed", "is_signed"]

MISSING = f"document: {install_command('documents')} to have it read"
"""Why a document is skipped where the libraries are not installed."""


_MODULES = ("pypdf", "docx", "pptx", "openpyxl", "lxml")
Finder = Callable[[str], object]


class Form(StrEnum):
    """A kind of document, by what it is inside."""

    PDF = "pdf"
    WORD = "docx"
    SLIDES = "pptx"
    SHEETS = "xlsx"
    OPEN_DOCUMENT = "odf"
    BOOK = "epub"


SUFFIXES = {
    ".pdf": Form.PDF,
    ".docx": Form.WORD,
    ".pptx": Form.SLIDES,
    ".xlsx": Form.SHEETS,
    ".xlsm": Form.SHEETS,
    ".odt": Form.OPEN_DOCUMENT,
    ".ods": Form.OPEN_DOCUMENT,
    ".odp": Form.OPEN_DOCUMENT,
    ".epub": Form.BOOK,
}
_PDF, _ZIP = b"%PDF-", b"PK"
# Readers of PDF forgive what stands before its first line, and senders put something there.
_PDF_WITHIN = 1024


def is_installed(find: Finder = util.find_spec) -> bool:
    """Whether ``memu[documents]`` is there."""
    return all(find(name) is not None for name in _MODULES)


def find_form(path: str, data: bytes) -> Form | None:
    """What kind of document a file is: by its suffix, and a PDF by its first bytes as well; None for any other."""
    return SUFFIXES.get(find_suffix(path)) or (Form.PDF if data.startswith(_PDF) else None)


def is_signed(form: Form, data: bytes) -> bool:
    """Whether the bytes begin as those of such a document do."""
    return _PDF in data[:_PDF_WITHIN] if form is Form.PDF else data.startswith(_ZIP)
