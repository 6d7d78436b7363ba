"""What ``render_tree`` makes of rows: files, links, footnotes, front matter."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from memu.export.naming import tree_name
from memu.export.render import render_tree
from memu.export.snapshot import Citation, TreePage, TreeSnapshot, TreeSource, TreeWorkspace
from memu.names import fold_name
from memu.records import EMPTY_SCOPE, Kind, LineSpan, Scope, State, Track

pytestmark = pytest.mark.unit

GOLDEN = Path(__file__).parents[1] / "data/export_golden"
ROOT = "/home/somebody/secret-root-name"
WORKSPACE = TreeWorkspace(id="w1", name=None, root=ROOT)
ROOTS = {"w1": "../.."}


def source(path: str, **more: object) -> TreeSource:
    values = {"workspace_id": "w1", "kind": Kind.DOCUMENT, "title": posixpath.basename(path), **more}
    return TreeSource(path=path, **values)  # type: ignore[arg-type]


def cite(path: str, start: int = 1, end: int | None = None, *, workspace: str = "w1") -> Citation:
    return Citation(workspace_id=workspace, path=path, lines=LineSpan(start, end or start))


def page(
    name: str,
    content: str = "",
    citations: Mapping[str, tuple[Citation, ...]] | None = None,
    *,
    track: Track = Track.MEMORY,
    description: str = "",
    entries: int = 1,
) -> TreePage:
    return TreePage(
        track=track,
        name=name,
        folded_name=fold_name(name),
        description=description,
        content=content,
        entries=entries,
        citations=citations or {},
    )


def snapshot(*pages: TreePage, sources: tuple[TreeSource, ...] = (), **more: object) -> TreeSnapshot:
    values = {"scope": EMPTY_SCOPE, "extractor": "extractive", "workspaces": (WORKSPACE,), **more}
    return TreeSnapshot(pages=pages, sources=sources, **values)  # type: ignore[arg-type]


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL)
    assert match, text[:80]
    return yaml.safe_load(match[1]), match[2]


def find_links(text: str, *, footnotes: bool = False) -> Iterator[str]:
    """Where the links and images of a Markdown text lead, by a CommonMark parser."""
    parser = MarkdownIt("commonmark")
    if footnotes:
        parser.use(footnote_plugin)
    body = split_front_matter(text)[1] if text.startswith("---\n") else text
    for token in parser.parse(body):
        for child in token.children or ():
            for name in ("href", "src"):
                if name in child.attrs:
                    yield str(child.attrs[name])


def lead(at: str, url: str) -> str:
    """The place in a tree at ``ROOT/.memu/workspace-memory`` that a link of its file ``at`` leads to."""
    path = unquote(url.partition("#")[0])
    return posixpath.normpath(posixpath.join(ROOT, ".memu/workspace-memory", posixpath.dirname(at), path))


def in_tree(path: str) -> str:
    return f"{ROOT}/.memu/workspace-memory/{path}"


PATHS = (
    "plain.md",
    "with space.md",
    "paren(these) and (more.md",
    "<angled>.md",
    "quote\"and'.md",
    "hash#1?.md",
    "100%.md",
    "café/naïve.md",
    "用户偏好/项目笔记.md",
    "brackets [x] ]y[.md",
    "back\\slash.md",
    "star*under_score_~.md",
    "amp&amp;.md",
    "tick`s`.md",
    "deep/er/a: b.md",
    "emoji-🎉.md",
    "trailing.md ",
)


@pytest.mark.parametrize("footnotes", [False, True], ids=["commonmark", "with footnotes"])
def test_every_link_leads_where_it_should(footnotes: bool) -> None:
    """Issue: every link resolves in a CommonMark parser, whatever the names are."""
    pages = [
        page(
            f"{name} page",
            f"- Said there. [^m{number}xyz]",
            {f"m{number}xyz": (cite(name, 3, 9),)},
            description=name,
        )
        for number, name in enumerate(PATHS)
    ]
    pages += [page(f"How {name}", track=Track.SKILL, description=name) for name in PATHS]
    files = render_tree(snapshot(*pages, sources=tuple(map(source, PATHS))), roots=ROOTS)
    expected = {f"{ROOT}/{name}" for name in PATHS} | set(map(in_tree, files))
    led = {
        name: [lead(name, url) for url in find_links(data.decode(), footnotes=footnotes)]
        for name, data in files.items()
    }
    for name, targets in led.items():
        assert set(targets) <= expected, name
    assert {f"{ROOT}/{name}" for name in PATHS} <= set(led["INDEX.md"])
    assert {in_tree(each) for each in files if each.startswith("memory/")} <= set(led["MEMORY.md"])
    assert {in_tree(each) for each in files if each.startswith("skill/")} <= set(led["SKILL.md"])
    for number, name in enumerate(PATHS):
        assert led[pages[number].file] == [f"{ROOT}/{name}"]


def test_a_raw_byte_in_a_path_stays_one_in_the_link() -> None:
    """A stored ``%E9`` is a byte of the file's name; a stored ``%25`` is a percent sign."""
    files = render_tree(snapshot(sources=(source("caf%E9.md"), source("%25E9.md"), source("5%.md"))), roots=ROOTS)
    links = set(find_links(files["INDEX.md"].decode()))
    assert {"../../caf%E9.md", "../../%25E9.md", "../../5%25.md"} <= links


