"""A trace held to the contract: every finding with its words, or the distinct codes at the least cost.

Both go through the same rules. `trace_codes` skips one only where a quick look shows that it finds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress, islice
from operator import eq, gt, itemgetter
from typing import Any, Final, NamedTuple

import orjson

from proofspan.contracts.records.chunk_id import UNKNOWN_REVISION, parse
from proofspan.contracts.records.field_values import LAMBDA_NAMES, id_of, page_of, text_of
from proofspan.contracts.records.records import Json, Trace
from proofspan.contracts.records.schemas import URN
from proofspan.contracts.rules.answers import (
    LAMBDA_WORDS,
    after_finding,
    cited_after,
    lambda_findings,
    stop_finding,
    stop_in,
    stop_of,
)
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.citations import items_findings, list_findings, section_of
from proofspan.contracts.rules.envelope import (
    ENVELOPE,
    NO_ENVELOPE,
    USUAL,
    contract_findings,
    is_whole,
    version_findings,
)
from proofspan.contracts.rules.fast_path import is_clean
from proofspan.contracts.rules.finding import NO_CONTEXT, Context, Finding, Placed, shown
from proofspan.contracts.rules.parity import index_name, same_text_rev
from proofspan.contracts.rules.payload import (
    AUDITABLE,
    BARE_CANDIDATE,
    CITATION,
    LOGGED,
    PAYLOAD_MARKS,
    candidate_demand,
    cross_section,
    item_findings,
    mixed_units,
    parity_findings,
)
from proofspan.contracts.rules.ranking import (
    RANKS,
    SCORES,
    listed_ties,
    repeated,
    scoreless,
    shared_ranks,
)
from proofspan.contracts.rules.schema_findings import schema_findings
from proofspan.manifest.types import Manifest, Run
from proofspan.traces.records.answer_block import Block, auditable_block
from proofspan.traces.records.citations import citation_ids_in_text
from proofspan.traces.records.trace_record import STAGES, entries_in

# The contract's rules for the envelope of a trace: what its line says of its own making.

_TYPE = f"{URN}trace-1.0"
_ENVELOPE_KEYS = frozenset({"$schema", *ENVELOPE})
#: What a trace is joined from where none of its records has room for an envelope, but for its time.
_LINES = frozenset({"log", "rag_traces", "gold"})


def is_clean_envelope(reading: Reading) -> bool:
    """Whether the envelope is whole, in the version that is read."""
    raw = reading.raw
    return raw.get("schema_version") == USUAL and raw.get("$schema", _TYPE) == _TYPE and is_whole(raw)


def envelope_findings(reading: Reading) -> Iterator[Located]:
    """What is missing, empty, of the wrong type or of another version; one finding where there is nothing.

    A trace that is joined from log lines or rows of `rag_traces` owes none: their keys are given.
    """
    raw = reading.raw
    joined = raw.get("joined_from")
    if isinstance(joined, dict) and joined and _LINES.issuperset(joined):
        return
    if _ENVELOPE_KEYS.isdisjoint(raw):
        yield "", NO_ENVELOPE
        return
    stated = {name: value for name, value in raw.items() if name in _ENVELOPE_KEYS}
    for finding in (*version_findings("trace", stated), *contract_findings("trace", stated)):
        yield "", finding
    for finding in schema_findings("envelope", stated):
        if finding.code != f"missing_{finding.field}":  # that is told already
            yield "", finding


# What the contract's rules need of a trace, read once: what it lists, what it cites, what the run pins.

#: A place in the record, and a finding whose field is seen from there.
Located = tuple[str, Finding]

#: Where a joined trace's citations may come from that hold no payload: ids of an answer, lines of a log.
JOINED = ("cited_chunks", "log")

_PLACES = {name: name if name == "chunks" else f"stages.{name}" for name in STAGES}


class Listed(NamedTuple):
    """Entries as the record has them, and the place of their list in the record: `stages.fused`."""

    place: str
    entries: list[Json]


class Reading(NamedTuple):
    """A trace, as its rules read it.

    `live` is `context` with what the trace logs itself of index, embedding model and analyzer where the run
    pins nothing. `lists` are its ranked lists, `cited` the lists of citations (its own, then those of its
    segments), empty ones left out. `in_text` are the ids of `citations: […]` in the answer, `block` is the
    auditable answer in it.
    """

    trace: Trace
    raw: Mapping[str, Json]
    context: Context
    live: Context
    declines: bool
    lists: tuple[Listed, ...]
    cited: tuple[Listed, ...]
    in_text: tuple[str, ...]
    block: Block | None

    @property
    def is_joined(self) -> bool:
        """Whether the citations are ids of an answer's record or lines of a log, which hold no payload."""
        return self.raw.get("citations_from") in JOINED


