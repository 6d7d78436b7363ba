"""What a scripted model answers to memu's prompts about the generated workspace, for its scripted server.

A careful reader of files that say ``[topic: NAME] fact. fact. [end]`` and ``[skill: NAME | WHAT] step. [end]``:
each fact and step becomes an entry on the page so named, and each page is given its entries as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["RESPONDERS"]

_LINE = re.compile(r"^(\d+)\| (.*)$", re.MULTILINE)
_PART = re.compile(r"\[(topic|skill): ([^|\]]+?)(?: \|[^\]]*)?\] (.*?) \[end\]")
_SENTENCE = re.compile(r"[^.]+\.")
_NEW = re.compile(r"^(e\d+)(?: \([\d-]+\))?\| (.*)$", re.MULTILINE)
_PAIR = re.compile(r'"pair": (\d+)')
_PAGE = re.compile(r"^(p\d+)\| ([^:]+):", re.MULTILINE)


def _extract(prompt: str) -> str:
    return json.dumps({"entries": list(_entries(prompt.partition("<source>\n")[2]))})


def _entries(source: str) -> Iterator[dict[str, Any]]:
    for number, line in _LINE.findall(source):
        for kind, name, said in _PART.findall(line):
            for step, sentence in enumerate(_SENTENCE.findall(said), 1):
                text = sentence.strip()
                item = {"text": text, "page": name, "lines": [int(number), int(number)]}
                is_step = kind == "skill" and text.startswith("Step ")
                yield item | ({"type": "skill", "step": step} if is_step else {"type": "knowledge"})


def _fold(prompt: str) -> str:
    new = _NEW.findall(prompt.rpartition("<new>\n")[2])
    return json.dumps({"operations": [{"op": "add", "text": text, "cites": [name]} for name, text in new]})


def _names(prompt: str) -> str:
    return json.dumps([{"pair": int(number), "same": False} for number in _PAIR.findall(prompt)])


def _overview(prompt: str) -> str:
    listed = _PAGE.findall(prompt.rpartition("<pages>\n")[2])[:3]
    return json.dumps({"sentences": [{"text": f"See {page}.", "cites": [name]} for name, page in listed]})


def _has(*signs: str) -> Callable[[str], bool]:
    return lambda prompt: all(sign in prompt for sign in signs)


RESPONDERS: list[tuple[str, Callable[[str], bool], Callable[[str], str]]] = [
    ("extract", _has("You turn a source into memory entries"), _extract),
    ("fold", _has("You keep one page of a workspace's memory"), _fold),
    ("names", _has("Each pair holds two names of pages"), _names),
    ("overview", _has("You write the opening of a workspace's memory"), _overview),
]
"""(kind, whether it is asked of this prompt, the reply), as the server takes them."""
