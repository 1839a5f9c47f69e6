"""Wording of the Question page: names and places, gold, ranking, and the reasons of the label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.records import LABELS, GoldQuestion, SourceLine, StageName, Trace, TraceKey
from proofspan.diagnosis.gold import GoldOutcome, GoldState, gold_target
from proofspan.diagnosis.labelling import GROUNDED
from proofspan.diagnosis.messages import gold_meaning, next_step, step_for, suspicion_text
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.display_names import BUCKET_NAMES, GOLD_NAMES, LABEL_NAMES
from proofspan.evidence.types import FoundSpan
from proofspan.metrics.ranked import BUCKET_LEVERS, BUCKETS, Bucket, bucket_meaning, bucket_step
from proofspan.metrics.statistics import percent
from proofspan.services.page.target import cite_id
from proofspan.services.page.view import PageView
from proofspan.services.question.view import QuestionView
from proofspan.traces.records.stored_reports import StoredRow
from proofspan.traces.records.trace_record import top_stage
from proofspan.ui.widgets.markup import Kind, Piece, chip
from proofspan.ui.widgets.text import lines, variant
from proofspan.ui.wording import citation
from proofspan.ui.wording.answer import matched_phrases, seen_texts
from proofspan.ui.wording.citation import is_of_several_documents
from proofspan.ui.wording.safety import omission_rows
from proofspan.wording import counted

#: Characters shown of a question's id, which may be a whole sentence.
MAX_ID = 60
NO_TRACE = "The run has only a stored report and no traces, and a report contains no answer."


def name_piece(trace: Trace, repeat: int) -> Piece:
    """Return the question's id and which trace of it: `Q01 · p1 · s0 · #2`; the tip has a long id whole."""
    key = TraceKey(trace.run_id or "", trace.q_id, trace.paraphrase, trace.seed, repeat)
    name = " · ".join([short_id(trace.q_id), *variant(key)])
    return Piece(name, "muted", tip=trace.q_id if len(trace.q_id) > MAX_ID else "")


def short_id(q_id: str) -> str:
    """Return an id in the width of a header."""
    return q_id if len(q_id) <= MAX_ID else f"{q_id[: MAX_ID - 1]}…"


def place_words(view: PageView) -> str:
    """Return `page_idx 41 · PDF page 42 · printed 41`, or for a text document `lines 12–14 of 220`."""
    if view.text is not None:
        found = view.chosen
        of = counted(view.text.line_count, "line")
        return f"{lines(found.ranges)} of {view.text.line_count:,}" if found and found.ranges else of
    if view.page_idx is None:
        return ""
    of = f" of {view.page_count}" if view.page_count else ""
    printed = f" · printed {view.printed}" if view.printed else ""
    return f"page_idx {view.page_idx} · PDF page {view.page_idx + 1}{of}{printed}"


def source_words(source: SourceLine) -> str:
    """Return the place of a record; an entry of a JSON array has no bytes of its own."""
    if not source.length:
        return f"{source.file}, entry {source.line:,}"
    return f"{source.file}, line {source.line:,}, byte {source.offset:,}, {source.length:,} bytes"


# The gold passage: what it is, where it was retrieved, and whether it is in the prompt and cited.

#: The row's ending if the passage is in the prompt.
_AT_LAST: Mapping[GoldState, str] = {
    "uncited": "not cited",
    "seen": "the answer cites nothing",
    "cited": "cited",
}
#: Gold chunks, sections or pages that are named; the rest is counted.
MAX_NAMED = 3


def gold_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """Return the row `Gold`: `page 58 of 3M_2018_10K · retrieved at rank 15 of 75 · not in the prompt`.

    No row without gold. Pages count from 1.
    """
    gold = view.gold
    if gold is None:
        return []
    outcome = view.gold_outcome
    if not gold.answerable:
        return [("Gold", [Piece("the documents contain no answer"), *(_ending(outcome) if outcome else ())])]
    what = _what(gold, names_document=is_of_several_documents(view))
    if what is None:
        return []
    if outcome is None:
        return [("Gold", [Piece(what)])]
    sizes = {stage.name: len(stage.candidates) for stage in view.stages}
    return [("Gold", [Piece(what), *_retrieved(outcome, sizes), *_seen(outcome, sizes)])]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A trace's ranking in the index; `bucket` is None if it is not judged."""

    bucket: Bucket | None
    section_rank: int | None
    top_rank: int | None


def ranking_of(row: Mapping[str, object]) -> Ranking:
    """Return the ranking of an index row."""
    bucket = next((each for each in BUCKETS if each == row["bucket"]), None)
    ranks = (None if row[name] is None else int(str(row[name])) for name in ("section_rank", "top_rank"))
    return Ranking(bucket, *ranks)


