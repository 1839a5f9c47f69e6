"""Check a trace against the contract: every problem with its message, or the distinct codes alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

import orjson

from proofspan.contracts.records.chunk_id import UNKNOWN_REVISION, parse
from proofspan.contracts.records.field_values import id_of, text_of
from proofspan.contracts.records.records import Json, Trace
from proofspan.contracts.rules.answers import (
    lambda_problems,
    order_problems,
    stop_in,
    stop_of,
    stop_problem,
)
from proofspan.contracts.rules.catalogue import (
    CHECKS,
    Placed,
    in_order,
    inside,
    is_of_logging,
    problem,
)
from proofspan.contracts.rules.citations import citation_problems, items_problems, list_problems, section_of
from proofspan.contracts.rules.context import Context, shown
from proofspan.contracts.rules.envelope import (
    ENVELOPE,
    contract_problems,
    envelope_problems,
    version_problems,
)
from proofspan.contracts.rules.parity import index_name, parity_problems, same_text_rev
from proofspan.contracts.rules.payload import (
    AUDITABLE,
    BARE_CANDIDATE,
    CITATION,
    LOGGED,
    are_clean,
    candidate_demand,
    cross_section,
    item_problems,
    mixed_units,
)
from proofspan.contracts.rules.ranking import listed_ties, repeated, scoreless, shared_ranks
from proofspan.contracts.rules.run import corpus_problems, retrieval_problems
from proofspan.contracts.rules.schema_findings import schema_problems
from proofspan.errors import Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.traces.records.trace_record import STAGES, entries_in

#: Where a joined trace's citations may come from that hold no payload: ids of an answer, lines of a log.
JOINED = ("cited_chunks", "log")
#: How many cited chunks are looked for in the text of an answer.
MOST_NAMED = 50
#: How many problems with one code are listed of one trace; one more counts the rest.
MOST = 24

#: The keys by which a record claims to follow the contract.
_CLAIMS = frozenset({"$schema", "schema_version"})
_ENVELOPE_KEYS = frozenset({"$schema", *ENVELOPE})
#: Records without room for an envelope, except for its time, from which a trace may be joined.
_LINES = frozenset({"log", "rag_traces", "gold"})


#: A place in the record, and a problem whose `where` is relative to it.
Located = tuple[str, Problem]


class Listed(NamedTuple):
    """Entries as the record has them, the place of their list (`stages.fused`), and their ids."""

    place: str
    entries: list[Json]
    ids: Sequence[str | None]


class Reading(NamedTuple):
    """A trace, parsed once for all its checks.

    `live` is `context`, completed by the index, embedding model and analyzer that the trace itself logs.
    `lists` are its ranked lists, `cited` the lists of citations (its own, then those of its segments), empty
    ones left out. `is_joined`: the citations are ids of an answer's record or lines of a log, which hold no
    payload.
    """

    trace: Trace
    raw: Mapping[str, Json]
    context: Context
    live: Context
    declines: bool
    lists: list[Listed]
    cited: list[Listed]
    is_joined: bool


def reading_of(trace: Trace, context: Context, *, declines: bool) -> Reading:
    """Parse what the checks need of a trace."""
    raw, live = trace.raw, context
    for name in ("index_hash", "embed_model", "analyzer"):
        value = raw.get(name)
        if value is not None and getattr(context, name) is None and isinstance(value, str) and value.strip():
            logged: dict[str, Any] = {name: value}
            live = replace(live, **logged)
    lists = []
    for name in STAGES if "stages" in raw else ("chunks",):
        if entries := entries_in(raw, name):
            known = trace.chunk_ids if name == "chunks" else ()
            ids = known if len(known) == len(entries) else _ids(entries)
            lists.append(Listed(name if name == "chunks" else f"stages.{name}", entries, ids))
    own, segments = raw.get("citations"), raw.get("segments")
    cited = [Listed("citations", own, _ids(own))] if isinstance(own, list) and own else []
    for place, segment in enumerate(segments if isinstance(segments, list) else (), start=1):
        items = segment.get("citations") if isinstance(segment, dict) else None
        if isinstance(items, list) and items:
            cited.append(Listed(f"segments[{place}].citations", items, _ids(items)))
    return Reading(trace, raw, context, live, declines, lists, cited, raw.get("citations_from") in JOINED)


def _ids(entries: Sequence[Json]) -> list[str | None]:
    """Return the chunks that entries name, by an id alone or as a field; None for an entry without."""
    ids = [id_of(item) if type(item) is dict else item if type(item) is str else None for item in entries]
    return [each or None for each in ids] if "" in ids else ids


def _envelope_problems(reading: Reading) -> Iterator[Located]:
    """Check the envelope. A trace joined from log lines or rows of `rag_traces` owes none."""
    raw = reading.raw
    joined = raw.get("joined_from")
    if isinstance(joined, dict) and joined and _LINES.issuperset(joined):
        return
    if _ENVELOPE_KEYS.isdisjoint(raw):
        breaches = [*envelope_problems(raw)]
    else:
        envelope = {name: value for name, value in raw.items() if name in _ENVELOPE_KEYS}
        breaches = [*version_problems("trace", envelope), *contract_problems("trace", envelope)]
        # a missing field is among the contract's problems
        shape = schema_problems("envelope", envelope)
        breaches += [breach for breach in shape if breach.code != f"missing_{breach.where}"]
    for breach in breaches:
        yield "", breach


def _log_problems(reading: Reading) -> Iterator[Located]:
    """Check the question, the λ state, and the index, model and analyzer that the trace logs."""
    raw = reading.raw
    if "question_unknown" in reading.trace.suspicions:
        message = "neither the records nor the gold set say what was asked"
        yield "", problem("question_unknown", "q", message)
    logged = raw
    if isinstance(index_hash := raw.get("index_hash"), str) and isinstance(store := raw.get("store"), str):
        logged = {**raw, "index_hash": index_name(index_hash, store)}
    for breach in (*parity_problems(logged, reading.context), *lambda_problems(raw)):
        yield "", breach
    if isinstance(nested := raw.get("metrics"), dict):
        for breach in lambda_problems(nested):
            yield "metrics", breach


def _answer_problems(reading: Reading) -> Iterator[Located]:
    """Check whether the answer is a stop by the contract, cites at all, and cites before it explains."""
    answer, in_text, block = reading.trace.answer, reading.trace.ids_in_text, reading.trace.block
    cited, segments = reading.cited, reading.raw.get("segments")
    if (reply := stop_in(reading.raw)) is not None:
        yield "", stop_problem(reply, "error")
    elif (reply := stop_of(answer)) is not None:
        yield "", stop_problem(reply, "answer")
    if reply is not None or reading.declines or not answer.strip():
        return
    if block is not None:
        for breach in order_problems(block.keys, "answer"):
            yield "", breach
        for breach in lambda_problems({"λ": block.lambda_state}):
            yield "answer", breach
        if block.citations:
            for breach in citation_problems(block.citations, reading.live, "answer.citations", AUDITABLE):
                yield "", breach
    if not (cited or in_text or (block and block.citations)):
        message = "the answer cites nothing and does not decline in its profile's words"
        yield "", problem("empty_citations", "citations", message)
    if isinstance(segments, list) and any(each.place.startswith("segments") for each in cited):
        for place, segment in enumerate(segments, start=1):  # that cite nothing, where others do
            text = segment.get("text") if isinstance(segment, dict) else None
            if isinstance(text, str) and text.strip() and not segment.get("citations"):
                where = f"segments[{place}].citations"
                yield "", problem("empty_citations", where, "the segment cites nothing")
    named = islice((each for listed in cited for each in listed.ids if each), MOST_NAMED)
    if cited and not (in_text or block or reading.is_joined or any(each in answer for each in named)):
        name = cited[0].place.partition("[")[0]
        for breach in order_problems(list(reading.raw), name, cited=name):
            yield "", breach


def _citation_problems(reading: Reading) -> Iterator[Located]:
    """Check each citation of a trace, all of them together, and each segment's sections."""
    if not reading.cited:
        yield from _text_sections(reading)
        return
    own = reading.cited[0].entries if reading.cited[0].place == "citations" else []
    checked = [(f"citations[{number}]", item) for number, item in enumerate(own, start=1)]
    of_segments = reading.cited[1:] if own else reading.cited
    known = {orjson.dumps(item, option=orjson.OPT_SORT_KEYS) for item in own if of_segments}
    for where, items, _ in of_segments:
        for number, item in enumerate(items, start=1):  # unless it points at one of the trace's own
            if not known or not (
                isinstance(item, str) or orjson.dumps(item, option=orjson.OPT_SORT_KEYS) in known
            ):
                checked.append((f"{where}[{number}]", item))
    if reading.is_joined:  # the record owes ids only
        checked = [(place, item) for place, item in checked if not isinstance(item, str)]
    items, demand = [item for _, item in checked], LOGGED if reading.is_joined else CITATION
    for place, breach in (*items_problems(items, reading.live, demand), *list_problems(items)):
        yield checked[place - 1][0], breach
    by_id: dict[str | None, str | None] = {}
    for where, items, ids in reading.cited:
        sections = [section_of(item) or by_id.get(each) for item, each in zip(items, ids, strict=True)]
        if items is own:
            by_id = dict(zip(ids, sections, strict=True))
            if of_segments:  # they have fences of their own
                continue
        for place, breach in cross_section(sections, reading.live):
            yield f"{where}[{place}]", breach