def test_golden_tree() -> None:
    """A small tree, byte for byte. When this changes, ``fingerprint._FORMAT`` has to grow."""
    deploys = page(
        "Deploys",
        "## Rules\n\n- Deploys go out on Tuesdays. [^k3f9a]\n- Never on Fridays. [^abcde] [^zz234]",
        {
            "k3f9a": (cite("notes/b.md", 4), cite("notes/a (1).md", 10, 12)),
            "abcde": (Citation(workspace_id="w1", path="slides.pdf", place="page 3"),),
            "zz234": (cite("notes/b.md", 9),),
        },
        description="When and how we deploy",
        entries=4,
    )
    restart = page(
        "Restart the API", "1. Drain. [^pqrst]", {"pqrst": (cite("notes/b.md", 20),)}, track=Track.SKILL
    )
    sources = (
        source("notes/b.md", title="B [draft]"),
        source("notes/a (1).md", title="A"),
        source("slides.pdf", title="Slides", caption="12 pages", state=State.PARTIAL, reason="2 pages unread"),
        source("big.bin", state=State.SKIPPED, reason="binary"),
    )
    files = render_tree(snapshot(deploys, restart, sources=sources), roots=ROOTS)
    golden = {each.relative_to(GOLDEN).as_posix(): each.read_bytes() for each in GOLDEN.rglob("*.md")}
    assert files == golden
    assert list(files)[-3:] == ["SKILL.md", "MEMORY.md", "INDEX.md"]


NASTY_NAMES = (
    "plain",
    "C#",
    "C #",
    "# hash",
    "yes",
    "null",
    "2024-01-01",
    "a: b",
    "\"quoted\" 'name'",
    "back\\slash",
    "tab\tand\u2028line",
    "bell\x07 del\x7f nel\x85",
    "\ufeffbom",
    "<b>bold</b>",
    "&amp; &copy;",
    "*star* _under_ ~~gone~~ `tick`",
    "[link](elsewhere.md)",
    "![image](elsewhere.png)",
    "用户偏好",
    "emoji 🎉",
    "--- dashes ---",
    "{{.Names}}",
    "x" * 300,
)


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_front_matter_gives_back_what_went_in(name: str) -> None:
    """Scalars are quoted so that any YAML parser reads the very text, as text."""
    made = page(name, description=f"about {name}")
    head, _ = split_front_matter(render_tree(snapshot(made), roots=ROOTS)[made.file].decode())
    shown = re.sub(r"\s+", " ", re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", name)).strip()
    assert head == {
        "name": shown,
        "description": f"about {shown}",
        "generator": "memu",
        "extractor": "extractive",
    }


@pytest.mark.parametrize("name", NASTY_NAMES)
def test_a_title_reads_as_the_name(name: str) -> None:
    made = page(name)
    _, body = split_front_matter(render_tree(snapshot(made), roots=ROOTS)[made.file].decode())
    tokens = MarkdownIt("commonmark").parse(body)
    assert [token.type for token in tokens] == ["heading_open", "inline", "heading_close"]
    shown = "".join(child.content for child in tokens[1].children or ())
    wanted = re.sub(r"\s+", " ", re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", name)).strip()
    assert {child.type for child in tokens[1].children or ()} <= {"text", "text_special"}
    assert shown == wanted


def check_skill(folder: str, text: str) -> str:
    """The public specification of Agent Skills; returns the description."""
    assert not text.startswith("\ufeff")
    head, body = split_front_matter(text)
    assert set(head) == {"name", "description"}
    assert head["name"] == folder
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert len(head["name"]) <= 64
    assert 1 <= len(head["description"]) <= 1024
    assert not set("<>") & set(head["description"])
    assert all(re.fullmatch(r'(name|description): ".*"', line) for line in text.split("\n")[1:3])
    assert body.startswith("<!-- memu -->\n")
    return head["description"]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"user_id": "alice"},
        {"user_id": "Ålice O'Neil <b>"},
        {"user_id": "x" * 400, "agent_id": "用户"},
        {"n": 7},
    ],
)
def test_the_root_skill_is_a_valid_agent_skill(fields: dict[str, str]) -> None:
    scope = Scope.of(fields)
    pages = [page(f"{name} {number}", track=Track.SKILL) for number in range(4) for name in NASTY_NAMES]
    for some in ([], pages[:1], pages):
        files = render_tree(snapshot(*some, scope=scope), roots=ROOTS)
        check_skill(tree_name(scope), files["SKILL.md"].decode())
        listed = set(find_links(files["SKILL.md"].decode()))
        assert {unquote(url) for url in listed} >= {each.file for each in some}