def reading_of(trace: Trace, context: Context, *, declines: bool) -> Reading:
    """The trace, read for its rules."""
    raw, answer = trace.raw, trace.answer
    return Reading(
        trace,
        raw,
        context,
        _live(raw, context),
        declines,
        _ranked(raw),
        _cited(raw),
        citation_ids_in_text(answer),
        auditable_block(answer),
    )


def cited_id(item: Json) -> str | None:
    """The chunk that an entry of a list of citations names."""
    return (item if isinstance(item, str) else id_of(item) if isinstance(item, dict) else None) or None


def _live(raw: Mapping[str, Json], context: Context) -> Context:
    if context.index_hash is None and _says(raw, "index_hash"):
        context = replace(context, index_hash=raw["index_hash"])
    if context.embed_model is None and _says(raw, "embed_model"):
        context = replace(context, embed_model=raw["embed_model"])
    if context.analyzer is None and _says(raw, "analyzer"):
        context = replace(context, analyzer=raw["analyzer"])
    return context


def _says(raw: Mapping[str, Json], name: str) -> bool:
    return name in raw and isinstance(value := raw[name], str) and bool(value.strip())


def _ranked(raw: Mapping[str, Json]) -> tuple[Listed, ...]:
    if "stages" not in raw:
        entries = entries_in(raw, "chunks")
        return (Listed("chunks", entries),) if entries else ()
    found = []
    for name in STAGES:
        if entries := entries_in(raw, name):
            found.append(Listed(_PLACES[name], entries))
    return tuple(found)


def _cited(raw: Mapping[str, Json]) -> tuple[Listed, ...]:
    own, segments = raw.get("citations"), raw.get("segments")
    first = (Listed("citations", own),) if isinstance(own, list) and own else ()
    if not isinstance(segments, list):
        return first
    found = []
    for place, segment in enumerate(segments, start=1):
        items = segment.get("citations") if isinstance(segment, dict) else None
        if isinstance(items, list) and items:
            found.append(Listed(f"segments[{place}].citations", items))
    return (*first, *found)


# The contract's rules for a trace's ranked lists: what each candidate states, and the order of the list.

#: A candidate that states none of these is held to nothing but the order of its list.
_HELD = PAYLOAD_MARKS.union(RANKS, SCORES, {"page"}) - {"score"}
_ID, _SCORE, _SECTION = map(itemgetter, ("id", "score", "section_id"))
_NUMBERS = frozenset({int, float})


def are_clean_lists(reading: Reading) -> bool:
    """Whether nothing is to be found in the ranked lists: no payloads, every score logged, ties in order."""
    return all(_is_clean(entries, is_stage=where != "chunks") for where, entries in reading.lists)


def candidate_findings(reading: Reading) -> Iterator[Located]:
    """Everything that is wrong with the ranked lists."""
    for where, entries in reading.lists:
        for place, finding in _list_findings(entries, reading.live, is_stage=where != "chunks"):
            yield f"{where}[{place}]", finding


def _is_clean(entries: list[Json], *, is_stage: bool) -> bool:
    try:
        keys = set().union(*entries)
        if not _HELD.isdisjoint(keys):
            return False
        ids = list(map(_ID, entries)) if "id" in keys else list(map(id_of, entries))
        if len(set(map(str, ids))) < len(ids):  # 7 and "7" are one
            return False
        if "score" not in keys:
            return not is_stage
        scores = list(map(_SCORE, entries))
        if not _NUMBERS.issuperset(map(type, scores)):
            return False
        tied = list(map(eq, scores, islice(scores, 1, None)))
        return True not in tied or _are_in_order(entries, tied)
    except (KeyError, TypeError):
        return False


def _are_in_order(entries: list[Json], tied: list[bool]) -> bool:
    """Whether entries that are tied with the next one come before it by section and id, both text."""
    sections, ids = list(map(_SECTION, entries)), list(map(_ID, entries))
    "".join(sections), "".join(ids)  # refuses whatever is not text
    keys = list(zip(sections, ids, strict=True))
    return not any(map(gt, compress(keys, tied), compress(islice(keys, 1, None), tied)))


