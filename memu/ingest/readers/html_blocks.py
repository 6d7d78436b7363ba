"""The blocks of HTML, streamed through the standard library's parser, which knows the line of every text."""

from __future__ import annotations

import html
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from html.parser import HTMLParser
from urllib.parse import unquote

from memu.ingest.document import Block, BlockKind
from memu.ingest.readers.dates import parse_time
from memu.ingest.readers.plain import read_plain_blocks
from memu.ingest.readers.runs import NumberedLine, fold, keep, number_lines, spread

__all__ = ["HtmlPage", "parse_html", "read_html_blocks"]

_DROPPED = frozenset(["script", "style", "nav", "noscript", "template", "svg", "iframe", "select", "textarea"])
_BREAKING = re.compile(
    r"address|article|aside|blockquote|body|caption|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure"
    r"|footer|form|h[1-6]|head|header|hr|html|li|main|ol|p|pre|section|summary|table|tbody|tfoot|thead|title|tr|ul"
)
_VOID = re.compile(r"area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr")
_HEADING = re.compile(r"h[1-6]")
# An opening tag that ends the first of these, unless another of them stands between.
_IMPLIED_ENDS = {
    "p": ("p", "div", "li", "td", "blockquote"),
    "li": ("li", "ul", "ol"),
    "tr": ("tr", "table"),
    "td": ("td", "tr"),
    "th": ("th", "tr"),
    "dd": ("dd", "dt", "dl"),
    "dt": ("dt", "dd", "dl"),
}
_NOT_LINE_END = re.compile(r"[^\n]+")
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|brush:)[-: ]?([\w+#-]{1,30})")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|#|\{")
_DATE_NAMES = frozenset(["article:published_time", "date", "dc.date", "datepublished"])
_DEEPEST = 200


def read_html_blocks(text: str, damage: Counter[str]) -> list[Block]:
    """The blocks of a piece of HTML, its first line numbered 1."""
    return parse_html(text, damage).blocks


def parse_html(text: str, damage: Counter[str]) -> HtmlPage:
    """The whole page; what cannot be parsed at all is read as plain text and counted."""
    page = HtmlPage()
    bare = _blank_comments(text, damage)
    # Below the last tag's end the library would try every "<" again and again.
    end = bare.rfind(">") + 1
    try:
        page.feed(bare[:end])
        page.close()
    except (AssertionError, RecursionError):
        # The library asserts on some broken declarations.
        damage["bad_markup"] += 1
        page.blocks = read_plain_blocks(number_lines(text.split("\n")))
        return page
    page.handle_data(html.unescape(bare[end:]))
    page.flush()
    return page


def _blank_comments(text: str, damage: Counter[str]) -> str:
    """The text with comments as blank lines; a comment that is never closed hides nothing."""
    parts: list[str] = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start + 2)
        parts.append(text[at:start])
        if end < 0:
            damage["unclosed_comment"] += 1
            return "".join(parts) + text[start:].replace("<!--", "    ")
        at = end + 3
        parts.append(_NOT_LINE_END.sub("", text[start:at]) or " ")
    return "".join(parts) + text[at:]


@dataclass(slots=True)
class _List:
    kind: BlockKind
    item: str | None = None


@dataclass(slots=True)
class _Position:
    """What stands open around the current text."""

    tags: list[str] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)
    dropped: int = 0
    header: str | None = None
    language: str = ""


