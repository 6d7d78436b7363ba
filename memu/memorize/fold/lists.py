"""Where an item stands among those above it: its indentation, its marker, and whether a list goes on."""

from __future__ import annotations

from dataclasses import dataclass, field

from memu.memorize.candidate import BlockForm, BlockShape

__all__ = ["ItemPlace", "OpenLists"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPlace:
    """indent: spaces in front of the marker. tight: whether the item stands right below what is above it."""

    indent: int
    marker: str
    tight: bool


@dataclass(slots=True)
class _List:
    """A list that may go on. depth: as its source nests it; indent: as the page does."""

    depth: int
    indent: int
    form: BlockForm
    number: int
    delimiter: str
    inner: int = 0


@dataclass(slots=True)
class OpenLists:
    """The lists open above the next item, outermost first.

    Steps bear their source's numbers. Markdown counts a list up from its first number, so a number that does not
    follow its neighbour's opens another list: below a blank line, with the other of the delimiters "." and ")".
    """

    _open: list[_List] = field(default_factory=list)

    def close(self) -> None:
        """Something stands between: the next item opens a list of its own."""
        self._open.clear()

    def place(self, shape: BlockShape, count: int) -> ItemPlace:
        """The place of the next item; ``count`` is the number of a step whose source gives it none."""
        while len(self._open) > 1 and self._open[-1].depth > shape.depth:
            self._open.pop()
        above = self._open[-1] if self._open else None
        number = count if shape.number is None else shape.number
        if above is not None and above.depth < shape.depth:
            opened = _List(shape.depth, above.inner, shape.form, number, ".")
            self._open.append(opened)
            # No list but one that begins at 1 may follow a line of text directly.
            return self._mark(opened, tight=shape.form is BlockForm.BULLET or number == 1)
        if above is None:
            above = _List(shape.depth, 0, shape.form, number, ".")
            self._open.append(above)
            return self._mark(above, tight=False)
        same = above.form is shape.form and above.depth == shape.depth
        goes_on = same and (shape.form is BlockForm.BULLET or number == above.number + 1)
        if not goes_on and above.form is shape.form is BlockForm.STEP:
            above.delimiter = ")" if above.delimiter == "." else "."
        above.depth, above.form, above.number = shape.depth, shape.form, number
        return self._mark(above, tight=goes_on)

    @staticmethod
    def _mark(entry: _List, *, tight: bool) -> ItemPlace:
        marker = "- " if entry.form is BlockForm.BULLET else f"{entry.number}{entry.delimiter} "
        entry.inner = entry.indent + len(marker)
        return ItemPlace(indent=entry.indent, marker=marker, tight=tight)
