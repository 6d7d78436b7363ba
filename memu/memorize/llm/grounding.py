"""Whether what a model wrote is in its sources: names, numbers, dates and quoted strings, word by word.

The checks are meant for careless models, not for liars: a name that no source holds is an invention, a verb that
no source holds is a wording. They are strict where the languages mark names and lenient where they do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memu.languages import stop_words
from memu.memorize.llm.figures import read_figures, strange_figures
from memu.memorize.llm.namings import fold, read_wording, strange_names
from memu.tokens import index_terms

__all__ = ["overlap", "ungrounded"]

_REDACTED = re.compile(r"\[redacted:[a-z0-9-]{1,32}\]")
_QUOTES = re.compile(
    r"\"([^\"\n]{2,400})\"|“([^”\n]{2,400})”|„([^“”\n]{2,400})[“”]|«([^»\n]{2,400})»|「([^」\n]{1,400})」"
    r"|『([^』\n]{1,400})』|《([^》\n]{1,400})》|`([^`\n]{1,400})`|(?<!\w)'([^'\n]{3,400})'(?!\w)|‘([^’\n]{3,400})’"
)
_EDGE = " \t.,;:!?。，！？…"
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
    wording = read_wording(joined)
    strange: list[str] = []
    for match in _QUOTES.finditer(plain):
        quoted = next(part for part in match.groups() if part is not None)
        if not _holds(joined, wording.text, quoted):
            strange.append(quoted.strip())
    strange += strange_figures(plain, read_figures(joined))
    strange += strange_names(plain, wording)
    return tuple(dict.fromkeys(strange))


def overlap(text: str, sources: Sequence[str]) -> float:
    """The share of ``text``'s terms (stems or pairs of characters, no stop words) that a source holds."""
    grammar = frozenset().union(*map(stop_words, ("en", "de", "es", "zh")))
    terms = {term for term in index_terms(text) if term not in grammar}
    held = {term for source in sources for term in index_terms(source)}
    return len(terms & held) / len(terms) if terms else 1.0


def _holds(raw: str, folded: str, quoted: str) -> bool:
    """Whether a quoted string stands there, but for white space, markup and the punctuation at its ends."""
    wanted = fold(quoted).strip(_EDGE)
    return not wanted or wanted in folded or fold(_MARKUP.sub("", wanted)) in fold(_MARKUP.sub("", raw))
