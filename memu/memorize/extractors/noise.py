"""What stands in a source and says nothing by itself: markup, metadata lines, link lists, whole licences.

All of it stays searchable; it only does not become memory.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from memu.ingest.document import Block, BlockKind, Document
from memu.memorize.extractors.cue_words import load_phrases, load_source_words
from memu.memorize.extractors.opaque import is_opaque
from memu.memorize.sentences import count_words
from memu.records import Kind

__all__ = [
    "find_source_noise",
    "has_words",
    "is_bare_code",
    "is_lock_file",
    "is_noise",
    "is_spoken_heading",
    "strip_markup",
]

_HEAD_CHARS = 2000
_TEXT_SUFFIXES = frozenset({".md", ".markdown", ".txt", ".rst", ".mdx", ".html"})
_IMAGE = re.compile(r"!\[[^\]\n]{0,300}\](?:\([^)\n]{0,500}\)|\[[^\]\n]{0,200}\])")
_LINK = re.compile(
    r"\[([^\]\n]{1,300})\](?:\([^)\n]{0,500}\)|\[[^\]\n]{0,200}\])|<?https?://[^\s>]+>?|\[\[[^\]\n]+\]\]"
)
_LINK_TEXT = re.compile(r"\[([^\]\n]{1,300})\](?:\([^)\n]{0,500}\)|\[[^\]\n]{0,200}\])")
_HTML_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,400}>|<!--.{0,2000}?-->", re.DOTALL)
_DEFINITION = re.compile(r"^\[[^\]\n]+\]:\s*\S+")
_LABEL = re.compile(r"^[\s*_>-]{0,40}([^:：\n]{2,24})\s*[*_]*\s*[:：]\s*[*_]*\s*(\S.{0,80})?$")
_BOLD_LINE = re.compile(r"(\*\*|__)[^*\n]{1,120}[^*\n.!?。！？]\1[:：]?")
_MARKUP = re.compile(r"[\[<*_`]")
_CODE_SPAN = re.compile(r"``[^\n]+?``|`[^`\n]+`")
_LETTER = re.compile(r"[^\W\d_]")
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$|^[\s|:+=-]+$")
_DIRECTIVE = re.compile(r"^(?:\.\. |:[\w-]+:|\{[%{#]|@[\w./~-]+$|---+$|\+\+\+$)")


def is_noise(text: str) -> bool:
    """Whether ``text`` (a line, sentence or bullet) is markup, metadata or links and states nothing."""
    line = text.strip()
    if not line or not _LETTER.search(line) or is_opaque(line):
        return True
    if _DEFINITION.match(line) or _TABLE_ROW.match(line) or _DIRECTIVE.match(line):
        return True
    bare = _blank_tags(line)
    if not _LETTER.search(bare):
        return True
    if bare != line or (("[" in bare or "http" in bare) and _LINK.search(bare)):
        outside = _LINK.sub(" ", bare)
        if count_words(re.sub(r"[\W_]+", " ", outside)) < 3:
            return True
    return _is_metadata(line)


def is_bare_code(text: str) -> bool:
    """Whether ``text`` is nothing but code spans ("`app-apt` `app-mongo`")."""
    return "`" in text and count_words(re.sub(r"[\W_]+", " ", _CODE_SPAN.sub(" ", text))) == 0


def has_words(text: str) -> bool:
    """Whether letters are left when pictures and tags are taken out."""
    return _LETTER.search(_blank_tags(text)) is not None


def is_spoken_heading(text: str) -> bool:
    """Whether ``text`` is a short line set wholly in bold, which stands for a heading."""
    return _BOLD_LINE.fullmatch(text.strip()) is not None and count_words(text) <= 8


def _is_metadata(line: str) -> bool:
    if load_phrases("statuses").name(line):
        return True
    label = _LABEL.match(line) if ":" in line or "：" in line else None
    return label is not None and load_phrases("date_labels").name(label.group(1))


def strip_markup(text: str) -> str:
    """``text`` as it reads: link texts without their targets, no emphasis, no tags. For names, not for quotes."""
    if not _MARKUP.search(text):
        return " ".join(text.split())
    text = _LINK_TEXT.sub(r"\1", _blank_tags(text))
    return re.sub(r"\s+", " ", re.sub(r"(?<!\w)[*_]{1,3}|[*_]{1,3}(?!\w)|`", "", text)).strip()


def _blank_tags(text: str) -> str:
    """``text`` with a space in the place of each picture and tag."""
    text = _IMAGE.sub(" ", text) if "![" in text else text
    return _HTML_TAG.sub(" ", text) if "<" in text else text


def find_source_noise(document: Document, path: str) -> str | None:
    """Why this whole source is no memory ("licence", "lock_file", "template", …), or None."""
    pure = PurePosixPath(path.casefold())
    if _is_lock(pure):
        return "lock_file"
    if document.kind is Kind.DOCUMENT and pure.name.startswith(".") and pure.suffix not in _TEXT_SUFFIXES:
        return "configuration"
    if pure.stem in load_source_words("conduct_names"):
        return "code_of_conduct"
    if document.kind is not Kind.CODE and _is_named(pure, load_source_words("licence_names")):
        return "licence"
    if load_source_words("template_folders") & set(pure.parts[:-1]) or _is_template(pure.stem):
        return "template"
    return _find_opening(document) if document.kind is Kind.DOCUMENT else None


def is_lock_file(path: str) -> bool:
    """Whether ``path`` is named like the lock file of a package manager: long, made by a program, and no prose."""
    return _is_lock(PurePosixPath(path.casefold()))


def _is_lock(path: PurePosixPath) -> bool:
    return path.name in load_source_words("lock_names") or path.suffix in load_source_words("lock_suffixes")


def _is_named(path: PurePosixPath, names: frozenset[str]) -> bool:
    if path.suffix not in {"", ".md", ".txt", ".rst", ".html", ".mit", ".apache", ".bsd"}:
        return False
    return path.stem in names or re.split(r"[-._]", path.stem)[0] in names


def _is_template(stem: str) -> bool:
    names = load_source_words("template_names")
    return stem in names or any(stem.endswith((f"-{name}", f"_{name}")) for name in names)


def _find_opening(document: Document) -> str | None:
    head = " ".join(_head_of(document.blocks).casefold().split())
    if any(opening in head for opening in load_source_words("licence_openings")):
        return "licence"
    if any(opening in head for opening in load_source_words("conduct_openings")):
        return "code_of_conduct"
    return None


def _head_of(blocks: tuple[Block, ...]) -> str:
    parts: list[str] = []
    room = _HEAD_CHARS
    for block in blocks:
        if room <= 0:
            break
        if block.kind in {BlockKind.CODE, BlockKind.FENCE}:
            continue
        parts.append(block.text[:room])
        room -= len(block.text)
    return " ".join(parts)
