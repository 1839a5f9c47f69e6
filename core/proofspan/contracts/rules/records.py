"""The rules of single record types: gold, redirects, ranked lists, logs, answers and prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import orjson

from proofspan.contracts.records.chunk_id import alias_of
from proofspan.contracts.records.field_values import id_of, index_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.answers import (
    lambda_problems,
    order_problems,
    stop_in,
    stop_of,
    stop_problem,
)
from proofspan.contracts.rules.catalogue import Rule, checks, inside, problem
from proofspan.contracts.rules.chunks import line_problems
from proofspan.contracts.rules.citations import citation_problems
from proofspan.contracts.rules.context import Context, shown
from proofspan.contracts.rules.envelope import time_problems
from proofspan.contracts.rules.parity import index_name, parity_problems
from proofspan.contracts.rules.payload import (
    AUDITABLE,
    PAYLOAD_MARKS,
    candidate_demand,
    item_problems,
    offset_problems,
    page_problems,
)
from proofspan.contracts.rules.ranking import RANKS, listed_ties, rank_of, repeated, shared_ranks
from proofspan.contracts.rules.run import ids_in
from proofspan.errors import Problem

#: Record type → the field with the chunks that it names, all of which the chunk file should have.
_NAMING: Final[Mapping[str, str]] = {
    "gold": "chunks",
    "retrieved": "items",
    "rerank": "items",
    "log": "citations",
    "rag-traces": "citations",
    "answer": "cited_chunks",
    "auditable-answer": "citations",
    "prompt-frame": "citations",
}


def named_chunks(record_type: str, obj: Mapping[str, Json]) -> list[tuple[str, str | None]]:
    """Return the chunks that a record names, each with its place in the record."""
    if record_type == "citation":
        return [("snippet_id", id_of(obj))]
    field = _NAMING.get(record_type, "")
    return [(f"{field}[{place}]", each) for place, each in enumerate(ids_in(obj.get(field)), start=1)]


#: The fields by which a gold question says where its answer is.
_EVIDENCE: Final = ("sections", "chunks", "spans")


@checks("gold")
@Rule(
    "gold_contradicts",
    "answer",
    "gold contradicts itself",
    "The gold question is not answerable and yet names where its answer is.",
    "Remove answerable: false, or the sections, chunks and spans.",
)
@Rule(
    "gold_without_evidence",
    "answer",
    "gold without evidence",
    "The gold question names no section, chunk or span, so nothing can be measured on it.",
    "Name its sections or spans, or write answerable: false.",
    "warning",
)
def gold_problems(obj: Mapping[str, Json], _: Context) -> Iterator[Problem]:
    """Check a gold question beyond its schema."""
    known = [name for name in _EVIDENCE if obj.get(name)]
    if obj.get("answerable") is False and known:
        message = f"answerable is false, and {', '.join(known)} say where the answer is"
        yield problem("gold_contradicts", "answerable", message)
    elif obj.get("answerable") is not False and not known:
        message = "none of sections, chunks and spans says where the answer is"
        yield problem("gold_without_evidence", "", message)
    if obj.get("q") == "" or ("q" not in obj and obj.get("question") == ""):
        yield problem("empty_q", "q", "q is ''")
    for place, span in enumerate(_list_of(obj, "spans"), start=1):
        if isinstance(span, dict):
            if span.get("quote") == "":
                yield problem("empty_quote", f"spans[{place}].quote", "quote is ''")
            offsets = offset_problems(span["offsets"]) if span.get("offsets") is not None else ()
            for breach in (*offsets, *line_problems(span.get("span")), *page_problems(span)):
                yield inside(f"spans[{place}]", breach)


def _list_of(obj: Mapping[str, Json], name: str) -> list[Json]:
    value = obj.get(name)
    return value if isinstance(value, list) else []


#: Kind of redirect → the least and the largest number of its new ids.
_NEW_IDS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("same", "rev", "shift", "merge"), (1, 1)),
    "split": (2, 1 << 53),
    "gone": (0, 0),
}


@checks("redirect")
def redirect_problems(obj: Mapping[str, Json], _: Context) -> Iterator[Problem]:
    """Check a redirect beyond its schema."""
    kind, new_ids = obj.get("kind"), obj.get("new_ids")
    if not isinstance(kind, str) or kind not in _NEW_IDS or not isinstance(new_ids, list):
        return
    least, most = _NEW_IDS[kind]
    if not least <= len(new_ids) <= most:
        wanted = "none" if most == 0 else f"{least}" if most == least else f"{least} or more"
        yield problem("bad_new_ids", "new_ids", f"new_ids holds {len(new_ids):,}, and {kind} has {wanted}")
    if kind == "same" and len(new_ids) == 1 and new_ids[0] != obj.get("old_id"):
        yield problem("bad_new_ids", "new_ids", f"the kind is same, and the id is now {shown(new_ids[0])}")


#: An item without one of these has nothing that the rules of payloads could check.
_CHECKED = PAYLOAD_MARKS | {"page", "page_idx", "score_raw", "score_norm", "rerank_score", *RANKS}


@checks("retrieved")
def retrieved_problems(obj: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Check a retriever's list beyond its schema."""
    items = _list_of(obj, "items")
    yield from _length_problems(items, obj, "k")
    for place, item in enumerate(items, start=1):
        if type(item) is dict and not _CHECKED.isdisjoint(item):
            for breach in item_problems(item, context, candidate_demand(item)):
                yield inside(f"items[{place}]", breach)
    for place, breach in (*shared_ranks(items), *listed_ties(items), *repeated(ids_in(items))):
        yield inside(f"items[{place}]", breach)