def ranking_rows(view: QuestionView, ranking: Ranking | None) -> list[tuple[str, list[Piece]]]:
    """Return the row `Ranking`: `Ranking miss · gold section at rank 3 of reranked · next: rerank`.

    No row if the question is not judged.
    """
    last = view.last_stage
    if ranking is None or ranking.bucket is None or last is None:
        return []
    ranks = {last.name: ranking.section_rank}
    top = top_stage(view.trace)
    if top is not None:
        ranks.setdefault(top, ranking.top_rank)
    places = ", ".join(_at(stage, rank) for stage, rank in ranks.items())
    meaning = f"{bucket_meaning(ranking.bucket)} {bucket_step(ranking.bucket) or ''}".strip()
    tip = f"{ranking.bucket}: {meaning}"
    lever = BUCKET_LEVERS.get(ranking.bucket)
    is_section = view.gold is None or view.gold.sections or view.gold.chunks
    pieces = [
        Piece(BUCKET_NAMES[ranking.bucket], "strong" if lever else "plain", tip=tip),
        Piece(f" · gold {'section' if is_section else 'page'} {places}"),
    ]
    return [("Ranking", [*pieces, *([Piece(f" · next: {lever}")] if lever else [])])]


def _at(stage: StageName, rank: int | None) -> str:
    """Return `at rank 3 of reranked`, `not in fused`."""
    name = "the prompt" if stage == "chunks" else stage
    return f"not in {name}" if rank is None else f"at rank {rank:,} of {name}"


def _ending(outcome: GoldOutcome) -> list[Piece]:
    """Return what the answer does with the passage; the tip is the meaning of that state."""
    state = outcome.state
    name = "refused" if state == "uncited" and outcome.is_refusal else _AT_LAST.get(state, GOLD_NAMES[state])
    kind: Kind = "plain" if state in ("cited", "declined") else "strong"
    return [Piece(" · "), Piece(name, kind, tip=gold_meaning(state))]


def _what(gold: GoldQuestion, *, names_document: bool) -> str | None:
    """Return the name of the gold passage; None if it names no place."""
    target = gold_target(gold)
    if target is None:
        return None
    if target.kind == "chunk":
        return _either([_chunk_name(chunk_id, names_document) for chunk_id in gold.chunks])
    if target.kind == "section":
        return f"section {_either([section.strip() for section in gold.sections if section.strip()])}"
    pages = ((span.page_idx, span.doc_id) for span in gold.spans if span.page_idx is not None)
    return _either([f"page {page_idx + 1}{_of(doc_id, names_document)}" for page_idx, doc_id in pages])


def _of(doc_id: str | None, names_document: bool) -> str:
    return f" of {doc_id}" if names_document and doc_id else ""


def _chunk_name(chunk_id: str, names_document: bool) -> str:
    """Return `section 5.4.1, p. 43 of manual` if the id says so, else the id."""
    parts = parse(chunk_id)
    if parts is None:
        return f"chunk {chunk_id}"
    page = f", p. {parts.page}" if parts.page else ""
    return f"section {parts.sect_path}{page}{_of(parts.doc_uid, names_document)}"


def _either(names: Sequence[str]) -> str:
    named = list(dict.fromkeys(names))
    more = [f"{len(named) - MAX_NAMED} more"] if len(named) > MAX_NAMED else []
    return " or ".join([*named[:MAX_NAMED], *more])


def _retrieved(ranks: GoldOutcome, sizes: Mapping[StageName, int]) -> list[Piece]:
    """Return the rank; nothing if the prompt is the only list or no list has it, which `_seen` says."""
    if ranks.stage is None or ranks.stage == "chunks" or (ranks.retrieved is None and ranks.seen is None):
        return []
    size = sizes.get(ranks.stage, 0)
    if ranks.retrieved is None:
        return [Piece(" · "), Piece(f"not among the {size:,} {ranks.stage}", "strong")]
    return [Piece(f" · {ranks.stage} at rank {ranks.retrieved:,} of {size:,}")]


def _seen(ranks: GoldOutcome, sizes: Mapping[StageName, int]) -> list[Piece]:
    """Return the rank in the prompt, or that the passage is not in it."""
    size = sizes.get("chunks", 0)
    if ranks.seen is not None:
        return [Piece(f" · in the prompt at rank {ranks.seen:,} of {size:,}"), *_ending(ranks)]
    tip = f"The prompt has {counted(size, 'chunk') if size else 'no chunk'}."
    words = "not in the prompt"
    if ranks.stage is not None and ranks.stage != "chunks" and ranks.retrieved is None:
        words = f"not among the {sizes.get(ranks.stage, 0):,} {ranks.stage}"
    return [Piece(" · "), Piece(words, "strong", tip=tip)]