def _text_sections(reading: Reading) -> Iterator[Located]:
    """Apply the section fence to an answer that cites in its text alone, by the candidates' sections."""
    in_text = reading.trace.ids_in_text
    if len(in_text) < 2:
        return
    wanted = set(in_text)
    known: dict[str | None, str | None] = {}
    for _, entries, ids in reading.lists:
        for entry, chunk_id in zip(entries, ids, strict=True):
            if chunk_id in wanted and isinstance(entry, dict):
                parts = parse(chunk_id or "")
                known[chunk_id] = text_of(entry.get("section_id")) or (parts.sect_path if parts else None)
    for _, breach in cross_section([known.get(chunk_id) for chunk_id in in_text], reading.live):
        yield "", replace(breach, where="answer")


def _candidate_problems(reading: Reading) -> Iterator[Located]:
    """Check what each candidate of the ranked lists states, and the order of the lists."""
    for where, entries, ids in reading.lists:
        breaches: list[Placed] = []
        bare, is_plain = entries, are_clean(entries, BARE_CANDIDATE)
        if not is_plain:
            bare = []
            for place, entry in enumerate(entries, start=1):
                demand = candidate_demand(entry) if isinstance(entry, dict) else None
                bare.append(entry if demand is BARE_CANDIDATE else None)
                if demand:
                    breaches += [(place, breach) for breach in item_problems(entry, reading.live, demand)]
            breaches += [*mixed_units(entries), *shared_ranks(entries)]
        breaches += repeated(ids)
        scores = {entry.get("score") for entry in entries} if is_plain else set()
        if len(scores) < len(entries) or None in scores:  # else none is missing, and none tied
            breaches += [*scoreless(bare, needed=where != "chunks"), *listed_ties(entries)]
        for place, breach in breaches:
            yield f"{where}[{place}]", breach


