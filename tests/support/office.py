"""Documents made for tests, and what stands in each of their places by a decode that uses no library of memu's."""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Sequence

__all__ = ["letters", "make_book", "make_open_document", "make_pdf", "read_places"]


def make_pdf(pages: Sequence[str]) -> bytes:
    """A PDF whose pages show these lines, written by hand so that what stands on which page is known."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in pages:
        lines = "".join(f"({_escape(line)}) Tj 0 -14 Td " for line in text.split("\n"))
        stream = f"BT /F1 11 Tf 50 750 Td {lines}ET" if text else ""
        kids.append(len(objects) + 1)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects) + 2} 0 R "
            "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>"
    out, starts = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        starts.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    head = f"xref\n0 {len(starts) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer << /Size {len(starts) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return (out + head + tail).encode("latin-1")


def make_book(parts: Sequence[str], *, sealed: bool = False) -> bytes:
    """An EPUB of these bodies of HTML."""
    names = [f"p{number}.xhtml" for number in range(1, len(parts) + 1)]
    items = "".join(f'<item id="i{n}" href="{n}" media-type="application/xhtml+xml"/>' for n in names)
    spine = "".join(f'<itemref idref="i{n}"/>' for n in names)
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
        **{f"OPS/{name}": f"<html><body>{body}</body></html>" for name, body in zip(names, parts, strict=True)},
    }
    if sealed:
        files["META-INF/encryption.xml"] = '<encryption><CipherReference URI="OPS/p1.xhtml"/></encryption>'
    return _pack(files)


_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for name, long in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    )
)


def make_open_document(body: str, *, encrypted: bool = False) -> bytes:
    """An OpenDocument file of this body."""
    files = {
        "content.xml": f"<office:document-content {_SPACES}><office:body>{body}</office:body>"
        "</office:document-content>"
    }
    if encrypted:
        files["META-INF/manifest.xml"] = "<manifest><encryption-data/></manifest>"
    return _pack(files)


def read_places(suffix: str, data: bytes) -> dict[str, str]:
    """The text of each page, slide, part, or the rows of each sheet, by zip, regular expressions and entities."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    names = archive.namelist()
    match suffix:
        case ".docx":
            return _word_places(archive.read("word/document.xml").decode())
        case ".pptx":
            return {
                f"slide {number}": _words(archive.read(f"ppt/slides/slide{number}.xml").decode(), "a:t")
                for number in range(1, 1 + sum(bool(re.match(r"ppt/slides/slide\d+\.xml", n)) for n in names))
            }
        case ".xlsx":
            return _sheet_places(archive)
        case ".epub":
            package = archive.read(next(name for name in names if name.endswith(".opf"))).decode()
            hrefs = {
                identity: href
                for item in re.findall(r"<item\b[^>]*>", package)
                for identity, href in [(_attribute(item, "id"), _attribute(item, "href"))]
            }
            spine = [hrefs[ref] for ref in re.findall(r'<itemref[^>]*idref="([^"]+)"', package)]
            return {
                f"part {number}": _bare(archive.read(next(n for n in names if n.endswith(href))).decode())
                for number, href in enumerate(spine, 1)
            }
        case _:
            return {"": _bare(archive.read("content.xml").decode())}


def _word_places(markup: str) -> dict[str, str]:
    if "lastRenderedPageBreak" in markup:
        pages = re.split(r"<w:lastRenderedPageBreak\s*/>", markup)
        told = {f"page {number}": _words(page, "w:t") for number, page in enumerate(pages, 1)}
        whole = {
            f"pages {first}–{last}": "".join(told[f"page {number}"] for number in range(first, last + 1))
            for first in range(1, len(pages) + 1)
            for last in range(first + 1, len(pages) + 1)
        }
        return told | whole
    paragraphs = re.split(r"(?=<w:p[ >])", markup)[1:]
    return {
        f"paragraphs {start + 1}–{start + 20}": "".join(
            _words(each, "w:t") for each in paragraphs[start : start + 20]
        )
        for start in range(0, len(paragraphs), 20)
    }


def _sheet_places(archive: zipfile.ZipFile) -> dict[str, str]:
    shared: list[str] = []
    if "xl/sharedStrings.xml" in archive.namelist():
        strings = re.findall(r"<si>(.*?)</si>", archive.read("xl/sharedStrings.xml").decode(), re.DOTALL)
        shared = [_words(each, "t") for each in strings]
    book = archive.read("xl/workbook.xml").decode()
    places: dict[str, str] = {}
    for number, tag in enumerate(re.findall(r"<sheet\b[^>]*>", book), 1):
        markup = archive.read(f"xl/worksheets/sheet{number}.xml").decode()
        for row, cells in re.findall(r'<row\b[^>]*\br="(\d+)"[^>]*>(.*?)</row>', markup, re.DOTALL):
            start = (int(row) - 1) // 20 * 20
            told = [
                shared[int(value)] if 't="s"' in attributes else html.unescape(value)
                for attributes, value in re.findall(
                    r"<c\b([^>]*)>(?:<f>.*?</f>|<is>)?<(?:v|t)>(.*?)</(?:v|t)>", cells
                )
            ]
            place = f"sheet {html.unescape(_attribute(tag, 'name'))}, rows {start + 1}–{start + 20}"
            places[place] = places.get(place, "") + "".join(told)
    return places


def letters(text: str) -> str:
    """The letters and digits of a text: what layout does not change."""
    return "".join(char for char in text if char.isalnum())


def _attribute(tag: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return found[1] if found else ""


def _words(markup: str, tag: str) -> str:
    return html.unescape("".join(re.findall(rf"<{tag}(?: [^>]*)?>([^<]*)</{tag}>", markup)))


def _bare(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", " ", markup))


def _pack(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def _escape(line: str) -> str:
    return re.sub(r"([()\\])", r"\\\1", line)
