"""A passage that was found as a quote is not looked for as a table's cells in the rest of its document."""

from __future__ import annotations

import pytest

from proofspan.evidence.tables.locate_cells import locate_cells
from proofspan.evidence.text.locate import locate
from proofspan.evidence.types import SpanQuery
from tests.pdf_files import MadeDocument, page_text

ROWS = tuple(f"Part {number} of the engine {number * 311} {number * 207}" for number in range(1, 12))
OTHER = page_text("Nothing of this is here.")


@pytest.mark.parametrize("quote", ["\n".join(ROWS).upper(), "\n".join(ROWS).replace("311", "312")])
def test_only_the_cited_page_is_read_for_a_passage_of_it(quote: str) -> None:
    made = MadeDocument(OTHER, OTHER, OTHER, page_text(*ROWS), OTHER, OTHER, OTHER)
    query = SpanQuery(f"Company: Meridian\nPeriod: 2026\n\n{quote}", 3)
    found = locate_cells(query, made, locate(query, made))
    assert (found.page_idx, found.status != "not_found") == (3, True)
    assert set(made.read) == {3}