@checks("rerank")
@Rule(
    "selected_not_k_out",
    "ranking",
    "selected is not k_out",
    "The number of selected candidates is not the reranker's k_out.",
    "Mark exactly the k_out candidates that go on as selected.",
)
def rerank_problems(obj: Mapping[str, Json], _: Context) -> Iterator[Problem]:
    """Check a reranker's list beyond its schema."""
    items = _list_of(obj, "items")
    yield from _length_problems(items, obj, "k_in")
    k_in, k_out = index_of(obj.get("k_in")), index_of(obj.get("k_out"))
    if k_in is not None and k_out is not None and k_out > k_in:
        yield problem("bad_k_out", "k_out", f"k_out is {k_out:,}, and k_in only {k_in:,}")
    stated = [item["selected"] for item in items if type(item) is dict and type(item.get("selected")) is bool]
    if stated and k_out is not None and sum(stated) != k_out:
        message = f"{sum(stated):,} of {len(items):,} items selected, and k_out is {k_out:,}"
        yield problem("selected_not_k_out", "items", message)
    for place, breach in (*shared_ranks(items), *repeated(ids_in(items))):
        yield inside(f"items[{place}]", breach)


def _length_problems(items: list[Json], obj: Mapping[str, Json], name: str) -> Iterator[Problem]:
    most = index_of(obj.get(name))
    if most is not None and len(items) > most:
        yield problem(f"bad_{name}", name, f"{name} is {most:,}, and {len(items):,} items are listed")


#: Lists that have one entry per citation.
_PER_CITATION = ("scores", "kpos", "kfinal", "aliases")


def with_lists(row: Mapping[str, Json]) -> dict[str, Json]:
    """Return a row of `rag_traces` with lists where it holds their JSON text, as exported columns do."""
    lists = {}
    for name in ("citations", *_PER_CITATION):
        if isinstance(text := row.get(name), str):
            try:
                value = orjson.loads(text)
            except orjson.JSONDecodeError:
                continue
            if isinstance(value, list):
                lists[name] = value
    return {**row, **lists}


