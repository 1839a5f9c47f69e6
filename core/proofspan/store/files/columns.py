"""The index's columns: what lists filter, sort and count by, one row a trace.

Rows are gathered as tuples and turned into Arrow columns once a segment; nothing is built row by row twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from unicodedata import normalize

import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import offsets_of, text_of
from proofspan.contracts.records.records import LABELS, Json, LineIssue, SourceLine, Trace
from proofspan.diagnosis.answers import payload_ids
from proofspan.diagnosis.gold import GOLD_STATES, GoldOutcome
from proofspan.diagnosis.labelling import REFUSAL_LABELS
from proofspan.diagnosis.topic import about_place
from proofspan.diagnosis.types import ReportRow
from proofspan.metrics.gold_eval import UNJUDGED, Judged
from proofspan.metrics.ranked import CUTS
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import doc_ids, measures, rank_one_place

#: Raised whenever the meaning of a column changes: older segments are then built anew.
INDEX_VERSION = "9"
#: A label's place in the worst-first order; rows without a label come last.
SEVERITY: Mapping[str | None, int] = {label: place for place, label in enumerate(LABELS)} | {
    None: len(LABELS)
}
#: A gold state's place in that order; null where it is not known.
GOLD_SEVERITY: Mapping[str, int] = {state: place for place, state in enumerate(GOLD_STATES)}

_WORD = pa.dictionary(pa.int32(), pa.string())
_WORDS = pa.list_(pa.string())

#: A segment's columns. Coverages lie in 0–1; `offset` and `length` are bytes, `line` counts from 1, latency
#: is in milliseconds. `docs` are the documents of the answerer's chunks, `candidates` counts those chunks.
#: `cited_print` is the same for two answers that cite the same chunks (or places), in whatever order.
#: The gold columns are those of a `GoldOutcome`, null where none is known; its ranks count from 1 and are
#: null where no candidate is the gold one, `gold_retrieved_stage` is the list that was searched.
#: From `q_type` to `anchor_coverage` stand the outcomes that metrics are made of, those of a `Judged`.
#: `about` are the places that the question is about (see `proofspan.diagnosis.topic`).
#: `codes` are those of the contract's rules that the trace breaks. `memory`, `offset_unit` and `answer_print`
#: are what rules over the whole run compare (see `proofspan.store.files.columns`).
#: `safety_omitted` are the attachment ids of the warnings and cautions that the answer may leave out, null
#: where that cannot be known: there is no catalogue, nothing is cited, or there are no chunks to judge by.
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
        ("query_coverage", pa.float64()),
        ("answer_coverage", pa.float64()),
        ("numbers_unsupported", _WORDS),
        ("suspicions", _WORDS),
        ("codes", _WORDS),
        ("memory", _WORD),
        ("offset_unit", _WORD),
        ("answer_print", pa.int64()),
        ("cited_print", pa.string()),
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
        ("line", pa.int64()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
    ]
)
#: What is searched, and the text it is made of; worked out by the column, as that is quicker.
_FOLDED = {"q_folded": "q", "answer_folded": "answer"}
_GATHERED = pa.schema([field for field in ROW_SCHEMA if field.name not in _FOLDED])
#: Columns of text, which Arrow gives several times as quickly as Parquet.
TEXTS = ("q", "answer", *_FOLDED, "docs")
#: The columns that Parquet holds as well, being what lists are made from.
LISTED = tuple(name for name in ROW_SCHEMA.names if name not in TEXTS or name == "docs")
#: So many rows of an Arrow file are compressed together, and read together when one of them is wanted.
BATCH_ROWS = 1_024
#: Columns whose values repeat so much that Parquet should keep them as a dictionary.
REPEATING = [
    *("label", "why", "rank1_section", "rank1_doc", "rank1_stage", "lambda_state"),
    *("gold_state", "gold_retrieved_stage", "q_type", "unranked", "bucket"),
    *("memory", "offset_unit"),
    *("docs.list.element", "suspicions.list.element", "numbers_unsupported.list.element"),
    *("codes.list.element", "safety_omitted.list.element", "about.list.element"),
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

Row = tuple[object, ...]
NOWHERE = (None, None, None, None, None)
NO_GOLD = (None, None, None, None, None, None)


def index_row(
    trace: Trace,
    verdict: ReportRow | None,
    places: Places,
    gold: GoldOutcome | None = None,
    omitted: Sequence[str] | None = None,
    gold_about: Sequence[str] = (),
    judged: Judged = UNJUDGED,
    codes: Sequence[str] = (),
) -> Row:
    """One row of `ROW_SCHEMA` but for its folded texts, which `row_table` adds.

    Without a verdict (no chunks to judge by) label and signals are null. `gold_about` is what the gold set
    says that the question is about, empty where it does not; `codes` are the contract rules it breaks.
    """
    stage, first, doc, section, page_idx = rank_one_place(trace) or NOWHERE
    if first is not None and (doc is None or section is None or page_idx is None) and first in places:
        known = places[first]
        doc, section = doc or known.doc_id, section or known.section_id
        page_idx = known.page_idx if page_idx is None else page_idx
    documents = doc_ids(trace) or _known_documents(trace.chunk_ids, places)
    said = measures(trace)
    source = trace.source
    return (
        trace.q_id,
        trace.paraphrase,
        trace.seed,
        trace.q,
        trace.answer,
        verdict.label if verdict else None,
        SEVERITY[verdict.label if verdict else None],
        verdict.why if verdict else None,
        section,
        doc,
        stage,
        documents,
        len(trace.chunk_ids),
        *_signals(trace, verdict),
        codes,
        *marks_of(trace, verdict),
        _cited_print(trace),
        said.ok,
        said.delta_s,
        said.lambda_state,
        said.latency_ms,
        *(_gold(gold) if gold else NO_GOLD),
        *judged.columns,
        omitted,
        gold_about or about_place(Place(doc, section, page_idx)),
        source.line,
        source.offset,
        source.length,
    )


def _gold(gold: GoldOutcome) -> Row:
    state = gold.state
    return (state, GOLD_SEVERITY[state], gold.is_refusal, gold.seen, gold.retrieved, gold.stage)


def _signals(trace: Trace, verdict: ReportRow | None) -> Row:
    if verdict is None:
        return (None, None, None, None, None, None, trace.suspicions)
    signals = verdict.signals
    return (
        signals.cited,
        signals.cited_retrieved,
        signals.cited_resolved,
        signals.query_coverage,
        signals.answer_coverage,
        signals.numbers_unsupported,
        verdict.suspicions,
    )


def _cited_print(trace: Trace) -> str:
    """Names what an answer cites, as evidence has it; one that cites nothing has a print too."""
    payload = trace.payload
    ids = payload_ids(trace) if payload else trace.ids_in_text
    if len(ids) < len(payload):  # some name a place and no chunk
        found = citations(trace)
        ids = tuple(each.chunk_id or f"{each.doc_id} {each.section_id} {each.page_idx}" for each in found)
    return sha1_8("\n".join(sorted(set(ids))))


def _known_documents(chunk_ids: Iterable[str], places: Places) -> tuple[str, ...]:
    found = (places[chunk_id].doc_id for chunk_id in chunk_ids if chunk_id in places)
    return tuple(dict.fromkeys(doc for doc in found if doc))


def row_table(rows: Sequence[Row]) -> pa.Table:
    """Rows as an Arrow table of `ROW_SCHEMA`."""
    table = _table(rows, _GATHERED)
    for name, of in _FOLDED.items():
        table = table.append_column(name, fold_all(table.column(of).combine_chunks()))
    return table.select(ROW_SCHEMA.names)


def issue_table(issues: Iterable[LineIssue]) -> pa.Table:
    """Line issues as an Arrow table of `ISSUE_SCHEMA`."""
    return _table(
        [
            (
                *(issue.source.file, issue.source.line, issue.source.offset, issue.source.length),
                *(issue.code, issue.message, issue.fix, issue.excerpt),
            )
            for issue in issues
        ],
        ISSUE_SCHEMA,
    )


def issue_from(record: Mapping[str, object]) -> LineIssue:
    """A line issue again from a row of `issue_table`."""
    file, line, offset, length, code, message, fix, excerpt = (record[name] for name in ISSUE_SCHEMA.names)
    source = SourceLine(str(file), int(str(line)), int(str(offset)), int(str(length)))
    return LineIssue.at(source, str(code), str(message), str(fix), str(excerpt))


def _table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    return pa.table(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
    )


# What a row keeps of its trace for the rules that compare it with the rest of its run.
#
# A few bytes each: the state of memory, the unit of the offsets, and a print that two answers share only
# if one is the other's copy. The rules themselves are in `proofspan.store.index.run_rules`.

#: Stands for the unit of a trace whose own citations are in several.
SEVERAL = "several"
_OTHER_REFUSAL = "refusal_other_wording"


def marks_of(trace: Trace, verdict: ReportRow | None) -> tuple[str | None, str | None, int | None]:
    """The columns `memory`, `offset_unit` and `answer_print`; None for what the trace does not have."""
    return memory_state(trace.raw), offset_unit(trace.payload), answer_print(trace, verdict)


def memory_state(raw: Mapping[str, Json]) -> str | None:
    """Names the state of memory that the record was made in: a word for `mem_rev`, `:`, one for `mem_hash`.

    The two are compared each by itself, and a record that lacks one of them has no word there.
    """
    rev, digest = text_of(raw.get("mem_rev")), text_of(raw.get("mem_hash"))
    if rev is None and digest is None:
        return None
    return f"{'' if rev is None else sha1_8(rev)}:{'' if digest is None else sha1_8(digest)}"


def offset_unit(payload: Sequence[Json]) -> str | None:
    """The unit in which the citations' offsets are, `SEVERAL` where they differ."""
    units = dict.fromkeys(_units(payload))
    return SEVERAL if len(units) > 1 else next(iter(units), None)


