"""Turn a parsed trace line into a `Trace`, resolving aliases once, and read its stages on demand.

`trace_from` runs for every line of an index build, so it reads only what every reader needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from operator import itemgetter
from typing import Final, NamedTuple

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import (
    DELTA_S_NAMES,
    ID_NAMES,
    LAMBDA_NAMES,
    first_of,
    id_of,
    lambda_of,
    number_of,
    numbers_of,
    page_of,
    text_of,
)
from proofspan.contracts.records.records import (
    Candidate,
    Json,
    LineIssue,
    SourceLine,
    Stage,
    StageName,
    Trace,
)
from proofspan.traces.lines.reader import ABSENT, UnusableError, issue_of, wrong
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.citations import auditable_block, citation_ids_in_text, payload_of
from proofspan.traces.records.identity import count_of, q_id_of, record_from, run_id_of

#: Rank 1 is that of the first of these stages that exists, the top 20 that of the first of `TOP_STAGES`.
LAST_STAGES: Final[tuple[StageName, ...]] = ("reranked", "fused", "retrieved", "chunks")
TOP_STAGES: Final[tuple[StageName, ...]] = ("fused", "retrieved", "chunks")
#: The order in which a pipeline passes through its stages.
STAGES: Final[tuple[StageName, ...]] = ("retrieved", "fused", "reranked", "chunks")

NO_PLACES: Final[Places] = {}
NOWHERE: Final = Place(None, None, None)

_ID: Final = itemgetter("id")
_DOC_ID: Final = itemgetter("doc_id")


class Measures(NamedTuple):
    """The pipeline's measures of its own answer; None where it states none.

    `lambda_state` is one of convergent, divergent, recursive, chaotic, or the pipeline's own word.
    """

    ok: bool | None = None
    delta_s: float | None = None
    lambda_state: str | None = None
    latency_ms: float | None = None


class RankOnePlace(NamedTuple):
    """Document, section and page of the first candidate of the last stage."""

    stage: StageName
    chunk_id: str
    doc_id: str | None
    section_id: str | None
    page_idx: int | None


def trace_from(obj: Json, source: SourceLine, *, run_id: str | None, data: bytes = b"") -> Trace | LineIssue:
    """Return the record of a parsed line, or the issue that prevents it.

    `run_id` is the manifest's; with None (a bare file) it is the line's own, else "". `data` is the line
    itself, for the issue's excerpt.
    """
    try:
        return _trace(obj, source, run_id)
    except UnusableError as why:
        return issue_of(why, source, data)


def stages(trace: Trace) -> tuple[Stage, ...]:
    """Return the trace's ranked lists in the order of the pipeline, without empty ones."""
    lists = []
    for name in STAGES:
        candidates = []
        for rank, chunk_id, entry in listed(trace, name):
            doc_id, section_id, page_idx = place_in(entry, chunk_id, NO_PLACES)
            features, text = entry.get("features"), entry.get("text")
            candidate = Candidate(
                chunk_id=chunk_id,
                rank=rank,
                doc_id=doc_id,
                section_id=section_id,
                page_idx=page_idx,
                score=score_of(entry),
                pre_score=numbers_of(entry.get("pre_score")),
                post_score=numbers_of(entry.get("post_score")),
                features=features if isinstance(features, dict) else {},
                text=text if isinstance(text, str) else None,
                raw=entry,
            )
            candidates.append(candidate)
        if candidates:
            lists.append(Stage(name, tuple(candidates)))
    return tuple(lists)


def rank_one_place(trace: Trace) -> RankOnePlace | None:
    """Return the place of the first candidate of the last stage that has one."""
    for name in LAST_STAGES if "stages" in trace.raw else LAST_STAGES[-1:]:
        for entry in entries_in(trace.raw, name):  # `listed` would read the ids of all entries
            if type(entry) is dict and (chunk_id := id_of(entry)) is not None:
                return RankOnePlace(name, chunk_id, *place_in(entry, chunk_id, NO_PLACES))
    return None


def top_stage(trace: Trace) -> StageName | None:
    """Return the stage of the top 20: fused, else retrieved, else the chunks; None without any."""
    return next((name for name in TOP_STAGES if entries_in(trace.raw, name)), None)


def lengths(trace: Trace) -> dict[StageName, int]:
    """Return the length of each list that is not empty, entries without an id included."""
    names = STAGES if "stages" in trace.raw else STAGES[-1:]
    return {name: length for name in names if (length := len(entries_in(trace.raw, name)))}


def listed(trace: Trace, name: StageName) -> Iterator[tuple[int, str, Mapping[str, Json]]]:
    """Yield rank, chunk id and entry of each entry with an id, ranked in the whole list."""
    entries = entries_in(trace.raw, name)
    try:
        ids = list(map(_ID, entries))
        "".join(ids)  # the quickest check that all are text
    except (KeyError, TypeError):
        return (
            (rank, chunk_id, entry)
            for rank, entry in enumerate(entries, start=1)
            if type(entry) is dict and (chunk_id := id_of(entry)) is not None
        )
    return zip(count(1), ids, entries)