@checks("rag-traces")
@Rule(
    "lists_differ",
    "ranking",
    "lists of different lengths",
    "There are not as many scores or ranks as citations, so nothing says which belongs to which.",
    "Log one score and one rank for each citation, null for a missing one.",
)
def row_problems(obj: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Check a row of `rag_traces` beyond its schema."""
    yield from length_problems(obj)
    yield from log_problems(obj, context)


def length_problems(obj: Mapping[str, Json]) -> Iterator[Problem]:
    """Check that scores and ranks of a log record are as many as its citations."""
    cited = obj.get("citations")
    count = len(cited) if isinstance(cited, list | tuple) else 0
    for name in _PER_CITATION:
        beside = obj.get(name)
        if isinstance(beside, list | tuple) and len(beside) != count:
            yield problem("lists_differ", name, f"{name} has {len(beside):,} places, citations {count:,}")


@checks("log")
@Rule(
    "alias_differs",
    "citation",
    "alias of another chunk",
    "The readable alias beside a cited chunk is not that of its id, so a reader looks in another place.",
    "Write the alias of the id, or none; `proofspan chunk-ids --aliases` prints them.",
    "warning",
)
def log_problems(obj: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Check a log record beyond its schema and what reading its line reports."""
    yield from time_problems(obj)
    yield from lambda_problems(obj)
    for name in ("kpos", "kfinal"):
        for place, rank in enumerate(_list_of(obj, name), start=1):
            if type(rank) is int and rank_of(rank) is None:
                where = f"{name}[{place}]"
                yield problem(f"bad_{name}", where, f"{where} is {rank}, ranks count from 1")
    named = zip(_list_of(obj, "citations"), _list_of(obj, "aliases"), strict=False)
    for place, (chunk_id, alias) in enumerate(named, start=1):
        if isinstance(alias, str) and isinstance(chunk_id, str) and alias_of(chunk_id) != alias:
            where = f"aliases[{place}]"
            yield problem("alias_differs", where, f"{where} is {shown(alias)}, the id {shown(chunk_id)}")
    index_hash, store = obj.get("index_hash"), obj.get("store")
    if isinstance(index_hash, str) and isinstance(store, str):
        index_hash = index_name(index_hash, store)
    yield from parity_problems({**obj, "index_hash": index_hash}, context)
    if "embed" in obj and "embed_model" not in obj:
        for breach in parity_problems({"embed_model": obj["embed"]}, context):
            yield problem(breach.code, "embed", breach.message)


#: The words by which the answer template declines; only the manifest knows a run's own phrases.
DECLINES: Final = "not in context"


@checks("answer")
def answer_problems(obj: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Check an answer record beyond its schema."""
    cited, items, text = obj.get("cited_chunks"), obj.get("citations"), obj.get("answer_text")
    if (stop := stop_in(obj)) is not None:
        yield stop_problem(stop, "error")
    elif isinstance(text, str) and (stop := stop_of(text)) is not None:
        yield stop_problem(stop, "answer_text")
    elif cited == [] and not declines(text):
        yield problem("empty_citations", "cited_chunks", "nothing is cited")
    yield from lambda_problems(obj)
    if isinstance(items, list) and items:
        yield from citation_problems(items, context, "citations")


@checks("auditable-answer")
def auditable_problems(obj: Mapping[str, Json], context: Context) -> Iterator[Problem]:
    """Check an auditable answer `{citations, answer, ΔS, λ}` beyond its schema.

    Each citation owes the five fields of the prompt contract; whatever else it states must be right. An
    answer that declines owes no citations.
    """
    if (stop := stop_in(obj)) is not None:
        yield stop_problem(stop, "error")
        return
    citations = obj.get("citations")
    yield from lambda_problems(obj)
    yield from order_problems(list(obj), "citations")
    if citations is not None and not isinstance(citations, list):
        yield problem("wrong_type_citations", "citations", f"citations is {shown(citations)}")
    elif citations or not declines(obj.get("answer")):
        yield from citation_problems(citations or [], context, "citations", AUDITABLE)


def declines(answer: Json) -> bool:
    """True if an answer declines in the template's words."""
    return isinstance(answer, str) and DECLINES in answer.lower()


#: The longest prompt, in characters, that is searched.
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
#: With a "not" that belongs to the explanation: no answer before, until or without the citations.
_NEGATED_LOCK = re.compile(
    rf"(?:\b(?:not|never|no)\b|n['’]t\b).{{0,40}}?{_EXPLAINING}.{{0,60}}?\b(?:before|until|unless)\b.{{0,60}}?{_CITING}"
)


@checks("prompt-frame")
@Rule(
    "prompt_not_locked",
    "answer",
    "prompt not locked",
    "The prompt does not ask for citations before the explanation.",
    "Paste the contract into the prompt; `proofspan contract` prints it.",
)
def prompt_problems(obj: Mapping[str, Json], _: Context) -> Iterator[Problem]:
    """Check a prompt frame beyond its schema."""
    constraints = obj.get("constraints")
    listed = constraints if isinstance(constraints, list) else [constraints]
    texts = [text for text in (obj.get("system"), obj.get("task"), *listed) if isinstance(text, str)]
    if not is_locked("\n".join(texts)):
        message = "system, task and constraints do not ask, in English, for citations before the explanation"
        yield problem("prompt_not_locked", "", message)
    for place, item in enumerate(_list_of(obj, "citations"), start=1):
        if isinstance(item, dict):
            for name in ("doc_id", "section_id", "span"):
                if name in item and item[name] is None:
                    yield problem(f"missing_{name}", f"citations[{place}].{name}", f"{name} is null")
            for breach in line_problems(item.get("span")):
                yield inside(f"citations[{place}]", breach)


def is_locked(prompt: str) -> bool:
    """True if one clause of a prompt asks, in English, for citing before explaining.

    "Cite before you explain", "Citations first, then the answer", "First cite …" and "Do not answer until you
    have cited" do. "Cite line spans" does not say when, "Explain before you cite" asks for the wrong order,
    and "Do not cite first" for neither.
    """
    clauses = [each for each in _CLAUSE.split(prompt[:MOST_CHARS].lower()) if "cit" in each]
    return any(
        _NEGATED_LOCK.search(clause)
        or (not _NOT.search(clause) and any(lock.search(clause) for lock in _LOCKS))
        for clause in clauses
    )
