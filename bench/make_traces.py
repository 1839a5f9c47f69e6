"""Deterministic traces and chunks for the benchmarks: the same arguments give the same bytes.

    python bench/make_traces.py OUT --traces 100000 --chunks 20000 [--whole]

writes OUT/chunks.jsonl and OUT/traces.jsonl: chunks of about 800 characters in documents of 200, traces with
20 candidates and about 4 KB a line. Words follow Zipf's law over a made-up technical vocabulary, a document
keeps to its own topic words, one chunk in seven holds characters outside ASCII, and the answers are of every
kind that triage distinguishes (grounded, ungrounded, without template, citing elsewhere, refusing). With
`--whole` also OUT/doc-NNNN.pdf with the chunks on the pages that they name, OUT/gold.jsonl with a gold
passage among the first three candidates, and OUT/earlier.jsonl, a run in which every third answer is a
refusal and every fifth list is ranked backwards.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pymupdf

CHUNKS_PER_DOCUMENT = 200
CHUNKS_PER_PAGE = 3
STOPWORDS = """the of and to in is a that for on with as are by be or from at this an it which not
    has can""".split()  # noqa: SIM905 - a word list reads best as text
PREFIXES = ("", "", "re", "pre", "over", "under", "inter", "sub", "multi", "counter", "semi", "trans")
STEMS = """press valve filt brak coolant torq batter charg sens steer clutch pump gasket lamp fuse relay mount
    align vent drain lubric ignit coupl bear axle hinge latch seal gaug thermo circuit volt amper resist capac
    induct magnet oscill modul transmit receiv signal freq spectr record ledger asset revenu margin equit tax
    lever liquid invest credit invoic contract claus liab indemn warrant insur patient dosage symptom therap
    diagnos clinic trial vaccin tissue protein enzym genom climat rainfall glacier sediment erosion mineral
    crystal alloy polym solvent catalys reactor turbin boiler condens compress refriger insul concret beam
    girder bridge tunnel harbor cargo freight vessel anchor rudder compass altitud runway cockpit
    """.split()  # noqa: SIM905
SUFFIXES = (
    *("", "s", "ed", "ing", "er", "ers", "ation", "ations", "able", "ive", "ity", "al", "ally"),
    *("ment", "ments", "less", "or", "ure", "ic", "ism", "age", "ance"),
)
ACCENTED = ("°C", "–", "“quoted”", "Müller", "façade", "µm", "±", "naïve", "€", "Ångström")
REFUSALS_ELSEWHERE = (
    "I don't know.",
    "The provided context does not mention this.",
    "The document does not provide that information.",
)


@dataclass(frozen=True, slots=True)
class World:
    """Chunk texts by id, and the sentences of each chunk for questions and answers to draw on."""

    texts: dict[str, str]
    sentences: dict[str, list[str]]
    vocabulary: list[str]
    weights: list[float]


def vocabulary(rng: random.Random) -> tuple[list[str], list[float]]:
    """Content words, short ones mostly more frequent as in language, with cumulative Zipf weights."""
    words = sorted({p + s + e for p, s, e in itertools.product(PREFIXES, STEMS, SUFFIXES)})
    words.sort(key=lambda word: len(word) + rng.uniform(0, 8))
    return words, list(itertools.accumulate(1.0 / (rank + 10) for rank in range(len(words))))


def sentence(rng: random.Random, words: list[str], weights: list[float], topic: list[str]) -> str:
    """One sentence of 8 to 22 words: stopwords, the document's own words, now and then a number."""
    drawn = rng.choices(words, cum_weights=weights, k=rng.randint(8, 22))
    for place in range(len(drawn)):
        chance = rng.random()
        if chance < 0.60:
            drawn[place] = rng.choice(STOPWORDS if chance < 0.42 else topic)
    if rng.random() < 0.3:
        figure = rng.choice(("{:,}", "{}", "{} mm", "{}%", "$ {:,}", "{}.5")).format(rng.randint(2, 40_000))
        drawn.insert(rng.randrange(len(drawn)), figure)
    if rng.random() < 0.02:
        drawn.insert(rng.randrange(len(drawn)), rng.choice(ACCENTED))
    return " ".join(drawn).capitalize() + "."