def test_index_follows_the_grammar_of_llms_txt() -> None:
    """Read as the format's own parser reads it: title, quoted summary, prose, sections of nothing but links."""
    sources = tuple(
        source(name, title=name, caption=f"[x]: {name}", kind=kind)
        for name, kind in zip(PATHS, [*Kind] * 2, strict=False)
    )
    text = render_tree(snapshot(sources=sources), roots=ROOTS)["INDEX.md"].decode()
    start, *rest = re.split(r"^##\s*(.*?)$", text, flags=re.MULTILINE)
    head = re.fullmatch(r"# (?P<title>.+?)\n+> (?P<summary>.+?)\n+(?P<info>.*)", start.strip(), re.DOTALL)
    assert head
    assert (head["title"], head["info"]) == ("workspace-memory", "<!-- memu -->")
    found: list[str] = []
    for section in rest[1::2]:
        for item in re.split(r"\n+", section.strip()):
            match = re.fullmatch(r"-\s*\[(?P<title>[^\]]+)\]\((?P<url>[^\)]+)\)(?::\s*(?P<desc>.*))?", item)
            assert match, item
            found.append(match["url"])
    assert {f"{ROOT}/{name}" for name in PATHS} <= {lead("INDEX.md", url) for url in found}


@pytest.mark.parametrize("number", [0, 1, 177, 178, 179, 400])
def test_memory_stays_under_200_lines(number: int) -> None:
    """The largest pages are listed, and a link leads to the list of all."""
    pages = [page(f"p{each}", entries=each, description="line\n" * 9) for each in range(number)]
    files = render_tree(snapshot(*pages), roots=ROOTS)
    text = files["MEMORY.md"].decode()
    assert len(text.splitlines()) < 200
    links = list(find_links(text))
    reached = {each for each in links if each.startswith("memory/")}
    if "MEMORY-ALL.md" in files:
        assert "MEMORY-ALL.md" in links
        assert links[0] == f"memory/p{number - 1}.md"
        reached |= set(find_links(files["MEMORY-ALL.md"].decode()))
    else:
        assert number < 200
    assert {each.file for each in pages} <= reached
    if number > 200:
        assert len(text.splitlines()) > 190


def test_f24_names_give_readable_distinct_stable_files() -> None:
    names = [
        "用户偏好",
        "项目笔记",
        "Ünïcödé",
        "🎉",
        "a",
        "a 2",
        "a-2",
        "DL-11 a.md",
        "DL-11 b.md",
        "Finance/x.md",
    ]
    files: dict[str, str] = {}
    for count in range(1, len(names) + 1):
        made = {each.name: each.file for each in (page(name) for name in names[:count])}
        assert files.items() <= made.items()
        files = made
    assert len({name.casefold() for name in files.values()}) == len(names)
    assert files["用户偏好"] == "memory/用户偏好.md"
    assert page("A").file == page("a").file
    assert page("Finance/x.md").file == page("finance/x.md").file


def test_f25_a_long_name_gives_a_short_file() -> None:
    names = [page("好" * 300 + tail).file for tail in ("a", "b")]
    assert len(set(names)) == 2
    assert all(len(posixpath.basename(name).encode()) <= 123 for name in names)


