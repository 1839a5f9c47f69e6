"""Everything that is wrong with one record by itself, whatever its type: schema, versions, contract, rules.

What only its file or its run can tell (ids that come twice, memory that changes) is looked at elsewhere, and
so is what a trace's citations are held against (`proofspan.traces.contract`).
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

import orjson

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import first_of, id_of, index_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import schema_files
from proofspan.contracts.rules.answers import auditable_findings as whole_findings
from proofspan.contracts.rules.answers import lambda_findings, stop_finding, stop_in, stop_of
from proofspan.contracts.rules.citations import citation_findings, payload_findings
from proofspan.contracts.rules.envelope import UNSUPPORTED, contract_findings, time_findings, version_findings
from proofspan.contracts.rules.finding import Context, Finding, shown
from proofspan.contracts.rules.parity import index_name
from proofspan.contracts.rules.payload import (
    PAYLOAD_FIELDS,
    PAYLOAD_MARKS,
    candidate_demand,
    item_findings,
    offset_findings,
    page_findings,
    parity_findings,
    rev_findings,
)
from proofspan.contracts.rules.ranking import RANKS, SCORES, listed_ties, rank_of, repeated, shared_ranks
from proofspan.contracts.rules.schema_findings import MOST, schema_findings

__all__ = ["RECORD_TYPES", "merged", "record_findings", "record_id_of", "version_findings"]

# The rules of a chunk record: its hash is its text's, its offsets span, its embedding says how it compares.
#
# What its id says of its place is held against the record in `proofspan.contracts.chunk_ids.audit`.

_HEX = re.compile(r"[0-9a-f]+")
_SHA: Final[Mapping[str, Callable[[bytes], Any]]] = {
    "sha1": functools.partial(hashlib.sha1, usedforsecurity=False),
    "sha256": hashlib.sha256,
}
#: How vectors are compared cannot be guessed from the vectors.
_EMBEDDING: Final = ("metric", "normalized")


def chunk_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a chunk beyond its schema and its id."""
    if obj.get("text") == "":
        yield Finding("empty_text", "text", "text is ''")
    if obj.get("text_normalized") is None:
        yield Finding("missing_text_normalized", "text_normalized", "text_normalized is missing")
    if obj.get("doc_id") is None and not _names_document(obj):
        yield Finding("missing_doc_id", "doc_id", "doc_id is missing, and the id names no document")
    if (offsets := obj.get("offsets")) is not None:
        yield from offset_findings(offsets)
    if (span := obj.get("span")) is not None:
        yield from line_findings(span)
    if isinstance(embedding := obj.get("embedding"), dict):
        yield from _embedding(embedding)
    if context.revs:
        yield from rev_findings(obj, context)
    yield from _hash(obj)


def line_findings(span: Json) -> Iterator[Finding]:
    """A span of lines that ends before it begins."""
    first, last = _lines(span)
    if type(first) is int and type(last) is int and first > last:
        yield Finding("bad_span", "span", f"the first line is {first}, the last {last}")


def _lines(span: Json) -> tuple[Json, Json]:
    if isinstance(span, dict):
        return span.get("line_start"), span.get("line_end")
    return (span[0], span[1]) if isinstance(span, list) and len(span) == 2 else (None, None)


def _names_document(obj: Mapping[str, Json]) -> bool:
    chunk_id = id_of(obj)
    return chunk_id is not None and parse(chunk_id) is not None


def _embedding(embedding: Mapping[str, Json]) -> Iterator[Finding]:
    for name in _EMBEDDING:
        value = embedding.get(name)
        if value is None:
            yield Finding(f"missing_{name}", f"embedding.{name}", f"{name} is missing")
        elif value == "":
            yield Finding(f"empty_{name}", f"embedding.{name}", f"{name} is ''")


