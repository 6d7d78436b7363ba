"""Items out of what a model wrote: JSON that may stand in a fence, in prose, after thoughts, or be slightly wrong.

The text of an item is kept to the character. An item that cannot be read is dropped and counted; a reply that ends
in the middle, or holds no JSON at all, is an error: half a list does not say what the other half held.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memu.errors import ReplyError

__all__ = ["Parsed", "parse_items"]

Item = TypeVar("Item", bound=BaseModel)

_DECODER = json.JSONDecoder(strict=False)
# Each start is a pass over what is left: a reply of brackets alone must not take for ever.
_MOST_STARTS = 24
_THOUGHTS = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# The end of thoughts whose beginning stands in the prompt; inside a string no line ends after it.
_END_OF_THOUGHTS = re.compile(
    r"\A.*?</(?:think|thinking|reasoning)>(?=[ \t]*(?:\n|[\[{`]))", re.DOTALL | re.IGNORECASE
)
# A bracket followed by what may follow it in JSON, or by nothing at all.
_OPENS = re.compile(r"""\[(?=\s*(?:[\[{"\]\-0-9,]|true|false|null|\Z))|\{(?=\s*(?:["},]|\Z))""")
_STARTS_AT_ONCE = re.compile(r"\A\s*(?:```\w*\s*)?[\[{]")
# A comma before a closing bracket, outside of strings. A string that nothing closes is passed over whole: tried
# anew from each of its quotes, a reply that goes round and round would take minutes.
_SPARE_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|,(?=\s*[\]}])', re.DOTALL)
# Control characters but for white space, halves of a character, and what overrides the direction of text.
_UNSOUND = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_GAP = re.compile(r"[\s,]*")
_NEXT_ITEM = re.compile(r"\}\s*,\s*(?=\{)")
_LAST_ITEM = re.compile(r"\}\s*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[Item]):
    """The items that could be read, in order, and how many could not."""

    items: tuple[Item, ...]
    dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A JSON value and where it ends; ``broken`` items of it could not be read."""

    value: object
    end: int
    broken: int = 0


def parse_items(text: str, model: type[Item]) -> Parsed[Item]:
    """The items of ``model`` in a reply: a list, an object with one list in it, or objects one after another.

    Raises:
        ReplyError: there is no JSON in it, or it ends in the middle.
    """
    lists: list[tuple[bool, Parsed[Item]]] = []
    loose: list[object] = []
    for found in _find_values(_without_thoughts(text)):
        values = _list_in(found.value, model)
        if values is None:
            loose.append(found.value)
        else:
            of_objects = not values or any(isinstance(each, dict) for each in values)
            lists.append((of_objects, _check(values, found.broken, model)))
    if loose:
        lists.insert(0, (False, _check(loose, 0, model)))
    if not lists:
        raise ReplyError("The reply holds no JSON.")
    # Of several the one with most items is meant, then the last: others are examples, or numbers in prose.
    return max(reversed(lists), key=lambda each: (len(each[1].items), each[0]))[1]


def _without_thoughts(text: str) -> str:
    """What comes after a model's thoughts. A reply that begins with JSON has none, whatever its strings hold."""
    if _STARTS_AT_ONCE.match(text):
        return text
    return _THOUGHTS.sub("", text) if _THOUGHTS.match(text) else _END_OF_THOUGHTS.sub("", text)


def _find_values(text: str) -> Iterator[_Found]:
    """The outermost JSON objects and lists of a text.

    Raises:
        ReplyError: one of them does not end.
    """
    at = 0
    for _ in range(_MOST_STARTS):
        opening = _OPENS.search(text, at)
        if opening is None:
            return
        found = _decode(text, opening.start()) or _salvage(text, opening.start())
        if found is None:
            at = opening.end()
        else:
            yield found
            at = found.end


def _decode(text: str, start: int) -> _Found | None:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return _Found(value=value, end=end)


def _salvage(text: str, start: int) -> _Found | None:
    """A value with spare commas, or a list with items that are no JSON; None where it is only a bracket in prose.

    Raises:
        ReplyError: it does not end.
    """
    rest = _SPARE_COMMA.sub(lambda match: match.group(1) or " ", text[start:])
    try:
        # A spare comma became a space: places are as they were.
        value, end = _DECODER.raw_decode(rest)
    except RecursionError:
        return None
    except ValueError:
        return _salvage_list(rest, start)
    return _Found(value=value, end=start + end)


def _salvage_list(rest: str, start: int) -> _Found | None:
    """The readable objects of a list whose others are not JSON; ``rest`` begins with the bracket at ``start``."""
    opening = re.match(r'\{\s*"\w+"\s*:\s*(?=\[)', rest)
    at = opening.end() if opening else 0
    if rest[at] != "[":
        if _is_cut(rest):
            raise ReplyError("The reply ends in the middle of its JSON.")
        return None
    items: list[object] = []
    broken, at = 0, at + 1
    while True:
        at = _past_gap(rest, at)
        if rest[at : at + 1] == "]":
            return _Found(value=items, end=start + at + 1, broken=broken)
        found = _decode(rest, at) if rest[at : at + 1] == "{" else None
        if found is not None:
            items.append(found.value)
            at = found.end
            continue
        if not items and rest[at : at + 1] != "{":
            if _is_cut(rest):
                raise ReplyError("The reply ends in the middle of its JSON.")
            return None
        broken += 1
        following, closing = _NEXT_ITEM.search(rest, at), _LAST_ITEM.search(rest, at)
        if following is not None:
            at = following.end()
        elif closing is not None:
            at = closing.end() - 1
        else:
            raise ReplyError("The reply ends in the middle of its JSON.")


def _past_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _is_cut(rest: str) -> bool:
    """Whether a value that cannot be read fails only because its text is over."""
    try:
        _DECODER.raw_decode(rest)
    except json.JSONDecodeError as error:
        fence = rest.rstrip().removesuffix("```").rstrip()
        return error.msg.startswith("Unterminated string") or error.pos >= len(fence)
    except ValueError:
        # A number of thousands of digits: a model that goes round and round.
        return False
    return False


def _list_in(value: object, model: type[BaseModel]) -> list[Any] | None:
    """The list that a value is, or the one list of objects that an object holds and an item would not."""
    if isinstance(value, list):
        return value
    fields = value if isinstance(value, dict) else {}
    lists = [each for name, each in fields.items() if isinstance(each, list) and name not in model.model_fields]
    of_objects = [each for each in lists if not each or any(isinstance(item, dict) for item in each)]
    return of_objects[0] if len(of_objects) == 1 else None


def _check(values: list[Any], broken: int, model: type[Item]) -> Parsed[Item]:
    items: list[Item] = []
    for value in values:
        if not _is_sound(value):
            broken += 1
            continue
        try:
            items.append(model.model_validate(value))
        except ValidationError:
            broken += 1
    return Parsed(items=tuple(items), dropped=broken)


def _is_sound(value: object) -> bool:
    """Whether every string in a value is text: escapes may stand for NUL, or for half a character."""
    if isinstance(value, str):
        return _UNSOUND.search(value) is None
    if isinstance(value, dict):
        return all(map(_is_sound, value)) and all(map(_is_sound, value.values()))
    return not isinstance(value, list) or all(map(_is_sound, value))
