"""`make bench`: what the benches print becomes the table of docs/measurements.md."""

from __future__ import annotations

import re
import sys
from string import Formatter

import pytest

from tests.places import CHECKOUT

sys.path.append(str(CHECKOUT / "bench"))
measure = pytest.importorskip("measure")

PRINTED = """\
1 process(es), 1 rounds
  index with triage    20.62 s   20.60 CPU s  peak 461 MB
  ratio                 2.12    2.14
2 process(es), 1 rounds
  index with triage    12.62 s   23.60 CPU s  peak 1,361 MB
  ratio                 2.38    2.44
"""


def figure_of(words: str) -> measure.Figure:
    """The one figure whose line has these words."""
    (found,) = (each for each in measure.FIGURES if words in each.what)
    return found


def test_a_figure_is_the_median_between_the_lowest_and_the_highest() -> None:
    runs = [PRINTED, PRINTED.replace("2.12", "2.3"), PRINTED.replace("2.12", "1.9")]
    figure = figure_of("index of 100,000 traces: one process")
    assert measure.result_of(figure, runs) == "2.12 (1.90–2.30) times; 461 MB"
    assert measure.result_of(figure_of("the same: two"), runs) == "2.38 times; 1,361 MB each"


def test_a_number_that_is_not_printed_is_an_error() -> None:
    figure = figure_of("index of 100,000 traces: one process")
    with pytest.raises(ValueError, match="bench_index"):
        measure.result_of(figure, [PRINTED.replace("ratio", "share")])


def test_lines_that_are_not_measured_again_keep_their_machine() -> None:
    first, second, *_ = measure.FIGURES
    kept = {
        first.what: {
            "result": "5 times",
            "machine": "2 cores of one kind",
            "day": "2026-11-01",
            "times": "3",
        },
        second.what: {"result": "2 times", "machine": "8 cores", "day": "2026-11-28", "times": "1"},
    }
    text = f"# Head\n\n{measure.BEGIN}\nold\n{measure.END}\n\nrest\n"
    page = measure.page_with(text, measure.FIGURES, kept)
    assert page.startswith("# Head") and page.endswith("rest\n") and "old" not in page
    assert re.search(r"5 times \| A, 2026-11-01, 3 runs", page)
    assert re.search(r"2 times \| B, 2026-11-28, 1 runs", page)
    assert "A: 2 cores of one kind." in page and "B: 8 cores." in page
    assert measure.page_with(page, measure.FIGURES, kept) == page


@pytest.mark.parametrize("figure", measure.FIGURES, ids=lambda figure: figure.what[:40])
def test_every_figure_names_a_bench_its_options_and_its_numbers(figure: measure.Figure) -> None:
    source = (CHECKOUT / "bench" / figure.script).read_text(encoding="utf-8")
    if "from sites import" in source:  # the options of benchmarks that open pages
        source += (CHECKOUT / "bench/sites.py").read_text(encoding="utf-8")
    for option in re.findall(r"--[a-z-]+", figure.command):
        assert f'"{option}"' in source, option
    assert {name for _, name, _, _ in Formatter().parse(figure.shown) if name} == figure.found.keys()


def test_the_page_has_the_place_of_the_table() -> None:
    text = measure.PAGE.read_text(encoding="utf-8")
    assert text.count(measure.BEGIN) == text.count(measure.END) == 1