def _list_findings(entries: list[Json], context: Context, *, is_stage: bool) -> Iterator[Placed]:
    bare: list[Json] = []
    for place, entry in enumerate(entries, start=1):
        demand = candidate_demand(entry) if isinstance(entry, dict) else None
        bare.append(entry if demand is BARE_CANDIDATE else None)
        for finding in item_findings(entry, context, demand) if demand else ():
            yield place, finding
    yield from repeated(entries)
    yield from scoreless(bare, needed=is_stage)
    yield from mixed_units(entries)
    yield from shared_ranks(entries)
    yield from listed_ties(entries)


# The contract's rules for what a trace cites: each citation, all together, each segment's sections.


def are_clean_citations(reading: Reading) -> bool:
    """Whether nothing is to be found in the citations: none, or clean ones of one chunk each or of one."""
    cited = reading.cited
    if not cited:
        return len(reading.in_text) < 2
    items, live = cited[0].entries, reading.live
    if len(cited) > 1:
        return False
    for item in items:
        if not is_clean(item, live):
            return False
    return len(items) == 1 or _do_agree(items, is_fenced=not live.allow_cross)


def citing_findings(reading: Reading) -> Iterator[Located]:
    """Everything that is wrong with the citations of a trace."""
    if not reading.cited:
        yield from _text_sections(reading)
        return
    own = reading.cited[0].entries if reading.cited[0].place == "citations" else []
    repeated = _repeats_of(own if len(reading.cited) > 1 else [])
    judged = [
        (f"{where}[{number}]", item)
        for where, items in reading.cited
        for number, item in enumerate(items, start=1)
        if items is own or not repeated(item)
    ]
    if reading.is_joined:  # ids are all that the record asks for
        judged = [(place, item) for place, item in judged if not isinstance(item, str)]
    items, demand = [item for _, item in judged], LOGGED if reading.is_joined else CITATION
    for place, finding in (*items_findings(items, reading.live, demand), *list_findings(items)):
        yield judged[place - 1][0], finding
    by_id = {cited_id(item): section_of(item) for item in own}
    for where, items in [each for each in reading.cited if each.entries is not own] or reading.cited:
        sections = [section_of(item) or by_id.get(cited_id(item)) for item in items]
        for place, finding in cross_section(sections, reading.live):
            yield f"{where}[{place}]", finding


def _do_agree(items: Sequence[dict[str, Json]], *, is_fenced: bool) -> bool:
    """Whether clean citations plainly keep the rules of lists: a section, a unit, and ranks without a tie."""
    first = items[0]
    ids, ranks, finals, scored = set(), set(), set(), set()
    for item in items:
        if is_fenced and item["section_id"] != first["section_id"]:
            return False
        if item["offsets"]["unit"] != first["offsets"]["unit"]:
            return False
        chunk_id, k_final = id_of(item), item.get("k_final")
        ids.add(chunk_id)
        ranks.add((chunk_id, item["k_pos"]))
        finals.add((chunk_id, k_final))
        scored.add((chunk_id, (item.get("score_raw"), item.get("score_norm"))))
    chunks = len(ids)
    are_ranked = chunks == len(ranks) == len({rank for _, rank in ranks})
    are_scored = chunks == len(scored) == len({scores for _, scores in scored})
    placed = {k_final for _, k_final in finals}
    return are_ranked and are_scored and (placed == {None} or chunks == len(finals) == len(placed))


def _repeats_of(own: Sequence[Json]) -> Callable[[Json], bool]:
    """Whether a citation of a segment only points at one of the trace's own, or repeats it."""
    prints = {orjson.dumps(item, option=orjson.OPT_SORT_KEYS) for item in own}
    return lambda item: (
        bool(own) and (isinstance(item, str) or orjson.dumps(item, option=orjson.OPT_SORT_KEYS) in prints)
    )


def _text_sections(reading: Reading) -> Iterator[Located]:
    """The section fence for an answer that cites in its text alone; sections are those of the candidates."""
    wanted = set(reading.in_text)
    known = {
        chunk_id: _section_in(entry, chunk_id)
        for _, entries in reading.lists
        for entry in entries
        if isinstance(entry, dict) and (chunk_id := id_of(entry) or "") in wanted
    }
    for _, finding in cross_section([known.get(chunk_id) for chunk_id in reading.in_text], reading.live):
        yield "", replace(finding, field="answer")


