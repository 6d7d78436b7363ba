"""Source code in brief: what a module and its public parts say of themselves, and their signatures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.candidate import BlockForm, Candidate, Extraction
from memu.memorize.extractors.noise import is_noise
from memu.memorize.extractors.quotes import fits, quote
from memu.memorize.extractors.sections import join_heading
from memu.memorize.extractors.trust import instructs_model
from memu.memorize.sentences import Slice, count_words, split_sentences
from memu.records import MemoryType

__all__ = ["extract_code"]

_MAX_DOCSTRINGS = 12
_MAX_SIGNATURES = 6
_MIN_WORDS = 4
_MAX_LABEL = 120
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_PRIVATE = re.compile(r"(?:^|[.\s])_\w")
_NAMESPACE = re.compile(r"\s*(?:export +|inline +|pub(?:\([a-z]+\))? +|declare +)?(?:namespace|module|mod)\b")
_TEST_NAME = re.compile(r"^(?:test_.*|.*_test|conftest|.*\.(?:test|spec))$")


def extract_code(document: Document, path: str) -> Extraction:
    """The opening sentence of each public docstring, else the signatures of a file that has none."""
    dropped: Counter[str] = Counter()
    if _is_test(path):
        return Extraction(dropped={"test_code": len(document.blocks)})
    made = [_open(document, block, label) for block, label in _public_docstrings(document, dropped)]
    found = [candidate for candidate in made if candidate is not None]
    if len(found) > _MAX_DOCSTRINGS:
        dropped["over_source_limit"] += len(found) - _MAX_DOCSTRINGS
    if not found:
        found = list(_signatures(document, dropped))
    return Extraction(candidates=tuple(found[:_MAX_DOCSTRINGS]), dropped=dict(dropped))


def _is_test(path: str) -> bool:
    pure = PurePosixPath(path)
    return _TEST_NAME.match(pure.stem) is not None or bool({"tests", "test", "__tests__"} & set(pure.parts[:-1]))


def _public_docstrings(document: Document, dropped: Counter[str]) -> Iterator[tuple[Block, str]]:
    signature = ""
    for block in document.blocks:
        if block.kind is BlockKind.SIGNATURE:
            signature = " ".join(block.text.split())
        elif block.kind is not BlockKind.DOCSTRING:
            dropped[block.kind.value] += 1
        elif _is_private(block) or instructs_model(block.text):
            dropped["private"] += 1
        else:
            name = join_heading(block.heading)
            short = signature if signature and len(signature) <= _MAX_LABEL and block.heading else name
            yield block, short


def _is_private(block: Block) -> bool:
    return any(_PRIVATE.search(part) and "__init__" not in part for part in block.heading)


def _open(document: Document, block: Block, label: str) -> Candidate | None:
    """The first sentence of a docstring, or None if it says too little."""
    end = _PARAGRAPH_END.search(block.text)
    sentences = split_sentences(block.text[: end.start()] if end else block.text)
    if not sentences or count_words(sentences[0].text) < _MIN_WORDS or is_noise(sentences[0].text):
        return None
    if not fits(sentences[0].text):
        return None
    like = Candidate(
        text="",
        lines=None,
        memory_type=MemoryType.TOOL,
        label=label,
        section=document.title,
        happened_at=document.happened_at,
    )
    return quote(block, sentences[0], like)


def _signatures(document: Document, dropped: Counter[str]) -> Iterator[Candidate]:
    given = 0
    signatures = [block for block in document.blocks if block.kind is BlockKind.SIGNATURE and block.text.strip()]
    outermost = [block for block in signatures if len(block.heading) == 1]
    # What stands in nothing but a namespace is as public as what stands in none.
    depth = 2 if outermost and all(_NAMESPACE.match(block.text) for block in outermost) else 1
    for block in signatures:
        if len(block.heading) > depth or _is_private(block):
            continue
        if given >= _MAX_SIGNATURES or not fits(block.text) or re.search(r"\b_\w", block.text.split("(")[0]):
            dropped["signature"] += 1
            continue
        given += 1
        like = Candidate(
            text="",
            lines=None,
            memory_type=MemoryType.TOOL,
            block=BlockForm.FENCE,
            section=document.title,
            happened_at=document.happened_at,
        )
        yield quote(block, Slice(block.text, 0, len(block.text)), like)
