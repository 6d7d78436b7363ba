"""What Python code says of itself: its signatures, docstrings and explaining comments, by qualified name."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.runs import NumberedLine, dedent, keep, number_lines, replace_text, spread
from memu.ingest.readers.silence import silenced

__all__ = ["read_python_outline"]

_QUOTES = re.compile(r"[rRuUbBfF]{0,2}(\"\"\"|'''|\"|')")
_DEEPEST = 20
_LEAST_COMMENT = 20
_ORDER = re.compile(
    r"(?:!|-\*-|(?:type|noqa|pragma|fmt|pylint|ruff|mypy|isort|yapf|flake8|nosec)\b[: ]|region\b)", re.IGNORECASE
)
_SIZE_LIMIT = 2_000_000

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read_python_outline(text: str) -> list[Block] | None:
    """SIGNATURE, DOCSTRING and COMMENT blocks, or None when it is not valid Python."""
    safe = text.replace("\r", " ")
    if len(safe) > _SIZE_LIMIT:
        return None
    tree = _parse(safe)
    if tree is None:
        return None
    run = number_lines(safe.split("\n"))
    return [
        *_read_docstring(tree, run, ()),
        *_read_definitions(tree.body, run, ()),
        *_read_comments(safe, run, list(_find_bodies(tree.body, ()))),
    ]


def _parse(text: str) -> ast.Module | None:
    try:
        # A doubtful escape in somebody's code is not for our users to see.
        with silenced():
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _read_definitions(body: list[ast.stmt], run: list[NumberedLine], path: tuple[str, ...]) -> Iterator[Block]:
    for node in body:
        if isinstance(node, Definition):
            own = (*path, node.name)
            template = Block(kind=BlockKind.SIGNATURE, text="", lines=None, heading=own, language="python")
            last = max(node.lineno, node.body[0].lineno - 1)
            yield from spread(template, keep(dedent(_cut_signature(run[node.lineno - 1 : last]))))
            yield from _read_docstring(node, run, own)
            if len(own) < _DEEPEST:
                yield from _read_definitions(node.body, run, own)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _read_definitions(node.body, run, path)


def _find_bodies(body: list[ast.stmt], path: tuple[str, ...]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """First line, last line and qualified name of each definition, those inside of another after it."""
    for node in body:
        if isinstance(node, Definition):
            own = (*path, node.name)
            yield node.lineno, node.end_lineno or node.lineno, own
            if len(own) < _DEEPEST:
                yield from _find_bodies(node.body, own)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _find_bodies(node.body, path)


def _read_comments(
    text: str, run: list[NumberedLine], bodies: list[tuple[int, int, tuple[str, ...]]]
) -> Iterator[Block]:
    """The comments on lines of their own that tell something: no orders to tools, no code that was put away."""
    for first, last in _find_comments(text):
        told = [run[number - 1].text.strip().lstrip("#").strip() for number in range(first, last + 1)]
        while told and _ORDER.match(told[0]):
            first, told = first + 1, told[1:]
        letters = sum(sum(map(str.isalpha, line)) for line in told)
        if letters < _LEAST_COMMENT or _is_code("\n".join(told)):
            continue
        inside = [path for start, end, path in bodies if start <= first <= end]
        heading = max(inside, key=len, default=())
        template = Block(kind=BlockKind.COMMENT, text="", lines=None, heading=heading, language="python")
        yield from spread(template, keep(dedent(run[first - 1 : last])))


def _find_comments(text: str) -> Iterator[tuple[int, int]]:
    """First and last line of each run of comments that stand on lines of their own, one below another."""
    start, last, column = 0, 0, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type != tokenize.COMMENT or token.line[: token.start[1]].strip():
                continue
            line, at = token.start
            if start and (line != last + 1 or at != column):
                yield start, last
                start = 0
            start, last, column = start or line, line, at
    except (tokenize.TokenError, SyntaxError):
        # What was found so far stands; that it is Python was seen before.
        pass
    if start:
        yield start, last


def _is_code(text: str) -> bool:
    """Whether a comment is code that somebody put away: no sentence parses as more than a name."""
    tree = _parse(text)
    told = tree.body if tree is not None else []
    return any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call | ast.Await) for node in told)


def _cut_signature(run: list[NumberedLine]) -> list[NumberedLine]:
    """The lines up to the colon that ends the signature; comments and decorators below it do not belong."""
    for place, line in enumerate(run):
        if re.search(r":\s*(?:#.*)?$", line.text):
            return run[: place + 1]
    return run[:1] if len(run) == 1 else run


def _read_docstring(node: ast.Module | Definition, run: list[NumberedLine], path: tuple[str, ...]) -> list[Block]:
    if ast.get_docstring(node, clean=False) is None:
        return []
    first = node.body[0]
    raw = run[first.lineno - 1 : first.end_lineno]
    # Columns are bytes of UTF-8; cutting by the quotes themselves needs no counting.
    head = _encode_cut(raw[0].text, first.col_offset, None)
    tail_end = first.end_col_offset or 0
    lines = [replace_text(raw[0], head), *raw[1:]]
    if len(raw) == 1:
        lines = [replace_text(raw[0], _encode_cut(raw[0].text, first.col_offset, tail_end))]
    else:
        lines[-1] = replace_text(raw[-1], _encode_cut(raw[-1].text, 0, tail_end))
    match = _QUOTES.match(lines[0].text)
    if match:
        lines[0] = replace_text(lines[0], lines[0].text[match.end() :])
        lines[-1] = replace_text(lines[-1], lines[-1].text.removesuffix(match[1]))
    template = Block(kind=BlockKind.DOCSTRING, text="", lines=None, heading=path, language="python")
    return spread(template, keep([replace_text(lines[0], lines[0].text.strip()), *dedent(lines[1:])]))


def _encode_cut(text: str, start: int, end: int | None) -> str:
    return text.encode("utf-8", "surrogatepass")[start:end].decode("utf-8", "surrogatepass")
