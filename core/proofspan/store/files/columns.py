"""The index's columns: what lists filter, sort and count by, one row per trace.

A new column is an entry of `ROW_SCHEMA` and a value of the same name in `index_row`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import repeat
from typing import Any
from unicodedata import normalize

import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import offsets_of, text_of
from proofspan.contracts.records.records import LABELS, Json, LineIssue, SourceLine, Trace
from proofspan.contracts.rules.parity import index_name
from proofspan.diagnosis.answers import payload_ids
from proofspan.diagnosis.gold import GOLD_STATES, GoldOutcome
from proofspan.diagnosis.labelling import REFUSAL_LABELS
from proofspan.diagnosis.topic import about_place
from proofspan.diagnosis.types import ReportRow
from proofspan.metrics.gold_eval import UNJUDGED, Judged
from proofspan.metrics.ranked import CUTS
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.citations import citations, cited_record
from proofspan.traces.records.stored_reports import summary_in
from proofspan.traces.records.trace_record import doc_ids, measures, rank_one_place

#: Raise it whenever the meaning of a column changes: existing indexes are then rebuilt.
INDEX_VERSION = "13"
#: The position of a label in the worst-first order; rows without a label come last.
SEVERITY: Mapping[str | None, int] = {label: place for place, label in enumerate(LABELS)} | {
    None: len(LABELS)
}
#: The position of a gold state in that order.
GOLD_SEVERITY: Mapping[str, int] = {state: place for place, state in enumerate(GOLD_STATES)}

_WORD = pa.dictionary(pa.int32(), pa.string())
_WORDS = pa.list_(pa.string())

#: The columns of a segment. Coverages are 0–1; `offset` and `length` are bytes, `line` counts from 1, latency
#: is in milliseconds. `docs` are the documents of the answerer's chunks, `candidates` counts those chunks.
#: `cited_print` is equal for two answers that cite the same chunks (or places), in any order. `citations` is
#: the part of the trace's record that its citations are read from (see `cited_record`), null without any.
#: `uncited` says why `cited` is 0 (see `UNCITED`), null where it is not.
#: `settings` are the index, embedding model, analyzer and revisions that the trace logs (see `settings_of`).
#: `gold_…` are the fields of a `GoldOutcome`, null where no gold is known; ranks count from 1 and are null
#: where no candidate is the gold one, `gold_retrieved_stage` is the list that was searched.
#: `q_type` to `anchor_coverage` are the fields of a `Judged`, which metrics are made of.
#: `about` are the places that the question is about (see `proofspan.diagnosis.topic`).
#: `codes` are the contract rules that the trace breaks. `memory`, `offset_unit` and `answer_print` are
#: compared by the rules over the whole run (see `proofspan.store.index.run_rules`).
#: `safety_omitted` are the attachment ids of the warnings and cautions that the answer may omit, null where
#: that cannot be judged: there is no catalogue, nothing is cited, or there are no chunks.
ROW_SCHEMA = pa.schema(
    [
        ("q_id", pa.string()),
        ("paraphrase", pa.int32()),
        ("seed", pa.int32()),
        ("q", pa.string()),
        ("answer", pa.string()),
        ("q_folded", pa.string()),
        ("answer_folded", pa.string()),
        ("label", _WORD),
        ("severity", pa.int8()),
        ("why", _WORD),
        ("rank1_section", _WORD),
        ("rank1_doc", _WORD),
        ("rank1_stage", _WORD),
        ("docs", _WORDS),
        ("candidates", pa.int32()),
        ("cited", pa.int32()),
        ("cited_retrieved", pa.int32()),
        ("cited_resolved", pa.int32()),
        ("uncited", _WORD),
        ("query_coverage", pa.float64()),
        ("answer_coverage", pa.float64()),
        ("numbers_unsupported", _WORDS),
        ("suspicions", _WORDS),
        ("codes", _WORDS),
        ("memory", _WORD),
        ("offset_unit", _WORD),
        ("answer_print", pa.int64()),
        ("cited_print", pa.string()),
        ("citations", pa.binary()),
        ("settings", _WORDS),
        ("ok", pa.bool_()),
        ("delta_s", pa.float64()),
        ("lambda_state", _WORD),
        ("latency_ms", pa.float64()),
        ("gold_state", _WORD),
        ("gold_severity", pa.int8()),
        ("gold_is_refusal", pa.bool_()),
        ("gold_seen_rank", pa.int32()),
        ("gold_retrieved_rank", pa.int32()),
        ("gold_retrieved_stage", _WORD),
        ("q_type", _WORD),
        ("answerable", pa.bool_()),
        ("refused", pa.bool_()),
        ("unranked", _WORD),
        ("bucket", _WORD),
        ("section_rank", pa.int32()),
        ("top_rank", pa.int32()),
        ("section_coverage", pa.float64()),
        *((f"recall_{k}", pa.float64()) for k in CUTS),
        ("ndcg_10", pa.float64()),
        ("reciprocal_rank", pa.float64()),
        ("citation_precision", pa.float64()),
        ("citation_recall", pa.float64()),
        ("anchor_coverage", pa.float64()),
        ("safety_omitted", _WORDS),
        ("about", _WORDS),
        ("llm_summary", pa.string()),
        ("line", pa.int64()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
    ]
)
#: The columns that identify a trace.
KEY_COLUMNS = ("q_id", "paraphrase", "seed", "repeat")
#: The columns of a page: all that a table row may show. Others stay on disk until they are asked for.
PAGE_COLUMNS = (
    *(*KEY_COLUMNS, "q", "answer", "label", "severity", "why", "stored_label"),
    *("rank1_section", "rank1_doc"),
    *("gold_state", "gold_is_refusal", "gold_seen_rank", "gold_retrieved_rank"),
    *("unranked", "bucket", "section_rank", "top_rank"),
    *("cited", "cited_retrieved", "cited_resolved", "query_coverage", "answer_coverage"),
    *("numbers_unsupported", "suspicions", "codes", "safety_omitted", "evidence", "agreement"),
    *("support", "contradictions", "claim_count", "difference_kinds"),
    *("grounded", "correct", "cause", "certainty", "cause_sentence", "cause_doc", "harm"),
    *("line", "offset", "length"),
)
#: The folded columns, which are searched, and the column that each is made from.
_FOLDED = {"q_folded": "q", "answer_folded": "answer"}
_GATHERED = pa.schema([field for field in ROW_SCHEMA if field.name not in _FOLDED])
#: Columns read from the Arrow file, which gives texts several times as fast as Parquet.
TEXTS = ("q", "answer", *_FOLDED, "citations", "docs")
#: The columns of the Parquet file. `docs` are in both files: Parquet counts them faster.
LISTED = tuple(name for name in ROW_SCHEMA.names if name not in TEXTS or name == "docs")
#: How many rows of an Arrow file are compressed, and read, together.
BATCH_ROWS = 1_024
#: Columns whose values repeat so often that Parquet should keep them as a dictionary.
REPEATING = [
    *(field.name for field in ROW_SCHEMA if field.type == _WORD),
    *(f"{field.name}.list.element" for field in ROW_SCHEMA if field.type == _WORDS),
]

ISSUE_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int64()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("code", pa.string()),
        ("reason", pa.string()),
        ("remedy", pa.string()),
        ("excerpt", pa.string()),
    ]
)


#: Column name → value; a name that is missing is null.
Row = Mapping[str, object]


def table_of(rows: Iterable[Row], schema: pa.Schema) -> pa.Table:
    """Return rows as an Arrow table of this schema. Each row may be dropped when the next is made."""
    blank = dict.fromkeys(schema.names)
    values = [tuple({**blank, **row}.values()) for row in rows]
    columns = zip(*values, strict=True) if values else repeat(())
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=False)]
    return pa.table(arrays, schema=schema)


def index_row(
    trace: Trace,
    verdict: ReportRow | None,
    places: Places,
    gold: GoldOutcome | None = None,
    omitted: Sequence[str] | None = None,
    gold_about: Sequence[str] = (),
    judged: Judged = UNJUDGED,
    codes: Sequence[str] = (),
) -> dict[str, object]:
    """Return a row of `ROW_SCHEMA` by column name, without the folded texts that `row_table` adds.

    Without a verdict (there are no chunks to judge by) label and signals are null. `gold_about` are the
    places that the gold set names for the question, empty where it names none; `codes` are the contract
    rules that the trace breaks.
    """
    raw, source, logged = trace.raw, trace.source, measures(trace)
    first, place = rank_one_place(trace), Place(None, None, None)
    if first is not None:  # the chunk file completes what the candidate's record leaves open
        place = Place(*first[2:])
        if None in place and (known := places.get(first.chunk_id)) is not None:
            page_idx = known.page_idx if place.page_idx is None else place.page_idx
            place = Place(place.doc_id or known.doc_id, place.section_id or known.section_id, page_idx)
    docs = doc_ids(trace)
    if not docs:
        known_docs = (places[each].doc_id for each in trace.chunk_ids if each in places)
        docs = tuple(dict.fromkeys(doc_id for doc_id in known_docs if doc_id))
    # What the answer cites, in any order; an answer that cites nothing has a hash too.
    cited: Sequence[str] = payload_ids(trace) if trace.payload else trace.ids_in_text
    if len(cited) < len(trace.payload):  # some name a place and no chunk
        cited = [
            each.chunk_id or f"{each.doc_id} {each.section_id} {each.page_idx}" for each in citations(trace)
        ]
    label = verdict.label if verdict else None
    row: dict[str, object] = {
        "q_id": trace.q_id,
        "paraphrase": trace.paraphrase,
        "seed": trace.seed,
        "q": trace.q,
        "answer": trace.answer,
        "label": label,
        "severity": SEVERITY[label],
        "rank1_section": place.section_id,
        "rank1_doc": place.doc_id,
        "rank1_stage": first and first.stage,
        "docs": docs,
        "candidates": len(trace.chunk_ids),
        "suspicions": trace.suspicions,
        "codes": codes,
        "memory": memory_state(raw),
        "offset_unit": offset_unit(trace.payload),
        "answer_print": answer_print(trace, verdict),
        "cited_print": sha1_8("\n".join(sorted(set(cited)))),
        "citations": cited_record(trace),
        "settings": settings_of(raw),
        "ok": logged.ok,
        "delta_s": logged.delta_s,
        "lambda_state": logged.lambda_state,
        "latency_ms": logged.latency_ms,
        "safety_omitted": omitted,
        "about": gold_about or about_place(place),
        "llm_summary": summary_in(raw),
        "line": source.line,
        "offset": source.offset,
        "length": source.length,
        **judged.columns,
    }
    if verdict is not None:
        signals = verdict.signals
        row |= {
            "why": verdict.why,
            "cited": signals.cited,
            "cited_retrieved": signals.cited_retrieved,
            "cited_resolved": signals.cited_resolved,
            "uncited": None if signals.cited else _uncited(trace, names_any=bool(cited)),
            "query_coverage": signals.query_coverage,
            "answer_coverage": signals.answer_coverage,
            "numbers_unsupported": signals.numbers_unsupported,
            "suspicions": verdict.suspicions,
        }
    if gold is not None:
        row |= {
            "gold_state": gold.state,
            "gold_severity": GOLD_SEVERITY[gold.state],
            "gold_is_refusal": gold.is_refusal,
            "gold_seen_rank": gold.seen,
            "gold_retrieved_rank": gold.retrieved,
            "gold_retrieved_stage": gold.stage,
        }
    return row


def _uncited(trace: Trace, *, names_any: bool) -> str:
    """Return why a trace counts no cited id; `names_any` is whether it cites anything anywhere."""
    if payload_ids(trace):
        return "cited_in_payload"
    if trace.ids_in_text:
        return "cited_in_text"
    return "places_cited" if names_any else "nothing_cited"


def row_table(rows: Iterable[Row]) -> pa.Table:
    """Return rows as an Arrow table of `ROW_SCHEMA`, the folded texts added."""
    table = table_of(rows, _GATHERED)
    for name, of in _FOLDED.items():
        table = table.append_column(name, fold_all(table.column(of).combine_chunks()))
    return table.select(ROW_SCHEMA.names)


def issue_table(issues: Iterable[LineIssue]) -> pa.Table:
    """Return line issues as an Arrow table of `ISSUE_SCHEMA`."""
    rows = []
    for issue in issues:
        source = {name: getattr(issue.source, name) for name in ("file", "line", "offset", "length")}
        texts = {"code": issue.code, "reason": issue.message, "remedy": issue.fix, "excerpt": issue.excerpt}
        rows.append(source | texts)
    return table_of(rows, ISSUE_SCHEMA)


def issue_from(record: Mapping[str, Any]) -> LineIssue:
    """Return the line issue of a row of `issue_table`."""
    file, line, offset, length, code, message, fix, excerpt = (record[name] for name in ISSUE_SCHEMA.names)
    return LineIssue.at(SourceLine(file, line, offset, length), code, message, fix, excerpt)


#: The offset unit of a trace whose own citations are in several.
SEVERAL = "several"
_OTHER_REFUSAL = "refusal_other_wording"


def memory_state(raw: Mapping[str, Json]) -> str | None:
    """Return the state of memory that the record was made in: a hash of `mem_rev`, `:`, one of `mem_hash`.

    The part that the record lacks is empty; None where it lacks both.
    """
    parts = [text_of(raw.get(name)) for name in ("mem_rev", "mem_hash")]
    if parts == [None, None]:
        return None
    return ":".join("" if part is None else sha1_8(part) for part in parts)


def offset_unit(payload: Sequence[Json]) -> str | None:
    """Return the unit of the citations' offsets, `SEVERAL` where they differ, None without offsets."""
    offsets = [offsets_of(item.get("offsets")) for item in payload if isinstance(item, dict)]
    units = {each.unit for each in offsets if each is not None}
    return SEVERAL if len(units) > 1 else next(iter(units), None)


