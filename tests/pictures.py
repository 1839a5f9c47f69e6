"""Picture files made for tests: sound ones by Pillow, hostile ones byte by byte."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


def saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    """The bytes of a picture file of this kind."""
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def two_colours(width: int = 40, height: int = 20, mode: str = "RGB") -> Image.Image:
    """Red on the left, blue on the right."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(BLUE, (width // 2, 0, width, height))
    return image.convert(mode)


def png_of(width: int, height: int, *more: bytes, rows: bytes = b"") -> bytes:
    """Return a PNG that declares this size in grey pixels of 8 bits, whatever rows it holds."""
    header = struct.pack("!IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = chunk(b"IDAT", rows or zlib.compress(b"\0"))
    return b"".join((SIGNATURE, chunk(b"IHDR", header), *more, data, chunk(b"IEND", b"")))


def chunk(kind: bytes, data: bytes) -> bytes:
    """One PNG chunk with a true checksum."""
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))


def opened(png: bytes) -> Image.Image:
    """A PNG as a picture again, decoded."""
    image = Image.open(BytesIO(png))
    image.load()
    return image
