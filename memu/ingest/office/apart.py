"""Documents are opened in a process of their own: what hangs, crashes or takes all memory there, ends there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from importlib import util

from memu.errors import ReadError
from memu.ingest.document import Document, Source
from memu.ingest.office.forms import MISSING, Finder, Form, is_installed, is_signed
from memu.ingest.office.transcript import Transcript
from memu.ingest.readers.assembly import assemble

__all__ = ["Documents", "Unread"]

_SECONDS = 300.0
_CODE = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from memu.ingest.office.opener import main; main(sys.argv[2], int(sys.argv[3]))"
)
# Nothing else of the environment goes along: keys stand there.
_KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL")
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ERROR = re.compile(rb"(?:[a-z_]\w*\.)*([A-Z]\w*)(?::|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Why a document was not read; ``passing``: whether the next try may end otherwise."""

    reason: str
    passing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """Reads documents that a library has to open.

    most_text: how many characters one may hold. find: tells what is installed. seconds: how long one may take.
    """

    most_text: int
    find: Finder = util.find_spec
    seconds: float = _SECONDS

    def read(self, path: str, form: Form, data: bytes) -> Document | Unread:
        """The document, each block with its place (page, slide, sheet) and none with lines."""
        if not is_installed(self.find):
            return Unread(reason=MISSING)
        if data.startswith(_OLD_OFFICE) and form is not Form.PDF:
            return Unread(reason="encrypted, or in an old office format: save it anew, without a password")
        if not is_signed(form, data):
            return Unread(reason="empty" if not data.strip() else f"not what its name says: no {form.value} in it")
        told = self._open(form, data)
        if isinstance(told, Unread):
            return told
        if not told.blocks:
            return Unread(reason="no text in it")
        return _assemble(path, told)

    def _open(self, form: Form, data: bytes) -> Transcript | Unread:
        command = [sys.executable, "-c", _CODE, json.dumps(sys.path), form.value, str(self.most_text)]
        # One thread: the memory that is reserved for more would count.
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ} | {"OPENBLAS_NUM_THREADS": "1"}
        try:
            ended = subprocess.run(
                command, input=data, capture_output=True, timeout=self.seconds, env=kept, check=False
            )
        except subprocess.TimeoutExpired:
            return Unread(reason=f"opening it takes longer than {self.seconds:g} s", passing=True)
        except OSError as error:
            raise ReadError(f"no process to open it: {error.strerror or error}") from error
        if ended.returncode:
            return _explain(ended)
        try:
            answer = json.loads(ended.stdout)
            return Unread(reason=str(answer["reason"])) if "reason" in answer else Transcript.from_json(answer)
        except (KeyError, TypeError, ValueError):
            return Unread(reason="damaged: it cannot be opened")


def _explain(ended: subprocess.CompletedProcess[bytes]) -> Unread:
    if ended.returncode < 0:
        # Killed from outside, for its memory or its time: another day may be better.
        return Unread(reason=f"opening it was ended by signal {-ended.returncode}", passing=True)
    # Of an error only its kind is told: its words may quote.
    last = ended.stderr.strip().rsplit(b"\n", 1)[-1]
    match = _ERROR.match(last)
    kind = f" ({match[1].decode()})" if match else ""
    return Unread(reason=f"damaged: it cannot be opened{kind}")


def _assemble(path: str, told: Transcript) -> Document:
    document = assemble(
        Source(path=path, text=""), kind=told.kind, blocks=told.blocks, title=told.title, damage=told.damage
    )
    # Headings are told without the title above them, as everywhere.
    blocks = (
        replace(block, heading=block.heading[1:]) if block.heading[:1] == (document.title,) else block
        for block in document.blocks
    )
    return replace(document, blocks=tuple(blocks)) if document.titled else document
