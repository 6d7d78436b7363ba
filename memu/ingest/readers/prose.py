"""Plain text under the name of a data format: what does not read as that format is read for its sentences."""

from __future__ import annotations

import re
from dataclasses import replace

from memu.ingest.document import Document, Source
from memu.ingest.readers.assembly import HEAD, find_suffix
from memu.ingest.readers.plain import PlainReader, TranscriptReader

__all__ = ["is_prose", "read_prose"]

_JSON = frozenset([".json", ".jsonl", ".ndjson", ".jsonc", ".json5", ".geojson", ".webmanifest"])
_KEYED = frozenset([".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".env"])
_JSON_LINE = re.compile(
    r"[\s,]*(?:[{}\"\]]|\[[\s{\[\"\d\]]|//|/\*|\*/|(?:-?\d[\d.eE+-]*|true|false|null)\s*,?\s*$|$)"
)
_KEYED_LINE = re.compile(
    r"\s+\S|[\"']?[\w.$@/*-]+[\"']?\s*(?:[=]|:(?:\s|$))|[-*+]\s|[\[\]{}<>%&!|,\"'`@$]|//|/\*|---|\.\.\.$|$"
)
_COMMENT = re.compile(r"\s*[#;]")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{2}|[^\W_\u3040-\u30ff\u3400-\u9fff]+")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)]*(?=\s|$)|[。！？]")
_MOST_LAID_OUT = 0.2
_LEAST_WORDS = 4


def is_prose(source: Source) -> bool:
    """Whether a text of a data format's suffix is laid out as people write and not as that format is.

    Most lines that are no comments have no sign of the format at their beginning, they have four words or more on
    average, and a sentence ends somewhere. Looks at a bounded head only.
    """
    suffix = find_suffix(source.path)
    if suffix not in _JSON | _KEYED:
        return False
    form = _JSON_LINE if suffix in _JSON else _KEYED_LINE
    lines = [line for line in source.text[:HEAD].split("\n") if line.strip()]
    said = [line for line in lines if suffix in _JSON or not _COMMENT.match(line)]
    free = [line for line in said if not form.match(line)]
    if not free or len(said) - len(free) > _MOST_LAID_OUT * len(said):
        return False
    words = sum(len(_WORD.findall(line)) for line in free)
    return words >= _LEAST_WORDS * len(free) and any(_SENTENCE_END.search(line) for line in free)


def read_prose(source: Source) -> Document:
    """The source as it would be read if its name ended in ``.txt``."""
    transcript = TranscriptReader()
    spoken = transcript.recognises(replace(source, path=f"{source.path}.txt"))
    return (transcript if spoken else PlainReader()).read(source)
