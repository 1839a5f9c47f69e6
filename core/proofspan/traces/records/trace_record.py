"""A parsed trace line → the canonical record, its aliases read once.

`trace_from` runs once for every line of an index build, so it looks only at what every reader needs;
stages, candidates and citations are read from `raw` when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from proofspan.traces.lines.reader import ABSENT, UnusableError, issue_of, kind_of, wrong
from proofspan.traces.records.answer_block import auditable_block
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.citations import (
    citation_ids_in_text,
    citations,
    filled_from,
    payload_of,
)
from proofspan.traces.records.identity import count_of, q_id_of, refuse_other_major, run_id_of

__all__ = [
    "Measures",
    "candidate_from",
    "citation_ids_in_text",
    "citations",
    "doc_ids",
    "entries_in",
    "filled_from",
    "lengths",
    "listed",
    "measures",
    "place_by_id",
    "place_in",
    "rank_one_place",
    "ranked_places",
    "score_of",
    "stages",
    "top_stage",
    "trace_from",
]

#: Rank 1 is read from the first of these that is there, the top 20 from the first of `TOP_STAGES`.
LAST_STAGES: Final[tuple[StageName, ...]] = ("reranked", "fused", "retrieved", "chunks")
TOP_STAGES: Final[tuple[StageName, ...]] = ("fused", "retrieved", "chunks")
#: The order in which a pipeline passes through its stages.
STAGES: Final[tuple[StageName, ...]] = ("retrieved", "fused", "reranked", "chunks")

_ID: Final = itemgetter("id")
_DOC_ID: Final = itemgetter("doc_id")


class Measures(NamedTuple):
    """What the pipeline said about its own answer; None where it said nothing.

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


class RankedPlace(NamedTuple):
    """A candidate's 1-based rank in its list and where its chunk lies, as far as that is known."""

    rank: int
    chunk_id: str
    doc_id: str | None
    section_id: str | None
    page_idx: int | None


def trace_from(obj: Json, source: SourceLine, *, run_id: str | None, data: bytes = b"") -> Trace | LineIssue:
    """The canonical record of a parsed line, or the issue that says why there is none.

    `run_id` is the manifest's; None (a bare file) takes the line's own, "" where it has none. `data` is the
    line itself, for the issue's excerpt.
    """
    try:
        return _trace(obj, source, run_id)
    except UnusableError as why:
        return issue_of(why, source, data)


def stages(trace: Trace) -> tuple[Stage, ...]:
    """The trace's ranked lists in the order of the pipeline, those without a candidate left out."""
    found = []
    for name in STAGES:
        entries = listed(trace, name)
        if candidates := tuple(candidate_from(entry, rank, chunk_id) for rank, chunk_id, entry in entries):
            found.append(Stage(name, candidates))
    return tuple(found)


def rank_one_place(trace: Trace) -> RankOnePlace | None:
    """Where the first candidate of the last stage there is lies."""
    for name in LAST_STAGES if "stages" in trace.raw else LAST_STAGES[-1:]:
        for entry in entries_in(trace.raw, name):
            if type(entry) is not dict or (chunk_id := id_of(entry)) is None:
                continue
            doc_id, section_id = text_of(entry.get("doc_id")), text_of(entry.get("section_id"))
            page_idx, _ = page_of(entry)
            if (doc_id is None or section_id is None or page_idx is None) and (parts := parse(chunk_id)):
                doc_id, section_id = doc_id or parts.doc_uid, section_id or parts.sect_path
                page_idx = parts.page_idx if page_idx is None else page_idx
            return RankOnePlace(name, chunk_id, doc_id, section_id, page_idx)
    return None


def top_stage(trace: Trace) -> StageName | None:
    """The list that the top 20 are read from: fused, else retrieved, else the chunks; None without any."""
    return next((name for name in TOP_STAGES if entries_in(trace.raw, name)), None)


def lengths(trace: Trace) -> dict[StageName, int]:
    """How many places each list has that is not empty, those without an id included."""
    names = STAGES if "stages" in trace.raw else STAGES[-1:]
    return {name: length for name in names if (length := len(entries_in(trace.raw, name)))}


def listed(trace: Trace, name: StageName) -> Iterator[tuple[int, str, Mapping[str, Json]]]:
    """Rank, chunk id and entry of a stage's candidates, as `stages` ranks them; nothing else is read."""
    return _identified(entries_in(trace.raw, name))


def ranked_places(trace: Trace, name: StageName, places: Places) -> Iterator[RankedPlace]:
    """Where a stage's candidates lie, see `place_in`."""
    for rank, chunk_id, entry in listed(trace, name):
        yield RankedPlace(rank, chunk_id, *place_in(entry, chunk_id, places))


def place_in(entry: Mapping[str, Json], chunk_id: str, places: Places) -> Place:
    """Where a candidate lies: as its entry says itself, else as `places` has it, else by its id."""
    doc_id, section_id = text_of(entry.get("doc_id")), text_of(entry.get("section_id"))
    page_idx, _ = page_of(entry)
    if doc_id is None or section_id is None or page_idx is None:
        known = places.get(chunk_id) or place_by_id(chunk_id)
        doc_id, section_id = doc_id or known.doc_id, section_id or known.section_id
        page_idx = known.page_idx if page_idx is None else page_idx
    return Place(doc_id, section_id, page_idx)


def doc_ids(trace: Trace) -> tuple[str, ...]:
    """The documents that the answerer's chunks come from, each once, in order."""
    entries = entries_in(trace.raw, "chunks")
    try:
        named = dict.fromkeys(map(_DOC_ID, entries))
        "".join(named)  # refuses whatever is not text
    except (KeyError, TypeError):
        named = dict.fromkeys([_doc_id(entry, chunk_id) for _, chunk_id, entry in _identified(entries)])
    return tuple(filter(None, named))