def _section_in(entry: dict[str, Json], chunk_id: str) -> str | None:
    """The section of a candidate: as it says itself, else as its id does."""
    parts = parse(chunk_id)
    return text_of(entry.get("section_id")) or (parts.sect_path if parts else None)


# Citations that say where they point and nothing of the payload: many pipelines write no others.
#
# All of them lack the same, so an index build need not ask each citation for each field.

#: What is read of a citation beside its place.
_PAYLOAD_KEYS: Final = PAYLOAD_MARKS.union(SCORES, RANKS, {"snippet_id"})
_SPARSE = {"chunk_id": "c", "doc_id": "d", "section_id": "s"}
_LACKING: Final[tuple[Located, ...]] = tuple(
    [("", finding) for finding in item_findings(_SPARSE, NO_CONTEXT, CITATION)]
)


def cited_codes(reading: Reading) -> Iterable[Located]:
    """Findings with all the codes of `citing_findings`; of sparse citations those of one are enough."""
    return _LACKING if _are_sparse(reading) else citing_findings(reading)


def _are_sparse(reading: Reading) -> bool:
    """Whether the only citations are sparse ones of one section, each with a place that can be read."""
    if len(reading.cited) != 1 or reading.is_joined:
        return False
    items = reading.cited[0].entries
    section = section_of(items[0])
    return all(_is_sparse(item) and item["section_id"] == section for item in items)


def _is_sparse(item: Json) -> bool:
    if type(item) is not dict or not _PAYLOAD_KEYS.isdisjoint(item):
        return False
    chunk_id, doc_id, section = id_of(item), item.get("doc_id"), section_of(item)
    if not chunk_id or chunk_id.isspace() or section is None or type(doc_id) is not str:
        return False
    return bool(doc_id.strip()) and page_of(item)[1] is None


# The contract's rules for the answer of a trace and for what the trace logs itself.

#: So many cited chunks are looked for in the text of an answer.
MOST_NAMED = 50

_LAMBDAS = frozenset(LAMBDA_NAMES)


def is_clean_log(reading: Reading) -> bool:
    """Whether there is a question, and what is logged of index, models and λ is absent or what is pinned."""
    raw = reading.raw
    analyzer, state = raw.get("analyzer"), raw.get("λ")
    if not reading.trace.q:
        return False
    if analyzer is not None and analyzer != reading.context.analyzer:
        return False
    if "index_hash" in raw or "embed_model" in raw or "metrics" in raw:
        return False
    if state is None:
        return _LAMBDAS.isdisjoint(raw)
    return type(state) is str and state in LAMBDA_WORDS


def log_findings(reading: Reading) -> Iterator[Located]:
    """A question that nothing knows, an unknown λ state; index, model, analyzer that the run does not pin."""
    raw = reading.raw
    if "question_unknown" in reading.trace.suspicions:
        said = "neither the records nor the gold set say what was asked"
        yield "", Finding("question_unknown", "q", said)
    logged: dict[str, Json] = {name: raw.get(name) for name in ("index_hash", "embed_model", "analyzer")}
    if isinstance(logged["index_hash"], str) and isinstance(store := raw.get("store"), str):
        logged["index_hash"] = index_name(logged["index_hash"], store)
    for finding in (*parity_findings(logged, reading.context), *lambda_findings(raw)):
        yield "", finding
    if isinstance(nested := raw.get("metrics"), dict):
        for finding in lambda_findings(nested):
            yield "metrics", finding


def is_clean_answer(reading: Reading) -> bool:
    """Whether the answer is plainly none of the contract's stops and names its citations, or declines."""
    answer = reading.trace.answer
    if "error" in reading.raw or "error" in answer or "segments" in reading.raw:
        return False
    return reading.declines or (bool(reading.in_text) and reading.block is None)


def answer_findings(reading: Reading) -> Iterator[Located]:
    """Whether the answer is a stop by the contract, cites at all, and cites before it explains."""
    raw, answer = reading.raw, reading.trace.answer
    if (reply := stop_in(raw)) is not None:
        yield "", stop_finding(reply, "error")
    elif (reply := stop_of(answer)) is not None:
        yield "", stop_finding(reply, "answer")
    elif not reading.declines and answer.strip():
        yield from _citing_findings(reading)