def test_f26_sources_of_one_name_stay_apart() -> None:
    paths = ("a/README.md", "b/README.md")
    said = page("x", "- A. [^aaaaa]\n- B. [^bbbbb]", {"aaaaa": (cite(paths[0]),), "bbbbb": (cite(paths[1]),)})
    copies = {("w1", path): path.encode() for path in paths}
    shown = snapshot(said, sources=tuple(map(source, paths)))
    linked = render_tree(shown, roots=ROOTS)[said.file].decode()
    assert "../../../a/README.md#L1" in linked
    assert "../../../b/README.md#L1" in linked
    copied = render_tree(shown, roots=ROOTS, copies=copies)
    assert {name: data for name, data in copied.items() if name.startswith("sources/")} == {
        f"sources/{path}": path.encode() for path in paths
    }
    assert list(find_links(copied[said.file].decode())) == [f"../sources/{path}#L1" for path in paths]


def test_f28_code_passes_unchanged() -> None:
    code = '```sh\ndocker ps --format "{{.Names}}" [a](b.md) [^1]\necho \'{"a": [1]}\'\n```'
    content = f"Run:\n\n{code}\n[^abcde]\n\n- Use `x[0](y)` and ``a `[b](c)` d``. [^fghij]"
    made = page("x", content, {"abcde": (cite("a.md"),), "fghij": (cite("a.md"),)})
    assert content in render_tree(snapshot(made, sources=(source("a.md"),)), roots=ROOTS)[made.file].decode()


LINKS = {
    "[b](b.md)": "[b](../../../docs/b.md)",
    "[b](./b.md#part-1)": "[b](../../../docs/b.md#part-1)",
    "[b](<b.md> 'title')": "[b](../../../docs/b.md 'title')",
    "[c](../top%20c.md)": "[c](../../../top%20c.md)",
    "[c](/docs/b.md)": "[c](../../../docs/b.md)",
    "[folder](../docs/)": "[folder](../../../docs/)",
    "[here](#part)": "[here](../../../docs/a.md#part)",
    "![image](gone.png)": "![image\\](gone.png)",
    "[gone](gone.md)": "[gone\\](gone.md)",
    "[up](../../../../etc/passwd)": "[up\\](../../../../etc/passwd)",
    "[file](file:///etc/passwd)": "[file\\](file:///etc/passwd)",
    '[web](https://example.org/a_(b) "t")': '[web](https://example.org/a_(b) "t")',
    "[mail](mailto:a@b.c)": "[mail](mailto:a@b.c)",
    "[not a link] (b.md)": "[not a link] (b.md)",
    "call f[0](x, y)": "call f[0](x, y)",
    "no bracket](b.md)": "no bracket](b.md)",
    "escaped \\[x\\](b.md)": "escaped \\[x\\](b.md)",
    "escaped \\[x](b.md) and \\\\[x](gone.md)": "escaped \\[x](b.md) and \\\\[x\\](gone.md)",
    "[an \\[x](gone.md) [in](b.md)": "[an \\[x\\](gone.md) [in](../../../docs/b.md)",
    "a note[^1] here": "a note\\[^1] here",
    "`[b](b.md)`": "`[b](b.md)`",
    "<https://example.org/>": "<https://example.org/>",
}


@pytest.mark.parametrize(("said", "shown"), LINKS.items(), ids=LINKS)
def test_links_in_quotes_hold_from_the_page(said: str, shown: str) -> None:
    """A quoted link to a known source is led there; one to nothing known is shown as it was written."""
    made = page("x", f"- {said} [^abcde]", {"abcde": (cite("docs/a.md"),)})
    known = tuple(map(source, ("docs/a.md", "docs/b.md", "top c.md")))
    text = render_tree(snapshot(made, sources=known), roots=ROOTS)[made.file].decode()
    assert f"\n- {shown} [^abcde]\n" in text
    parser = MarkdownIt("commonmark")
    plain = [re.sub(r"<[^>]*>", "", parser.render(words)).strip() for words in (said, shown)]
    if "\\](" not in shown:
        assert plain[0] == plain[1]


def test_a_quoted_definition_does_not_catch_other_words() -> None:
    made = page(
        "x",
        "[k]: gone.md\nmore [^abcde]\n\n- see [k]. [^fghij]",
        dict.fromkeys(["abcde", "fghij"], (cite("a.md"),)),
    )
    text = render_tree(snapshot(made, sources=(source("a.md"),)), roots=ROOTS)[made.file].decode()
    assert {lead(made.file, url) for url in find_links(text)} == {f"{ROOT}/a.md"}


def test_the_roots_name_shows_nowhere() -> None:
    sources = (source("a.md"),)
    made = page("x", "- A. [^aaaaa]", {"aaaaa": (cite("a.md"),)})
    for copies in (None, {("w1", "a.md"): b"A"}):
        files = render_tree(snapshot(made, sources=sources), roots=ROOTS, copies=copies)
        assert not any(b"secret-root-name" in data for data in files.values())