def _hash(obj: Mapping[str, Json]) -> Iterator[Finding]:
    """A hash that is not that of the text or of the normalized text; one that is cut short tells nothing."""
    stated, text = obj.get("hash"), obj.get("text")
    if not isinstance(stated, str) or not stated.strip() or not isinstance(text, str):
        return
    kind, _, digits = stated.strip().lower().partition(":")
    sha = _SHA.get(kind)
    if sha is None:
        yield Finding("hash_unreadable", "hash", f"hash is {shown(stated)}")
        return
    digest = _digest(sha, text)
    if digits == digest:
        return
    normalized = obj.get("text_normalized")
    if len(digits) != len(digest) or not _HEX.fullmatch(digits):
        yield Finding("hash_unreadable", "hash", f"hash is {shown(stated)}")
    elif not isinstance(normalized, str) or digits != _digest(sha, normalized):
        yield Finding("hash_mismatch", "hash", f"hash is {shown(stated)}, the text's is {kind}:{digest}")


def _digest(sha: Callable[[bytes], Any], text: str) -> str:
    digest: str = sha(text.encode("utf-8", "replace")).hexdigest()
    return digest


# The rules of gold questions and of redirects: what they say must be able to hold.

#: What an answer can be held against.
_EVIDENCE: Final = ("sections", "chunks", "spans")
#: Kind of redirect → how many new ids it has, at least and at most.
_NEW_IDS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("same", "rev", "shift", "merge"), (1, 1)),
    "split": (2, 1 << 53),
    "gone": (0, 0),
}


def gold_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a gold question beyond its schema."""
    known = [name for name in _EVIDENCE if obj.get(name)]
    if obj.get("answerable") is False and known:
        said = f"answerable is false, and {', '.join(known)} say where the answer stands"
        yield Finding("gold_contradicts", "answerable", said)
    elif obj.get("answerable") is not False and not known:
        said = "none of sections, chunks and spans says where the answer stands"
        yield Finding("gold_without_evidence", "", said)
    if obj.get("q") == "" or ("q" not in obj and obj.get("question") == ""):
        yield Finding("empty_q", "q", "q is ''")
    spans = obj.get("spans")
    for place, span in enumerate(spans if isinstance(spans, list) else (), start=1):
        if isinstance(span, dict):
            for finding in _span(span):
                yield finding.inside(f"spans[{place}]")
    yield from unknown_chunks(ids_of(obj.get("chunks")), context, "chunks")


def redirect_findings(obj: Mapping[str, Json], _: Context) -> Iterator[Finding]:
    """Everything that is wrong with a redirect beyond its schema."""
    kind, new_ids = obj.get("kind"), obj.get("new_ids")
    if not isinstance(kind, str) or kind not in _NEW_IDS or not isinstance(new_ids, list):
        return
    least, most = _NEW_IDS[kind]
    if not least <= len(new_ids) <= most:
        wanted = "none" if most == 0 else f"{least}" if most == least else f"{least} or more"
        yield Finding("bad_new_ids", "new_ids", f"new_ids holds {len(new_ids):,}, and {kind} has {wanted}")
    if kind == "same" and len(new_ids) == 1 and new_ids[0] != obj.get("old_id"):
        yield Finding("bad_new_ids", "new_ids", f"the kind is same, and the id is now {shown(new_ids[0])}")


def _span(span: Mapping[str, Json]) -> Iterator[Finding]:
    if span.get("quote") == "":
        yield Finding("empty_quote", "quote", "quote is ''")
    if span.get("offsets") is not None:
        yield from offset_findings(span["offsets"])
    yield from line_findings(span.get("span"))
    yield from page_findings(span)


# The rules of ranked lists in records of their own: what a retriever found, what a reranker made of it.

#: An item without one of these has nothing that the rules of payloads could judge.
_JUDGED = PAYLOAD_MARKS | {"page", "page_idx", "score_raw", "score_norm", "rerank_score", *RANKS}


def retrieved_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a retriever's list beyond its schema."""
    items = _items(obj)
    yield from _more_than(len(items), obj, "k")
    for place, item in enumerate(items, start=1):
        if type(item) is dict and not _JUDGED.isdisjoint(item):
            for finding in item_findings(item, context, candidate_demand(item)):
                yield finding.inside(f"items[{place}]")
    for place, finding in (*shared_ranks(items), *listed_ties(items)):
        yield finding.inside(f"items[{place}]")
    yield from _listed(items, context)


