"""Books (EPUB): an archive of web pages, read by the reader of web pages in the order of the book."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from memu.errors import ReadError
from memu.ingest.encoding import decode
from memu.ingest.office.archive import open_archive, parse_xml, read_member
from memu.ingest.office.transcript import Outline, Transcript
from memu.ingest.readers.html_blocks import parse_html

__all__ = ["read_book"]

_CONTAINER = "META-INF/container.xml"
_OCF = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})


def read_book(data: bytes, outline: Outline) -> Transcript:
    """The pages of the book's spine, each a part with its number in it.

    Raises:
        ReadError: it is damaged, encrypted or unpacks to too much.
    """
    archive = open_archive(data)
    package, folder = _find_package(archive)
    sealed = read_member(archive, "META-INF/encryption.xml") or b""
    for number, name in enumerate(_list_pages(package, folder), 1):
        outline.place = f"part {number}"
        outline.open_section()
        # What rights management has locked is named there; fonts may be as well, and say nothing.
        if name.encode() in sealed:
            raise ReadError("encrypted: its publisher has locked it")
        page = _read_page(archive, name)
        if page is None:
            outline.damage["bad_page"] += 1
        else:
            outline.add_blocks(parse_html(page, outline.damage).blocks)
    title = package.find(f".//{_TITLE}")
    return outline.finish(title="".join(title.itertext()) if title is not None else "")


def _find_package(archive: ZipFile) -> tuple[Any, str]:
    """The book's own table of what is in it, and the folder that its names are relative to."""
    container = read_member(archive, _CONTAINER)
    roots = parse_xml(container).iter(f"{_OCF}rootfile") if container else ()
    name = next((each.get("full-path", "") for each in roots), "")
    package = read_member(archive, name)
    if package is None:
        raise ReadError("damaged: it has no table of its pages")
    return parse_xml(package), posixpath.dirname(name)


def _list_pages(package: Any, folder: str) -> list[str]:
    items = {
        item.get("id"): item.get("href", "")
        for item in package.iter(f"{_OPF}item")
        if item.get("media-type") in _PAGES
    }
    wanted = (items.get(each.get("idref")) for each in package.iter(f"{_OPF}itemref"))
    return [posixpath.normpath(posixpath.join(folder, unquote(href.split("#")[0]))) for href in wanted if href]


def _read_page(archive: ZipFile, name: str) -> str | None:
    data = read_member(archive, name)
    try:
        return decode(data).text if data is not None else None
    except ReadError:
        return None
