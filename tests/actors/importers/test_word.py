"""Word documents: what is kept of them as Markdown, what is left out, and which files are refused."""

import random
from pathlib import Path
from time import process_time
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest

from actors.importers.markup.word import MAX_XML
from actors.importers.notes.documents import parse
from actors.importers.records import Broken, Document, FormatError
from tests.actors.importers.test_damaged import INSERTED
from tests.actors.importers.test_sources import read

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

STYLES = f"""{HEAD}<w:styles xmlns:w="{W}">
<w:style w:type="paragraph" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/><w:basedOn w:val="Standard"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:basedOn w:val="Standard"/>
<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="Heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Kapitel"><w:name w:val="Chapter"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Verzeichnis1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Liste"><w:name w:val="List Bullet"/>
<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
</w:styles>"""

CORE = f"""{HEAD}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<dc:title>Template of the club</dc:title><cp:lastPrinted>2026-05-01T08:00:00Z</cp:lastPrinted>
<dcterms:created xsi:type="dcterms:W3CDTF">2024-03-05T09:30:00+01:00</dcterms:created>
<dcterms:modified xsi:type="dcterms:W3CDTF">2026-05-02T08:00:00Z</dcterms:modified></cp:coreProperties>"""

BODY = """
<w:p><w:pPr><w:pStyle w:val="Titel"/></w:pPr><w:r><w:t>Bee </w:t></w:r><w:r><w:t>club</w:t></w:r></w:p>
<w:sdt><w:sdtContent><w:p><w:pPr><w:pStyle w:val="Verzeichnis1"/></w:pPr><w:r><w:t>Hives 1</w:t></w:r></w:p>
</w:sdtContent></w:sdt>
<w:p><w:pPr><w:pStyle w:val="Kapitel"/></w:pPr><w:bookmarkStart w:id="0"/><w:r><w:t>Hives</w:t></w:r></w:p>
<w:p><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">Hive two is </w:t></w:r>
<w:del w:id="1" w:author="Ole"><w:r><w:delText>weak</w:delText></w:r></w:del>
<w:ins w:id="2" w:author="Ole"><w:r><w:t>strong</w:t></w:r></w:ins><w:r><w:t>,</w:t><w:br/><w:t>see </w:t></w:r>
<w:hyperlink r:id="rId9"><w:r><w:t>the log</w:t></w:r></w:hyperlink><w:r><w:footnoteReference w:id="2"/></w:r>
<w:commentRangeStart w:id="0"/><w:r><w:t>.</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r>
<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Liste"/></w:pPr><w:r><w:t>Feed</w:t></w:r></w:p>
<w:p><w:pPr><w:numPr><w:ilvl w:val="2"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>sugar</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Liste"/><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr><w:r><w:t>No item.</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Work</w:t></w:r></w:p>
<w:tbl><w:tblPr/><w:tr><w:tc><w:p><w:r><w:t>Month</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>Task</w:t></w:r></w:p></w:tc></w:tr>
<w:tr><w:tc><w:p><w:r><w:t>May</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>swarms</w:t></w:r></w:p><w:p><w:r><w:t>frames</w:t></w:r></w:p>
</w:tc></w:tr><w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>
<w:tbl><w:tr><w:tc><w:p><w:pPr><w:outlineLvl w:val="1"/></w:pPr><w:r><w:t>Boxed</w:t></w:r></w:p>
<w:p><w:r><w:t>In a frame.</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
<w:p><w:r><mc:AlternateContent><mc:Choice Requires="wps">
<w:drawing><a:blip/><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p>
</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></mc:Fallback>
</mc:AlternateContent></w:r></w:p>
<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>"""

TEXT = """# Bee club

## Hives

Hive two is strong,
see the log.

- Feed
  - sugar

No item.

### Work

Month | Task
May | swarms frames

### Boxed

In a frame.

In a box."""


def relations(*kinds: tuple[str, str]) -> str:
    """Return the relationships of a package or a part: kinds and targets."""
    return (
        f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="r{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
            for number, (kind, target) in enumerate(kinds)
        )
        + "</Relationships>"
    )


def document(body: str) -> str:
    """Return the main part of a document."""
    spaces = f'xmlns:w="{W}" xmlns:r="{OFFICE}" xmlns:mc="urn:mc" xmlns:a="urn:a"'
    return f"{HEAD}<w:document {spaces}><w:body>{body}</w:body></w:document>"


def word(file: Path, main: str, core: str = CORE, name: str = "document.xml", method: int = ZIP_DEFLATED) -> Path:
    """Write a document as Word does; the main part is called otherwise by Word in a browser."""
    parts = {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types"/>',
        "_rels/.rels": relations(("officeDocument", f"word/{name}"), ("core-properties", "docProps/core.xml")),
        "docProps/core.xml": core,
        f"word/{name}": main,
        f"word/_rels/{name}.rels": relations(("styles", "styles.xml")),
        "word/styles.xml": STYLES,
    }
    with ZipFile(file, "w", method) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return file


@pytest.mark.parametrize("name", ["document.xml", "document2.xml"])
def test_a_document_becomes_markdown_without_what_was_deleted(tmp_path: Path, name: str) -> None:
    read_ = parse(word(tmp_path / "a.docx", document(BODY), name=name))
    assert isinstance(read_, Document)
    assert read_.body == TEXT
    assert read_.left_out == {"deleted passages": 1, "footnotes": 1, "comments": 1, "images": 1}


