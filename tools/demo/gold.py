"""The gold set: the writers' questions with the places that their quotes have in the documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.demo.corpus import Piece
from tools.demo.places import Places
from tools.demo.records import INGESTED, envelope

Json = Any
_KEPT = ("type", "answer", "anchor", "paraphrases", "decoy_sections")
#: What a quote may leave out between two words: a line break with the next step's number or dash.
_GAP = r"\s+(?:\d+\.\s+|[-•]\s+|\|\s+)?"


def read_questions(folder: Path) -> list[dict[str, Json]]:
    """All writers' questions in the order of their ids, the unanswerable ones (U…) last."""
    found = [
        question
        for path in sorted(folder.glob("*.yaml"))
        for question in yaml.safe_load(path.read_text(encoding="utf-8")) or []
    ]
    ids = [question["q_id"] for question in found]
    if twice := sorted({q_id for q_id in ids if ids.count(q_id) > 1}):
        raise ValueError(f"more than one question is called {', '.join(twice)}")
    return sorted(found, key=lambda question: _order(question["q_id"]))


def wordings(question: Mapping[str, Json]) -> list[str]:
    """The question as asked first, then its paraphrases."""
    return [question["q"], *question.get("paraphrases", ())]


def gold_record(
    question: Mapping[str, Json], pieces: Sequence[Piece], places: Places, *, doc_id: str, memory: str
) -> dict[str, Json]:
    """The gold record. A quote's place is looked up, so that it cannot be wrong.

    `doc_id` is the document of a quote that names none, `memory` the sha256 of the chunk file. ValueError for
    a quote that its section does not hold.
    """
    q_id = question["q_id"]
    record: dict[str, Json] = envelope("ingest.write", INGESTED, f"gold/{q_id}", memory)
    record |= {"$schema": "urn:proofspan:schema:gold-1.0", "q_id": q_id, "q": question["q"]}
    kept = {key: question[key] for key in _KEPT if question.get(key)}
    if not question.get("gold"):
        return record | {"answerable": False} | kept
    found = [_find(q_id, entry, pieces, entry.get("doc", doc_id)) for entry in question["gold"]]
    spans = [
        {
            "doc_id": piece.doc_id,
            "page_idx": places.page_of(piece, start, end),
            "quote": piece.text[start:end],
            "offsets": [piece.start + start, piece.start + end],
        }
        for piece, start, end in found
    ]
    return record | {
        "answerable": True,
        **kept,
        "sections": list(dict.fromkeys(piece.section for piece, _, _ in found)),
        "chunks": list(dict.fromkeys(piece.chunk_id for piece, _, _ in found)),
        "spans": spans,
    }


def _find(
    q_id: str, entry: Mapping[str, Json], pieces: Iterable[Piece], doc_id: str
) -> tuple[Piece, int, int]:
    section, quote = str(entry["section"]), entry["quote"]
    words = [re.escape(word) for word in quote.split() if word != "|"]
    pattern = re.compile(_GAP.join(words))
    for piece in pieces:
        if piece.doc_id == doc_id and piece.section == section and (match := pattern.search(piece.text)):
            return piece, *match.span()
    raise ValueError(f"{q_id}: section {section} of {doc_id} does not say {quote!r}")


def _order(q_id: str) -> tuple[bool, str, int]:
    match = re.fullmatch(r"([A-Z]+)(\d+)", q_id)
    if match is None:
        raise ValueError(f"{q_id!r} is no letters and a number, such as Q74")
    return match[1] == "U", match[1], int(match[2])