def rerank_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a reranker's list beyond its schema."""
    items = _items(obj)
    yield from _more_than(len(items), obj, "k_in")
    k_in, k_out = index_of(obj.get("k_in")), index_of(obj.get("k_out"))
    if k_in is not None and k_out is not None and k_out > k_in:
        yield Finding("bad_k_out", "k_out", f"k_out is {k_out:,}, and k_in only {k_in:,}")
    stated = [item["selected"] for item in items if type(item) is dict and type(item.get("selected")) is bool]
    if stated and k_out is not None and sum(stated) != k_out:
        said = f"{sum(stated):,} of {len(items):,} items selected, and k_out is {k_out:,}"
        yield Finding("selected_not_k_out", "items", said)
    for place, finding in shared_ranks(items):
        yield finding.inside(f"items[{place}]")
    yield from _listed(items, context)


def unknown_chunks(ids: Sequence[str | None], context: Context, place: str) -> Iterator[Finding]:
    """The chunks of a list at `place` that the chunk file does not have."""
    if context.corpus is None:
        return
    for number, chunk_id in enumerate(ids, start=1):
        if chunk_id is not None and chunk_id not in context.corpus:
            yield Finding(
                "not_in_corpus", f"{place}[{number}]", f"{shown(chunk_id)} is not in the chunk file"
            )


def ids_of(items: Json) -> list[str | None]:
    """The chunks that a list names, by entries or by their ids alone; None for what names none."""
    entries = items if isinstance(items, list) else []
    return [id_of(item) if isinstance(item, dict) else text_of(item) for item in entries]


def _listed(items: Sequence[Json], context: Context) -> Iterator[Finding]:
    """Chunks that stand in a ranked list twice, or are not in the corpus."""
    for place, finding in repeated(items):
        yield finding.inside(f"items[{place}]")
    yield from unknown_chunks(ids_of(items), context, "items")


def _items(obj: Mapping[str, Json]) -> list[Json]:
    items = obj.get("items")
    return items if isinstance(items, list) else []


def _more_than(length: int, obj: Mapping[str, Json], name: str) -> Iterator[Finding]:
    most = index_of(obj.get(name))
    if most is not None and length > most:
        yield Finding(f"bad_{name}", name, f"{name} is {most:,}, and {length:,} items are listed")


# The rules of log records and of rows of `rag_traces`: lists that belong together, and the run's pins.

#: Lists that have one entry a citation.
_BESIDE = ("scores", "kpos", "kfinal")


def with_lists(row: Mapping[str, Json]) -> dict[str, Json]:
    """A row of `rag_traces` with lists where it holds the JSON text of one, as exported columns do."""
    lists = {name: _list_in(row[name]) for name in ("citations", *_BESIDE) if isinstance(row.get(name), str)}
    return {**row, **{name: found for name, found in lists.items() if found is not None}}


def _list_in(text: str) -> list[Json] | None:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, list) else None