def _units(payload: Sequence[Json]) -> Iterator[str]:
    for item in payload:
        if isinstance(item, dict) and (offsets := offsets_of(item.get("offsets"))) is not None:
            yield offsets.unit


def answer_print(trace: Trace, verdict: ReportRow | None) -> int | None:
    """64 bits of candidates, answer and payload together, as a signed number.

    None where equal traces are to be expected: for a refusal, in whatever words, and where there is no
    answer or no candidate; and without a verdict, as nobody then knows what is a refusal.
    """
    if verdict is None or verdict.label in REFUSAL_LABELS or _OTHER_REFUSAL in verdict.suspicions:
        return None
    if not trace.chunk_ids or not trace.answer.strip():
        return None
    parts = (trace.answer, *trace.chunk_ids, "", *payload_ids(trace))
    told = "\x1f".join(parts).encode("utf-8", "replace")
    return int.from_bytes(blake2b(told, digest_size=8).digest(), "big", signed=True)


# How a text is made comparable for searching: one rule, used on the indexed texts and on what is typed.


def fold(text: str) -> str:
    """`text` without what a person searching does not mean: case, compatibility forms, runs of white space.

    Unicode's compatibility caseless match (NFKC around casefold), so that "STRASSE" finds "Straße", "fi"
    finds the ligature, and a composed letter finds the decomposed one. Accents stay: "ole" is not "olé".
    White space of any kind becomes one blank, so that a phrase is found across a line break.
    """
    if text.isascii():
        folded = text.lower().replace("\n", " ")
    else:
        folded = normalize("NFKC", normalize("NFKC", text).casefold()).casefold()
    if "  " in folded or not folded.isprintable():  # all white space but the blank counts as unprintable
        return " ".join(folded.split())
    return folded.strip(" ")


def fold_all(texts: pa.Array) -> pa.Array:
    """`fold` of a column of texts without nulls: plain ASCII at once, the rest one by one."""
    lowered = pc.ascii_lower(texts)
    # An empty line before the citations is so common that it is worth a replacement of its own.
    spaced = pc.replace_substring(pc.replace_substring(lowered, "\n\n", " "), "\n", " ")
    is_plain = pc.and_not(pc.ascii_is_printable(spaced), pc.match_substring(spaced, "  "))
    is_other = pc.invert(is_plain)
    others = pa.array([fold(text) for text in texts.filter(is_other).to_pylist()], pa.string())
    return pc.replace_with_mask(pc.ascii_trim(spaced, " "), is_other, others)