def measures(trace: Trace) -> Measures:
    """ok, ΔS, λ and latency, from the line itself, from its `metrics`, or from its answer's block."""
    raw = trace.raw
    ok, nested = raw.get("ok"), raw.get("metrics")
    if type(nested) is not dict:
        nested = {}
    delta_s = number_of(_first(raw, nested, DELTA_S_NAMES))
    state = lambda_of(_first(raw, nested, LAMBDA_NAMES))
    if (block := auditable_block(trace.answer)) is not None:
        delta_s = block.delta_s if delta_s is None else delta_s
        state = block.lambda_state if state is None else state
    latency = number_of(_first(raw, nested, ("latency_ms",)))
    return Measures(ok if type(ok) is bool else None, delta_s, state, latency)


def candidate_from(entry: Mapping[str, Json], rank: int, chunk_id: str) -> Candidate:
    """One entry of a ranked list; document, section and page from its id where nothing else gives them."""
    doc_id, section_id = text_of(entry.get("doc_id")), text_of(entry.get("section_id"))
    page_idx, _ = page_of(entry)
    if (doc_id is None or section_id is None or page_idx is None) and (parts := parse(chunk_id)):
        doc_id = doc_id or parts.doc_uid
        section_id = section_id or parts.sect_path
        page_idx = parts.page_idx if page_idx is None else page_idx
    features, text = entry.get("features"), entry.get("text")
    return Candidate(
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


def score_of(entry: Mapping[str, Json]) -> float | None:
    """What an entry of a ranked list scored, by whatever name; None where it does not say."""
    score = entry.get("score")
    if score is None:
        score = first_of(entry, ("score_norm", "score_raw"))
    return number_of(score)


def _trace(obj: Json, source: SourceLine, run_id: str | None) -> Trace:
    if type(obj) is not dict:
        raise UnusableError(
            "not_an_object", f"the line holds {kind_of(obj)}", "Write one JSON object a line."
        )
    refuse_other_major("trace", obj)
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
    if _has_page_below_one(payload_of(obj)):
        suspicions.append("citation_page_zero")
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
    )


def _chunk_ids(chunks: Json, suspicions: list[str]) -> tuple[str, ...]:
    """The ids of `chunks` in order; entries without one are skipped with a suspicion."""
    if type(chunks) is not list:
        if chunks is not ABSENT:
            raise wrong("chunks", chunks, wanted="a list of objects with an id")
        suspicions.append("chunks_missing")
        return ()
    try:
        found = tuple(map(_ID, chunks))
        "".join(found)  # refuses whatever is not text: the quickest such check there is
    except (KeyError, TypeError):
        return _aliased_ids(chunks, suspicions)
    return found


def _doc_id(entry: Mapping[str, Json], chunk_id: str) -> str | None:
    """The document of one entry, from its id where it names none."""
    if (doc_id := text_of(entry.get("doc_id"))) is not None:
        return doc_id
    parts = parse(chunk_id)
    return parts.doc_uid if parts else None


def _aliased_ids(chunks: list[Json], suspicions: list[str]) -> tuple[str, ...]:
    """The slow way, for entries that are not all objects with a text as `id`."""
    ids = []
    for place, chunk in enumerate(chunks, start=1):
        if type(chunk) is not dict:
            raise wrong(f"entry {place} of chunks", chunk, wanted="an object with an id")
        name = next((name for name in ID_NAMES if name in chunk), None)
        if name is None:
            continue
        if (chunk_id := id_of(chunk)) is None:
            raise wrong(f"the {name} of entry {place} of chunks", chunk[name])
        ids.append(chunk_id)
    if len(ids) < len(chunks):
        suspicions.append("chunk_without_id")
    return tuple(ids)


def _has_page_below_one(payload: list[Json]) -> bool:
    """A payload's `page` counts from 1; a smaller one says that its producer counts from somewhere else."""
    for item in payload:
        if type(item) is dict:
            page = item.get("page")
            if (type(page) is int or type(page) is float) and page < 1 and item.get("page_idx") is None:
                return True
    return False


def place_by_id(chunk_id: str) -> Place:
    """Where a chunk lies that only its id tells of; unknown parts are None."""
    parts = parse(chunk_id)
    return Place(parts.doc_uid, parts.sect_path, parts.page_idx) if parts else Place(None, None, None)


def entries_in(raw: Mapping[str, Json], name: StageName) -> list[Json]:
    """A stage's list, empty where it is absent, null or no list (`{"items": […]}` counts as its list)."""
    if name == "chunks":
        entries = raw.get("chunks")
    else:
        named = raw.get("stages")
        entries = named.get(name) if isinstance(named, dict) else None
    if isinstance(entries, dict):
        entries = entries.get("items")
    return entries if isinstance(entries, list) else []


def _identified(entries: list[Json]) -> Iterator[tuple[int, str, dict[str, Json]]]:
    """The entries that carry an id, each with its 1-based rank in the whole list and that id."""
    try:
        ids = list(map(_ID, entries))
        "".join(ids)  # refuses whatever is not text
    except (KeyError, TypeError):
        return _identified_slowly(entries)
    return zip(count(1), ids, entries)


def _identified_slowly(entries: list[Json]) -> Iterator[tuple[int, str, dict[str, Json]]]:
    for rank, entry in enumerate(entries, start=1):
        if type(entry) is dict and (chunk_id := id_of(entry)) is not None:
            yield rank, chunk_id, entry


def _first(record: Mapping[str, Json], nested: Mapping[str, Json], names: tuple[str, ...]) -> Json:
    """The first value that is not null under any of the names, in the record itself or else within it."""
    value = first_of(record, names)
    return first_of(nested, names) if value is None and nested else value
