"""What holds of an export whatever the names, the quotes and the user's edits are."""

from __future__ import annotations

import json
import posixpath
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from memu.export.disk import LocalDisk
from memu.export.manifest import MANIFEST
from memu.export.markdown import escape_text, front_matter, one_line
from memu.export.naming import tree_name
from memu.export.publish import publish
from memu.export.render import render_tree
from memu.export.snapshot import Citation, TreePage, TreeSnapshot, TreeSource, TreeWorkspace
from memu.names import fold_name
from memu.records import EMPTY_SCOPE, ExportReport, Kind, LineSpan, Scope, Track

pytestmark = pytest.mark.property

ROOT = "/r"
TREE = f"{ROOT}/.memu/workspace-memory"

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
markup = st.text(st.sampled_from("ab1 []()<>!\\`*_#&;:.-~^|\"'/%?é好"), max_size=40)
names = (text | markup).filter(lambda name: fold_name(name) != "")
parts = names.map(lambda name: name.replace("/", "-").strip() or "x").filter(lambda part: part not in {".", ".."})
paths = st.lists(parts, min_size=1, max_size=3).map("/".join)


def find_links(body: str, *, footnotes: bool) -> Iterator[str]:
    parser = MarkdownIt("commonmark")
    if footnotes:
        parser.use(footnote_plugin)
    for token in parser.parse(re.sub(r"\A---\n.*?\n---\n", "", body, flags=re.DOTALL)):
        for child in token.children or ():
            yield from (str(child.attrs[name]) for name in ("href", "src") if name in child.attrs)


def lead(at: str, url: str) -> str:
    return posixpath.normpath(posixpath.join(TREE, posixpath.dirname(at), unquote(url.partition("#")[0])))


def build(page_names: list[str], source_paths: list[str], said: list[str]) -> TreeSnapshot:
    """A page a name, alternately on each track, citing the sources in turn and quoting ``said``."""
    pages = []
    for number, name in enumerate({fold_name(each): each for each in page_names}.values()):
        path = source_paths[number % len(source_paths)]
        quote = re.sub(r"\s*\n\s*", "\n  ", said[number % len(said)]) if said else "Said."
        cited = Citation(workspace_id="w", path=path, lines=LineSpan(1, 2))
        placed = Citation(workspace_id="w", path=path, place=name)
        pages.append(
            TreePage(
                track=[*Track][number % 2],
                name=name,
                folded_name=fold_name(name),
                description=name,
                content=f"- Fact {quote} [^mark{number}]",
                entries=number,
                citations={f"mark{number}": (cited, placed)},
            )
        )
    return TreeSnapshot(
        scope=EMPTY_SCOPE,
        extractor="extractive",
        workspaces=(TreeWorkspace(id="w", name=None, root=ROOT),),
        sources=tuple(
            TreeSource(workspace_id="w", path=path, kind=Kind.DOCUMENT, title=path, caption=path)
            for path in source_paths
        ),
        pages=tuple(pages),
    )


@settings(deadline=None, max_examples=60)
@given(
    st.lists(names, min_size=1, max_size=6), st.lists(paths, min_size=1, max_size=4, unique=True), st.booleans()
)
def test_every_link_resolves_and_every_file_is_listed(
    page_names: list[str], source_paths: list[str], footnotes: bool
) -> None:
    files = render_tree(build(page_names, source_paths, []), roots={"w": "../.."})
    lists = {"MEMORY.md", "SKILL.md", "INDEX.md"}
    assert len({name.casefold() for name in files}) == len({fold_name(each) for each in page_names}) + len(lists)
    expected = {f"{TREE}/{name}" for name in files} | {
        posixpath.normpath(f"{ROOT}/{path}") for path in source_paths
    }
    reached: set[str] = set()
    for name, data in files.items():
        led = [lead(name, url) for url in find_links(data.decode(), footnotes=footnotes)]
        assert set(led) <= expected
        assert name in lists or len(led) == 2
        reached.update(led)
    assert reached >= expected


BRACKETS = [
    "[",
    "]",
    "(",
    ")",
    "](",
    "[a](b1)",
    "[a](gone)",
    "[a](docs/",
    "![i](",
    "[a]:gone",
    "[a]",
    "[^1]",
    "[^1]:",
]
OTHERS = [
    "\\",
    "a",
    "b1",
    "gone.md",
    "../",
    "/",
    "#x",
    "%62",
    "&#98;",
    '"t"',
    "'t'",
    "http://x",
    "a:",
    "?q",
    "好",
    "é",
]
CODE = ["`", "``", "~~~", "<", ">", "<b1>", "<!--", "<b>", "!", "*"]
pieces = st.sampled_from([*BRACKETS, *OTHERS, *CODE, " ", "\n", "[a]: gone", "\n```\n", "\n> ", "\n- "])