def test_several_workspaces_each_get_their_sections() -> None:
    """Order and labels follow names, then roots; a citation says which workspace it means."""
    workspaces = (
        TreeWorkspace(id="z", name=None, root="/b"),
        TreeWorkspace(id="y", name=None, root="/a"),
        TreeWorkspace(id="x", name="Team [notes]", root="/c"),
    )
    roots = {"x": "../../c", "y": "../../a", "z": "../../b"}
    sources = tuple(source("README.md", workspace_id=each.id) for each in workspaces)
    made = page(
        "p", "- A. [^aaaaa]", {"aaaaa": tuple(cite("README.md", workspace=each.id) for each in workspaces)}
    )
    shown = snapshot(made, sources=sources, workspaces=workspaces)
    files = render_tree(shown, roots=roots)
    headings = re.findall(r"^## (.*)$", files["INDEX.md"].decode(), re.MULTILINE)
    assert headings == [
        "Pages",
        "Team &#91;notes&#93;: Documents",
        "Workspace 2: Documents",
        "Workspace 3: Documents",
    ]
    assert list(find_links(files[made.file].decode())) == [f"../../../{each}/README.md#L1" for each in "cab"]
    assert "Workspace 2: README.md L1" in files[made.file].decode()
    assert render_tree(snapshot(made, sources=sources[::-1], workspaces=workspaces[::-1]), roots=roots) == files
    copied = render_tree(shown, roots=roots, copies={each.key: each.workspace_id.encode() for each in sources})
    assert len([name for name in copied if name.startswith("sources/")]) == 3


def test_the_order_of_rows_does_not_matter() -> None:
    """P3: the bytes are a function of the rows alone."""
    sources = tuple(source(name) for name in PATHS)
    pages = [page(name, entries=len(name) % 3) for name in NASTY_NAMES]
    assert render_tree(snapshot(*pages, sources=sources), roots=ROOTS) == render_tree(
        snapshot(*reversed(pages), sources=sources[::-1]), roots=ROOTS
    )


def test_sources_without_a_copy_are_named_and_not_linked() -> None:
    made = page("x", "- A. [^aaaaa]\n- B. [^bbbbb]", {"aaaaa": (cite("a.md"),), "bbbbb": (cite("b [1].png"),)})
    shown = snapshot(made, sources=(source("a.md"), source("b [1].png", kind=Kind.IMAGE)))
    files = render_tree(shown, roots=ROOTS, copies={("w1", "a.md"): b"text"})
    assert list(find_links(files[made.file].decode())) == ["../sources/a.md#L1"]
    assert "in b &#91;1&#93;.png L1" in files[made.file].decode()
    assert "b &#91;1&#93;.png" in files["INDEX.md"].decode()
    assert not any("png" in url for url in find_links(files["INDEX.md"].decode()))


def test_copies_that_differ_in_case_alone_stay_apart() -> None:
    names = ("readme.md", "README.md", "Readme.md")
    copies = {("w1", name): name.encode() for name in names}
    files = render_tree(snapshot(sources=tuple(map(source, names))), roots=ROOTS, copies=copies)
    copied = [name for name in files if name.startswith("sources/")]
    assert len({name.casefold() for name in copied}) == 3


def test_links_follow_files_that_stand_aside() -> None:
    """P10: where the user's own file stands, links lead to ours beside it."""
    made = page("x")
    renames = {"MEMORY.md": "MEMORY.memu.md", "memory/x.md": "memory/x.memu.md"}
    files = render_tree(snapshot(made), roots=ROOTS, renames=renames)
    assert set(find_links(files["MEMORY.md"].decode())) == {"memory/x.memu.md", "SKILL.md", "INDEX.md"}
    assert set(find_links(files["SKILL.md"].decode())) == {"MEMORY.memu.md", "INDEX.md"}


def test_own_marks_stand_where_ingest_looks_for_them() -> None:
    """F9: each generated Markdown file can be told from the user's."""
    files = render_tree(snapshot(*(page(f"p{each}") for each in range(300))), roots=ROOTS)
    for name, data in files.items():
        text = data.decode()
        if name == "SKILL.md":
            assert text.split("---\n")[2].startswith("<!-- memu -->\n")
        elif name == "INDEX.md":
            assert re.match(r"# .+\n\n> .+\n\n<!-- memu -->\n", text)
        else:
            assert "\ngenerator: memu\n" in text.split("---\n")[1]