def place_in(entry: Mapping[str, Json], chunk_id: str, places: Places) -> Place:
    """Return a candidate's place: as its entry states it, else from `places`, else from its id."""
    doc_id, section_id = text_of(entry.get("doc_id")), text_of(entry.get("section_id"))
    page_idx, _ = page_of(entry)
    if doc_id is None or section_id is None or page_idx is None:
        known = places.get(chunk_id) or place_by_id(chunk_id)
        doc_id, section_id = doc_id or known.doc_id, section_id or known.section_id
        page_idx = known.page_idx if page_idx is None else page_idx
    return Place(doc_id, section_id, page_idx)


def doc_ids(trace: Trace) -> tuple[str, ...]:
    """Return the documents of the answerer's chunks, each once, in order."""
    try:
        named = dict.fromkeys(map(_DOC_ID, entries_in(trace.raw, "chunks")))
        "".join(named)  # the quickest check that all are text
    except (KeyError, TypeError):
        entries = listed(trace, "chunks")
        named = dict.fromkeys([place_in(entry, chunk_id, NO_PLACES).doc_id for _, chunk_id, entry in entries])
    return tuple(filter(None, named))


def measures(trace: Trace) -> Measures:
    """Return ok, ΔS, λ and latency, from the line itself, from its `metrics`, or from its answer's block."""
    raw = trace.raw
    ok, nested = raw.get("ok"), raw.get("metrics")

    def stated(names: tuple[str, ...]) -> Json:
        value = first_of(raw, names)
        return first_of(nested, names) if value is None and type(nested) is dict else value

    delta_s, state = number_of(stated(DELTA_S_NAMES)), lambda_of(stated(LAMBDA_NAMES))
    if (block := trace.block) is not None:
        delta_s = block.delta_s if delta_s is None else delta_s
        state = block.lambda_state if state is None else state
    latency = number_of(stated(("latency_ms",)))
    return Measures(ok if type(ok) is bool else None, delta_s, state, latency)


def score_of(entry: Mapping[str, Json]) -> float | None:
    """Return the score of an entry of a ranked list, under any of its names; None without one."""
    return number_of(first_of(entry, ("score", "score_norm", "score_raw")))


def _trace(obj: Json, source: SourceLine, run_id: str | None) -> Trace:
    obj = record_from("trace", obj)
    suspicions: list[str] = []
    q = obj.get("q", ABSENT)
    if q is ABSENT:
        q = obj.get("question", ABSENT)
    if type(q) is not str:
        raise wrong("q", q)
    answer = obj.get("answer", ABSENT)
    if type(answer) is not str:
        if answer is not ABSENT:
            raise wrong("answer", answer)
        answer = ""
        suspicions.append("answer_missing")
    chunk_ids = _chunk_ids(obj.get("chunks", ABSENT), suspicions)
    block = auditable_block(answer)
    payload = payload_of(obj, block)
    for item in payload:
        page = item.get("page") if type(item) is dict else None
        # A `page` counts from 1: the producer of a smaller one counts from another number.
        if (type(page) is int or type(page) is float) and page < 1 and item.get("page_idx") is None:
            suspicions.append("citation_page_zero")
            break
    if not q and "joined_from" in obj:
        suspicions.append("question_unknown")
    return Trace(
        q,
        answer,
        chunk_ids,
        run_id_of(obj.get("run_id"), run_id),
        q_id_of(obj, q),
        count_of(obj, "paraphrase"),
        count_of(obj, "seed"),
        source,
        tuple(suspicions),
        obj,
        payload,
        citation_ids_in_text(answer),
        block,
    )


def _chunk_ids(chunks: Json, suspicions: list[str]) -> tuple[str, ...]:
    if type(chunks) is not list:
        if chunks is not ABSENT:
            raise wrong("chunks", chunks, wanted="a list of objects with an id")
        suspicions.append("chunks_missing")
        return ()
    try:
        texts = tuple(map(_ID, chunks))
        "".join(texts)  # the quickest check that all are text
        return texts
    except (KeyError, TypeError):
        pass  # an alias, a number, or something unusable
    ids = entry_ids("chunks", chunks)
    if len(ids) < len(chunks):
        suspicions.append("chunk_without_id")
    return tuple(ids)


def entry_ids(name: str, entries: Iterable[Json]) -> list[str]:
    """Return the ids of a list's entries, which need have none. Raises UnusableError for an invalid one."""
    ids = []
    for place, entry in enumerate(entries, start=1):
        if type(entry) is not dict:
            raise wrong(f"entry {place} of {name}", entry, wanted="an object with an id")
        if (entry_id := id_of(entry)) is not None:
            ids.append(entry_id)
        elif (named := next((each for each in ID_NAMES if each in entry), None)) is not None:
            raise wrong(f"the {named} of entry {place} of {name}", entry[named])
    return ids


def place_by_id(chunk_id: str) -> Place:
    """Return the place that a chunk's id states; unknown parts are None."""
    parts = parse(chunk_id)
    return Place(parts.doc_uid, parts.sect_path, parts.page_idx) if parts else NOWHERE


def entries_in(raw: Mapping[str, Json], name: StageName) -> list[Json]:
    """Return a stage's list, empty where it is absent or not a list; `{"items": […]}` counts as its list."""
    if name == "chunks":
        entries = raw.get("chunks")
    else:
        named = raw.get("stages")
        entries = named.get(name) if isinstance(named, dict) else None
    if isinstance(entries, dict):
        entries = entries.get("items")
    return entries if isinstance(entries, list) else []
