"""How well quotes are located on real documents, how often wrongly, and how fast.

    PROOFSPAN_REAL_DATA=… python bench/bench_locate.py [--every 4] [--only dev,wrong,altered,gold,whole]

dev      the development quotes there: hits by kind (see `span_score`), false places, pages off by one
wrong    every quote on every n-th other document; a location there is false unless the quote's letters are in
         that document (filings share their boilerplate)
altered  950 quotes, 300 of them whole and undisturbed, with one number altered (see `altered_numbers`)
gold     the gold evidence texts of FinanceBench, on their pages
whole    a whole-document search in 1,000 pages (see `whole_document`)
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import whole_document
from altered_numbers import Texts, altered_quotes, is_listed
from span_score import score

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text.tokens import tokenize
from proofspan.evidence.types import SpanQuery

Row = dict[str, Any]
ALTERED, SEED = 950, 4
CLEAN = ("exact", "normalized")


def letters_of(path: Path) -> str:
    """All letters and digits of a document, folded and run together."""
    with pymupdf.open(path) as document:
        return "".join(tokenize([word[4] for word in page.get_text("words")]).squeezed for page in document)


def place_all(pool: PdfPool, root: Path, rows: list[Row], every: int) -> None:
    """Print hits by kind of disturbance, false places, pages flagged, and the time a quote takes."""
    found, ours, theirs = [], [], []
    for row in sorted(rows, key=lambda row: row["pdf"]):
        started = time.perf_counter()
        found.append((row, pool.locate(root / row["pdf"], SpanQuery(row["quote"], row["cited_page_idx"]))))
        ours.append(time.perf_counter() - started)
        theirs.append(search_for(root / row["pdf"], row))
    counts = score(found)
    for kind in sorted(counts.total):
        print(f"  {kind:13} {counts.hits[kind]:3} of {counts.total[kind]:3}")
    print(f"  hits          {counts.hits.total()} of {counts.total.total()} = {counts.hit_rate:.4f}")
    print(f"  false places  {counts.false} of {counts.absent}")
    print(f"  off by one    {counts.flagged} of {counts.off_by_one} flagged")
    print(f"  missed        {counts.missed}, of these on the cited page as well: {counts.twice}")
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
    rows = [row for row in rows if row["kind"] != "absent"]
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


def alter_numbers(pool: PdfPool, root: Path, rows: list[Row], every: int) -> None:
    """Print how many altered numbers passed, were placed, and were listed."""
    rows = [row for row in rows if row["kind"] != "absent"]
    placed, total, passed, unlisted = Counter[str](), Counter[str](), 0, 0
    altered = altered_quotes(rows, ALTERED, seed=SEED, texts=Texts(root))
    for each in sorted(altered, key=lambda each: str(each.row["pdf"])):
        found = pool.locate(root / each.row["pdf"], SpanQuery(each.quote, each.cited_page_idx))
        passed += found.status in CLEAN
        is_placed = found.status != "not_found"
        unlisted += is_placed and not is_listed(each, found)
        for name in (each.name, each.change):
            total[name] += 1
            placed[name] += is_placed
    for name in sorted(total):
        print(f"  {name:25} {placed[name]:3} of {total[name]:3} placed")
    print(
        f"  {passed} called exact or normalized; {unlisted} placed without the number among the differences"
    )


def place_gold(pool: PdfPool, root: Path, rows: list[Row], every: int) -> None:
    """Print the statuses of the gold evidence texts, and how many are on their page."""
    folder, statuses, right = root / "financebench", Counter[str](), 0
    for line in (folder / "gold_evidence.jsonl").read_text(encoding="utf-8").splitlines():
        for evidence in json.loads(line)["evidence"]:
            path = folder / "pdfs" / f"{evidence['doc_name']}.pdf"
            if path.exists():
                page_idx = evidence["evidence_page_num"]
                found = pool.locate(path, SpanQuery(evidence["evidence_text"], page_idx))
                statuses[found.status] += 1
                right += found.page_idx == page_idx
    print(f"  {right} of {statuses.total()} on their page: {dict(statuses)}")


def search_whole(pool: PdfPool, root: Path, rows: list[Row], every: int) -> None:
    """Print the times of searches through 1,000 pages."""
    with tempfile.TemporaryDirectory() as folder:
        whole_document.report(Path(folder))


PARTS: dict[str, Callable[[PdfPool, Path, list[Row], int], None]] = {
    "dev": place_all,
    "wrong": ask_elsewhere,
    "altered": alter_numbers,
    "gold": place_gold,
    "whole": search_whole,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--every", type=int, default=4)
    arguments.add_argument("--only", default=",".join(PARTS))
    options = arguments.parse_args()
    if "PROOFSPAN_REAL_DATA" not in os.environ:
        raise SystemExit("PROOFSPAN_REAL_DATA is not set: it names the folder of real data")
    root = Path(os.environ["PROOFSPAN_REAL_DATA"])
    lines = (root / "spans" / "spans_dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    with PdfPool(workers=1, timeout_s=60, recycle_after=100_000) as pool:
        for name in options.only.split(","):
            print(name)
            PARTS[name](pool, root, rows, options.every)


if __name__ == "__main__":
    main()