def make_world(chunks: int, *, seed: int = 0) -> World:
    """`chunks` chunks of about 800 characters, 200 a document, ids such as `doc-0003|p=017|b=052`."""
    rng = random.Random(seed)
    words, weights = vocabulary(rng)
    texts: dict[str, str] = {}
    sentences: dict[str, list[str]] = {}
    topic: list[str] = []
    for number in range(chunks):
        block = number % CHUNKS_PER_DOCUMENT
        if block == 0:
            topic = rng.sample(words, 60)
        chunk_id = (
            f"doc-{number // CHUNKS_PER_DOCUMENT:04d}|p={block // CHUNKS_PER_PAGE + 1:03d}|b={block:03d}"
        )
        parts: list[str] = []
        while sum(map(len, parts)) + len(parts) < 740:
            parts.append(sentence(rng, words, weights, topic))
        texts[chunk_id] = " ".join(parts)
        sentences[chunk_id] = parts
    return World(texts, sentences, words, weights)


def answer_to(rng: random.Random, world: World, ids: list[str], elsewhere: str) -> str:
    """An answer of a random kind; about six in ten are grounded and follow the default template."""
    kind = rng.random()
    claims = rng.choice(world.sentences[ids[0]]) + " " + rng.choice(world.sentences[ids[1]])
    cited = ", ".join(ids[: rng.randint(1, 3)])
    if kind < 0.60:
        return f"{claims}\n\ncitations: [{cited}]"
    if kind < 0.70:
        return "not in context"
    if kind < 0.78:
        return claims
    if kind < 0.84:
        return f"{claims}\n\ncitations: [{elsewhere}]"
    if kind < 0.89:
        return rng.choice(REFUSALS_ELSEWHERE)
    if kind < 0.95:
        return f"The figure is {rng.randint(50_000, 900_000):,} or {rng.random():.2%}. citations: [{cited}]"
    invented = " ".join(rng.choices(world.vocabulary, k=25))
    return f"{invented}. citations: [{cited}]"


