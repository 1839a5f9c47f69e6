"""The spans that are hard to place: a page, a quote, and the words that its boxes must cover.

`python -m tests.span_goldens` writes what is found for each into `tests/golden/spans`: a record and a picture
to look at. `right-to-left.pdf` there was printed by a browser, which writes Hebrew and Arabic as browsers do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pymupdf

from proofspan.contracts.records.records import Offsets
from proofspan.evidence.types import SpanQuery
from tests.places import DEMO
from tests.span_pages import cells, lines, together, upright, write

GOLDENS = Path(__file__).parent / "golden" / "spans"
MANUAL = DEMO / "corpus" / "meridian-2026.pdf"
RIGHT_TO_LEFT = GOLDENS / "right-to-left.pdf"

COOLANT = (
    "Let the engine cool down before you open the cap.",
    "Hot coolant is under pressure and can scald you.",
    "Turn the cap slowly, first to the stop,",
    "and wait until the hissing has ended.",
    "Fill up only to the upper mark of the tank.",
)
TWICE = (
    "Left door: press the button for two seconds.",
    "The window closes by itself.",
    "Right door: press the button for two seconds.",
    "The mirror folds in.",
)
HEBREW = "הלחץ הנכון הוא 2.3 בר (33 PSI) כאשר הצמיגים קרים."
ARABIC = "الضغط الصحيح هو 2.3 بار عندما تكون الإطارات باردة."
#: Pages of the demo's manual: sentences in Japanese, a table set sideways, a picture without a text layer.
JAPANESE_PAGE, ROTATED_PAGE, PICTURE_PAGE = 91, 87, 11
PRESS = "press the button for two seconds"


MARKED = ("The pressure^1^ must be checked", "with cold tyres.^2^ Repeat it monthly.")


@dataclass(frozen=True, slots=True)
class Case:
    """One span. `under` are the words below its boxes where these are not the quote's own."""

    name: str
    make: Callable[[Path], Path]
    query: SpanQuery
    under: str | None = None


def _page(*texts: str) -> Callable[[Path], Path]:
    return lambda path: write(path, lines(*texts))


def _there(path: Path) -> Callable[[Path], Path]:
    return lambda _: path


def _two_pages(path: Path) -> Path:
    return write(path, lines(*COOLANT[:3], top=140), lines(*COOLANT[3:]))


def _three_pages(path: Path) -> Path:
    return write(path, lines(COOLANT[0], top=180), lines(*COOLANT[1:4]), lines(COOLANT[4]))


def _labelled(path: Path) -> Path:
    front = {"startpage": 0, "style": "r"}
    body = {"startpage": 1, "style": "D", "firstpagenum": 41}
    return write(path, lines(*COOLANT), lines(*TWICE), lines(*COOLANT), labels=[front, body])


LEFT_EDGE = 40.0


def _table(path: Path) -> Path:
    """Cells written column by column, as some programs do; others read them row by row."""
    columns = (
        ("Tyre size", "195/65 R15", "205/55 R16"),
        ("Empty", "2.3 bar", "2.4 bar"),
        ("Loaded", "2.5 bar", "2.6 bar"),
    )
    return write(
        path,
        cells(
            *(
                (LEFT_EDGE + 120 * column, 50 + 22 * row, text)
                for column, texts in enumerate(columns)
                for row, text in enumerate(texts)
            )
        ),
    )


ACCOUNTS = (
    ("Workshop accounts (in thousands)", "", ""),
    ("", "2025", "2024"),
    ("Current assets", "", ""),
    ("  Spare parts in stock", "4,210", "3,980"),
    ("  Tyres and wheels", "1,305", "1,150"),
    ("Total current assets", "5,515", "5,130"),
    ("Loans from banks and other", "", ""),
    ("lenders", "2,040", "2,310"),
)


def _accounts(path: Path) -> Path:
    """A table without lines, written column by column, with a heading, an indent and a wrapped label."""
    placed = [
        (LEFT_EDGE + left + 6 * (len(text) - len(text.lstrip())), 40 + 18 * row, text.strip())
        for column, left in enumerate((0, 210, 300))
        for row, texts in enumerate(ACCOUNTS)
        if (text := texts[column])
    ]
    return write(path, cells(*placed))


def _turned_right_to_left(path: Path) -> Path:
    with pymupdf.open(RIGHT_TO_LEFT) as document:
        document[0].set_rotation(90)
        document.save(path)
    return path