# The reasons of a label: its rule, and each signal with its value.

_STALE = "The report is older than these traces, or used other rules; the label above is computed now."
#: Measures that the pipeline logs itself.
_DELTA_S = "The pipeline's own distance between the question and what was retrieved: 0 is close, 1 is far."
_LAMBDA = "The pipeline's own judgement of whether retrieval settled: convergent is good, chaotic is bad."
_COVERAGE = "The share of the answer's content words that are in the evidence; rare words count more."
#: Words, numbers or ranks that are named; the rest is counted.
MAX_WORDS_NAMED = 12
#: Why a question has no label if its text is unknown.
NOT_KNOWN = "the question's text is unknown"
#: Characters shown of a phrase; its tip has the rest.
MAX_PHRASE = 60


def verdict(view: QuestionView) -> tuple[Piece, str]:
    """Return the label's chip and its reason; those of a stored report are in its own words."""
    stored = view.stored
    if stored is not None:
        known = next((label for label in LABELS if label == stored.label), None)
        own = chip(known) if known else Piece(stored.label, "no-label")
        return own, f"{stored.why or 'no reason given'} (as stored)"
    if view.row is None:
        return chip(None), "no usable chunks to judge it by" if view.is_question_known else NOT_KNOWN
    return chip(view.row.label), reason(view.row)


def reason(row: ReportRow) -> str:
    """Return the reason of a row's label: the reference's, except for an answer that needs no citations."""
    if row.why == GROUNDED[1] and not row.signals.cited:
        return "answer grounded; it cites nothing"
    return row.why


def step(view: QuestionView, row: ReportRow, found: Mapping[str, FoundSpan]) -> str:
    """Return what to do about this answer: first on a contradicted citation, then by its label.

    `found` holds the located passages by their id. An answer that a page contradicts is no baseline.
    """
    template = view.profile.template
    usual = step_for(row, template, view.gold_outcome, view.omissions)
    numbers = (item.citation.number for item in view.citations)
    first = citation.first_step((n, found[cite_id(n)]) for n in numbers if cite_id(n) in found)
    if first is None:
        return usual
    return first if usual == next_step("ok", template) else f"{first} {usual}"


def signal_rows(
    view: QuestionView,
    row: ReportRow,
    *,
    stored_label: str | None = None,
    ranking: Ranking | None = None,
) -> list[tuple[str, list[Piece]]]:
    """Return each signal of the label with its value, problems first.

    `stored_label` is the one of the run's stored report, listed if it differs. `ranking` are the index's
    ranks of the gold section.
    """
    signals = row.signals
    unsupported = signals.numbers_unsupported
    rows = gold_rows(view) + ranking_rows(view, ranking)
    rows += [("Numbers", _numbers(view, unsupported))] if unsupported else []
    rows += omission_rows(view)
    issues = [[Piece(suspicion_text(code), tip=code)] for code in row.suspicions]
    rows += zip(["Issues", *[""] * len(issues)], issues, strict=False)
    refusal = view.explanation.refusal
    if refusal is not None:
        rows.append(("Refusal", [Piece("“"), Piece(refusal.text), Piece("”")]))
    if refusal is None or view.explanation.is_other_wording:
        rows.append(("Phrase in evidence", _phrase(view)))
    rows.append(("Question words", _query_words(view)))
    if refusal is None or signals.answer_coverage is not None:
        rows.append(("Answer words", _answer_words(view, signals.answer_coverage)))
    rows.append(("Citations", [Piece(_citation_words(signals, passages=len(view.citations)))]))
    measured = _measures(view)
    if measured:
        rows.append(("Pipeline's measures", measured))
    if stored_label is not None and stored_label != row.label:
        name = LABEL_NAMES.get(stored_label, stored_label)
        own = Piece(name, "strong", tip=f"{stored_label}: {_STALE}")
        rows.append(("Stored report", [Piece("says "), own]))
    return rows


def stored_rows(view: QuestionView, stored: StoredRow) -> list[tuple[str, list[Piece]]]:
    """Return the content of a report's row, with how many of its ids the workspace knows."""
    seen = seen_texts(view)
    resolved = sum(item.is_resolved for item in view.citations)
    cited = f"{len(view.citations):,} cited: {resolved:,} with a chunk" if view.citations else "none"
    rows = gold_rows(view)
    if stored.label not in LABELS:
        rows.append(("Label", [Piece(stored.label, "strong"), Piece(" is not one of Proofspan's labels")]))
    rows += [
        ("Retrieved", [Piece(f"{len(stored.chunks)} ids, {len(seen)} with a chunk in this workspace")]),
        ("Citations", [Piece(cited)]),
    ]
    if stored.llm_summary:
        aside = Piece(" (auxiliary, decides nothing)", "muted")
        rows.append(("Summary", [Piece(stored.llm_summary), aside]))
    return rows


