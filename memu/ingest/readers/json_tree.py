"""JSON with positions: every value knows where it stands in the text, and a broken text gives what it can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from memu.ingest.readers.json_breaks import Mending
from memu.ingest.readers.json_scan import Json, Scan, skip_space

__all__ = ["Json", "JsonText", "find_records", "list_values", "parse_json"]

_SAMPLE = 10


@dataclass(frozen=True, slots=True)
class JsonText:
    """What was read: the root (None if there is none), where reading stopped, and what was wrong if anything.

    ``damage`` is the first fault, ``faults`` how many there are of each; ``gaps`` are the stretches before ``end``
    that were passed over. ``closed``: the root has an end; what follows ``end`` is no part of it.
    """

    root: Json | None
    end: int
    damage: str | None
    faults: Mapping[str, int] = field(default_factory=dict)
    gaps: tuple[tuple[int, int], ...] = ()
    closed: bool = True


def parse_json(text: str, base: int = 0) -> JsonText:
    """The first JSON value of ``text``; positions are counted from ``base``.

    ``damage`` is None, "truncated", "bad_syntax" or "too_deep"; then the root holds what came before, and of
    what came behind a fault of syntax all whose place in it can be told.
    """
    scan = Scan(text, base)
    mending = Mending(text, base, scan, scan.run())
    mending.run()
    return JsonText(
        scan.root,
        base + mending.at,
        next(iter(mending.faults), None),
        dict(mending.faults),
        tuple(mending.gaps),
        closed=mending.damage is None,
    )


def list_values(text: str) -> tuple[list[Json], bool]:
    """The objects of a text that holds several, one behind the other, and whether there is nothing else in it.

    So records are kept by whoever writes them indented, or puts a comma behind each. Of any other text none.
    """
    found: list[Json] = []
    at = skip_space(text, 0)
    while text.startswith("{", at):
        scan = Scan(text, at=at)
        if scan.run() is not None or scan.root is None:
            break
        found.append(scan.root)
        at = skip_space(text, scan.at)
        at = skip_space(text, at + 1) if text.startswith(",", at) else at
    return (found if len(found) > 1 else []), at >= len(text)


def find_records(text: str) -> tuple[list[Json], bool, dict[str, int]]:
    """The records of a JSON or JSON-lines text, whether it was lines, and its damage.

    A JSON text is one record, also when it is one line. Of JSON lines, a line that cannot be read is counted
    and left out.
    """
    if not _is_lines(text):
        parsed = parse_json(text)
        damage = dict(parsed.faults)
        if parsed.closed and skip_space(text, parsed.end) < len(text):
            damage["bad_syntax"] = damage.get("bad_syntax", 0) + 1
        return ([parsed.root] if parsed.root else []), False, damage
    records: list[Json] = []
    bad = 0
    for offset, line in _each_line(text):
        record = _read_line(line, offset, ("object", "array"))
        if record is None:
            bad += 1
        else:
            records.append(record)
    return records, True, ({"bad_record": bad} if bad else {})


def _read_line(line: str, offset: int, forms: tuple[str, ...]) -> Json | None:
    scan = Scan(line, offset)
    damage = scan.run()
    return scan.root if damage is None and scan.root is not None and scan.root.form in forms else None


def _is_lines(text: str) -> bool:
    if text.lstrip()[:1] != "{":
        return False
    whole: list[bool] = []
    for offset, line in _each_line(text):
        record = _read_line(line, offset, ("object",))
        whole.append(record is not None and not line[skip_space(line, record.end - offset) :].strip())
        if len(whole) == _SAMPLE:
            break
    # Where the first line is whole, no JSON text goes on with the second.
    return len(whole) > 1 and (whole[0] or 2 * sum(whole) >= len(whole))


def _each_line(text: str) -> Iterator[tuple[int, str]]:
    offset = 0
    for line in text.split("\n"):
        if line.strip():
            yield offset, line
        offset += len(line) + 1
