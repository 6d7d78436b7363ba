"""PDF: the text of each page, by ``pypdf``."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from io import BytesIO
from typing import TYPE_CHECKING

from memu.errors import ReadError
from memu.ingest.office.transcript import Outline, Transcript
from memu.ingest.readers.plain import read_plain_blocks
from memu.ingest.readers.runs import number_lines

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

__all__ = ["read_pdf"]

_ENCRYPTED = "encrypted: save it without a password"
_LOCKED = "encrypted: save it without a password, or pip install 'pypdf[crypto]' if it opens without one"
_COMPOUND = re.compile(r"\b[^\W\d_]+-[^\W\d_]+\b")
_BROKEN = re.compile(r"(?P<before>\b[^\W\d_]+)[-\u00ad\u2010]\n(?P<after>[^\W\d_]+)(?P<rest>[^\s\w]*)[ \n]?")
# "Ein- und Ausgabe": such a hyphen stands for a word.
_CONJUNCTIONS = frozenset({"and", "or", "und", "oder", "bis", "y", "o", "e", "et", "ou"})
# What programs write where nobody gave a title.
_NO_TITLE = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel)|untitled|document\d*|slide ?\d*|powerpoint)\b"
    r"|\.(?:docx?|pptx?|xlsx?|odt|tex|dvi|indd|qxd|pdf|rtf|html?)$",
    re.IGNORECASE,
)


def read_pdf(data: bytes, outline: Outline) -> Transcript:
    """The pages' text as paragraphs and lists; a page that cannot be read is counted, and so is one without text.

    Raises:
        ReadError: it is encrypted, or has no text at all.
    """
    from pypdf import PdfReader

    reader = PdfReader(BytesIO(data))
    if reader.is_encrypted:
        _unlock(reader)
    count = len(reader.pages)
    pages = [_read_page(reader, number) for number in range(count)]
    compounds = {found for text in pages if text for found in _COMPOUND.findall(text)}
    for number, text in enumerate(pages, 1):
        outline.place = f"page {number}"
        if text is None:
            outline.damage["bad_page"] += 1
        elif not text.strip():
            outline.damage["empty_page"] += 1
        else:
            outline.open_section()
            whole = _BROKEN.sub(lambda match: _rejoin(match, compounds), text)
            outline.add_blocks(read_plain_blocks(number_lines(whole.split("\n"))))
    if not outline.blocks:
        raise ReadError(_explain_nothing(count, outline.damage["bad_page"]))
    return outline.finish(title=_read_title(reader))


def _unlock(reader: PdfReader) -> None:
    from pypdf import PasswordType
    from pypdf.errors import DependencyError

    try:
        opened = reader.decrypt("")
    except DependencyError as error:
        raise ReadError(_LOCKED) from error
    if opened is PasswordType.NOT_DECRYPTED:
        raise ReadError(_ENCRYPTED)


def _read_page(reader: PdfReader, number: int) -> str | None:
    from pypdf.errors import PyPdfError

    try:
        page: PageObject = reader.pages[number]
        return page.extract_text().replace("\r\n", "\n").replace("\r", "\n")
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # What a damaged page makes the library do is of many kinds; the other pages are whole.
        return None


def _rejoin(match: re.Match[str], compounds: AbstractSet[str]) -> str:
    """A word that was broken at the end of a line, on that line; with its hyphen where others are written so."""
    before, after, rest = match["before"], match["after"], match["rest"]
    if after in _CONJUNCTIONS:
        return match[0]
    joint = "-" if f"{before}-{after}" in compounds else ""
    return f"{before}{joint}{after}{rest}\n"


def _explain_nothing(pages: int, bad: int) -> str:
    if not pages:
        return "PDF without pages"
    if bad == pages:
        return "damaged: none of its pages can be read"
    named = "its page is a picture" if pages == 1 else f"its {pages} pages are pictures"
    return f"no text in it: {named} (have the text recognised first, for instance by ocrmypdf)"


def _read_title(reader: PdfReader) -> str:
    from pypdf.errors import PyPdfError

    try:
        title = reader.metadata.title if reader.metadata is not None else None
    except (PyPdfError, AttributeError, LookupError, TypeError, ValueError):
        return ""
    return "" if not isinstance(title, str) or _NO_TITLE.search(title.strip()) else title
