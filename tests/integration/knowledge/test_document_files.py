"""Files as people have them: what cannot be read is one clear line, a long PDF costs the memory of a few pages."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from clients.document_files import DocumentFile, document_files
from clients.postgres.document_store import DocumentStore
from clients.postgres.pool import Database
from forum.config_knowledge import CollectionSection
from forum.errors import SourceError, UsageError
from forum.ports import Embedder
from forum.sections import sections

pypdf = pytest.importorskip("pypdf", reason="needs the `documents` extra")


def pdf(file: Path, pages: Sequence[str]) -> Path:
    """A PDF with a line of text a page, written by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        lines = " ".join(f"({line}) Tj 0 -14 Td" for line in text.split("\n"))
        stream = f"BT /F1 12 Tf 50 700 Td {lines} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {len(objects)} 0 R >>"
        )
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out, offsets = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    start = len(out)
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    file.write_bytes(out + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF".encode())
    return file


def encrypted(file: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=pdf(file, ["A secret."]))
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(file)


def problem(file: Path) -> str:
    with pytest.raises(SourceError) as raised:
        list(DocumentFile(file=file, path=file.name).read()[1])
    return str(raised.value)


def test_an_encrypted_file_says_so(tmp_path: Path) -> None:
    encrypted(tmp_path / "a.pdf")
    assert problem(tmp_path / "a.pdf") == "a.pdf: is encrypted; save a copy without a password."


def test_a_scanned_file_says_so(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(tmp_path / "a.pdf")
    assert "has no text in its 1 pages (scanned?)" in problem(tmp_path / "a.pdf")


@pytest.mark.parametrize("content", [b"%PDF-1.4\n\x00\x01 broken", b"no pdf at all", b"%PDF-1.7\ntrailer\n%%EOF"])
def test_a_broken_file_says_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(content)
    assert "a.pdf: cannot be read as a PDF" in problem(tmp_path / "a.pdf")


def test_a_file_that_was_cut_off_never_raises_anything_else(tmp_path: Path) -> None:
    whole = pdf(tmp_path / "whole.pdf", ["one", "two", "three"]).read_bytes()
    for end in range(0, len(whole), 97):
        (tmp_path / "a.pdf").write_bytes(whole[:end])
        with suppress(SourceError):
            list(DocumentFile(file=tmp_path / "a.pdf", path="a.pdf").read()[1])


@pytest.mark.parametrize(("name", "content"), [("a.md", b""), ("a.pdf", b""), ("b.txt", b"\0\0\1"), ("c.docx", b"PK")])
def test_empty_binary_and_unknown_files_are_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    line = problem(tmp_path / name)
    assert line.startswith(f"{name}: is ")
    assert "\n" not in line


def test_a_page_is_a_section_with_its_number(tmp_path: Path) -> None:
    file = pdf(tmp_path / "manual.pdf", ["The bridle is tied.\nIt never slips.", "The sail is washed."])
    title, blocks = DocumentFile(file=file, path="manual.pdf").read()
    assert title == "manual"
    assert [(one.page, one.anchor, one.text) for one in sections(blocks)] == [
        (1, "page=1", "The bridle is tied. It never slips."),
        (2, "page=2", "The sail is washed."),
    ]


def peak(file: Path) -> int:
    tracemalloc.start()
    pages = sum(1 for _ in DocumentFile(file=file, path=file.name).read()[1])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert pages > 0
    return most


@pytest.mark.slow
def test_five_hundred_pages_cost_under_forty_megabytes(tmp_path: Path) -> None:
    page = "\n".join(f"Line {n} of a page about kites and the many knots of their bridles" for n in range(20))
    assert peak(pdf(tmp_path / "many.pdf", [f"{n} {page}" for n in range(500)])) < 40_000_000


def test_a_bad_file_changes_nothing_and_the_others_go_on(
    database: Database, embedder: Embedder, tmp_path: Path
) -> None:
    store = DocumentStore(database, embedder, batch_tokens=8192)
    pdf(tmp_path / "good.pdf", ["The bridle is tied."])
    store.add("own", DocumentFile(file=tmp_path / "good.pdf", path="good.pdf"))
    (tmp_path / "good.pdf").write_bytes(b"%PDF-1.4 broken")
    with pytest.raises(SourceError):
        store.add("own", DocumentFile(file=tmp_path / "good.pdf", path="good.pdf"))
    assert [(one.path, one.sections) for one in store.listed()] == [("good.pdf", 1)]


def test_hidden_files_and_links_out_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "docs/.git").mkdir(parents=True)
    (tmp_path / "docs/.git/a.md").write_text("x")
    (tmp_path / "docs/b.md").write_text("x")
    (tmp_path / "secret.md").write_text("x")
    (tmp_path / "docs/out.md").symlink_to(tmp_path / "secret.md")
    assert [one.path for one in document_files(tmp_path / "docs")] == ["b.md"]


def test_a_path_that_is_not_there_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no"):
        document_files(tmp_path / "nowhere")


@pytest.mark.parametrize("url", ["ftp://x/{path}", "https://x/", "https://x/{path}/{nonsense}", "https://x/{path} b"])
def test_a_map_that_leads_nowhere_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        CollectionSection(url=url)