def answer_print(trace: Trace, verdict: ReportRow | None) -> int | None:
    """Return 64 bits of candidates, answer and cited ids together, as a signed number.

    None where equal traces are to be expected: for a refusal in any words, and without an answer or
    candidate; and without a verdict, as refusals are not known then.
    """
    if verdict is None or verdict.label in REFUSAL_LABELS or _OTHER_REFUSAL in verdict.suspicions:
        return None
    if not trace.chunk_ids or not trace.answer.strip():
        return None
    text = "\x1f".join((trace.answer, *trace.chunk_ids, "", *payload_ids(trace)))
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


#: The fields that say which index, model, analyzer or revision a record was made with.
SETTINGS = frozenset({"index_hash", "embed_model", "embed", "analyzer", "rev"})
#: Between the parts of a logged setting: field, document (of a revision) and value.
_PART = "\x1f"


def settings_of(raw: Mapping[str, Json]) -> tuple[str, ...]:
    """Return what a trace, its citations and its candidates log of index, model, analyzer and revisions.

    Each distinct value once, as text for `parse_setting`.
    """
    lists = [raw.get("citations"), raw.get("chunks")]
    if "segments" in raw and isinstance(raw["segments"], list):
        lists += [part.get("citations") for part in raw["segments"] if isinstance(part, dict)]
    records = [record for each in lists if type(each) is list for record in each if type(record) is dict]
    if SETTINGS.isdisjoint(set().union(raw, *records)):  # one look at all keys: few traces log any
        return ()
    settings: dict[str, None] = {}
    for record in (raw, *records):
        doc_id = "" if record is raw else record.get("doc_id")
        for field, value in (
            ("index_hash", record.get("index_hash")),
            ("embed_model", record.get("embed_model", record.get("embed"))),
            ("analyzer", record.get("analyzer")),
            ("rev", record.get("rev") if isinstance(doc_id, str) and doc_id else None),
        ):
            if isinstance(value, str) and value.strip():
                if field == "index_hash" and isinstance(store := record.get("store"), str):
                    value = index_name(value, store)
                settings[_PART.join((field, str(doc_id) if field == "rev" else "", value))] = None
    return tuple(settings)


