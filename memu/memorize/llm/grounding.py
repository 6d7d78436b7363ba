"""Whether what a model wrote is in its sources: names, numbers, dates and quoted strings, word by word.

The checks are meant for careless models, not for liars: a name that no source holds is an invention, a verb that
no source holds is a wording. They are strict where the languages mark names and lenient where they do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from memu.languages import stop_words
from memu.memorize.llm.figures import Figures, load_words, read_figures, strange_figures
from memu.memorize.llm.namings import Wording, fold, read_wording, strange_names
from memu.tokens import index_terms

__all__ = ["is_quoted", "overlap", "ungrounded"]

_REDACTED = re.compile(r"\[redacted:[a-z0-9-]{1,32}\]")
_QUOTES = re.compile(
    r"\"([^\"\n]{2,400})\"|“([^”\n]{2,400})”|„([^“”\n]{2,400})[“”]|«([^»\n]{2,400})»|「([^」\n]{1,400})」"
    r"|『([^』\n]{1,400})』|《([^》\n]{1,400})》|`([^`\n]{1,400})`|(?<!\w)'([^'\n]{3,400})'(?!\w)|‘([^’\n]{3,400})’"
)
_EDGE = " \t.,;:!?。，！？…"
# What stands around words that are whole: neither a part of a number nor of a name begins or ends there.
_BEFORE = re.compile(r"(?:\A|[\s\"'(\[“„«*`。，；！？])\Z")
_AFTER = re.compile(r"[.,;:!?)\]\"'”»*`]*(?:\s|\Z|[。，；！？])")
_MARKUP = re.compile(r"[*`\"“”„«»]")


def ungrounded(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """The names, numbers, dates and quoted strings of ``text`` that no source holds, as they are written there.

    Case, white space, inflection, and how a number or date is written do not count (``4 March``, ``2026-03-04``).
    Redaction marks are passed over. Empty where ``text`` says nothing of that kind, or all of it is held.

    >>> ungrounded("Priya moved the deploys to 4 March.", ["2026-03-04: Priya: deploys are today"])
    ()
    >>> ungrounded("Anna owns `db2` since 2019.", ["Priya owns the database db1."])
    ('db2', '2019', 'Anna')
    """
    plain = _REDACTED.sub(" ", text)
    joined = "\n".join(_REDACTED.sub(" ", source) for source in sources)
    if is_quoted(plain, joined):
        return ()
    wording, figures = _read(joined)
    strange: list[str] = []
    for match in _QUOTES.finditer(plain):
        quoted = next(part for part in match.groups() if part is not None)
        if not _holds(joined, wording.text, quoted):
            strange.append(quoted.strip())
    strange += strange_figures(plain, figures)
    strange += strange_names(plain, wording)
    return tuple(dict.fromkeys(strange))


def is_quoted(text: str, source: str) -> bool:
    """Whether a text stands in a source word for word and by itself, but for case, white space and its last point.

    >>> is_quoted("Deploys are on Tuesday.", "note: deploys  are on Tuesday"), is_quoted("costs 5", "costs 5.20")
    (True, False)
    """
    wanted, known = fold(text).strip(_EDGE), _fold_source(source)
    at = known.find(wanted) if wanted else -1
    while at >= 0:
        if _BEFORE.search(known[max(0, at - 1) : at]) and _AFTER.match(known, at + len(wanted)):
            return True
        at = known.find(wanted, at + 1)
    return False


def overlap(text: str, sources: Sequence[str]) -> float:
    """The share of ``text``'s terms (stems or pairs of characters) that a source holds; words that say nothing by
    themselves, such as "of" or "nobody", are left out."""
    if is_quoted(text, "\n".join(sources)):
        return 1.0
    terms = {term for term in index_terms(text) if term not in _empty_terms()}
    return len(terms & _terms_of(tuple(sources))) / len(terms) if terms else 1.0


@cache
def _empty_terms() -> frozenset[str]:
    grammar = frozenset().union(*map(stop_words, ("en", "de", "es", "zh")))
    return grammar.union(index_terms(" ".join(load_words("indefinite"))))


# Many items of a reply, or operations of a patch, are held against the same sources.
@lru_cache(maxsize=64)
def _read(source: str) -> tuple[Wording, Figures]:
    return read_wording(source), read_figures(source)


@lru_cache(maxsize=64)
def _fold_source(source: str) -> str:
    return fold(source)


@lru_cache(maxsize=64)
def _terms_of(sources: tuple[str, ...]) -> frozenset[str]:
    return frozenset(term for source in sources for term in index_terms(source))


def _holds(raw: str, folded: str, quoted: str) -> bool:
    """Whether a quoted string stands there, but for white space, markup and the punctuation at its ends."""
    wanted = fold(quoted).strip(_EDGE)
    return not wanted or wanted in folded or fold(_MARKUP.sub("", wanted)) in fold(_MARKUP.sub("", raw))