def test_a_document_is_a_note_of_its_title_made_when_its_name_or_else_word_says(tmp_path: Path) -> None:
    for name in ("minutes.docx", "2025-01-31 minutes.docx", "~$minutes.docx"):
        word(tmp_path / name, document(BODY))
    (tmp_path / "~$minutes.docx").write_bytes(b"\x05Ilse")
    (tmp_path / "new.docx").touch()
    name, items, broken, skipped = read(tmp_path)
    assert (name, broken, skipped["comments"], skipped["empty files"]) == ("a folder of notes", [], 2, 1)
    assert [item["metadata"]["title"] for item in items] == ["Bee club"] * 2
    assert [item["created_at"] for item in items] == ["2025-01-31", "2024-03-05T09:30:00+01:00"]


def test_a_document_keeps_its_id_when_word_writes_it_anew_and_is_divided_at_its_headings(tmp_path: Path) -> None:
    text = "".join(
        f"<w:p><w:r><w:t>Frame {number} of hive two is full of brood.</w:t></w:r></w:p>" for number in range(60)
    )
    long = document(BODY.replace("<w:tbl>", f"{text}<w:tbl>", 1))
    before = read(word(tmp_path / "a.docx", long))[1]
    after = read(word(tmp_path / "a.docx", long, CORE.replace("2026-05-02", "2026-06-07")))[1]
    assert [item["id"] for item in before] == [item["id"] for item in after]
    assert len(before) > 2
    assert before[1]["content"].startswith("Bee club › Hives\n\n### Work")


def test_the_time_of_a_template_is_not_that_of_a_document(tmp_path: Path) -> None:
    core = CORE.replace("2024-03-05T09:30:00+01:00", "2013-12-23T23:15:00Z")
    (item,) = read(word(tmp_path / "a.docx", document(BODY), core))[1]
    assert not item["created_at"].startswith("2013")


ENTITIES = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
FILLED = '<!DOCTYPE d [<!ENTITY a SYSTEM "/etc/hostname">]>'


@pytest.mark.parametrize(
    ("main", "problem"),
    [
        (document("<w:p><w:r><w:t>&b;</w:t></w:r></w:p>").replace(HEAD, HEAD + ENTITIES), "declares a document type"),
        (document("<w:p><w:r><w:t>&a;</w:t></w:r></w:p>").replace(HEAD, HEAD + FILLED), "declares a document type"),
        (document("<w:p/>" * (MAX_XML // 6)), "has more than 32 MB: save it in several documents"),
        (document("<w:ins>" * 100_000 + "</w:ins>" * 100_000), "nested too deep"),
        (document("<w:p>" + "<w:ins>" * 200 + "<w:t/>" * 5_000_000 + "</w:ins>" * 200 + "</w:p>"), "nested too deep"),
        (document("<w:p>"), "mismatched tag"),
        ("", "no element found"),
    ],
    ids=["entities", "a file as entity", "a bomb", "depth", "depth and length", "no XML", "nothing"],
)
def test_a_hostile_or_damaged_document_is_refused(tmp_path: Path, main: str, problem: str) -> None:
    begun = process_time()
    with pytest.raises(FormatError, match=problem):
        read(word(tmp_path / "a.docx", main))
    assert process_time() - begun < 30


@pytest.mark.parametrize(
    ("kinds", "problem"),
    [
        ((), "it doesn't say which of its parts is the text; nothing"),
        ((("officeDocument", "word/none.xml"),), "it has no part 'word/none.xml'; nothing"),
    ],
)
def test_an_archive_without_the_text_of_a_document_is_refused_in_a_sentence(
    tmp_path: Path, kinds: tuple[tuple[str, str], ...], problem: str
) -> None:
    with ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("_rels/.rels", relations(*kinds))
    with pytest.raises(FormatError, match=f"not a Word document: {problem}"):
        read(tmp_path / "a.docx")


@pytest.mark.parametrize("name", ["ilvl", "outlineLvl"])
def test_a_level_of_thousands_of_digits_is_none(tmp_path: Path, name: str) -> None:
    level = f'<w:{name} w:val="{"1" * 5_000}"/>'
    paragraph = f"<w:p><w:pPr>{level}<w:numPr>{level}</w:numPr></w:pPr><w:r><w:t>Feed them.</w:t></w:r></w:p>"
    read_ = parse(word(tmp_path / "a.docx", document(paragraph)))
    assert isinstance(read_, Document)
    assert read_.body == "Feed them."


@pytest.mark.parametrize("content", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"text"])
def test_what_is_no_archive_such_as_a_document_with_a_password_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.docx").write_bytes(content)
    with pytest.raises(FormatError, match=r"save it by Word as \.docx, without a password; nothing was imported"):
        read(tmp_path / "a.docx")


def test_a_damaged_part_is_named_whatever_packed_it(tmp_path: Path) -> None:
    file = word(tmp_path / "a.docx", document(BODY), method=ZIP_LZMA)
    with ZipFile(file) as archive:
        start = archive.getinfo("word/document.xml").header_offset + 30 + len("word/document.xml")
    data = bytearray(file.read_bytes())
    data[start + 20 : start + 120] = b"\xff" * 100
    file.write_bytes(data)
    read_ = parse(file)
    assert isinstance(read_, Broken)
    assert read_.reason.startswith("not a Word document: ")


def test_a_damaged_document_is_read_or_named(tmp_path: Path) -> None:
    rng = random.Random(1)
    sound = word(tmp_path / "sound.docx", document(BODY)).read_bytes()
    outcomes = []
    for number in range(200):
        data = bytearray(sound if number % 2 else document(BODY).encode())
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(data))
            data[place : place + rng.choice((0, 1, 9))] = rng.choice((*INSERTED, b"", bytes([rng.randrange(256)])))
        file = tmp_path / "damaged.docx"
        if number % 2:
            file.write_bytes(data)
        else:
            word(file, data.decode("latin-1"))
        outcomes.append(isinstance(parse(file), Broken))
    assert {*outcomes} == {True, False}
