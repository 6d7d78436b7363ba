"""What an import comes to while it runs, over all scopes, and the report that it ends with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from memu.memorize.imports.telling import LONGEST_ID, find_replaced, note
from memu.records import FileProblem, ImportReport
from memu.storage.legacy_rows import LegacyIds

__all__ = ["Tally"]

_EXAMPLES = 3
_SHOWN_CHARS = 40


@dataclass(slots=True)
class Tally:
    """dimension: of the vectors that are kept. replaced: kind of row → the first (id, what stands for it)."""

    counts: Counter[str] = field(default_factory=Counter)
    unplaced: list[FileProblem] = field(default_factory=list)
    notes: list[FileProblem] = field(default_factory=list)
    extra: Counter[str] = field(default_factory=Counter)
    replaced: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    trees: list[str] = field(default_factory=list)
    dimension: int = 0

    def sort_out(self, problems: Sequence[FileProblem]) -> None:
        """What was kept in spite of it is a note."""
        for each in problems:
            (self.notes if "is kept as" in each.reason else self.unplaced).append(each)

    def note_replaced(self, kind: str, ids: LegacyIds) -> None:
        """Count the ids of these rows that the store cannot hold."""
        found = find_replaced(ids)
        self.counts[f"replaced {kind}"] += len(found)
        kept = self.replaced.setdefault(kind, [])
        kept += found[: _EXAMPLES - len(kept)]

    def to_report(self, shown: str) -> ImportReport:
        """The report; ``shown``: the database, as it is named."""
        counts = self.counts
        return ImportReport(
            source=shown,
            scopes=counts["scopes"],
            pages=counts["pages"],
            entries=counts["entries"],
            sources=counts["sources"],
            links=counts["links"],
            changed=counts["changed"],
            unchanged=counts["unchanged"],
            vectors_kept=counts["vectors"],
            vectors_missing=counts["missing"],
            unplaced=tuple(self.unplaced),
            notes=(*self.notes, *self._sums()),
            trees=tuple(self.trees),
        )

    def _sums(self) -> list[FileProblem]:
        """What is told of many rows at once."""
        sums = [
            note("items", f"{name!r} of {count} items is not kept") for name, count in sorted(self.extra.items())
        ]
        for kind, examples in sorted(self.replaced.items()):
            if count := self.counts[f"replaced {kind}"]:
                told = "; ".join(f"{_shorten(given)} is {digest}" for given, digest in examples)
                more = f"; and {count - len(examples)} more" if count > len(examples) else ""
                reason = (
                    f"{count} are longer than {LONGEST_ID} characters, or hold a NUL; a hash stands for each: "
                )
                sums.append(note(f"ids of kind {kind}", f"{reason}{told}{more}"))
        if self.counts["forgotten"]:
            reason = f"{self.counts['forgotten']} are not brought back: they were forgotten here"
            sums.append(FileProblem(path="sources", reason=reason))
        if self.counts["unusable"]:
            reason = f"{self.counts['unusable']} cannot be compared with the others; their texts are encoded anew"
            sums.append(FileProblem(path="vectors", reason=reason))
        return sums


def _shorten(given: str) -> str:
    return repr(given if len(given) <= _SHOWN_CHARS else f"{given[:_SHOWN_CHARS]}…")
