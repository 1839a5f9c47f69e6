"""Figures of the seats: how the belt lies, and where a child seat is fastened."""

from __future__ import annotations

from tools.demo.figures.pen import ACCENT, WHITE, Ink, Rgb
from tools.demo.figures.sketch import BOLD, BOLD_SHADE, DARK, PAPER, SEAM, TINT, Sketch

_SKIN = Ink(fill=WHITE, width=1.0)
_CLOTH: Rgb = (0.955, 0.962, 0.968)


def _strap(sketch: Sketch, path: str, *, wide: float = 7.0) -> None:
    """A belt: a broad tinted band between two dark edges."""
    sketch.draw(Ink(line=ACCENT, width=wide), path)
    sketch.draw(Ink(line=TINT, width=wide - 2), path)


def belt(sketch: Sketch) -> None:
    """A person in the seat from the front, and from the side, with the belt where it must lie."""
    _from_the_front(sketch)
    _from_the_side(sketch)
    sketch.callout("1", 34, 40, (86, 63))
    sketch.callout("2", 34, 122, (94, 121.4))
    sketch.callout("1", 284, 34, (219, 57.6))
    sketch.callout("2", 306, 78, (225, 106))


def _limb(sketch: Sketch, path: str, wide: float) -> None:
    """An arm, a leg or a trunk: a thick line with round ends and an outline."""
    sketch.draw(Ink(width=wide), path)
    sketch.draw(Ink(line=_CLOTH, width=wide - 2), path)


def _from_the_front(sketch: Sketch) -> None:
    """The person in the seat as seen through the windscreen."""
    sketch.draw(BOLD_SHADE, "R 84 6 124 32 9", "R 97 32 101 44 0", "R 107 32 111 44 0")
    sketch.draw(BOLD, "M 72 44 C 84 39 124 39 136 44 C 145 60 149 96 149 124 L 59 124 C 59 96 63 60 72 44 Z")
    sketch.draw(
        BOLD_SHADE,
        "M 56 120 C 64 114 144 114 152 120 C 156 132 154 142 148 146 L 60 146 C 54 142 52 132 56 120 Z",
    )
    _limb(sketch, "M 95 114 L 87 134", 22)
    _limb(sketch, "M 113 114 L 121 134", 22)
    sketch.draw(
        Ink(fill=_CLOTH, width=1.0),
        "M 96 51 C 84 53 77 57 77 68 L 83 114 C 84 122 124 122 125 114 L 131 68 C 131 57 124 53 112 51 Z",
    )
    _limb(sketch, "M 79 65 C 72 80 70 92 73 99 L 90 107", 12)
    _limb(sketch, "M 129 65 C 136 80 138 92 135 99 L 118 107", 12)
    sketch.draw(_SKIN, "M 97.6 42 L 97.6 50 C 100 55 108 55 110.4 50 L 110.4 42 Z", "E 104 30 11 14.5")
    sketch.draw(SEAM, "M 94 25 C 96 14 112 14 114 25")
    _strap(sketch, "M 73 45 C 82 60 108 92 129 118")
    _strap(sketch, "M 81 117 C 92 124 116 124 129 119")
    sketch.draw(Ink(fill=DARK, width=0.8), "M 125 113 L 135 115 L 139 129 L 131 131 Z")


def _from_the_side(sketch: Sketch) -> None:
    """The same person from the left."""
    sketch.draw(BOLD, "M 178 36 C 188 34 194 40 197 54 L 212 116 L 200 126 L 192 122 Z")
    sketch.draw(BOLD_SHADE, "M 175 8 C 186 4 192 10 193 20 C 193 30 186 34 180 31 C 173 26 171 12 175 8 Z")
    sketch.draw(
        BOLD,
        "M 194 122 C 214 114 246 116 264 120 C 272 124 272 134 266 138 L 204 144 C 192 142 188 128 194 122 Z",
    )
    _limb(sketch, "M 268 105 L 292 136", 16)
    _limb(sketch, "M 222 107 L 268 105", 20)
    _limb(sketch, "M 211 62 L 219 104", 30)
    sketch.draw(Ink(line=_CLOTH, width=17), "M 224 107 L 236 106.5")
    sketch.draw(_SKIN, "M 205 38 L 206 47 C 210 51 217 50 219 45 L 218 38 Z", "E 213 27 11 14.5")
    sketch.draw(SEAM, "M 203 24 C 204 12 217 9 222 18")
    _strap(sketch, "M 189 38 C 200 50 216 52 224 64 C 232 78 234 90 236 100", wide=6)
    _strap(sketch, "M 206 121 C 214 114 224 106 238 99", wide=6)
    _limb(sketch, "M 214 66 L 226 92 L 254 86", 11)


def isofix(sketch: Sketch) -> None:
    """The outer rear seat with both loops laid bare, and the strap over its backrest seen from the side."""
    _bench(sketch)
    _child_seat(sketch)


def _bench(sketch: Sketch) -> None:
    """One outer rear seat with its covers open."""
    sketch.draw(
        BOLD_SHADE, "R 62 6 104 30 8", "M 74 30 L 74 38 L 78 38 L 78 30 Z M 88 30 L 88 38 L 92 38 L 92 30 Z"
    )
    sketch.draw(BOLD, "M 30 40 C 60 34 108 34 138 40 C 144 60 148 80 148 96 L 20 96 C 20 80 24 60 30 40 Z")
    sketch.draw(SEAM, "M 46 38 C 42 60 40 80 40 95 M 122 38 C 126 60 128 80 128 95 M 41 62 L 127 62")
    sketch.draw(
        BOLD_SHADE,
        "M 16 100 C 40 94 128 94 152 100 C 160 112 162 126 158 134 L 10 134 C 6 126 8 112 16 100 Z",
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
    sketch.callout("1", 84, 78, (63, 91), (105, 91))


def _child_seat(sketch: Sketch) -> None:
    """The child seat from the side, with its arms and the strap over the backrest."""
    sketch.draw(SEAM, "M 176 134 L 318 134")
    sketch.draw(BOLD, "M 276 32 C 286 28 294 32 296 40 L 304 124 L 286 128 Z")
    sketch.draw(BOLD_SHADE, "R 274 8 292 28 7", "M 281 28 L 281 32 L 286 32 L 286 28 Z")
    sketch.draw(BOLD, "M 186 116 C 210 106 262 104 288 110 L 288 130 L 196 132 C 184 130 180 120 186 116 Z")
    sketch.draw(
        Ink(fill=WHITE, width=1.2),
        "M 196 104 C 204 100 226 100 240 98 C 250 80 256 52 262 34 C 266 28 276 30 275 38 "
        "C 274 66 268 94 262 108 "
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
