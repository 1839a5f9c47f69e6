"""Figures of the seats: how the belt lies, and where a child seat is fastened."""

from __future__ import annotations

from tools.demo.figures.pen import ACCENT, WHITE, Ink
from tools.demo.figures.sketch import (
    DARK,
    FINE,
    MID,
    PALE,
    PAPER,
    SEAM,
    TINT,
    Sketch,
)

_BOLD = Ink(fill=PALE, width=1.1)
_BOLD_MID = Ink(fill=MID, width=1.1)
_SKIN = Ink(fill=WHITE, width=1.0)
_CLOTH = Ink(fill=(0.955, 0.962, 0.968), width=1.0)


def _strap(sketch: Sketch, path: str, *, wide: float = 7.0) -> None:
    """A belt: a broad tinted band between two dark edges."""
    sketch.draw(Ink(line=ACCENT, width=wide), path)
    sketch.draw(Ink(line=TINT, width=wide - 2), path)


def belt(sketch: Sketch) -> None:
    """A person in the seat from the front, and from the side, with the belt where it must lie."""
    _from_the_front(sketch)
    _from_the_side(sketch)
    sketch.callout("1", 36, 40, (86, 71))
    sketch.callout("2", 36, 122, (92, 117))
    sketch.callout("1", 296, 46, (246, 73))
    sketch.callout("2", 306, 96, (247, 112))


def _from_the_front(sketch: Sketch) -> None:
    sketch.draw(
        _BOLD_MID,
        "R 84 8 124 34 9",
        "M 97 34 L 97 44 L 101 44 L 101 34 Z M 107 34 L 107 44 L 111 44 L 111 34 Z",
    )
    sketch.draw(_BOLD, "M 74 42 C 84 38 124 38 134 42 C 144 60 148 96 148 124 L 60 124 C 60 96 64 60 74 42 Z")
    sketch.draw(SEAM, "M 80 48 C 72 70 70 100 70 122 M 128 48 C 136 70 138 100 138 122")
    sketch.draw(
        _BOLD_MID,
        "M 58 118 C 64 112 144 112 150 118 C 154 130 152 142 146 144 L 62 144 C 56 142 54 130 58 118 Z",
    )
    sketch.draw(
        _CLOTH,
        "M 94 51 C 82 54 77 60 76 72 L 72 104 L 80 106 L 84 82 L 84 112 C 80 122 78 134 78 144 L 98 144 L 104 122 "
        "L 110 144 L 130 144 C 130 134 128 122 124 112 L 124 82 L 128 106 L 136 104 L 132 72 C 131 60 126 54 114 51 Z",
    )
    sketch.draw(_SKIN, "M 97 42 L 97 50 C 100 55 108 55 111 50 L 111 42 Z")
    sketch.draw(_SKIN, "E 104 31 11 14")
    sketch.draw(FINE, "M 94 28 C 96 18 112 18 114 28")
    _strap(sketch, "M 74 44 C 84 62 110 90 128 117")
    _strap(sketch, "M 80 116 C 92 121 116 121 128 117")
    sketch.draw(Ink(fill=DARK, width=0.8), "M 124 112 L 134 114 L 138 128 L 130 130 Z")


def _from_the_side(sketch: Sketch) -> None:
    sketch.draw(_BOLD, "M 176 34 C 186 32 192 38 196 52 L 212 116 L 200 126 L 190 122 Z")
    sketch.draw(_BOLD_MID, "M 172 8 C 184 4 190 10 190 20 C 190 30 182 34 176 30 C 170 26 168 12 172 8 Z")
    sketch.draw(
        _BOLD,
        "M 194 120 C 214 112 250 112 268 116 C 276 120 276 130 270 134 L 204 140 C 192 138 188 126 194 120 Z",
    )
    sketch.draw(
        _CLOTH,
        "M 196 46 C 210 42 224 50 230 66 L 238 98 L 270 98 C 282 98 286 104 290 112 L 300 142 L 286 144 L 272 120 "
        "L 222 122 C 210 120 206 112 204 100 L 192 56 Z",
    )
    sketch.draw(_SKIN, "M 206 36 L 208 46 C 212 50 218 48 219 42 L 217 34 Z")
    sketch.draw(_SKIN, "E 212 25 11 14")
    sketch.draw(FINE, "M 202 22 C 204 12 216 10 221 17")
    sketch.draw(
        _CLOTH, "M 208 62 C 214 58 222 62 224 68 L 232 84 L 256 82 L 257 90 L 228 95 C 222 92 212 76 208 62 Z"
    )
    _strap(sketch, "M 186 30 C 200 44 222 54 228 66 C 234 80 238 92 240 102", wide=6)
    _strap(sketch, "M 208 118 C 216 112 232 104 248 101", wide=6)