def _across_problems(reading: Reading) -> Iterator[Located]:
    """Find chunks that were not retrieved, that the corpus lacks, or whose id has another revision."""
    placed = [
        (each, f"{where}[{number}]")
        for where, _, ids in reading.cited
        for number, each in enumerate(ids, start=1)
    ]
    placed += [(each, "answer") for each in reading.trace.ids_in_text]
    if block := reading.trace.block:
        of_block = enumerate(_ids(block.citations), start=1)
        placed += [(each, f"answer.citations[{number}]") for number, each in of_block]
    cited: dict[str, str] = {}  # each with the first place in the record that cites it
    for each, place in placed:
        if each:
            cited.setdefault(each, place)
    retrieved: set[str | None] = set().union(*[listed.ids for listed in reading.lists])
    retrieved.discard(None)
    if (retrieved or "chunks" in reading.raw) and not cited.keys() <= retrieved:
        for breach in retrieval_problems(((place, each) for each, place in cited.items()), retrieved):
            yield "", breach
    corpus, revs = reading.context.corpus, reading.context.revs
    if corpus is None and not revs:
        return
    known: Container[object] = () if corpus is None else corpus
    if all(map(known.__contains__, chain(cited, retrieved))):
        return
    strangers = {each: place for each, place in cited.items() if each not in known}
    for where, _, ids in reading.lists:
        for each in [each for each in ids if each and each not in known]:
            strangers.setdefault(each, f"{where}[{ids.index(each) + 1}]")
    for breach in _rev_problems(strangers, reading) if revs else ():
        yield "", breach
    if corpus is not None:
        for breach in corpus_problems(((place, each) for each, place in strangers.items()), corpus):
            yield "", breach