def iter_traces(
    world: World, count: int, *, seed: int = 0, candidates: int = 20
) -> Iterator[dict[str, object]]:
    """`count` traces; the first candidates are neighbours of the chunk asked about, the rest are random."""
    rng = random.Random(seed + 1)
    ids = list(world.texts)
    for number in range(count):
        target = rng.randrange(len(ids))
        near = range(target, min(target + candidates // 2, len(ids)))
        places = list(dict.fromkeys([*near, *(rng.randrange(len(ids)) for _ in range(2 * candidates))]))
        retrieved = [ids[place] for place in places[:candidates]]
        shown = [candidate(rng, chunk_id, rank) for rank, chunk_id in enumerate(retrieved)]
        asked = rng.choice(world.sentences[retrieved[0]]) if rng.random() < 0.9 else "xylophone quartet"
        answer = answer_to(rng, world, retrieved, ids[rng.randrange(len(ids))])
        yield {
            "q_id": f"Q{number:07d}",
            "q": "What is said about " + " ".join(asked.rstrip(".").split()[2:10]) + "?",
            "paraphrase": 0,
            "seed": 0,
            "chunks": shown,
            "answer": answer,
            "citations": [payload(entry) for entry in shown[:3] if str(entry["id"]) in answer],
            "ok": rng.random() < 0.7,
            "ΔS": round(rng.random(), 3),
            "λ": rng.choice(("convergent", "divergent", "recursive")),
            "latency_ms": rng.randint(200, 4000),
        }


def candidate(rng: random.Random, chunk_id: str, rank: int) -> dict[str, object]:
    """One retrieved chunk as a pipeline writes it, without its text."""
    document, page, _ = chunk_id.split("|")
    page_idx = int(page[2:]) - 1
    score = round(0.95 - 0.03 * rank - 0.02 * rng.random(), 4)
    return {
        "id": chunk_id,
        "doc_id": document,
        "section_id": f"{page_idx // 16 + 1}.{page_idx // 4 % 4 + 1}",
        "page_idx": page_idx,
        "score": score,
        "features": {"bm25": round(30 * score, 3), "dense": round(score - 0.1, 4), "ce": round(score / 2, 4)},
    }


def payload(entry: dict[str, object]) -> dict[str, object]:
    """The citation payload that points to a retrieved chunk; its page counts from 1."""
    _, page, _ = str(entry["id"]).split("|")
    return {
        "chunk_id": entry["id"],
        "doc_id": entry["doc_id"],
        "section_id": entry["section_id"],
        "page": int(page[2:]),
    }


def write_documents(out: Path, world: World) -> None:
    """Write each document as a PDF, a paragraph a chunk."""
    for document, ids in itertools.groupby(world.texts, key=lambda chunk_id: chunk_id.partition("|")[0]):
        with pymupdf.open() as pdf:
            for _, on_page in itertools.groupby(ids, key=lambda chunk_id: chunk_id.split("|")[1]):
                page = pdf.new_page()
                words = "\n\n".join(world.texts[chunk_id] for chunk_id in on_page)
                page.insert_textbox(
                    pymupdf.Rect(60, 60, page.rect.width - 60, page.rect.height - 60), words, fontsize=11
                )
            pdf.save(out / f"{document}.pdf", garbage=3, deflate=True)


def gold_of(trace: dict[str, object], number: int) -> dict[str, object]:
    """Return the gold question of a trace; every tenth has no answer in the documents."""
    question = {"q_id": trace["q_id"], "q": trace["q"]}
    shown = trace["chunks"]
    assert isinstance(shown, list)
    return question | ({"answerable": False} if number % 10 == 9 else {"chunks": [shown[number % 3]["id"]]})


def earlier(trace: dict[str, object], number: int) -> dict[str, object]:
    """Return what the run before made of the same question."""
    shown = trace["chunks"]
    assert isinstance(shown, list)
    refused: dict[str, object] = {"answer": "not in context", "citations": []} if number % 3 == 0 else {}
    return trace | refused | ({"chunks": shown[::-1]} if number % 5 == 0 else {})


def write(out: Path, *, traces: int, chunks: int, seed: int, is_whole: bool = False) -> None:
    """Write OUT/chunks.jsonl and OUT/traces.jsonl, and with `is_whole` all files of a workspace."""
    out.mkdir(parents=True, exist_ok=True)
    world = make_world(chunks, seed=seed)
    with (out / "chunks.jsonl").open("wb") as stream:
        for chunk_id, text in world.texts.items():
            document, page, block = chunk_id.split("|")
            fields = {"chunk_id": chunk_id, "doc_id": document, "page_idx": int(page[2:]) - 1}
            stream.write(orjson.dumps({**fields, "order_in_section": int(block[2:]), "text": text}) + b"\n")
    with (out / "traces.jsonl").open("wb") as stream:
        for trace in iter_traces(world, traces, seed=seed):
            stream.write(orjson.dumps(trace) + b"\n")
    if is_whole:
        write_documents(out, world)
        with (out / "gold.jsonl").open("wb") as gold, (out / "earlier.jsonl").open("wb") as before:
            for number, trace in enumerate(iter_traces(world, traces, seed=seed)):
                gold.write(orjson.dumps(gold_of(trace, number)) + b"\n")
                before.write(orjson.dumps(earlier(trace, number)) + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    sizes = {"traces": options.traces, "chunks": options.chunks, "seed": options.seed}
    write(options.out, **sizes, is_whole=options.whole)


if __name__ == "__main__":
    main()
