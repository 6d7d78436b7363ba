"""The process that opens one document: it reads bytes from its input and writes what they say to its output.

What it must not do is decided by its limits and by whoever started it; a damaged file may make a library raise
anything, and then this process ends and says so by its exit code.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable

from memu.errors import ReadError
from memu.ingest.office.forms import Form
from memu.ingest.office.transcript import Outline, Transcript

__all__ = ["main", "transcribe"]

_MEMORY = 2 << 30
_SECONDS = 330


def transcribe(form: Form, data: bytes, most_text: int) -> Transcript:
    """What a document says.

    Raises:
        ReadError: it says nothing that can be read; the message is the reason. A damaged one may make the
            libraries raise any other error.
    """
    return _find_reader(form)(data, Outline(most_text))


def _find_reader(form: Form) -> Callable[[bytes, Outline], Transcript]:
    # Each brings a library of its own.
    match form:
        case Form.PDF:
            from memu.ingest.office.pdf import read_pdf as read
        case Form.WORD:
            from memu.ingest.office.word import read_word as read
        case Form.SLIDES:
            from memu.ingest.office.slides import read_slides as read
        case Form.SHEETS:
            from memu.ingest.office.sheets import read_sheets as read
        case Form.OPEN_DOCUMENT:
            from memu.ingest.office.open_document import read_open_document as read
        case Form.BOOK:
            from memu.ingest.office.book import read_book as read
    return read


def main(form: str, most_text: int) -> None:
    """Read standard input, write JSON to standard output."""
    _limit()
    warnings.simplefilter("ignore")
    out = sys.stdout.buffer
    # A library that prints must not spoil what is told.
    sys.stdout = sys.stderr
    try:
        told = transcribe(Form(form), sys.stdin.buffer.read(), most_text).to_json()
    except ReadError as error:
        told = json.dumps({"reason": str(error)})
    except MemoryError:
        told = json.dumps({"reason": f"opening it takes more than {_MEMORY >> 30} GiB of memory"})
    out.write(told.encode("ascii"))
    out.flush()


def _limit() -> None:
    try:
        import resource
    except ImportError:
        # Windows has no such limits; the time is limited from outside as well.
        return
    for limit, value in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_CPU, _SECONDS)):
        try:
            resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))
        except (OSError, ValueError):
            # One that is lower already stays.
            continue