def _citation_words(signals: Signals, *, passages: int) -> str:
    """Return `2 cited, 1 retrieved, 2 with a chunk`: ids; one may be cited for several passages."""
    if not signals.cited:
        where = f"none where the profile looks; {counted(passages, 'passage')} in the citation payload"
        return where if passages else "none"
    retrieved = f"{signals.cited_retrieved:,} retrieved"
    ids = f"{signals.cited:,} cited"
    if passages > signals.cited:
        ids = f"{counted(signals.cited, 'chunk')} cited for {passages:,} passages"
    return f"{ids}, {retrieved}, {signals.cited_resolved:,} with a chunk"


def _answer_words(view: QuestionView, coverage: float | None) -> list[Piece]:
    """Return `62 % in the evidence · not found: sprocket, flange`."""
    if coverage is None:
        return [Piece("it has no content word")]
    pieces = [Piece(f"{percent(coverage)} in the evidence", tip=_COVERAGE)]
    missing = dict.fromkeys(word.text for word in view.explanation.words_missing)
    if missing:
        pieces.append(Piece(f" · not found: {_listed(list(missing))}", "muted"))
    return pieces


def _numbers(view: QuestionView, numbers: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    for place, number in enumerate(numbers[:MAX_WORDS_NAMED]):
        pieces += [Piece(", ")] * (place > 0) + [Piece(number, "strong")]
    count = len(view.trace.chunk_ids)
    verb = "is" if len(numbers) == 1 else "are"
    return [*pieces, Piece(f" {verb} not in the {counted(count, 'chunk')}")]


def _phrase(view: QuestionView) -> list[Piece]:
    """Return the first phrase that counts, with the ranks of the chunks that contain it."""
    first = next(iter(matched_phrases(view)), None)
    if first is None:
        return [Piece("none that the label's rule counts")]
    is_long = len(first.phrase) > MAX_PHRASE
    shown = f"{first.phrase[: MAX_PHRASE - 1].rstrip()}…" if is_long else first.phrase
    tip = first.phrase if is_long else ""
    return [Piece("“"), Piece(shown, tip=tip), Piece("”"), Piece(_ranks_holding(view, first.phrase))]


def _ranks_holding(view: QuestionView, phrase: str) -> str:
    low = phrase.lower()
    ranks = [str(rank) for rank, text in seen_texts(view).items() if low in text.lower()]
    if not ranks:
        return ""
    return f" in {'chunk' if len(ranks) == 1 else 'chunks'} {', '.join(ranks[:MAX_WORDS_NAMED])}"


def _query_words(view: QuestionView) -> list[Piece]:
    """Return the question's content words; stopwords only if nothing else aligned."""
    content = [token for token in view.explanation.query if token.is_content]
    found = [token.token for token in content if token.places]
    missing = [token.token for token in content if not token.places]
    pieces = [Piece(f"{len(found)} of {len(content)}")]
    if found:
        pieces.append(Piece(f": {_listed(found)}"))
    if missing:
        pieces += [Piece(" · not "), Piece(_listed(missing), "strong")]
    stopwords = [token.token for token in view.explanation.query if token.places and not token.is_content]
    if stopwords and not found:
        pieces.append(Piece(f" · only stopwords: {_listed(stopwords)}"))
    return pieces


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MAX_WORDS_NAMED} more" if len(words) > MAX_WORDS_NAMED else ""
    return ", ".join(words[:MAX_WORDS_NAMED]) + more


def _measures(view: QuestionView) -> list[Piece]:
    """Return the trace's own measures: `ok: yes · ΔS 0.45 · λ convergent · 5 ms`."""
    own = view.measures
    listed = [
        None if own.ok is None else Piece(f"ok: {'yes' if own.ok else 'no'}"),
        None if own.delta_s is None else Piece(f"ΔS {own.delta_s:.2f}", tip=_DELTA_S),
        None if own.lambda_state is None else Piece(f"λ {own.lambda_state}", tip=_LAMBDA),
        None if own.latency_ms is None else Piece(f"{own.latency_ms:,.0f} ms"),
    ]
    pieces = [piece for piece in listed if piece is not None]
    return [each for piece in pieces for each in (Piece(" · "), piece)][1:]