@settings(deadline=None, max_examples=120)
@given(st.lists(st.lists(pieces, max_size=12).map("".join), min_size=1, max_size=4))
def test_links_in_quotes_resolve_or_are_none(said: list[str]) -> None:
    """Whatever is quoted, the page has no link but to known sources or to where a scheme leads."""
    sources = ["docs/a", "docs/b1", "好"]
    files = render_tree(build([f"p{each}" for each in range(len(said))], sources, said), roots={"w": "../.."})
    known = {f"{ROOT}/{path}" for path in sources} | {f"{ROOT}/docs"}
    for name, data in files.items():
        if "/" in name:
            for url in find_links(data.decode(), footnotes=False):
                assert re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", url) or lead(name, url) in known, url


@given(text | markup)
def test_escaped_text_reads_as_the_text(name: str) -> None:
    inline = MarkdownIt("commonmark").parseInline(f"x{escape_text(name)}x")[0].children or []
    assert all(child.type in {"text", "text_special"} for child in inline)
    assert "".join(child.content for child in inline) == f"x{one_line(name)}x"


@given(text | markup)
def test_front_matter_reads_as_the_text(value: str) -> None:
    block = front_matter([("description", value)])
    assert yaml.safe_load(block.removeprefix("---\n").removesuffix("---\n")) == {"description": one_line(value)}


scopes = st.dictionaries(
    st.text("abcdeiru_-", min_size=1, max_size=8) | st.sampled_from(["user_id", "agent_id"]),
    st.text("abcd0123-_A é", max_size=8) | text | st.integers(0, 20) | st.booleans(),
    max_size=2,
).map(Scope.of)


@given(st.lists(scopes, min_size=2, max_size=30, unique=True))
def test_f27_no_two_scopes_share_a_tree(some: list[Scope]) -> None:
    """Each name is a valid name of an Agent Skill too."""
    made = [tree_name(scope) for scope in some]
    assert len(set(made)) == len(some)
    for name in made:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert len(name) <= 64


PAGES = ("memory/a.md", "memory/b.md", "skill/s.md", "MEMORY.md", "INDEX.md")
MINE = "the user's words "

steps = st.one_of(
    st.tuples(st.just("edit"), st.sampled_from([*PAGES, "memory/a.memu.md", "memory/own.md"]), st.integers(0, 3)),
    st.tuples(st.just("delete"), st.sampled_from([*PAGES, "memory/a.memu.md", MANIFEST]), st.just(0)),
    st.tuples(st.just("row"), st.sampled_from(PAGES), st.integers(0, 2)),
)


class QuickDisk(LocalDisk):
    """The real disk, but for waiting until it has written."""

    def create(self, path: Path, data: bytes) -> None:
        with path.open("xb") as file:
            file.write(data)

    def settle(self, folder: Path) -> None:
        pass


def export(tree: Path, wanted: Mapping[str, bytes]) -> ExportReport:
    return publish(QuickDisk(), tree, EMPTY_SCOPE, lambda _: wanted)


@settings(deadline=None, max_examples=25)
@given(st.lists(steps, max_size=12))
def test_p10_every_byte_of_the_users_is_kept(done: list[tuple[str, str, int]]) -> None:
    """Whatever a user writes, edits or deletes between exports: it stays, and the rest is as rows have it."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        rows = dict.fromkeys(PAGES, 1)
        mine: dict[str, str] = {}
        for kind, path, number in [("row", "INDEX.md", 1), *done]:
            file = tree / path
            if kind == "edit":
                file.parent.mkdir(parents=True, exist_ok=True)
                mine[path] = f"{MINE}{number}"
                file.write_text(mine[path])
            elif kind == "delete":
                mine.pop(path, None)
                file.unlink(missing_ok=True)
            else:
                rows[path] = number
            wanted = {each: f"{each} {row} by memu\n".encode() for each, row in rows.items() if row}
            report = export(tree, wanted)
            assert {path: (tree / path).read_text() for path in mine} == mine
            assert set(mine) & set(wanted) <= set(report.kept)
            for path, data in wanted.items():
                stem = path.removesuffix(".md")
                beside = [tree / path, *sorted((tree / path).parent.glob(f"{Path(stem).name}.memu*.md"))]
                assert sum(each.read_bytes() == data for each in beside if each.exists()) == 1, path
            owned = set(json.loads((tree / MANIFEST).read_bytes())["files"])
            assert len(owned) == len(wanted)
            assert not owned & set(mine)
            before = [(each, each.stat().st_mtime_ns) for each in sorted(tree.rglob("*"))]
            assert export(tree, wanted).written == ()
            assert [(each, each.stat().st_mtime_ns) for each in sorted(tree.rglob("*"))] == before
