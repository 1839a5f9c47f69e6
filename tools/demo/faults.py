"""Plants the declared faults in a run's traces. Each must change something, or the build stops."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import yaml

from tools.demo.corpus import Piece
from tools.demo.records import source_url

Json = Any
Fault = Mapping[str, Json]
Traces = Mapping[str, dict[str, Json]]
FILE = Path(__file__).parent / "faults.yaml"
MARKER = " citations: ["
#: What of a trace an answer brings with it.
_ANSWER = ("chunks", "stages", "answer", "citations", "ok", "ΔS")
#: Kinds that leave the question without a trace: its line cannot be read.
CUT = frozenset({"bad_line", "unfinished_line"})
#: Kinds that are no change of a trace: a setting of the run, another file, or the bytes of a line.
ELSEWHERE = CUT | {"analyzer_mismatch", "stale_report", "copied_metrics"}


@dataclass(frozen=True, slots=True)
class Planter:
    """The material of faults. `sources` are the documents' paths by id."""

    pieces: Sequence[Piece]
    sources: Mapping[str, str]

    def plant(self, records: Sequence[dict[str, Json]], faults: Sequence[Fault]) -> None:
        """Changes the traces in place as declared. ValueError for a fault that changes nothing."""
        kinds: dict[str, Callable[[Traces, Fault], None]] = {
            "one_based_pages": _count_pages_from_one,
            "no_template": _drop_template,
            "unretrieved_id": self._cite_elsewhere,
            "misquoted_figure": _misquote,
            "stale_answer": _answer_from_another,
        }
        by_id = {record["q_id"]: record for record in records}
        for fault in faults:
            if fault["kind"] in ELSEWHERE:
                continue
            before = orjson.dumps(records)
            kinds[fault["kind"]](by_id, fault)
            if orjson.dumps(records) == before:
                raise ValueError(f"{fault['id']}: {fault['kind']} changes nothing")

    def _cite_elsewhere(self, by_id: Traces, fault: Fault) -> None:
        """Points the answer at a chunk that was never retrieved, as a model does that makes up an id."""
        trace = _answered(by_id, fault)
        known = {entry["id"] for entries in trace["stages"].values() for entry in entries}
        piece = next(
            (p for p in self.pieces if p.section == fault["section"] and p.chunk_id not in known), None
        )
        if piece is None:
            raise ValueError(f"{fault['id']}: every chunk of section {fault['section']} was retrieved")
        old = trace["citations"][0]["snippet_id"]
        trace["answer"] = trace["answer"].replace(old, piece.chunk_id)
        trace["citations"] = [each for each in trace["citations"] if each["snippet_id"] == old][:1]
        trace["citations"][0] |= {
            "section_id": piece.section,
            "snippet_id": piece.chunk_id,
            "source_url": source_url(piece, self.sources[piece.doc_id], piece.page_idx),
            "page": piece.page_idx + 1,
            "offsets": {"start": piece.start, "end": piece.end, "unit": "char"},
            "tokens": len(piece.text.split()),
            "window": {"pre": 0, "post": 0},
            "quote": piece.text,
        }


def _count_pages_from_one(by_id: Traces, fault: Fault) -> None:
    """The producer of one section writes 1-based pages where 0-based ones belong."""
    for trace in by_id.values():
        for entry in (
            *trace["chunks"],
            *(entry for entries in trace["stages"].values() for entry in entries),
        ):
            if entry["section_id"] == fault["section"]:
                entry["page_idx"] += 1
        for payload in trace["citations"]:
            if payload["section_id"] == fault["section"]:
                payload["page"] += 1


def _drop_template(by_id: Traces, fault: Fault) -> None:
    trace = _answered(by_id, fault)
    trace["answer"] = trace["answer"].split(MARKER)[0]