def _rev_problems(strangers: Mapping[str, str], reading: Reading) -> Iterator[Problem]:
    """Compare the revisions in ids that are not in the chunk file with the manifest's; one per document.

    For an id in the chunk file it is chunk file and manifest that differ. An id cited with a `rev` of its own
    is left to that.
    """
    dated = {
        each
        for _, items, ids in reading.cited
        for item, each in zip(items, ids, strict=True)
        if isinstance(item, dict) and "rev" in item
    }
    reported = set()
    for chunk_id, place in strangers.items():
        parts = parse(chunk_id) if chunk_id not in dated else None
        if parts is None or parts.rev == UNKNOWN_REVISION or (parts.doc_uid, parts.rev) in reported:
            continue
        rev = reading.context.revs.get(parts.doc_uid)
        if rev is not None and not same_text_rev(parts.rev, rev):
            reported.add((parts.doc_uid, parts.rev))
            message = f"r={parts.rev} in {shown(chunk_id)}, the document's revision is {shown(rev)}"
            yield problem("rev_mismatch", place, message)


def _added_problems(reading: Reading) -> Iterator[Located]:
    """Run the checks of traces that other packages register."""
    for check in CHECKS.get("trace", ()):
        for breach in check(reading.raw, reading.context):
            yield "", breach


#: The checks in the order of their problems.
_CHECKS: tuple[Callable[[Reading], Iterator[Located]], ...] = (
    _envelope_problems,
    _log_problems,
    _answer_problems,
    _citation_problems,
    _candidate_problems,
    _across_problems,
    _added_problems,
)


def _breaches(reading: Reading) -> Iterator[Located]:
    """Run the checks; a foreign record that claims no contract breaks no rule of logging."""
    found = chain.from_iterable(check(reading) for check in _CHECKS)
    if reading.context.is_foreign and _CLAIMS.isdisjoint(reading.raw):
        return (each for each in found if not is_of_logging(each[1].code))
    return found


def trace_problems(trace: Trace, context: Context, *, declines: bool) -> tuple[Problem, ...]:
    """Check a trace, the problems code by code; of one code at most `MOST`, and one that counts the rest.

    `declines` says whether the answer declines by the run's profile: then it owes no citations.
    """
    reading = reading_of(trace, context, declines=declines)
    by_code: dict[str, list[Problem]] = {}
    more: Counter[str] = Counter()
    for place, breach in _breaches(reading):
        listed = by_code.setdefault(breach.code, [])
        if len(listed) > MOST:
            more[breach.code] += 1
        else:
            listed.append(inside(place, breach) if place else breach)
    for code, rest in more.items():
        by_code[code][MOST] = replace(by_code[code][MOST], message=f"{rest + 1:,} more like it")
    return tuple([breach for listed in by_code.values() for breach in listed])


def trace_codes(trace: Trace, context: Context, *, declines: bool) -> tuple[str, ...]:
    """Return the distinct codes of `trace_problems`, in order."""
    reading = reading_of(trace, context, declines=declines)
    return tuple(in_order({breach.code for _, breach in _breaches(reading)}))


def context_of(manifest: Manifest, run: Run, corpus: Container[str] | None) -> Context:
    """Return what a run's traces are compared with: pins, document revisions, corpus, whitelist."""
    allowed = manifest.contract.get("allow_cross_section")
    pinned = {  # as text; YAML reads a hash of digits alone as a number
        name: str(value) or None
        for name, value in run.pinned.items()
        if isinstance(value, str) or type(value) is int
    }
    return Context(
        index_hash=pinned.get("index_hash"),
        embed_model=pinned.get("embed_model"),
        analyzer=pinned.get("analyzer"),
        revs={document.doc_id: document.rev for document in manifest.documents if document.rev},
        corpus=corpus,
        allow_cross=allowed is True,
        cross_sections=frozenset(map(str, allowed)) if isinstance(allowed, list) else frozenset(),
        is_foreign=is_foreign(manifest, run),
    )


def is_foreign(manifest: Manifest, run: Run) -> bool:
    """Return whether a run's traces are another tool's.

    Their answers follow no template, and nothing is pinned or set for the contract.
    """
    return manifest.triage.get("template") == "none" and not (run.pinned or manifest.contract)