def _citing_findings(reading: Reading) -> Iterator[Located]:
    """An answer that neither stops nor declines: nothing cited, or cited too late."""
    answer, cited, block = reading.trace.answer, reading.cited, reading.block
    if block is not None:
        yield from _block_findings(block, reading.live)
    if not (cited or reading.in_text or (block and block.citations)):
        said = "the answer cites nothing and does not decline in its profile's words"
        yield "citations", Finding("empty_citations", "", said)
    yield from _uncited_segments(reading)
    if cited and not (reading.in_text or block or reading.is_joined or _names_one(answer, cited)):
        name = cited[0].place.partition("[")[0]
        if cited_after(list(reading.raw), cited=name):
            yield "", after_finding(name)


def _block_findings(block: Block, context: Context) -> Iterator[Located]:
    """The auditable answer by its own keys: each citation owes the five fields of the prompt contract."""
    if cited_after(block.keys):
        yield "", after_finding("answer")
    if block.lambda_state is not None:
        for finding in lambda_findings({"λ": block.lambda_state}):
            yield "answer", finding
    for place, finding in (
        *items_findings(block.citations, context, AUDITABLE),
        *list_findings(block.citations),
        *cross_section([section_of(item) for item in block.citations], context),
    ):
        yield f"answer.citations[{place}]", finding


def _uncited_segments(reading: Reading) -> Iterator[Located]:
    """The segments that cite nothing, where others of the same answer do."""
    segments = reading.raw.get("segments")
    if not isinstance(segments, list) or not any(each.place.startswith("segments") for each in reading.cited):
        return
    for place, segment in enumerate(segments, start=1):
        text = segment.get("text") if isinstance(segment, dict) else None
        if isinstance(text, str) and text.strip() and not segment.get("citations"):
            yield "", Finding("empty_citations", f"segments[{place}].citations", "the segment cites nothing")


def _names_one(answer: str, cited: tuple[Listed, ...]) -> bool:
    """Whether the answer's text names one of the cited chunks."""
    named = (cited_id(item) for _, items in cited for item in items)
    return any(chunk_id in answer for chunk_id in islice(filter(None, named), MOST_NAMED))


# The contract's rules across records: cited but not retrieved, and chunks that the corpus does not have.

#: More chunks than this are looked up by the rules themselves.
MOST_SEEN = 100

_ENTRY_ID = itemgetter("id")


def is_clean_across(reading: Reading) -> bool:
    """Whether every id plainly is one of the chunks that the answerer saw, and all of them in the corpus."""
    seen, corpus = reading.trace.chunk_ids, reading.context.corpus
    if len(seen) > MOST_SEEN or reading.block is not None:
        return False
    for chunk_id in reading.in_text:
        if chunk_id not in seen:
            return False
    for _, items in reading.cited:
        for item in items:
            if cited_id(item) not in seen:
                return False
    if corpus is None:
        return not reading.context.revs
    try:
        for _, entries in reading.lists:
            if not all(map(corpus.__contains__, map(_ENTRY_ID, entries))):
                return False
    except (KeyError, TypeError):
        return False
    return True


def across_findings(reading: Reading) -> Iterator[Located]:
    """Chunks that are cited and not retrieved, that the corpus lacks, or whose id has another revision."""
    cited = _cited_places(reading)
    retrieved: dict[str, str] = {}
    for place, entries in reading.lists:
        for number, entry in enumerate(entries, start=1):
            if isinstance(entry, dict) and (chunk_id := id_of(entry)):
                retrieved.setdefault(chunk_id, f"{place}[{number}]")
    if retrieved or "chunks" in reading.raw:
        for chunk_id, place in cited.items():
            if chunk_id not in retrieved:
                said = f"{shown(chunk_id)} is cited, but not among the {len(retrieved):,} chunks retrieved"
                yield place, Finding("cited_not_retrieved", "", said)
    yield from _corpus_findings({**cited, **retrieved}, reading)


def _cited_places(reading: Reading) -> dict[str, str]:
    """The cited ids, each with the first place in the record that cites it."""
    found: dict[str, str] = {}
    for place, items in reading.cited:
        for number, item in enumerate(items, start=1):
            if chunk_id := cited_id(item):
                found.setdefault(chunk_id, f"{place}[{number}]")
    for chunk_id in reading.in_text:
        found.setdefault(chunk_id, "answer")
    for number, item in enumerate(reading.block.citations if reading.block else (), start=1):
        if chunk_id := cited_id(item):
            found.setdefault(chunk_id, f"answer.citations[{number}]")
    return found