def parse_setting(text: str) -> tuple[str, str, str]:
    """Return field, document and value of an entry of the column `settings`."""
    field, doc_id, value = text.split(_PART, 2)
    return field, doc_id, value


def fold(text: str) -> str:
    """Return `text` without differences that searching ignores: case, compatibility forms, white space.

    Unicode's compatibility caseless match (NFKC around casefold): "STRASSE" finds "Straße", "fi" the
    ligature, and a composed letter the decomposed one. Accents count: "ole" is not "olé". White space of any
    kind becomes one blank, so that a phrase is found across a line break.
    """
    if text.isascii():
        folded = text.lower().replace("\n", " ")
    else:
        folded = normalize("NFKC", normalize("NFKC", text).casefold()).casefold()
    if "  " in folded or not folded.isprintable():  # all white space but the blank counts as unprintable
        return " ".join(folded.split())
    return folded.strip(" ")


def fold_all(texts: pa.Array) -> pa.Array:
    """Fold a column of texts without nulls: plain ASCII at once, the rest one by one."""
    lowered = pc.ascii_lower(texts)
    # An empty line before the citations is so common that it has a replacement of its own.
    spaced = pc.replace_substring(pc.replace_substring(lowered, "\n\n", " "), "\n", " ")
    is_plain = pc.and_not(pc.ascii_is_printable(spaced), pc.match_substring(spaced, "  "))
    is_other = pc.invert(is_plain)
    others = pa.array([fold(text) for text in texts.filter(is_other).to_pylist()], pa.string())
    return pc.replace_with_mask(pc.ascii_trim(spaced, " "), is_other, others)