def _misquote(by_id: Traces, fault: Fault) -> None:
    trace = _answered(by_id, fault)
    text, ids = trace["answer"].split(MARKER)
    if fault["old"] not in text:
        raise ValueError(
            f"{fault['id']}: the answer to {fault['q_id']} does not hold {fault['old']!r}: {text!r}"
        )
    trace["answer"] = text.replace(fault["old"], fault["new"], 1) + MARKER + ids
    for payload in trace["citations"]:
        payload["quote"] = payload["quote"].replace(fault["old"], fault["new"], 1)


def _answer_from_another(by_id: Traces, fault: Fault) -> None:
    """Use another question's chunks, answer and citations, as from a cache with the wrong key."""
    stale = copy.deepcopy(_answered(by_id, {**fault, "q_id": fault["from"]}))
    by_id[fault["q_id"]] |= {key: stale[key] for key in _ANSWER}


def _answered(by_id: Traces, fault: Fault) -> dict[str, Json]:
    """The trace of the fault's question. ValueError where it refuses: nothing could be planted there."""
    trace = by_id[fault["q_id"]]
    if MARKER not in trace["answer"]:
        raise ValueError(f"{fault['id']}: the run has no answer to {fault['q_id']} that a fault could change")
    return trace


def read_faults() -> list[dict[str, Json]]:
    """The declared faults in their order."""
    declared: list[dict[str, Json]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return declared


def declared_causes(faults: Sequence[Fault]) -> dict[str, str]:
    """Return the cause that the verdict on each faulty question must name, by question."""
    return {fault.get("cited_by") or fault["q_id"]: fault["cause"] for fault in faults if "cause" in fault}


def lines(records: Sequence[Mapping[str, Json]], faults: Sequence[Fault]) -> bytes:
    """The trace file. The line of a `bad_line` ends early; behind that of an `unfinished_line` nothing is."""
    kept = {fault["q_id"]: fault["keep"] for fault in faults if fault["kind"] in CUT}
    unfinished = next((fault["q_id"] for fault in faults if fault["kind"] == "unfinished_line"), None)
    if unfinished is not None and records[-1]["q_id"] != unfinished:
        raise ValueError(f"{unfinished} is not the last line, which is {records[-1]['q_id']}")
    written = [orjson.dumps(record)[: kept.get(record["q_id"])] for record in records]
    return b"\n".join(written) + (b"" if unfinished is not None else b"\n")


def unreadable_lines(faults: Sequence[Fault]) -> int:
    """How many lines are known not to parse; one without its line end still waits and is not counted."""
    return sum(fault["kind"] == "bad_line" for fault in faults)


def table(faults: Sequence[Fault]) -> str:
    """FAULTS.md."""
    head = [
        "# Planted faults",
        "",
        "All runs come from a small, honest pipeline (`tools/demo`) over the manual and the bulletin. Only",
        "R005 has faults that were put in, so that every kind of trouble can be seen and looked for; R006 is",
        "the fixed run. Whatever else goes wrong in these runs is what the pipeline really did.",
        "",
        "*Cause* is the first failure that the verdict on the fault's question names; a fault of the whole",
        "run counts in the release verdict. *Found by* names what of Proofspan shows the fault.",
        "",
        "| fault | question | what was done | how it shows | where to look | cause | found by |",
        "|---|---|---|---|---|---|---|",
    ]
    rows = [
        f"| {fault['id']} {_words(fault['kind'])} | {_questions(fault)} | {fault['done']} | {fault['sign']} "
        f"| {fault['look']} | {_cause(fault)} | {fault['found_by']} |"
        for fault in faults
    ]
    return "\n".join([*head, *rows]) + "\n"


def _questions(fault: Fault) -> str:
    return str(fault.get("q_id", f"section {fault['section']}" if "section" in fault else "whole run"))


def _cause(fault: Fault) -> str:
    if "cause" in fault:
        return f"`{fault['cause']}`"
    return "no trace" if fault["kind"] in CUT else "release verdict"


def _words(kind: str) -> str:
    return kind.replace("_", " ")
