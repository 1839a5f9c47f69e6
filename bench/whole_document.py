"""How long a quote takes to be looked for in every page of a long document, once its words have been read.

The document is made of the made-up sentences of `make_traces`, a thousand pages of some 550 words. Quotes are
verbatim, disturbed (letters misread, words dropped), absent (other sentences of the same words) and shuffled
(the words of a page in another order, for which every page is as good as another). No page is cited.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pymupdf
from make_traces import World, make_world

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.pdf.worker import Documents
from proofspan.evidence.text.locate import locate
from proofspan.evidence.types import FoundSpan, SpanQuery

PAGES, CHUNKS_A_PAGE, EACH = 1_000, 5, 50
FONT_SIZE, LINE_POINTS = 9, 11
MISREAD, DROPPED = 0.03, 0.08
LIMIT_MS = 50.0


def make_document(path: Path, world: World) -> None:
    """A PDF of the world's chunks, some to a page."""
    texts = list(world.texts.values())
    document = pymupdf.open()
    for start in range(0, len(texts), CHUNKS_A_PAGE):
        page = document.new_page()
        words, line, top = " ".join(texts[start : start + CHUNKS_A_PAGE]).split(), "", 60.0
        for word in [*words, ""]:
            if word and len(line) + len(word) < 105:
                line += word + " "
                continue
            page.insert_text((50, top), line.encode("ascii", "ignore").decode(), fontsize=FONT_SIZE)
            line, top = word + " ", top + LINE_POINTS
    document.save(path, deflate=True)
    document.close()


def quotes_of(world: World, others: World, rng: random.Random) -> dict[str, list[str]]:
    """The quotes of each kind: two neighbouring sentences, disturbed or not."""
    verbatim = [_two_sentences(world, rng) for _ in range(EACH)]
    return {
        "verbatim": verbatim,
        "disturbed": [_disturbed(quote, rng) for quote in verbatim],
        "absent": [_two_sentences(others, rng) for _ in range(EACH)],
        "shuffled": [_shuffled(world, rng) for _ in range(EACH)],
    }


def _two_sentences(world: World, rng: random.Random) -> str:
    sentences = world.sentences[rng.choice(list(world.sentences))]
    start = rng.randrange(len(sentences) - 1)
    return " ".join(sentences[start : start + 2])


def _disturbed(quote: str, rng: random.Random) -> str:
    words = [word for word in quote.split() if rng.random() >= DROPPED]
    return "".join(
        rng.choice("abcdefghijklmnopqrstuvwxyz")
        if character.isalpha() and rng.random() < MISREAD
        else character
        for character in " ".join(words)
    )


def _shuffled(world: World, rng: random.Random) -> str:
    words = world.texts[rng.choice(list(world.texts))].split()
    return " ".join(rng.sample(words, 40))


def timed(find: Callable[[str], FoundSpan], quotes: Iterable[str]) -> tuple[list[float], int]:
    """Milliseconds a quote, and how many were found."""
    times, found = [], 0
    for quote in quotes:
        started = time.perf_counter()
        span = find(quote)
        times.append((time.perf_counter() - started) * 1e3)
        found += span.page_idx is not None
    return times, found


def report(folder: Path) -> None:
    """Print median and 95th percentile by kind, within a worker's own process and through the pool."""
    path, rng = folder / "thousand.pdf", random.Random(7)
    world = make_world(PAGES * CHUNKS_A_PAGE, seed=1)
    make_document(path, world)
    quotes = quotes_of(world, make_world(500, seed=2), rng)
    document = Documents().get(str(path))
    started = time.perf_counter()
    document.word_index(range(document.page_count))
    print(f"  {document.page_count} pages read in {time.perf_counter() - started:.1f} s")
    with PdfPool(workers=1, timeout_s=120, recycle_after=100_000) as pool:
        pool.locate(path, SpanQuery(quotes["absent"][0]))
        for kind, asked in quotes.items():
            inside, found = timed(lambda quote: locate(SpanQuery(quote), document), asked)
            by_pool, again = timed(lambda quote: pool.locate(path, SpanQuery(quote)), asked)
            assert found == again
            print(f"  {kind:10} {found:2} of {len(asked)} found; {_figures(inside)}")
            print(f"  {'':10} through the pool: {_figures(by_pool)}")


def _figures(times: list[float]) -> str:
    median, high = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    verdict = "within" if high <= LIMIT_MS else "over"
    return f"median {median:5.1f} ms, p95 {high:5.1f} ms, {verdict} {LIMIT_MS:.0f} ms"
