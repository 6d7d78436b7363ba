"""Source code: signatures and doc comments by name, and the whole text in pieces so that all of it is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from memu.ingest.document import Block, BlockKind, Document, Source
from memu.ingest.readers.assembly import assemble, find_suffix
from memu.ingest.readers.python_code import read_python_outline
from memu.ingest.readers.runs import NumberedLine, dedent, keep, number_lines, spread
from memu.records import Kind

__all__ = ["SourceCodeReader"]

_LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "javascript", ".ts": "typescript", ".tsx": "typescript", ".go": "go", ".rs": "rust", ".java": "java",
    ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp",
    ".cxx": "cpp", ".hpp": "cpp", ".cs": "csharp", ".swift": "swift", ".m": "objective-c", ".rb": "ruby",
    ".php": "php", ".pl": "perl", ".lua": "lua", ".r": "r", ".jl": "julia", ".dart": "dart", ".ex": "elixir",
    ".exs": "elixir", ".erl": "erlang", ".hs": "haskell", ".ml": "ocaml", ".clj": "clojure", ".sh": "shell",
    ".bash": "shell", ".zsh": "shell", ".fish": "shell", ".ps1": "powershell", ".bat": "batch", ".sql": "sql",
    ".tf": "terraform", ".hcl": "terraform", ".proto": "protobuf", ".graphql": "graphql", ".css": "css",
    ".scss": "css", ".less": "css", ".vue": "vue", ".svelte": "svelte", ".mk": "make", ".cmake": "cmake",
    ".gradle": "groovy", ".groovy": "groovy", ".nix": "nix", ".zig": "zig", ".sol": "solidity",
}  # fmt: skip
_NAMES = {"Dockerfile": "docker", "Makefile": "make", "Rakefile": "ruby", "Gemfile": "ruby", "Justfile": "make"}
_SHEBANG = re.compile(r"#!\s?\S*/(?:env (?:-S )?)?([a-z]+)")
_PIECE_LINES = 60
_PIECE_CHARS = 3_000
_SIGNATURE = re.compile(
    r"^[ \t]*(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|override|virtual"
    r"|inline|extern|unsafe|sealed|open|data|pub(?:\([a-z]+\))?|declare|const) +){0,6}"
    r"(?:(?:def|func|function\*?|fn|fun|sub|class|interface|struct|enum|trait|impl|mod|module|namespace|record|object"
    r"|protocol|extension|type|message|service|resource|variable|output|data|macro_rules!|CREATE (?:OR REPLACE )?"
    r"(?:TABLE|VIEW|FUNCTION|PROCEDURE|INDEX|UNIQUE INDEX))\b[ \t*]*(?:\([^()\n]{0,80}\) *)?[\"'`]?([\w.$:]+)"
    r"|(?:const|let|var) +([\w$]+) *= *(?:async *)?(?:\([^()\n]{0,200}\)|[\w$]+) *=>"
    r"|([\w$]+) *\(\) *\{)",
    re.IGNORECASE,
)
_C_SIGNATURE = re.compile(
    r"^(?:[A-Za-z_][\w:<>,*&\[\]]{0,80}[ \t*&]+){1,5}~?([A-Za-z_][\w:~]{0,80})[ \t]*"
    r"\([^;{}()]{0,300}\)?[^;{}=()]{0,80}\{?[ \t]*$"
)
_C_LIKE = frozenset(["c", "cpp", "java", "csharp", "objective-c", "dart", "groovy"])
_NO_NAMES = frozenset(["if", "for", "while", "switch", "return", "else", "catch", "do", "new", "throw"])
_LINE_COMMENT = re.compile(r"[ \t]*(?:///?!?|#(?!!|\w|\[)|--(?!-)|;;+|%%?)(?:[ \t]|$)")
_BLOCK_OPEN = re.compile(r"[ \t]*/\*")
_LEAST_COMMENT = 20
_CLOSING = re.compile(r"[ \t]*(?:\}|end\b)")
_DEEPEST = 10
_TAB = 4


class SourceCodeReader:
    """Programs, scripts, schemas and style sheets."""

    name = "code"
    suffixes = frozenset(_LANGUAGES)

    def recognises(self, source: Source) -> bool:
        name = PurePosixPath(source.path).name
        return name in _NAMES or (not find_suffix(source.path) and bool(_SHEBANG.match(source.text[:200])))

    def read(self, source: Source) -> Document:
        language = _find_language(source)
        run = number_lines(source.text.split("\n"))
        outline: Sequence[Block] | None = None
        damage: dict[str, int] = {}
        if language == "python":
            outline = read_python_outline(source.text)
            damage = {} if outline is not None else {"bad_syntax": 1}
        if outline is None:
            outline = _read_outline(run, language)
        blocks = [*outline, *_cut_code(run, outline, language)]
        blocks.sort(key=lambda block: (block.lines.start if block.lines else 0, block.kind is BlockKind.CODE))
        return assemble(source, kind=Kind.CODE, blocks=blocks, titled=False, damage=damage)


def _find_language(source: Source) -> str:
    name = PurePosixPath(source.path).name
    if name in _NAMES:
        return _NAMES[name]
    if known := _LANGUAGES.get(find_suffix(source.path)):
        return known
    match = _SHEBANG.match(source.text[:200])
    program = match[1] if match else ""
    return {"python": "python", "node": "javascript", "ruby": "ruby", "perl": "perl"}.get(program, "shell")


def _read_outline(run: Sequence[NumberedLine], language: str) -> list[Block]:
    """Signatures by the words that languages open them with, and the comments of some length."""
    blocks: list[Block] = []
    held: list[NumberedLine] = []
    nesting = _Nesting()
    in_block = False
    for line in run:
        text = line.text[:1000]
        if in_block or _BLOCK_OPEN.match(text) or _LINE_COMMENT.match(text):
            starts_block = not in_block and bool(_BLOCK_OPEN.match(text))
            held.append(line)
            in_block = (in_block or starts_block) and "*/" not in (text[2:] if starts_block else text)
            continue
        blocks += _read_comment(held, language, nesting)
        held = []
        nesting.close(text)
        if name := _find_name(text, language):
            heading = nesting.open(text, name)
            template = Block(kind=BlockKind.SIGNATURE, text="", lines=None, heading=heading, language=language)
            blocks += spread(template, keep(dedent([line])))
    return blocks + _read_comment(held, language, nesting)


@dataclass(slots=True)
class _Nesting:
    """What stands open around a line, outermost first: how far each is indented, and its name.

    A definition ends where one begins that is indented no further, or where a brace or an ``end`` closes it there.
    """

    opened: list[tuple[int, str]] = field(default_factory=list)

    def open(self, text: str, name: str) -> tuple[str, ...]:
        """The qualified name of a definition that begins with this line."""
        indent = _indent(text)
        self._leave(indent)
        self.opened.append((indent, name))
        return tuple(each for _, each in self.opened)[-_DEEPEST:]

    def close(self, text: str) -> None:
        """Take notice of a line that ends definitions, if it does."""
        if _CLOSING.match(text):
            self._leave(_indent(text))

    def around(self, text: str) -> tuple[str, ...]:
        """The qualified name of what a line stands in."""
        return tuple(name for indent, name in self.opened if indent < _indent(text))[-_DEEPEST:]

    def _leave(self, indent: int) -> None:
        while self.opened and self.opened[-1][0] >= indent:
            self.opened.pop()


def _indent(text: str) -> int:
    expanded = text.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip())


def _find_name(text: str, language: str) -> str | None:
    match = _SIGNATURE.match(text)
    if match is None and language in _C_LIKE and (text[:1].strip() or text.rstrip().endswith("{")):
        match = _C_SIGNATURE.match(text.strip())
    name = next(filter(None, match.groups()), None) if match else None
    return None if name is None or name.lower() in _NO_NAMES else name


def _read_comment(held: Sequence[NumberedLine], language: str, nesting: _Nesting) -> list[Block]:
    letters = sum(sum(map(str.isalpha, line.text)) for line in held)
    if letters < _LEAST_COMMENT:
        return []
    heading = nesting.around(held[0].text[:1000])
    template = Block(kind=BlockKind.COMMENT, text="", lines=None, heading=heading, language=language)
    return spread(template, keep(dedent(held)))


def _cut_code(run: Sequence[NumberedLine], outline: Iterable[Block], language: str) -> Iterator[Block]:
    """The whole text in pieces of at most sixty lines, cut where something begins, else at a blank line."""
    names = {
        block.lines.start: block.heading
        for block in outline
        if block.lines is not None and block.kind is BlockKind.SIGNATURE
    }
    heading: tuple[str, ...] = ()
    held: list[NumberedLine] = []
    size = 0
    for line in run:
        begins = line.first in names and len(names[line.first]) <= 2
        full = len(held) >= _PIECE_LINES or size + len(line.text) > _PIECE_CHARS
        roomy = len(held) >= _PIECE_LINES // 3 or size > _PIECE_CHARS // 3
        if held and (full or (roomy and begins)):
            cut = len(held) if begins else _find_cut(held)
            yield from _code_blocks(held[:cut], heading, language)
            held = held[cut:]
            size = sum(len(each.text) for each in held)
        if not any(each.text.strip() for each in held):
            heading = names.get(line.first, heading)
        held.append(line)
        size += len(line.text)
    yield from _code_blocks(held, heading, language)


def _find_cut(held: Sequence[NumberedLine]) -> int:
    blanks = (at + 1 for at, line in enumerate(held) if not line.text.strip() and at > len(held) // 2)
    return max(blanks, default=len(held))


def _code_blocks(run: Sequence[NumberedLine], heading: tuple[str, ...], language: str) -> list[Block]:
    template = Block(kind=BlockKind.CODE, text="", lines=None, heading=heading, language=language)
    return spread(template, keep(run))
