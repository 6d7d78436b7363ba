"""What a model may do to a page: five operations, as they are asked for and as they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from memu.providers.replies import Parsed, parse_items

__all__ = ["SCHEMA", "Operation", "parse_operations"]

_NAME = re.compile(r"\W*([eb])?\s*(\d{1,6})\W*", re.IGNORECASE)
_LONGEST_NAME = 40


def _read_name(value: object, kind: str) -> object:
    """``"[E3]"``, ``"3"`` and ``3`` as ``"e3"`` (or ``"b3"``); anything else as it is, to be refused by name."""
    is_name = isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) <= _LONGEST_NAME
    found = _NAME.fullmatch(str(value)) if is_name else None
    return f"{(found[1] or kind).lower()}{int(found[2])}" if found else value


def _read_names(value: object) -> object:
    """A list of names; one alone, or several with commas between, count as a list."""
    values = value.split(",") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
    return [_read_name(each, "e") for each in values if each not in ("", None)]


def _read_text(value: object) -> object:
    return "" if value is None else value


_Text = Annotated[str, BeforeValidator(_read_text)]
_Entry = Annotated[str, BeforeValidator(lambda value: _read_name(_read_text(value), "e"))]
_Block = Annotated[str, BeforeValidator(lambda value: _read_name(_read_text(value), "b"))]


class Operation(BaseModel):
    """One operation; which fields count is for ``op`` to say.

    add: ``text`` under the heading ``section``, resting on the entries ``cites``.
    replace: ``block`` says ``text``, resting on what it rested on and on ``cites``.
    remove: ``block`` is superseded by the newer entry ``by``. same_as: ``block`` says already what ``entry`` says.
    description: one line on the page, resting on ``cites``.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    op: Literal["add", "replace", "remove", "same_as", "description"]
    section: _Text = ""
    text: _Text = ""
    cites: Annotated[tuple[str, ...], BeforeValidator(_read_names)] = ()
    block: _Block = ""
    entry: _Entry = ""
    by: _Entry = ""
    why: _Text = ""

    @property
    def label(self) -> str:
        """How a reason names it: "replace of b2 (e1, e3)"."""
        what = " ".join(part for part in (self.entry, self.block) if part)
        cited = f" ({', '.join(self.cites)})" if self.cites else ""
        return f"{self.op}{f' of {what}' if what else ''}{cited}"

    def to_json(self) -> str:
        """As a model would have written it, without what says nothing."""
        return json.dumps(self.model_dump(exclude_defaults=True), ensure_ascii=False)


def _schema() -> dict[str, Any]:
    fields = {
        name: {key: part[key] for key in ("type", "enum", "items") if key in part}
        for name, part in Operation.model_json_schema()["properties"].items()
    }
    operation = {"type": "object", "properties": fields, "required": ["op"]}
    listed = {"operations": {"type": "array", "items": operation}}
    return {"type": "object", "properties": listed, "required": ["operations"]}


SCHEMA: Mapping[str, Any] = _schema()
"""The JSON schema of a reply, an object with the list ``operations``; titles and defaults would cost tokens."""


def parse_operations(text: str) -> Parsed[Operation]:
    """The operations of a reply, in order; what is none is counted.

    Raises:
        ReplyError: there is no JSON in it, or it ends in the middle.
    """
    return parse_items(text, Operation)
