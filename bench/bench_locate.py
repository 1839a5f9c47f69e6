"""How well quotes are placed on real documents, and how often where they do not stand.

    PROOFSPAN_REAL_DATA=… python bench/bench_locate.py [--every 4]

Reads the development quotes there. Placed: right page. Asked on wrong documents: every quote on every n-th
other document; a place there is false unless the quote's letters do stand in that document (filings share
their boilerplate). Time: a quote with its document open, against `search_for` on the cited page alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pymupdf

from core.evidence.client import PdfPool
from core.evidence.tokens import tokenize
from core.evidence.types import SpanQuery

Row = dict[str, Any]


def letters_of(path: Path) -> str:
    """All letters and digits of a document, folded and run together."""
    with pymupdf.open(path) as document:
        return "".join(tokenize([word[4] for word in page.get_text("words")]).squeezed for page in document)


def place_all(pool: PdfPool, root: Path, rows: list[Row]) -> None:
    """Print the right pages by kind of disturbance, false places, and the time a quote takes."""
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    false = 0
    ours: list[float] = []
    theirs: list[float] = []
    for row in sorted(rows, key=lambda row: row["pdf"]):
        started = time.perf_counter()
        found = pool.locate(root / row["pdf"], SpanQuery(row["quote"], row["cited_page_idx"]))
        ours.append(time.perf_counter() - started)
        theirs.append(search_for(root / row["pdf"], row))
        if row["kind"] == "absent":
            false += found.page_idx is not None
        else:
            total[row["kind"]] += 1
            right[row["kind"]] += found.page_idx == row["page_idx"]
    for kind in sorted(total):
        print(f"  {kind:13} {right[kind]:3} of {total[kind]:3} on the right page")
    print(f"  all           {right.total()} of {total.total()} = {right.total() / total.total():.3f}")
    print(f"  absent        {false} of {len(rows) - total.total()} placed")
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"  median {statistics.median(ours) * 1e3:.1f} ms a quote, {ratio:.2f} times open + search_for")


def search_for(path: Path, row: Row) -> float:
    """Seconds that opening the document and `search_for` on the cited page take."""
    started = time.perf_counter()
    with pymupdf.open(path) as document:
        document[min(row["cited_page_idx"], document.page_count - 1)].search_for(row["quote"])
    return time.perf_counter() - started


def ask_elsewhere(pool: PdfPool, root: Path, rows: list[Row], every: int) -> None:
    """Print how many quotes are placed in documents that do not hold them."""
    documents = sorted({row["pdf"] for row in rows})
    letters = {pdf: letters_of(root / pdf) for pdf in documents}
    asked, statuses = 0, Counter[str]()
    by_document: dict[str, list[Row]] = defaultdict(list)
    for number, row in enumerate(rows):
        for offset, pdf in enumerate(documents):
            if row["pdf"] != pdf and (number + offset) % every == 0:
                by_document[pdf].append(row)
    for pdf, strangers in by_document.items():
        for row in strangers:
            if tokenize(row["quote"].split()).squeezed in letters[pdf]:
                continue
            asked += 1
            found = pool.locate(root / pdf, SpanQuery(row["quote"], row["cited_page_idx"]))
            statuses[found.status] += 1
    placed = asked - statuses["not_found"]
    print(
        f"  {placed} of {asked} = {placed / asked:.4f} placed in a document that lacks them: {dict(statuses)}"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--every", type=int, default=4)
    every = arguments.parse_args().every
    if "PROOFSPAN_REAL_DATA" not in os.environ:
        raise SystemExit("PROOFSPAN_REAL_DATA is not set: it names the folder of real data")
    root = Path(os.environ["PROOFSPAN_REAL_DATA"])
    lines = (root / "spans" / "spans_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    with PdfPool(workers=1, timeout_s=60, recycle_after=100_000) as pool:
        print(f"{len(rows)} quotes")
        place_all(pool, root, rows)
        print("asked on wrong documents")
        ask_elsewhere(pool, root, [row for row in rows if row["kind"] != "absent"], every)


if __name__ == "__main__":
    main()
