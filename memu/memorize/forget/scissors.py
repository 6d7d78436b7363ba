"""Finding, while the words are still known, every place of a stored source that says what is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memu.memorize.forget.cutting import cut_text
from memu.memorize.forget.forgotten import is_telling, statement_keys
from memu.memorize.forget.marks import MARK
from memu.memorize.forget.openings import Openings, run_of, sum_up
from memu.memorize.forget.places import mark_places
from memu.memorize.sentences import Slice, split_lines, split_sentences
from memu.tokens import text_key

__all__ = ["Cut", "Scissors"]

_LINES_OF_A_SENTENCE = 4
_OVERLAP_WORDS = 5
_MOST_IN_A_ROW = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """A text with its marks, and the keys of parts that went though they are no known statement by themselves."""

    text: str
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scissors:
    """Cuts stored texts. ``keys`` go wherever they stand.

    wholes: the keys of the statements and of their sentences. Where a statement is known to stand, what contains
        one, is a piece of one or runs into one goes too: long sentences are cut otherwise for search than for
        memory.
    says: what else is to go, by a look at a text.
    runs: what is looked for inside of longer sentences. openings: how all that goes begins.
    """

    keys: frozenset[str]
    openings: Openings
    wholes: tuple[str, ...] = ()
    says: Callable[[str], bool] | None = None
    runs: frozenset[str] = frozenset()

    @classmethod
    def of(cls, statements: Iterable[str], says: Callable[[str], bool] | None = None) -> Scissors:
        """Scissors for these statements."""
        texts = sorted(set(statements))
        keys = frozenset(key for text in texts for key in statement_keys(text))
        sentences = {text_key(part.text) for text in texts for part in split_sentences(text)}
        wholes = {key for key in sentences | {text_key(text) for text in texts} if is_telling(key)}
        runs = frozenset(filter(None, map(run_of, keys)))
        openings = Openings.of((sum_up(key, "") for key in keys), "")
        return cls(keys=keys, openings=openings, wholes=tuple(sorted(wholes)), says=says, runs=runs)

    def covers(self, text: str) -> bool:
        """Whether a text, whole, is forgotten."""
        return text_key(text) in self.keys

    def covers_run(self, run: str) -> bool:
        """Whether these letters are those of a statement that goes."""
        return run in self.runs

    def cut(self, text: str, *, own: bool) -> Cut:
        """Cut a text. ``own``: whether a forgotten statement is known to stand in it."""
        done = cut_text(text, self)
        if not self._touches(done, own):
            return Cut(done)
        places: list[Slice] = []
        keys: set[str] = set()
        sentences = split_sentences(done)
        for sentence in sentences:
            if self._touches(sentence.text, own):
                lines = [
                    Slice(line.text, sentence.start + line.start, sentence.start + line.end)
                    for line in split_lines(sentence.text)
                    if self._touches(line.text, own)
                ]
                # Code, lists and tables are one long sentence; there it is the lines that say.
                is_prose = not lines or sentence.text.count("\n") < _LINES_OF_A_SENTENCE
                places += [sentence] if is_prose else lines
                # Of what was cut into before, what is left between the marks: a mark is in no later reading.
                said = (piece for part in (sentence, *lines) for piece in part.text.split(MARK))
                keys.update(text_key(piece) for piece in said if self._says(piece, own))
        if not places:
            # What no sentence says alone is said across them.
            places = list(self._find_across(done, sentences, own))
            keys |= {text_key(place.text) for place in places if MARK not in place.text}
            keys |= {
                text_key(piece) for place in places for piece in place.text.split(MARK) if self._says(piece, own)
            }
        marked = mark_places(done, [(place.start, place.end) for place in places]) if places else MARK
        return Cut(marked, frozenset(keys - {""}))

    def _find_across(self, text: str, sentences: Sequence[Slice], own: bool) -> Iterator[Slice]:
        """The shortest rows of sentences that say it together."""
        after = 0
        for size in range(2, min(len(sentences), _MOST_IN_A_ROW) + 1):
            for row in (sentences[at : at + size] for at in range(len(sentences) - size + 1)):
                said = Slice(text[row[0].start : row[-1].end], row[0].start, row[-1].end)
                if said.start >= after and self._says(said.text, own):
                    after = said.end
                    yield said
            if after:
                return

    def _touches(self, text: str, own: bool) -> bool:
        """Whether some of these words have to go."""
        if self._says(text, own):
            return True
        if not own:
            return False
        key = text_key(text.replace(MARK, " "))
        is_piece = is_telling(key)
        return any((is_piece and f" {key} " in f" {whole} ") or _run_together(whole, key) for whole in self.wholes)

    def _says(self, text: str, own: bool) -> bool:
        """Whether the text, whole, says what is forgotten."""
        if self.says is not None and self.says(text):
            return True
        key = f" {text_key(text)} " if own else ""
        return own and any(f" {whole} " in key for whole in self.wholes)


def _run_together(one: str, other: str) -> bool:
    """Whether one ends with the words that the other begins with."""
    first, second = one.split(), other.split()
    most = min(len(first), len(second))
    return any(
        first[-size:] == second[:size] or second[-size:] == first[:size]
        for size in range(_OVERLAP_WORDS, most + 1)
    )
