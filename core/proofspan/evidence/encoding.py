"""A page's pixels as the bytes that a browser gets: lossless while that is small, within a bound always.

Text on white is small as PNG, and without its two superfluous channels smaller still. A photograph is not:
it becomes a JPEG. Only the worker process imports this.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from proofspan.evidence.png import CHANNELS, encode_grey, encode_rgb
from proofspan.evidence.types import Mime

#: Every so many pixels are looked at first: where there is colour, they mostly show it.
SAMPLE = 17
#: JPEG qualities from the best one that is tried down to the least that still reads well.
QUALITIES = (85, 75, 60)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A picture's bytes and what they are."""

    data: bytes
    mime: Mime


def grey_of(pixels: bytes) -> bytes | None:
    """One byte a pixel where all three channels of an RGB picture are the same, None where it has colour."""
    step = SAMPLE * CHANNELS
    if not pixels[::step] == pixels[1::step] == pixels[2::step]:
        return None
    red = pixels[::CHANNELS]
    return red if red == pixels[1::CHANNELS] and red == pixels[2::CHANNELS] else None


def encode(pixels: bytes, width: int, height: int, *, max_bytes: int) -> Encoded:
    """An RGB picture (3 bytes a pixel, rows from the top) as the first kind that has at most `max_bytes`.

    PNG, grey where the picture is; else JPEG. The last of these where none is as small: the caller then asks
    with fewer pixels.
    """
    for encoded in _kinds(pixels, width, height):
        if len(encoded.data) <= max_bytes:
            break
    return encoded


def _kinds(pixels: bytes, width: int, height: int) -> Iterator[Encoded]:
    """The picture as PNG, then as JPEG of falling quality."""
    grey = grey_of(pixels)
    png = encode_grey(grey, width, height) if grey is not None else encode_rgb(pixels, width, height)
    yield Encoded(png, "image/png")
    from PIL import Image  # most workers never see a page that needs it

    mode, samples = ("L", grey) if grey is not None else ("RGB", pixels)
    image = Image.frombuffer(mode, (width, height), samples, "raw", mode, 0, 1)
    for quality in QUALITIES:
        jpeg = BytesIO()
        image.save(jpeg, "JPEG", quality=quality)
        yield Encoded(jpeg.getvalue(), "image/jpeg")
