"""A page with its highlight, worker round trips included, against doing it all in the calling process.

    python bench/bench_page.py [--rounds 3]

Ours: `PdfPool.look` (a quote's boxes, and the page as a screen gets it, for the boxes to lie on). The other
way: open, `search_for`, a highlight annotation for each hit, a PNG of 150 dpi. Both on the same pages, in
turn; medians and their ratio, to be at most 0.2. Real pages where PROOFSPAN_REAL_DATA names them, made ones
otherwise. A page is asked for once a round by a pool of its own, so that no word is remembered; its document
is open there and showed its first page before.

Then what a page's picture weighs, over every page of a few whole documents: median and largest.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import pymupdf

from proofspan.evidence.pdf.pool import SHOWN_BYTES, PdfPool
from proofspan.evidence.types import SpanQuery

TARGET = 0.2
PAGES = 24
DPI_OTHER = 150
WORDS_BEFORE, WORDS = 60, 12
Case = tuple[Path, int, str]


def real_cases(folder: Path) -> list[Case]:
    """Pages spread over the filings, each with twelve words from its middle."""
    paths = sorted((folder / "financebench" / "pdfs").glob("*_10K.pdf"))
    cases: list[Case] = []
    for number in range(PAGES):
        path = paths[number % len(paths)]
        document = pymupdf.open(path)
        for page_idx in range(10 + 7 * number % 60, document.page_count):
            words = [word[4] for word in document[page_idx].get_text("words")]
            if len(words) > WORDS_BEFORE + WORDS:
                cases.append((path, page_idx, " ".join(words[WORDS_BEFORE : WORDS_BEFORE + WORDS])))
                break
        document.close()
    return cases


def made_cases(folder: Path) -> list[Case]:
    """Pages of plain text in one made document of 300 pages."""
    document = pymupdf.open()
    for number in range(300):
        page = document.new_page()
        for line in range(50):
            words = " ".join(f"word{number * line * k % 9973}" for k in range(1, 11))
            page.insert_text((50, 60 + 14 * line), words, fontsize=10)
    path = folder / "made.pdf"
    document.save(path)
    words_of = [[word[4] for word in page.get_text("words")] for page in document.pages()]
    document.close()
    every = 300 // PAGES
    return [
        (path, idx, " ".join(words_of[idx][WORDS_BEFORE : WORDS_BEFORE + WORDS]))
        for idx in range(0, every * PAGES, every)
    ]


def ours(pool: PdfPool, case: Case) -> float:
    """Seconds for the quote's boxes and the page's picture."""
    path, page_idx, quote = case
    started = time.perf_counter()
    (found,), image = pool.look(path, [SpanQuery(quote, page_idx)], page_idx)
    elapsed = time.perf_counter() - started
    if found.page_idx != page_idx or image is None:
        raise SystemExit(f"{path} page_idx {page_idx}: {found.status}, nothing to compare")
    return elapsed


def in_process(case: Case) -> float:
    """Seconds for the same with what PyMuPDF offers by itself."""
    path, page_idx, quote = case
    started = time.perf_counter()
    with pymupdf.open(path) as document:
        page = document[page_idx]
        for hit in page.search_for(quote):
            page.add_highlight_annot(hit)
        page.get_pixmap(dpi=DPI_OTHER).tobytes("png")
    return time.perf_counter() - started


def measure(cases: list[Case], rounds: int) -> tuple[list[float], list[float]]:
    """Seconds of every page, ours and the other way, taken in turn."""
    left: list[float] = []
    right: list[float] = []
    for _ in range(rounds):
        with PdfPool(workers=1) as pool:
            for path in sorted({case[0] for case in cases}):
                pool.show(path, 0)  # its first page was shown before, as when one leafs through it
            time.sleep(2)  # the spare worker warms up beside nothing
            for case in cases:
                left.append(ours(pool, case))
                right.append(in_process(case))
    return left, right


def weigh(path: Path) -> str:
    """Return the sizes of the pictures of all pages of a document, and how many are of each kind."""
    with PdfPool(workers=1) as pool:
        images = [pool.show(path, page_idx) for page_idx in range(pool.document(path).page_count)]
    sizes = sorted(len(image.data) / 1e3 for image in images)
    jpegs = sum(image.mime == "image/jpeg" for image in images)
    return (
        f"  {path.name[:34]:34} {len(sizes):4} pages  median {statistics.median(sizes):4.0f} kB  "
        f"largest {sizes[-1]:4.0f} kB  {jpegs} as JPEG"
    )


def real_documents(folder: Path) -> list[Path]:
    """Filings, a technical manual in two columns and a car manual with photographs."""
    filings = sorted((folder / "financebench" / "pdfs").glob("*_10K.pdf"))[:4]
    others = [path for name in ("neets", "car_manual") for path in sorted((folder / name).glob("*.pdf"))]
    return [*filings, *others]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--rounds", type=int, default=3)
    rounds = arguments.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        real = os.environ.get("PROOFSPAN_REAL_DATA")
        cases = real_cases(Path(real)) if real else made_cases(Path(folder))
        left, right = measure(cases, rounds)
        documents = real_documents(Path(real)) if real else sorted({case[0] for case in cases})
        weights = [weigh(path) for path in documents]
    ours_ms, other_ms = statistics.median(left) * 1e3, statistics.median(right) * 1e3
    kind = "real" if real else "made"
    print(f"{len(cases)} {kind} pages, {rounds} rounds, medians")
    print(f"  boxes and page through the worker           {ours_ms:7.1f} ms")
    print(f"  open + search_for + annotation + 150-dpi PNG {other_ms:6.1f} ms")
    print(f"  ratio {ours_ms / other_ms:.3f} (at most {TARGET})")
    print(f"pictures of whole documents (at most {SHOWN_BYTES / 1e3:.0f} kB a page)", *weights, sep="\n")


if __name__ == "__main__":
    main()