def isofix(sketch: Sketch) -> None:
    """The outer rear seat with both loops laid bare, and the strap over its backrest seen from the side."""
    _bench(sketch)
    _child_seat(sketch)


def _bench(sketch: Sketch) -> None:
    sketch.draw(
        _BOLD_MID, "R 62 6 104 30 8", "M 74 30 L 74 38 L 78 38 L 78 30 Z M 88 30 L 88 38 L 92 38 L 92 30 Z"
    )
    sketch.draw(_BOLD, "M 30 40 C 60 34 108 34 138 40 C 144 60 148 80 148 96 L 20 96 C 20 80 24 60 30 40 Z")
    sketch.draw(SEAM, "M 46 38 C 42 60 40 80 40 95 M 122 38 C 126 60 128 80 128 95 M 41 62 L 127 62")
    sketch.draw(
        _BOLD_MID, "M 16 100 C 40 94 128 94 152 100 C 160 112 162 126 158 134 L 10 134 C 6 126 8 112 16 100 Z"
    )
    sketch.draw(SEAM, "M 38 98 C 34 110 32 124 32 133 M 130 98 C 134 110 136 124 136 133")
    for x in (52, 116):
        sketch.draw(Ink(fill=DARK, width=0.9), f"R {x - 13} 84 {x + 13} 104 4")
        sketch.draw(
            Ink(line=ACCENT, width=4.2),
            f"M {x - 6} 88 L {x - 6} 97 C {x - 6} 100 {x + 6} 100 {x + 6} 97 L {x + 6} 88",
        )
        sketch.draw(
            Ink(line=TINT, width=2.2),
            f"M {x - 6} 88 L {x - 6} 97 C {x - 6} 100 {x + 6} 100 {x + 6} 97 L {x + 6} 88",
        )
        sketch.draw(PAPER, f"M {x - 13} 105 L {x + 13} 105 L {x + 10} 115 L {x - 10} 115 Z")
        sketch.draw(Ink(width=0.8, dashes="[1.2 1.2] 0"), f"M {x - 11} 113 L {x + 11} 113")
        sketch.callout("1", 84, 78, (x + (11 if x < 84 else -11), 91))


def _child_seat(sketch: Sketch) -> None:
    sketch.draw(SEAM, "M 176 134 L 318 134")
    sketch.draw(_BOLD, "M 276 32 C 286 28 294 32 296 40 L 304 124 L 286 128 Z")
    sketch.draw(_BOLD_MID, "R 274 8 292 28 7", "M 281 28 L 281 32 L 286 32 L 286 28 Z")
    sketch.draw(_BOLD, "M 186 116 C 210 106 262 104 288 110 L 288 130 L 196 132 C 184 130 180 120 186 116 Z")
    sketch.draw(
        Ink(fill=WHITE, width=1.2),
        "M 196 104 C 204 100 226 100 240 98 C 250 80 256 52 262 34 C 266 28 276 30 275 38 C 274 66 268 94 262 108 "
        "L 204 114 C 192 114 190 108 196 104 Z",
    )
    sketch.draw(
        SEAM, "M 206 106 C 230 106 246 106 254 102 C 262 84 266 60 269 38", "M 222 100 C 226 88 238 84 247 82"
    )
    sketch.draw(Ink(line=ACCENT, width=4.6), "M 252 116 L 282 116")
    sketch.draw(Ink(line=TINT, width=2.4), "M 252 116 L 284 116")
    sketch.draw(Ink(line=ACCENT, width=1.6), "A 287 116 3 0 360")
    sketch.draw(Ink(line=ACCENT, width=1.8), "M 270 40 C 278 34 288 30 297 42 L 306 92")
    sketch.draw(Ink(line=ACCENT, width=1.6), "M 306 92 L 307 98 C 307 102 302 102 302 99")
    sketch.arrow((216, 90), (240, 90))
    sketch.callout("1", 240, 126, (284, 117))
    sketch.callout("2", 320, 72, (306, 98))
