"""How many quotes a second are located in bulk, with one worker and with two, side by side.

    PROOFSPAN_REAL_DATA=… python bench/bench_locate_bulk.py [--spans 10000] [--repeat 3]

Quotes of 8 to 45 words are cut from 20 documents (17 filings, a car manual, a training manual, the demo's).
A quarter is disturbed (a word left out, a letter misread, capitals, an ellipsis), a fifth is cited one page
off, and a tenth is in another document than the one that is searched: those make each worker read the
document to its end. The time includes starting the workers. CPU time, of this process and its workers, is
printed for busy machines.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pymupdf

from proofspan.evidence.locate_bulk import Answer, Ask, locate_bulk
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, SpanQuery

DEMO_MANUAL = Path(__file__).resolve().parents[1] / "data" / "demo" / "corpus" / "meridian-2026.pdf"
DISTURBED, OFF_BY_ONE, ABSENT = 0.25, 0.20, 0.10
SHORTEST, LONGEST = 8, 45
TIMEOUT_S = 60.0


def documents(root: Path) -> list[Path]:
    """The documents that quotes are cut from."""
    filings = sorted((root / "financebench" / "pdfs").glob("*.pdf"))
    manuals = [*sorted((root / "car_manual").glob("*.pdf")), *sorted((root / "neets").glob("*.pdf"))]
    return [*filings, *manuals, DEMO_MANUAL]


def pages_of(path: Path) -> list[list[str]]:
    """The words of each page."""
    with pymupdf.open(path) as document:
        return [[word[4] for word in page.get_text("words")] for page in document]


def disturb(words: list[str], chance: random.Random) -> list[str]:
    """The words as another extractor or a careless writer might have them."""
    at = chance.randrange(1, len(words) - 1)
    kind = chance.randrange(4)
    if kind == 0:
        return [*words[:at], *words[at + 1 :]]
    if kind == 1:
        misread = words[at].translate(str.maketrans("oeli", "0c1l"))
        return [*words[:at], misread, *words[at + 1 :]]
    if kind == 2:
        return [word.upper() for word in words]
    return [*words[: len(words) // 3], "…", *words[-len(words) // 3 :]]


def make_asks(paths: Sequence[Path], count: int, chance: random.Random) -> list[Ask]:
    """The quotes, their documents mixed."""
    pages = {path: pages_of(path) for path in paths}
    long = {path: [n for n, words in enumerate(pages[path]) if len(words) > LONGEST] for path in paths}
    asks = []
    for number in range(count):
        path = paths[number % len(paths)]
        page_idx = chance.choice(long[path])
        words, length = pages[path][page_idx], chance.randint(SHORTEST, LONGEST)
        start = chance.randrange(len(words) - length)
        quote = words[start : start + length]
        if chance.random() < DISTURBED:
            quote = disturb(quote, chance)
        cited = page_idx + chance.choice((-1, 1)) * (chance.random() < OFF_BY_ONE)
        asked = chance.choice(paths) if chance.random() < ABSENT else path
        asks.append(Ask(asked, SpanQuery(" ".join(quote), max(0, min(cited, len(pages[asked]) - 1)))))
    chance.shuffle(asks)
    return asks


def timed(asks: Sequence[Ask], workers: int) -> tuple[float, float, list[Answer]]:
    """Seconds for all quotes, workers' start included, processor seconds, and the answers."""
    started, before = time.perf_counter(), os.times()
    with PdfPool(workers=workers, timeout_s=TIMEOUT_S) as pool:
        answers = locate_bulk(asks, pool, workers=workers)
    took, after = time.perf_counter() - started, os.times()
    return took, sum(after[:4]) - sum(before[:4]), answers


def main() -> None:
    """Print the medians, their ratio, and the quotes by status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--spans", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    paths = documents(Path(os.environ["PROOFSPAN_REAL_DATA"]))
    asks = make_asks(paths, options.spans, random.Random(1))
    print(f"{len(asks):,} quotes over {len(paths)} documents")
    seconds: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    known: list[Answer] = []
    for _ in range(options.repeat):
        for workers, times in seconds.items():
            took, busy, answers = timed(asks, workers)
            times.append((took, busy))
            if known and answers != known:
                raise SystemExit("one and two workers answer differently")
            known = answers
    for workers, times in seconds.items():
        took, busy = (statistics.median(each) for each in zip(*times, strict=True))
        print(
            f"  workers: {workers}, {len(asks) / took:,.0f} quotes a second ({took:.1f} s, {busy:.1f} CPU s)"
        )
    ratio = statistics.median(one / two for (one, _), (two, _) in zip(seconds[1], seconds[2], strict=True))
    print(f"  two workers are {ratio:.2f} times as quick as one")
    counted = Counter(answer.status if isinstance(answer, FoundSpan) else answer.code for answer in known)
    print(f"  {', '.join(f'{count:,} {name}' for name, count in counted.most_common())}")


if __name__ == "__main__":
    main()
