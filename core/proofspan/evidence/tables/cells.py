"""Match a citation of a table with a page's cells: label, head and value belong to one row and column.

A value elsewhere in the table does not satisfy a citation. Where the label's row and the head's column meet
in another value, that is what differs.
"""

from __future__ import annotations

from proofspan.evidence.tables.cell_match import CellMatch
from proofspan.evidence.tables.citations import TableCitation, has_digit
from proofspan.evidence.tables.cited_tables import tables
from proofspan.evidence.tables.grid import Grid
from proofspan.evidence.tables.named_cells import named_cells
from proofspan.evidence.tables.sequences import sequences


def matches_of(citation: TableCitation, grid: Grid, *, is_text: bool = True) -> list[CellMatch]:
    """Return the best match of a citation on a page, and others that are as good, from the top down.

    Without `is_text` rows and columns of words alone are left out.
    """
    if citation.rows:
        found = list(tables(citation, grid))
    else:
        found = list(sequences(citation.quote, grid, is_text=is_text))
        if any(map(has_digit, citation.quote.tokens.keys)):
            found += named_cells(citation, grid, may_differ=not found)
    if not found:
        return []
    best = max(found, key=lambda match: match.merit)
    same: dict[frozenset[int], CellMatch] = {}
    for match in [best, *found]:
        if match.merit[:3] == best.merit[:3]:
            same.setdefault(frozenset(token for cell in match.cells for token in cell), match)
    return list(same.values())