def _corpus_findings(places: Mapping[str, str], reading: Reading) -> Iterator[Located]:
    """`places` is id → its first place in the record.

    An id that the chunk file has is not held against the manifest's revisions: there, chunk file and manifest
    differ. Nor is one that is cited with a `rev` of its own.
    """
    corpus = reading.context.corpus
    strangers = [chunk_id for chunk_id in places if corpus is None or chunk_id not in corpus]
    dated = {
        cited_id(item)
        for _, items in reading.cited
        for item in items
        if isinstance(item, dict) and "rev" in item
    }
    undated = [chunk_id for chunk_id in strangers if chunk_id not in dated]
    yield from _revisions(undated, places, reading.context)
    if corpus is None:
        return
    for chunk_id in strangers:
        yield places[chunk_id], Finding("not_in_corpus", "", f"{shown(chunk_id)} is not in the chunk file")


def _revisions(ids: Sequence[str], places: Mapping[str, str], context: Context) -> Iterator[Located]:
    """One finding a document and revision, at the first id that has it."""
    if not context.revs:
        return
    said = set()
    for chunk_id in ids:
        parts = parse(chunk_id)
        if parts is None or parts.rev == UNKNOWN_REVISION or (parts.doc_uid, parts.rev) in said:
            continue
        rev = context.revs.get(parts.doc_uid)
        if rev is not None and not same_text_rev(parts.rev, rev):
            said.add((parts.doc_uid, parts.rev))
            message = f"r={parts.rev} in {shown(chunk_id)}, the document's revision is {shown(rev)}"
            yield places[chunk_id], Finding("rev_mismatch", "", message)


#: So many findings of one code are told of one trace; one more counts the rest.
MOST = 24

#: Each rule with the quick look that may show that it finds nothing, in the order of findings.
_RULES: tuple[tuple[Callable[[Reading], bool], Callable[[Reading], Iterator[Located]]], ...] = (
    (is_clean_envelope, envelope_findings),
    (is_clean_log, log_findings),
    (is_clean_answer, answer_findings),
    (are_clean_citations, citing_findings),
    (are_clean_lists, candidate_findings),
    (is_clean_across, across_findings),
)
#: What stands for a rule where codes alone are wanted.
_CODED: Mapping[Callable[[Reading], Iterator[Located]], Callable[[Reading], Iterable[Located]]] = {
    citing_findings: cited_codes
}


def trace_findings(trace: Trace, context: Context, *, declines: bool) -> tuple[Finding, ...]:
    """Everything that is wrong with a trace, code by code; the q_id names the findings.

    Of one code at most `MOST` findings are told, and one more that counts the rest.

    `declines` says whether the answer declines by the run's profile: then it owes no citations.
    """
    reading = reading_of(trace, context, declines=declines)
    found: dict[str, list[Finding]] = {}
    more: Counter[str] = Counter()
    for _, rule in _RULES:
        for place, finding in rule(reading):
            told = found.setdefault(finding.code, [])
            if len(told) > MOST:
                more[finding.code] += 1
            else:
                told.append(replace(finding.inside(place) if place else finding, record_id=trace.q_id))
    for code, rest in more.items():
        found[code][MOST] = replace(found[code][MOST], message=f"{rest + 1:,} more like it")
    return tuple([finding for told in found.values() for finding in told])


def trace_codes(trace: Trace, context: Context, *, declines: bool) -> tuple[str, ...]:
    """The distinct codes of `trace_findings`, in order."""
    reading = reading_of(trace, context, declines=declines)
    rules = [_CODED.get(rule, rule) for is_clean, rule in _RULES if not is_clean(reading)]
    return tuple(in_order({finding.code for rule in rules for _, finding in rule(reading)})) if rules else ()


def context_of(manifest: Manifest, run: Run, corpus: Container[str] | None) -> Context:
    """What a run's traces are held against: its pins, the documents' revisions, the corpus, the whitelist."""
    allowed = manifest.contract.get("allow_cross_section")
    pinned = run.pinned
    return Context(
        index_hash=_pin(pinned.get("index_hash")),
        embed_model=_pin(pinned.get("embed_model")),
        analyzer=_pin(pinned.get("analyzer")),
        revs={document.doc_id: document.rev for document in manifest.documents if document.rev},
        corpus=corpus,
        allow_cross=allowed is True,
        cross_sections=frozenset(map(str, allowed)) if isinstance(allowed, list) else frozenset(),
    )


def _pin(value: Any) -> str | None:
    """A pin as text; YAML reads a hash of digits alone as a number."""
    return str(value) or None if isinstance(value, str) or type(value) is int else None