def row_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a row of `rag_traces` beyond its schema."""
    cited = obj.get("citations")
    count = len(cited) if isinstance(cited, list) else 0
    for name in _BESIDE:
        beside = obj.get(name)
        if isinstance(beside, list) and len(beside) != count:
            said = f"{name} has {len(beside):,} places, citations {count:,}"
            yield Finding("lists_differ", name, said)
    yield from log_findings(obj, context)


def log_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a log record beyond its schema and what its line tells already."""
    yield from time_findings(obj)
    yield from lambda_findings(obj)
    for name in ("kpos", "kfinal"):
        ranks = obj.get(name)
        for place, rank in enumerate(ranks if isinstance(ranks, list) else (), start=1):
            if type(rank) is int and rank_of(rank) is None:
                yield Finding(
                    f"bad_{name}", f"{name}[{place}]", f"{name}[{place}] is {rank}, ranks count from 1"
                )
    yield from _parity(obj, context)
    yield from unknown_chunks(ids_of(obj.get("citations")), context, "citations")


def _parity(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Index, embedding model and analyzer that are not the run's; a log names its store apart."""
    index_hash, store = obj.get("index_hash"), obj.get("store")
    if isinstance(index_hash, str) and isinstance(store, str):
        index_hash = index_name(index_hash, store)
    embed_model = obj.get("embed_model", obj.get("embed"))
    stated = {"index_hash": index_hash, "embed_model": embed_model, "analyzer": obj.get("analyzer")}
    for finding in parity_findings(stated, context):
        is_renamed = finding.field == "embed_model" and "embed" in obj
        yield Finding(finding.code, "embed" if is_renamed else finding.field, finding.message)


# The rules of an answer record: it cites or declines, and states a known λ.

#: The words by which the answer template declines; a run's own phrases are known to its manifest alone.
DECLINES: Final = "not in context"


def answer_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with an answer record beyond its schema."""
    cited, items, text = obj.get("cited_chunks"), obj.get("citations"), obj.get("answer_text")
    if (stop := stop_in(obj)) is not None:
        yield stop_finding(stop, "error")
    elif isinstance(text, str) and (stop := stop_of(text)) is not None:
        yield stop_finding(stop, "answer_text")
    elif cited == [] and not declines(text):
        yield Finding("empty_citations", "cited_chunks", "nothing is cited")
    yield from lambda_findings(obj)
    yield from unknown_chunks(ids_of(cited), context, "cited_chunks")
    if isinstance(items, list) and items:
        for finding in citation_findings(items, context):
            yield finding.inside("citations")


def auditable_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with an auditable answer beyond its schema."""
    yield from whole_findings(obj, context, declines=declines(obj.get("answer")))
    yield from unknown_chunks(ids_of(obj.get("citations")), context, "citations")


def declines(answer: Json) -> bool:
    """Whether an answer says in the template's words that it has none."""
    return isinstance(answer, str) and DECLINES in answer.lower()


# The rule of prompts: locked, that is, they ask for citations before the explanation.
#
# Judged by words, in English: somewhere in system, task or constraints one clause must put citing first.
# "Cite before you explain", "Citations first, then the answer", "First cite …", "Do not answer until you have
# cited" do; "Cite line spans" asks for citations without saying when, "Explain before you cite" asks for the
# wrong order, and "Do not cite first" for neither.

#: The longest prompt that is read for the rule, in characters.
MOST_CHARS = 100_000

_CLAUSE = re.compile(r"[.;:!?\n\r]+")
_CITING = r"\bcit(?:e|es|ed|ing|ation|ations)\b"
_EXPLAINING = r"\b(?:explain\w*|explanations?|answer\w*|respon[ds]\w*|conclu\w+|writ\w+|repl\w+)\b"
_LATER = r"\b(?:and|then|later|afterwards?)\b"
_NOT = re.compile(r"\b(?:not|never|no|without|cannot)\b|n['’]t\b")
_LOCKS = (
    re.compile(rf"{_CITING}.{{0,80}}?\b(?:before|first|prior to|ahead of)\b"),
    re.compile(rf"\bfirst\b(?:(?!{_LATER}).){{0,60}}?{_CITING}"),
    re.compile(rf"{_CITING}.{{0,60}}?(?:\bthen\b|→|->|=>).{{0,60}}?{_EXPLAINING}"),
    re.compile(rf"\bbefore\b.{{0,40}}?{_EXPLAINING}.{{0,40}}?{_CITING}"),
)
#: Said with a "not" that belongs to the explanation: no answer before, until or without the citations.
_NEGATED_LOCK = re.compile(
    rf"(?:\b(?:not|never|no)\b|n['’]t\b).{{0,40}}?{_EXPLAINING}.{{0,60}}?\b(?:before|until|unless)\b.{{0,60}}?{_CITING}"
)


def prompt_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a prompt frame beyond its schema."""
    if not is_locked(_asked(obj)):
        said = "system, task and constraints do not ask, in English, for citations before the explanation"
        yield Finding("prompt_not_locked", "", said)
    citations = obj.get("citations")
    for place, item in enumerate(citations if isinstance(citations, list) else (), start=1):
        if isinstance(item, dict):
            for name in ("doc_id", "section_id", "span"):
                if name in item and item[name] is None:
                    yield Finding(f"missing_{name}", f"citations[{place}].{name}", f"{name} is null")
            for finding in line_findings(item.get("span")):
                yield finding.inside(f"citations[{place}]")
    yield from unknown_chunks(ids_of(citations), context, "citations")


def is_locked(prompt: str) -> bool:
    """Whether one clause of a prompt puts citing before explaining."""
    return any(_puts_citing_first(clause) for clause in _CLAUSE.split(prompt[:MOST_CHARS].lower()))


def _puts_citing_first(clause: str) -> bool:
    if "cit" not in clause:
        return False
    if _NEGATED_LOCK.search(clause):
        return True
    return not _NOT.search(clause) and any(lock.search(clause) for lock in _LOCKS)


def _asked(obj: Mapping[str, Json]) -> str:
    """What the model is asked to do, one text a line."""
    constraints = obj.get("constraints")
    listed = constraints if isinstance(constraints, list) else [constraints]
    return "\n".join(text for text in (obj.get("system"), obj.get("task"), *listed) if isinstance(text, str))


Rules = Callable[[Mapping[str, Json], Context], Iterable[Finding]]

#: What `validate` can be told that a file holds.
RECORD_TYPES: Final = (
    *("envelope", "chunk", "query", "retrieved", "rerank", "prompt-frame", "answer", "metrics"),
    *(
        "citation",
        "auditable-answer",
        "log",
        "rag-traces",
        "trace",
        "report",
        "gold",
        "redirect",
        "catalogue",
    ),
)
#: The rules of single types beyond schema and contract.
_RULES: Final[Mapping[str, Rules]] = {
    "chunk": chunk_findings,
    "retrieved": retrieved_findings,
    "rerank": rerank_findings,
    "prompt-frame": prompt_findings,
    "answer": answer_findings,
    "citation": payload_findings,
    "auditable-answer": auditable_findings,
    "log": log_findings,
    "rag-traces": row_findings,
    "gold": gold_findings,
    "redirect": redirect_findings,
}
#: The names of a record's own id; others go by their question.
_IDS: Final[Mapping[str, tuple[str, ...]]] = {
    "envelope": ("trace_id",),
    "prompt-frame": ("q_id", "trace_id"),
    "metrics": ("dataset",),
    "redirect": ("old_id",),
    "catalogue": ("attachment_id",),
    "auditable-answer": (),
}
_QUESTION: Final = ("q_id", "qid")
#: So much of an id is kept.
_LONGEST: Final = 200


def record_findings(record_type: str, obj: Json, context: Context) -> tuple[Finding, ...]:
    """Everything that is wrong with one record of one of `RECORD_TYPES`; never raises for a JSON value.

    Of a record of another major version nothing else is told. For a trace what its citations and candidates
    state of themselves is left to `proofspan.traces.contract`, so that each fault is told once.
    """
    if type(obj) is not dict:
        return (Finding("not_an_object", "", f"the record is {shown(obj)}, not an object"),)
    if record_type not in schema_files():
        return (Finding("unknown_schema", "$schema", "nothing says of which type the record is"),)
    if record_type == "rag-traces":
        obj = with_lists(obj)
    said = version_findings(record_type, obj)
    if said and any(finding.code == UNSUPPORTED for finding in said):
        return _named(record_type, obj, said)
    rules = _RULES.get(record_type)
    own = () if rules is None else _capped(rules(obj, context))
    if record_type == "auditable-answer" and stop_in(obj) is not None:
        return _named(record_type, obj, own)
    shape = schema_findings(record_type, obj)
    if record_type == "trace" and shape:
        shape = tuple([finding for finding in shape if not is_judged_elsewhere(obj, finding.field)])
    if record_type == "envelope":  # what it lacks is told below, as one finding where it lacks everything
        shape = tuple([finding for finding in shape if finding.code != f"missing_{finding.field}"])
    asked = contract_findings(record_type, obj)
    if not (said or own or shape or asked):
        return ()
    return _named(record_type, obj, merged((*said, *asked, *own), shape))


def merged(said: Sequence[Finding], more: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of `said`, and those of `more` at whose places nothing is said yet."""
    places = {finding.field for finding in said if finding.field}
    return (*said, *(finding for finding in more if places.isdisjoint(_around(finding.field))))


def record_id_of(record_type: str, obj: Json) -> str:
    """What a record calls itself: a chunk its id, most others their question's; "" where it has no name."""
    if type(obj) is not dict:
        return ""
    if record_type in ("chunk", "citation"):
        found = id_of(obj)
    else:
        found = text_of(first_of(obj, _IDS.get(record_type, _QUESTION)))
    return (found or "")[:_LONGEST]


def _capped(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The first findings, and one that says so where there are more."""
    found = tuple(islice(findings, MOST + 1))
    if len(found) <= MOST:
        return found
    return (*found[:MOST], Finding("more_findings", "", f"only the first {MOST} findings are told"))


def _named(record_type: str, obj: Json, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    record_id = record_id_of(record_type, obj)
    return tuple([replace(finding, record_id=record_id) for finding in findings])


def _around(field: str) -> Iterator[str]:
    """A place and the places that it lies in: `a[2].b`, `a[2]`, `a`."""
    yield field
    for end in range(len(field) - 1, 0, -1):
        if field[end] in ".[":
            yield field[:end]


# What a trace's schema leaves to the rules of citations, so that each fault is told once.

_CITATION = re.compile(r"(?:segments\[\d+\]\.)?citations\[\d+\](?:\.(\w+).*)?")
_CANDIDATE = re.compile(r"((?:chunks|stages\.\w+(?:\.items)?)\[\d+\])\.(\w+).*")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
#: Judged in citations and candidates alike.
_RANKED: Final = frozenset({"page", "page_idx", *SCORES, *RANKS})
_PAYLOAD: Final = _RANKED | frozenset(PAYLOAD_FIELDS)


def is_judged_elsewhere(trace: Mapping[str, Json], field: str) -> bool:
    """Whether the rules of citations judge the place `field` of a trace, whatever its schema says."""
    if (citation := _CITATION.fullmatch(field)) is not None:
        return citation[1] is None or citation[1] in _PAYLOAD
    candidate = _CANDIDATE.fullmatch(field)
    if candidate is None:
        return False
    name, entry = candidate[2], _at(trace, candidate[1])
    is_payload = isinstance(entry, dict) and not PAYLOAD_MARKS.isdisjoint(entry)
    if is_payload or name != "page_idx":
        return name in (_PAYLOAD if is_payload else _RANKED)
    return isinstance(entry, dict) and "page" in entry  # a page_idx alone is the schema's to judge


def _at(record: Json, field: str) -> Json:
    """The value at a place of a record; the place is there."""
    for position, name in _STEP.findall(field):
        record = record[int(position) - 1] if position else record[name]
    return record
