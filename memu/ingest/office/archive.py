"""Documents that are archives of XML: opened within bounds, so that none unpacks to more than may be held."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO
from typing import Any

from memu.errors import ReadError

__all__ = ["open_archive", "parse_xml", "read_member"]

_MOST_MEMBERS = 20_000
_MOST_BYTES = 512 << 20
_MOST_MARKUP = 64 << 20
_MARKUP = (".xml", ".rels", ".html", ".xhtml", ".htm", ".opf", ".ncx", ".vml", ".svg", ".css")
_ENCRYPTED = 0x1


def open_archive(data: bytes) -> zipfile.ZipFile:
    """The archive, once what it says of itself is within bounds; the library reads no member beyond its said size.

    Raises:
        ReadError: it is damaged, encrypted, or unpacks to too much.
    """
    try:
        archive = zipfile.ZipFile(BytesIO(data))
        members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ReadError("damaged: its archive cannot be opened") from error
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise ReadError("encrypted: save it without a password")
    markup = sum(member.file_size for member in members if member.filename.lower().endswith(_MARKUP))
    whole = sum(member.file_size for member in members)
    if len(members) > _MOST_MEMBERS or whole > _MOST_BYTES or markup > _MOST_MARKUP:
        raise ReadError("unpacks to more than is read (64 MiB of markup, 512 MiB in all)")
    return archive


def read_member(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """A member's bytes; None where it is missing or damaged."""
    try:
        return archive.read(name)
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError):
        return None


def parse_xml(data: bytes) -> Any:
    """The root element, an ``lxml`` one: no entity is resolved and nothing outside of it is fetched.

    Raises:
        ReadError: it is no XML.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise ReadError("damaged: its XML does not parse") from error
