"""Small real files, made on the fly: a PDF that opens, a PNG that shows, a CSV that parses, random bytes."""

import hashlib
import json
import struct
import zlib
from pathlib import Path
from typing import Final

from claim_check.contract import MIB

_CSV_HEADER: Final = "id,occurredAt,amount,note\n"
_BLOCK_BYTES: Final = 1 * MIB


def write_json(path: Path) -> Path:
    """A small JSON document."""
    path.write_text(json.dumps({"documentId": "doc-789", "status": "received", "pages": 3}), encoding="utf-8")
    return path


def write_pdf(path: Path, *, text: str = "Claim check") -> Path:
    """A PDF of one page that says ``text``."""
    content = f"BT /F1 24 Tf 72 720 Td ({text}) Tj ET".encode("ascii")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources 6 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Font << /F1 5 0 R >> >>",
    ]
    body, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, item in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    start = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    body += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    body += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    path.write_bytes(body)
    return path


def write_png(path: Path, *, side: int = 256) -> Path:
    """A square PNG, a gradient of ``side`` pixels."""
    rows = b"".join(
        b"\x00" + bytes(value for column in range(side) for value in (row % 256, column % 256, 128))
        for row in range(side)
    )
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, data) for name, data in chunks))
    return path


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_csv(path: Path, *, size: int = 5 * MIB) -> int:
    """A CSV of at least ``size`` bytes with quoted line breaks in it; returns its number of rows without the header."""
    rows = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        written = file.write(_CSV_HEADER)
        while written < size:
            written += file.write(f'{rows},2026-07-06T10:15:30Z,{rows % 1000}.50,"line one\nline two, of row {rows}"\n')
            rows += 1
    return rows


def write_binary(path: Path, *, size: int = 64 * MIB, seed: bytes = b"claim-check") -> Path:
    """Bytes that do not compress and are the same every time."""
    digest = hashlib.shake_256(seed).digest(_BLOCK_BYTES)
    with path.open("wb") as file:
        for number in range(-(-size // _BLOCK_BYTES)):
            block = number.to_bytes(8, "big") + digest[8:]
            file.write(block[: min(_BLOCK_BYTES, size - number * _BLOCK_BYTES)])
    return path