def _columns(path: Path) -> Path:
    left = (
        "The spare wheel lies under",
        "the floor of the boot. Lift the",
        "floor by its strap and turn the",
        "screw to the left.",
    )
    right = (
        "The jack stands in the bracket",
        "beside it, with the wrench and",
        "the towing eye. Put all of it",
        "back after use.",
    )
    return write(path, together((lines(*left), lines(*right, left=225))))


def _upright(path: Path) -> Path:
    return write(path, upright("Do not step on this cover", "or put a load of more than 40 kg on it"))


CASES = (
    Case(
        "ellipsis",
        _page(*COOLANT),
        SpanQuery("Let the engine cool down … and wait until the hissing has ended.", 0),
    ),
    Case(
        "ellipsis-in-brackets",
        _page(*COOLANT),
        SpanQuery("Hot coolant is under pressure [...] Fill up only to the upper mark", 0),
    ),
    Case("two-pages", _two_pages, SpanQuery(" ".join(COOLANT), 0)),
    Case("three-pages", _three_pages, SpanQuery(" ".join(COOLANT), 0, last_cited_page_idx=2)),
    Case(
        "chunk-header",
        _page(*COOLANT),
        SpanQuery("Document: owner's manual\nSection: 7.4 Coolant\n\n" + " ".join(COOLANT[:3]), 0),
        " ".join(COOLANT[:3]),
    ),
    Case(
        "tags",
        _page(*COOLANT),
        SpanQuery("<p>Hot coolant is <b>under pressure</b><br>and can scald you.</p>", 0),
        "Hot coolant is under pressure and can scald you.",
    ),
    Case("repeated", _page(*TWICE), SpanQuery(PRESS, 0)),
    Case("repeated-by-offsets", _page(*TWICE), SpanQuery(PRESS, 0, offsets=Offsets(85, 119))),
    Case("repeated-by-context", _page(*TWICE), SpanQuery(PRESS, 0, after="The mirror folds in.")),
    Case(
        "repeated-by-box",
        _page(*TWICE),
        SpanQuery(PRESS, 0, box=(50, 310, 700, 360), box_space="per_mille"),
    ),
    Case(
        "box-elsewhere",
        _page(*TWICE),
        SpanQuery("The mirror folds in.", 0, box=(25, 45, 300, 65), box_space="points"),
    ),
    Case("printed-label", _labelled, SpanQuery(" ".join(COOLANT[2:4]), cited_label="42")),
    Case(
        "hyphen-at-line-end",
        _page("Check the level of the cool-", "ant with the engine cold, on", "level ground."),
        SpanQuery("Check the level of the coolant with the engine cold", 0),
    ),
    Case(
        "soft-hyphen",
        _page("Check the wind\u00adscreen washer and the head\u00ad", "lamps before a long drive."),
        SpanQuery("Check the windscreen washer and the headlamps", 0),
    ),
    Case(
        "ligatures",
        _page("Re\ufb01t the \ufb02oor of the o\ufb03ce van", "after the \ufb01rst e\ufb00ort."),
        SpanQuery("Refit the floor of the office van after the first effort.", 0),
    ),
    Case(
        "dashes",
        _page(
            "The range \u2013 with a full tank \u2014 is 650\u2013700 km", "at a temperature of \u22125 °C."
        ),
        SpanQuery("The range - with a full tank - is 650-700 km at a temperature of -5 °C.", 0),
    ),
    Case(
        "dash-is-no-sign",
        _page("The fluid stays liquid down to \u221240 °C", "in every climate."),
        SpanQuery("The fluid stays liquid down to 40 °C in every climate.", 0),
    ),
    Case(
        "ocr-noise",
        _page(*COOLANT),
        SpanQuery("Hot coo1ant is under pre5sure and can scald y0u.", 0),
        COOLANT[1],
    ),
    Case(
        "altered-number",
        _page("Inflate the tyres to 2.5 bar when the car is loaded."),
        SpanQuery("Inflate the tyres to 2.3 bar when the car is loaded.", 0),
        "Inflate the tyres to 2.5 bar when the car is loaded.",
    ),
    Case("japanese", _there(MANUAL), SpanQuery("三角表示板を車の後ろに置いてください", JAPANESE_PAGE)),
    Case(
        "japanese-over-lines",
        _there(MANUAL),
        SpanQuery("冷却水のキャップを開けないでください。やけどをするおそれがあります。", JAPANESE_PAGE),
    ),
    Case("hebrew", _there(RIGHT_TO_LEFT), SpanQuery(HEBREW, 0)),
    Case("hebrew-on-a-turned-page", _turned_right_to_left, SpanQuery(HEBREW, 0)),
    Case("arabic", _there(RIGHT_TO_LEFT), SpanQuery(ARABIC, 0)),
    Case(
        "footnote-marks",
        _page(*MARKED),
        SpanQuery("The pressure must be checked with cold tyres. Repeat it monthly.", 0),
        "The pressure1 must be checked with cold tyres.2 Repeat it monthly.",
    ),
    Case(
        "footnote-marks-kept",
        _page(*MARKED),
        SpanQuery("The pressure1 must be checked with cold tyres.2 Repeat it monthly.", 0),
    ),
    Case(
        "reference-in-brackets",
        _page("The gauge reads bar.[3] Older ones read", "psi as well."),
        SpanQuery("The gauge reads bar. Older ones read psi as well.", 0),
        "The gauge reads bar.[3] Older ones read psi as well.",
    ),
    Case(
        "square-metres",
        _page("The boot floor measures 1.2 m^2^ and", "carries 80 kg."),
        SpanQuery("The boot floor measures 1.2 m² and carries 80 kg.", 0),
    ),
    Case(
        "exponent-is-no-digit",
        _page("The filter stops 10^2^ particles a litre", "at full flow."),
        SpanQuery("The filter stops 102 particles a litre at full flow.", 0),
    ),
    Case(
        "table-by-rows",
        _table,
        SpanQuery("Tyre size Empty Loaded 195/65 R15 2.3 bar 2.5 bar 205/55 R16 2.4 bar 2.6 bar", 0),
    ),
    Case("table-row", _table, SpanQuery("205/55 R16 2.4 bar 2.6 bar", 0)),
    Case(
        "table-cell",
        _accounts,
        SpanQuery("Total current assets, 2024: 5,130", 0),
    ),
    Case(
        "table-cell-in-a-sentence",
        _accounts,
        SpanQuery("In 2024, total current assets were 5,130.", 0),
        "Total current assets 2024 5,130",
    ),
    Case(
        "table-cell-in-its-section",
        _accounts,
        SpanQuery("Current assets, Tyres and wheels: 1,150", 0),
    ),
    Case(
        "table-cell-of-another-column",
        _accounts,
        SpanQuery("Total current assets, 2024: 5,515", 0),
        "Total current assets 2024 5,130",
    ),
    Case(
        "table-cell-in-millions",
        _accounts,
        SpanQuery("Total current assets were $5.5 million in 2025.", 0),
        "Total current assets 2025 5,515",
    ),
    Case(
        "table-cell-of-a-wrapped-label", _accounts, SpanQuery("Loans from banks and other lenders: 2,310", 0)
    ),
    Case("table-column", _accounts, SpanQuery("2024 3,980 1,150 5,130 2,310", 0)),
    Case(
        "table-in-markdown",
        _accounts,
        SpanQuery(
            "| | 2025 | 2024 |\n|---|---:|---:|\n| Tyres and wheels | 1,305 | 1,150 |\n"
            "| Total current assets | 5,515 | 5,130 |",
            0,
        ),
    ),
    Case("rotated", lambda path: write(path, lines(*COOLANT), rotation=90), SpanQuery(COOLANT[1], 0)),
    Case(
        "rotated-with-box",
        lambda path: write(path, lines(*COOLANT), rotation=270),
        SpanQuery(COOLANT[1], 0, box=(210, 100, 300, 950), box_space="per_mille"),
    ),
    Case("rotated-table", _there(MANUAL), SpanQuery("1.5 D automatic 205/55 R16 1,352", ROTATED_PAGE)),
    Case(
        "cropped",
        lambda path: write(path, lines(*COOLANT), crop=(20, 45, 330, 120)),
        SpanQuery("and can scald you. Turn the cap slowly", 0),
    ),
    Case(
        "upright-text",
        _upright,
        SpanQuery("Do not step on this cover or put a load of more than 40 kg on it", 0),
    ),
    Case(
        "two-columns",
        _columns,
        SpanQuery("Lift the floor by its strap and turn the screw to the left.", 0),
    ),
    Case(
        "no-text-layer",
        _there(MANUAL),
        SpanQuery("The car seen from outside", PICTURE_PAGE, box=(50, 360, 950, 660), box_space="per_mille"),
        "",
    ),
)