class HtmlPage(HTMLParser):
    """A page as it streams by: its blocks, and what its head says."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.links: list[str] = []
        self.title = ""
        self.description = ""
        self.happened_at: datetime | None = None
        self._held: list[NumberedLine] = []
        self._at = _Position()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        at = self._at
        values = {name: value or "" for name, value in attrs}
        if tag == "meta":
            self._take_meta(values)
        if tag == "a" and (href := values.get("href", "")) and not _SCHEME.match(href) and not at.dropped:
            self.links.append(unquote(href.split("#")[0]))
        if tag in ("pre", "code"):
            match = _LANGUAGE.search(values.get("class", ""))
            at.language = match[1].lower() if match else at.language
        if _BREAKING.fullmatch(tag):
            self.flush()
        elif tag == "br" and "pre" not in at.tags:
            self._hold(" ")
        elif tag in ("td", "th"):
            self._hold("\t")
        self._open(tag)

    def handle_endtag(self, tag: str) -> None:
        at = self._at
        if tag not in at.tags:
            return
        if _BREAKING.fullmatch(tag):
            self.flush()
        while at.tags:
            closed = at.tags.pop()
            at.dropped -= closed in _DROPPED
            if closed in ("ul", "ol") and at.lists:
                at.lists.pop()
            if closed == "table":
                at.header = None
            if closed == tag:
                break

    def handle_data(self, data: str) -> None:
        if self._at.dropped:
            return
        if "title" in self._at.tags and not self.title:
            self.title = data.strip()
        self._hold(data)

    def unknown_decl(self, data: str) -> None:
        """A marked section of some other kind says nothing."""

    def flush(self) -> None:
        """Ends the text that is being gathered, as the block that the open tags say."""
        held, self._held = self._held, []
        tags = self._at.tags
        if not any(line.text.strip() for line in held) or "title" in tags:
            return
        if "pre" in tags:
            self.blocks += spread(self._template(BlockKind.FENCE), keep(held))
            return
        level = next((int(tag[1]) for tag in tags if _HEADING.fullmatch(tag)), 0)
        if level:
            self._take_heading(level, held)
        elif "tr" in tags:
            self._take_row(held)
        elif self._at.lists and "li" in tags:
            self._take_item(held)
        else:
            kind = BlockKind.QUOTE if "blockquote" in tags else BlockKind.PARAGRAPH
            self.blocks += spread(self._template(kind), fold(held))

    def _open(self, tag: str) -> None:
        at = self._at
        if _VOID.fullmatch(tag) or len(at.tags) >= _DEEPEST:
            return
        if (ends := _IMPLIED_ENDS.get(tag)) and (
            nearest := next((name for name in reversed(at.tags) if name in ends), "")
        ) == ends[0]:
            self.handle_endtag(nearest)
        if tag in ("ul", "ol"):
            at.lists.append(_List(BlockKind.BULLET if tag == "ul" else BlockKind.STEP))
        if tag == "li" and at.lists:
            at.lists[-1].item = None
        at.dropped += tag in _DROPPED
        at.tags.append(tag)

    def _hold(self, data: str) -> None:
        if self._at.dropped:
            return
        lines = data.split("\n")
        number = self.getpos()[0]
        # Text of one line goes on where the last piece of the same line stopped.
        if self._held and self._held[-1].last == number:
            last = self._held.pop()
            lines[0] = last.text + lines[0]
        self._held += [NumberedLine(number + at, number + at, line) for at, line in enumerate(lines)]

    def _template(self, kind: BlockKind) -> Block:
        at = self._at
        language = at.language if kind is BlockKind.FENCE else ""
        at.language = ""
        items = [entry.item for entry in at.lists if entry.item is not None]
        return Block(
            kind=kind,
            text="",
            lines=None,
            heading=tuple(text for _, text in at.headings),
            depth=max(0, len(at.lists) - 1),
            parent=items[-1] if items else None,
            language=language,
        )

    def _take_heading(self, level: int, held: list[NumberedLine]) -> None:
        headings = self._at.headings
        while headings and headings[-1][0] >= level:
            headings.pop()
        pieces = fold(held)
        self.blocks += spread(replace(self._template(BlockKind.HEADING), depth=level, parent=None), pieces)
        headings.append((level, pieces[0].text))

    def _take_row(self, held: list[NumberedLine]) -> None:
        pieces = fold(held)
        at = self._at
        template = replace(self._template(BlockKind.TABLE), parent=at.header, depth=int(at.header is not None))
        self.blocks += spread(template, pieces)
        at.header = at.header or pieces[0].text

    def _take_item(self, held: list[NumberedLine]) -> None:
        pieces = fold(held)
        entry = self._at.lists[-1]
        fresh = entry.item is None
        self.blocks += spread(self._template(entry.kind if fresh else BlockKind.PARAGRAPH), pieces)
        if fresh:
            entry.item = pieces[0].text

    def _take_meta(self, values: dict[str, str]) -> None:
        name = (values.get("name") or values.get("property") or "").lower()
        content = values.get("content", "")
        if name in ("description", "og:description") and not self.description:
            self.description = content
        elif name in _DATE_NAMES and self.happened_at is None:
            self.happened_at = parse_time(content)
