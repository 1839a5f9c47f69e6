"""How well citations of table rows, columns and cells are placed on real tables.

    PROOFSPAN_REAL_DATA=FOLDER python bench/bench_cells.py [--truth FILE]

FOLDER/tables holds the PDFs and the truth: lines of pdf, cited_page_idx, quote, kind (the wording), page_idx,
and rects, the boxes of the named cells. Prints how many of each wording are right: boxes lie in the named
cells and touch each; of a shuffled row or cell nothing is found without a difference; an altered figure is
listed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from cell_score import shares

from proofspan.evidence.pdf.pool import PdfPool


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--truth", default="cells_dev.jsonl", help="a file of the folder")
    options = parser.parse_args()
    if not (folder := os.environ.get("PROOFSPAN_REAL_DATA")):
        sys.exit("PROOFSPAN_REAL_DATA is not set: it names the folder of real data")
    with PdfPool(timeout_s=60, recycle_after=10_000) as pool:
        for kind, (right, of) in shares(Path(folder) / "tables", options.truth, pool).items():
            print(f"{kind:18s} {right:4d} of {of:4d}  {right / of:.3f}")


if __name__ == "__main__":
    main()
