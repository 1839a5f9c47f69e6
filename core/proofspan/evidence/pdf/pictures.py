"""Decode picture files and encode them as PNG. Only the worker process, which may be killed, imports this.

The result has nothing of the stranger's file but its pixels: no metadata, colour profile or animation.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from io import BytesIO
from pathlib import Path
from typing import get_args

from PIL import Image, ImageOps

from proofspan.errors import EvidenceFault
from proofspan.evidence.pdf.files import PictureKind, read_picture
from proofspan.evidence.pdf.png import encode_png
from proofspan.evidence.types import Picture

#: Larger pictures are refused by their header, before a row is decoded.
MAX_PIXELS = 40_000_000
#: The longer side of the result, in pixels.
MAX_SIDE = 1_600
PAPER = (255, 255, 255)
#: Exceptions of Pillow on a broken file.
BROKEN: tuple[type[Exception], ...] = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, AttributeError, EOFError, ArithmeticError,
    RuntimeError, struct.error, zlib.error,
)  # fmt: skip

Image.MAX_IMAGE_PIXELS = MAX_PIXELS
warnings.simplefilter("error", Image.DecompressionBombWarning)


def decode(path: Path) -> Picture:
    """Decode the first frame of a picture file, upright, on white, at most `MAX_SIDE` pixels a side.

    Raises `EvidenceFault` with the codes of `read_picture`, or `too_large` or `picture_broken`.
    """
    data = read_picture(path)
    try:
        with Image.open(BytesIO(data), formats=get_args(PictureKind)) as image:
            image.thumbnail((MAX_SIDE, MAX_SIDE))
            upright = ImageOps.exif_transpose(image)
            width, height = upright.size
            return Picture(encode_png(_on_paper(upright).tobytes(), width, height), width, height)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        message, fix = f"the picture has more than {MAX_PIXELS:,} pixels", "save it again with fewer pixels"
        raise EvidenceFault.of("too_large", message, where=str(path), fix=fix) from error
    except BROKEN as error:
        message = "the picture is broken or was cut short: it cannot be decoded"
        fix = "save it again from the program that made it"
        raise EvidenceFault.of("picture_broken", message, where=str(path), fix=fix) from error


def _on_paper(image: Image.Image) -> Image.Image:
    """The picture in RGB, with white where it is transparent."""
    if image.mode.startswith("I"):  # Pillow clips 16 bits at 255 instead of scaling them
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    paper = Image.new("RGB", layer.size, PAPER)
    paper.paste(layer, mask=layer)
    return paper
