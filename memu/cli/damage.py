"""What could not be read of a file, in words."""

from __future__ import annotations

from collections.abc import Mapping

from memu.records import FileProblem

__all__ = ["describe_damage", "describe_damaged"]

_WORDS = {
    "bad_character": ("character that no store takes", "characters that no store takes"),
    "bad_front_matter": ("front matter that cannot be read", "front matters that cannot be read"),
    "bad_markup": ("piece of markup that cannot be read", "pieces of markup that cannot be read"),
    "bad_page": ("page that cannot be read", "pages that cannot be read"),
    "bad_part": ("part that cannot be decoded", "parts that cannot be decoded"),
    "bad_record": ("record that cannot be read", "records that cannot be read"),
    "bad_syntax": ("fault of syntax", "faults of syntax"),
    "cut_line": ("last line that was cut", "last lines that were cut"),
    "empty_page": ("page without text", "pages without text"),
    "empty_slide": ("slide without text", "slides without text"),
    "foreign_line": ("line of another encoding", "lines of another encoding"),
    "long_line": ("line that is too long", "lines that are too long"),
    "too_deep": ("piece nested too deep", "pieces nested too deep"),
    "too_large_member": ("member of the archive that is too large", "members of the archive that are too large"),
    "truncated": ("end that is missing", "ends that are missing"),
    "unclosed_comment": ("comment without an end", "comments without an end"),
    "unclosed_quote": ("quote without an end", "quotes without an end"),
    "undecodable_byte": ("byte that is no letter", "bytes that are no letters"),
    "unplaced_text": ("piece of text without a place", "pieces of text without a place"),
    "unread_member": ("member of the archive that cannot be read", "members of the archive that cannot be read"),
    "untimed_cue": ("caption without a time that can be read", "captions without a time that can be read"),
}


def describe_damage(damage: Mapping[str, int]) -> str:
    """The counts of one file in words.

    >>> describe_damage({"bad_page": 2, "cut_line": 1})
    '2 pages that cannot be read, 1 last line that was cut'
    """
    return ", ".join(f"{count} {_word(name, count)}" for name, count in sorted(damage.items()))


def describe_damaged(damaged: Mapping[str, Mapping[str, int]]) -> list[FileProblem]:
    """Each damaged file with what is wrong with it."""
    return [FileProblem(path=path, reason=describe_damage(counts)) for path, counts in sorted(damaged.items())]


def _word(name: str, count: int) -> str:
    one, several = _WORDS.get(name, (name.replace("_", " "), name.replace("_", " ")))
    return one if count == 1 else several
