"""Documents: their words stand in the place that is named, by another decode; what is not read has a reason."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

import docx
import openpyxl
import pptx
import pypdf
import pytest
from support.office import letters, make_book, make_open_document, make_pdf, read_places

from memu.ingest.document import BlockKind, Document
from memu.ingest.office.apart import Documents, Unread
from memu.ingest.office.forms import MISSING, find_form
from memu.ingest.office.redaction import redact_document
from memu.memorize.llm.chunks import cut_chunks
from memu.memorize.llm.evidence import Terms, check_items
from memu.memorize.llm.items import Item
from memu.records import Kind

pytestmark = pytest.mark.unit

DATA = Path(__file__).parents[1] / "data" / "office"
DOCUMENTS = Documents(most_text=1_000_000)
PAGES = ["Deploys go out on Tuesdays.\nNobody deploys on a Friday.", "", "The mascot is a heron called Ludwig."]


def read(name: str, data: bytes, documents: Documents = DOCUMENTS) -> Document | Unread:
    form = find_form(name, data)
    assert form is not None
    return documents.read(name, form, data)


def opened(name: str, data: bytes) -> Document:
    document = read(name, data)
    assert isinstance(document, Document), document
    return document


def refused(name: str, data: bytes, documents: Documents = DOCUMENTS) -> Unread:
    told = read(name, data, documents)
    assert isinstance(told, Unread), told
    return told


def saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()


def make_word(paragraphs: int = 45) -> bytes:
    made = docx.Document()
    made.add_paragraph("Handbook of the Harbour", style="Title")
    made.add_heading("Deploys", level=1)
    for number in range(paragraphs):
        made.add_paragraph(f"Rule {number}: the crane {number} is greased before the ship {number} lands.")
    made.add_heading("Steps", level=2)
    made.add_paragraph("Stop the queue", style="List Number")
    made.add_paragraph("Roll back", style="List Number")
    made.add_paragraph("Ask Ines", style="List Bullet")
    made.add_paragraph("only on weekdays", style="List Bullet 2")
    table = made.add_table(rows=2, cols=2)
    for cell, text in zip(
        [cell for row in table.rows for cell in row.cells], ["Port", "Depth", "Ghent", "12.5 m"], strict=True
    ):
        cell.text = text
    return saved(made)


def make_slides() -> bytes:
    made = pptx.Presentation()
    for title, body in (("Plan for 2031", "Buy a second crane"), ("Costs & risks", "Two <million> euros")):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
        slide.notes_slide.notes_text_frame.text = f"Say slowly: {title}"
    made.slides.add_slide(made.slide_layouts[6])
    return saved(made)


def make_sheets() -> bytes:
    made = openpyxl.Workbook()
    made.active.title = "Crew"
    made.active.append(["Name", "Berth"])
    for number in range(1, 50):
        made.active.append([f"Sailor {number}", number])
    other = made.create_sheet("Sums & more")
    other.append(["Total", "Of what"])
    other["A2"] = "=SUM(Crew!B2:B50)"
    other["XFD9999"] = "far away"
    return saved(made)


MADE: dict[str, Callable[[], bytes]] = {
    "made.docx": make_word,
    "made.pptx": make_slides,
    "made.xlsx": make_sheets,
    "made.epub": lambda: make_book(["<h1>One</h1><p>Ropes &amp; knots</p>", "<p>Second part</p>"]),
    "made.odt": lambda: make_open_document(
        '<office:text><text:h text:outline-level="1">Ropes</text:h><text:p>Tie<text:s text:c="2"/>it '
        "<text:span>well</text:span><text:note><text:note-body><text:p>or not at all</text:p></text:note-body>"
        "</text:note>.</text:p><text:list><text:list-item><text:p>bowline</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>Knot</text:p></table:table-cell>"
        "</table:table-row></table:table></office:text>"
    ),
    **{path.name: path.read_bytes for path in sorted(DATA.iterdir()) if path.suffix != ".pdf"},
}


@pytest.mark.parametrize("name", MADE)
def test_the_words_of_each_block_stand_in_its_place_by_another_decode(name: str) -> None:
    """P4 for what has no lines."""
    data = MADE[name]()
    places = read_places(PurePosixPath(name).suffix, data)
    document = opened(name, data)
    assert document.blocks
    for block in document.blocks:
        assert block.lines is None
        assert block.place
        if block.place.startswith("sheet Sums"):
            # Its formula was never worked out; the formula itself is told.
            continue
        where = places.get(block.place.removesuffix(", notes"), places.get("", ""))
        parts = block.text.split(" | ")
        if not block.place.endswith("notes"):
            assert all(letters(part) in letters(where) for part in parts), (block.place, block.text)


@pytest.mark.parametrize("pages", [PAGES, ["", *PAGES], [f"Fact {number} stands alone." for number in range(12)]])
def test_each_page_of_a_pdf_gives_its_own_words(pages: Sequence[str]) -> None:
    """P4: written by hand, so what is on which page is known without any reader."""
    document = opened("a.pdf", make_pdf(pages))
    told: dict[str | None, str] = {}
    for block in document.blocks:
        told[block.place] = told.get(block.place, "") + block.text
    assert {place: letters(text) for place, text in told.items()} == {
        f"page {number}": letters(text) for number, text in enumerate(pages, 1) if text
    }
    assert dict(document.damage).get("empty_page", 0) == sum(not text for text in pages)


def test_a_real_pdf_is_read_with_its_broken_words_whole() -> None:
    document = opened("test.pdf", (DATA / "test.pdf").read_bytes())
    text = " ".join(block.text for block in document.blocks)
    assert "There are at least three reasons confirming its general feasibility" in text
    assert "multi-agent" in text
    assert "multiagent" not in text
    assert {block.place for block in document.blocks} == {"page 1"}


def test_structure_of_a_word_document_is_kept() -> None:
    document = opened("made.docx", make_word())
    assert (document.title, document.titled, document.kind) == ("Handbook of the Harbour", True, Kind.DOCUMENT)
    by_text = {block.text: block for block in document.blocks}
    assert by_text["Stop the queue"].kind is BlockKind.STEP
    assert by_text["Stop the queue"].heading == ("Deploys", "Steps")
    assert (by_text["Ask Ines"].kind, by_text["Ask Ines"].depth) == (BlockKind.BULLET, 0)
    assert by_text["Ghent | 12.5 m"].parent == "Port | Depth"
    assert len({block.place for block in document.blocks}) > 2


def test_what_the_library_of_word_leaves_out_is_read() -> None:
    made = docx.Document()
    made.add_paragraph("Plain")
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(made))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/document.xml":
                data = data.replace(
                    b"<w:sectPr",
                    b"<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
                    b"<w:p><w:ins><w:r><w:t>Inserted</w:t></w:r></w:ins>"
                    b"<w:del><w:r><w:delText>Deleted</w:delText></w:r></w:del></w:p><w:sectPr",
                    1,
                )
            new.writestr(name, data)
    assert [block.text for block in opened("a.docx", out.getvalue()).blocks] == [
        "Plain",
        "In a control",
        "Inserted",
    ]


def test_a_sheet_is_a_table_and_a_far_cell_costs_nothing() -> None:
    document = opened("made.xlsx", make_sheets())
    assert document.kind is Kind.TABLE
    rows = {block.text: block for block in document.blocks}
    assert rows["Sailor 30 | 30"].place == "sheet Crew, rows 21–40"
    assert rows["Sailor 30 | 30"].parent == "Name | Berth"
    assert rows["=SUM(Crew!B2:B50)"].heading == ("Sums & more",)
    assert any(text.endswith("far away") for text in rows)


def test_slides_keep_titles_and_notes() -> None:
    document = opened("made.pptx", make_slides())
    told = [(block.place, block.kind, block.text) for block in document.blocks]
    assert ("slide 2", BlockKind.HEADING, "Costs & risks") in told
    assert ("slide 2", BlockKind.BULLET, "Two <million> euros") in told
    assert ("slide 2, notes", BlockKind.PARAGRAPH, "Say slowly: Costs & risks") in told
    assert dict(document.damage) == {"empty_slide": 1}


def test_open_sheets_and_slides_are_read_by_rows_and_slides() -> None:
    sheets = make_open_document(
        '<office:spreadsheet><table:table table:name="Fish"><table:table-row><table:table-cell>'
        "<text:p>Cod</text:p>"
        '</table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row>'
        "<table:table-row><table:table-cell><text:p>Eel</text:p></table:table-cell></table:table-row>"
        "</table:table></office:spreadsheet>"
    )
    found = opened("a.ods", sheets)
    assert [(block.text, block.place) for block in found.blocks] == [
        ("Cod", "sheet Fish, rows 1–20"),
        ("Eel", "sheet Fish, rows 1000001–1000020"),
    ]
    slides = make_open_document(
        "<office:presentation><draw:page><draw:frame><draw:text-box><text:p>One</text:p></draw:text-box>"
        "</draw:frame></draw:page><draw:page><draw:frame><draw:text-box><text:p>Two</text:p></draw:text-box>"
        "</draw:frame><presentation:notes><text:p>Hush</text:p></presentation:notes></draw:page>"
        "</office:presentation>"
    )
    assert [(block.text, block.place) for block in opened("a.odp", slides).blocks] == [
        ("One", "slide 1"),
        ("Two", "slide 2"),
        ("Hush", "slide 2, notes"),
    ]


def encrypted_pdf() -> bytes:
    writer = pypdf.PdfWriter(io.BytesIO(make_pdf(PAGES)))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (65 << 20))
    return out.getvalue()


UNREADABLE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "encrypted PDF": ("a.pdf", encrypted_pdf, "encrypted: save it without a password"),
    "pictures only": ("a.pdf", lambda: make_pdf(["", ""]), "its 2 pages are pictures"),
    "cut PDF": ("a.pdf", lambda: make_pdf(PAGES)[:40], "damaged"),
    "nothing but a head": ("a.pdf", lambda: b"%PDF-1.7\n", "damaged"),
    "a pointer to a PDF": ("a.pdf", lambda: b"version https://git-lfs.github.com/spec/v1\n", "no pdf in it"),
    "empty file": ("a.docx", lambda: b"", "empty"),
    "old form or password": ("a.docx", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "encrypted, or"),
    "another archive": ("a.docx", lambda: make_book(["<p>x</p>"]), "damaged"),
    "cut archive": ("a.xlsx", lambda: make_sheets()[:3000], "damaged: its archive"),
    "bomb": ("a.docx", bomb, "unpacks to more"),
    "locked book": ("a.epub", lambda: make_book(["<p>x</p>"], sealed=True), "its publisher has locked it"),
    "book without table": ("a.epub", lambda: make_word(1), "damaged: it has no table"),
    "locked text": ("a.odt", lambda: make_open_document("", encrypted=True), "encrypted"),
    "blank text": ("a.odt", lambda: make_open_document("<office:text/>"), "no text in it"),
    "entities": (
        "a.odt",
        lambda: make_open_document("<office:text><text:p>&undefined;</text:p></office:text>"),
        "damaged",
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_has_a_reason(case: str) -> None:
    """P5."""
    name, make, reason = UNREADABLE[case]
    told = refused(name, make())
    assert reason in told.reason
    assert not told.passing


def test_a_document_that_hangs_is_given_up_and_tried_again() -> None:
    """P5: nothing hangs; the reason may pass, so the file is to be retried."""
    told = refused("a.pdf", make_pdf(PAGES), Documents(most_text=1000, seconds=0.01))
    assert told == Unread(reason="opening it takes longer than 0.01 s", passing=True)


def test_a_document_of_too_much_text_is_skipped_like_a_text_too_large() -> None:
    told = refused("a.pdf", make_pdf(["word " * 300]), Documents(most_text=1000))
    assert told.reason.startswith("its text is larger than")


def test_without_the_extra_the_reason_names_the_command() -> None:
    for missing in ("pypdf", "docx", "pptx", "openpyxl", "lxml"):
        documents = Documents(most_text=1000, find=lambda name, missing=missing: None if name == missing else name)
        told = refused("a.pdf", make_pdf(PAGES), documents)
        assert told.reason == MISSING
        assert "pip install '.[documents]'" in told.reason


def test_a_key_over_many_paragraphs_is_redacted_as_in_a_text() -> None:
    """P11."""
    made = docx.Document()
    made.add_heading("Login AKIAIOSFODNN7EXAMPLQ", level=1)
    for line in ("Before", "-----BEGIN RSA PRIVATE KEY-----", *["MIIEpAIBAAKCAQEA7bq0" * 3] * 5):
        made.add_paragraph(line)
    made.add_paragraph("-----END RSA PRIVATE KEY-----")
    made.add_paragraph("After")
    document = opened("a.docx", saved(made))
    redacted, counts = redact_document(document, "a.docx")
    told = "\n".join([redacted.title, *(f"{block.heading} {block.text}" for block in redacted.blocks)])
    assert "MIIE" not in told
    assert "AKIA" not in told
    assert counts["private-key"] == 1
    assert [redacted.blocks[1].text, redacted.blocks[-1].text] == ["Before", "After"]
    assert len(redacted.blocks) == len(document.blocks)


def test_a_model_may_cite_one_page_and_not_two_at_once() -> None:
    """P4: of what has no lines, the place must hold all that is cited."""
    document = opened("plan.pdf", make_pdf(["The ferry moors at pier 4.", "A heron guards the fish at night."]))
    [chunk] = cut_chunks(document, 1000)
    said = [
        {"text": "The ferry moors at pier 4.", "lines": [1, 1], "type": "decision"},
        {"text": "The ferry moors at pier 4; a heron guards the fish.", "lines": [1, 2], "type": "knowledge"},
        {"text": "A heron guards the fish at night.", "lines": [2, 2], "type": "knowledge"},
    ]
    items = [Item.model_validate_json(json.dumps(each)) for each in said]
    checked = check_items(items, document, "plan.pdf", chunk, Terms())
    assert [candidate.place for candidate in checked.candidates] == ["page 1", "page 2"]
    assert checked.dropped == {"wide_place": 1}


@pytest.mark.parametrize("heading", ["", "Rules of the Harbour"])
@pytest.mark.parametrize("properties", ["none", "the library's own", "said"])
def test_a_word_file_is_named_by_what_a_person_wrote(heading: str, properties: str) -> None:
    made = docx.Document()
    made.core_properties.title = {"none": "", "the library's own": "Word Document", "said": "Crew"}[properties]
    if heading:
        made.add_heading(heading, 2)
    made.add_paragraph("The gate closes at ten.")
    data = saved(made)
    if properties == "none":
        data = without_member(data, "docProps/core.xml")
    document = opened("gate-rules.docx", data)
    assert document.title == ("Crew" if properties == "said" else heading or "gate rules")
    assert document.titled is (properties == "said" or bool(heading))


def without_member(data: bytes, name: str) -> bytes:
    """The archive without one member, nor what names it as a part."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            if member != name:
                kept = old.read(member)
                if member in ("_rels/.rels", "[Content_Types].xml"):
                    kept = re.sub(
                        rb"<(?:Relationship|Override) [^>]*core[.-]?(?:xml|properties)[^>]*/>", b"", kept
                    )
                new.writestr(member, kept)
    return out.getvalue()
