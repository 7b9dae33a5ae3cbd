"""Pages of PDFs with texts at given places."""

from __future__ import annotations

from collections.abc import Sequence

COLUMNS = (72, 250, 400)
LINE = 18


def pdf_page(lines: Sequence[Sequence[str]]) -> bytes:
    """Return a PDF with one page; each line has a text per column."""
    operators = []
    for number, cells in enumerate(lines):
        for x, cell in zip(COLUMNS, cells, strict=False):
            content = cell.encode("cp1252").decode("latin-1").replace("(", "\\(").replace(")", "\\)")
            operators.append(f"BT /F1 11 Tf {x} {720 - LINE * number} Td ({content}) Tj ET")
    stream = "\n".join(operators)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        " /Resources << /Font << /F1 3 0 R >> >> >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()
