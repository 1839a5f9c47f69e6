"""Wording of the Question page: names and places, gold, ranking, and the reasons of the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.records import LABELS, GoldQuestion
from proofspan.diagnosis.answers import payload_ids
from proofspan.diagnosis.gold import GoldOutcome, GoldState, gold_target
from proofspan.diagnosis.labelling import GROUNDED
from proofspan.diagnosis.messages import GOLD_MEANINGS, SUSPICIONS, next_step, step_for, suspicion_text
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.diagnosis.verdicts.types import Verdict
from proofspan.display_names import BUCKET_NAMES, GOLD_NAMES, LABEL_NAMES
from proofspan.evidence.types import FoundSpan
from proofspan.metrics.ranked import BUCKET_LEVERS, BUCKET_MEANINGS, BUCKET_STEPS, BUCKETS
from proofspan.metrics.statistics import percent
from proofspan.services.page.target import cite_id
from proofspan.services.page.view import PageView
from proofspan.services.question.view import CandidateView, QuestionView
from proofspan.store.query.score_conditions import number_in, number_words
from proofspan.traces.records.scores import Score
from proofspan.traces.records.stored_reports import StoredRow
from proofspan.traces.records.trace_record import top_stage
from proofspan.ui.widgets.markup import Kind, Piece, chip
from proofspan.ui.widgets.text import lines, shortened
from proofspan.ui.wording import citation
from proofspan.ui.wording.answer import matched_phrases, seen_texts
from proofspan.ui.wording.citation import is_of_several_documents
from proofspan.ui.wording.safety import omission_rows
from proofspan.wording import counted, page_tip, page_words

#: Characters shown of a question's id, which may be a whole sentence.
MAX_ID = 60
NO_TRACE = "The run has only a stored report and no traces, and a report contains no answer."


def short_id(q_id: str) -> str:
    """Return an id in the width of a header."""
    return q_id if len(q_id) <= MAX_ID else f"{q_id[: MAX_ID - 1]}…"


def place_words(view: PageView) -> str:
    """Return `p. 41 (PDF 42)`, or for a text document `lines 12–14 of 220`."""
    if view.text is not None:
        found = view.chosen
        of = counted(view.text.line_count, "line")
        return f"{lines(found.ranges)} of {view.text.line_count:,}" if found and found.ranges else of
    return page_words(view.page_idx, view.printed) if view.page_idx is not None else ""


def document_name(view: PageView) -> str:
    """Return the title of the document, else its id, "" where the passage names none."""
    return (view.document.title if view.document else "") or view.target.doc_id or ""


def spoken_place(view: PageView) -> str:
    """Return `Owner's manual, p. 41 (PDF 42)`, as screen readers name what is shown."""
    return ", ".join(filter(None, (document_name(view), place_words(view))))


def place_tip(view: PageView) -> str:
    """Return how files name the shown page, "" without one."""
    return page_tip(view.page_idx, view.page_count) if view.text is None and view.page_idx is not None else ""


# The gold passage: what it is, where it was retrieved, and whether it is in the prompt and cited.

#: The row's ending if the passage is in the prompt.
_AT_LAST: Mapping[GoldState, str] = {
    "uncited": "not cited",
    "seen": "the answer cites nothing",
    "cited": "cited",
}
#: The same of several passages.
_OF_SEVERAL: Mapping[str, str] = {"not cited": "none of them cited", "cited": "at least one of them cited"}
#: Gold chunks, sections or pages that are named; the rest is counted.
MAX_NAMED = 3


def gold_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """Return the row `Gold`: `page 58 of 3M_2018_10K · retrieved at rank 15 of 75 · not in the prompt`.

    All of it is about the same chunks, sections or pages, which it names first. No row without gold. Pages
    count from 1.
    """
    gold, outcome = view.gold, view.gold_outcome
    if gold is None:
        return []
    if not gold.answerable:
        return [("Gold", [Piece("the documents contain no answer"), *(_ending(outcome) if outcome else ())])]
    names = _names(gold, names_document=is_of_several_documents(view))
    if not names:
        return []
    what, is_several = _listed_names(gold, names), len(names) > 1
    first, none = ("the first of them ", "none of them") if is_several else ("", "not")
    pieces = [Piece(what)]
    if outcome is not None:
        sizes = {stage.name: len(stage.candidates) for stage in view.stages}
        size, in_prompt = sizes.get(outcome.stage or "chunks", 0), sizes.get("chunks", 0)
        missed = f"{none} in the prompt"
        if outcome.stage is not None and outcome.stage != "chunks":
            if outcome.retrieved is not None:
                pieces.append(Piece(f" · {first}{outcome.stage} at rank {outcome.retrieved:,} of {size:,}"))
            else:
                missed = f"{none} among the {size:,} {outcome.stage}"
                pieces += [Piece(" · "), Piece(missed, "strong")] if outcome.seen is not None else []
        if outcome.seen is not None:
            pieces.append(Piece(f" · {first}in the prompt at rank {outcome.seen:,} of {in_prompt:,}"))
            pieces += _ending(outcome, is_several=is_several)
        else:
            tip = f"The prompt has {counted(in_prompt, 'chunk') if in_prompt else 'no chunk'}."
            pieces += [Piece(" · "), Piece(missed, "strong", tip=tip)]
    return [("Gold", pieces)]


def _ending(outcome: GoldOutcome, *, is_several: bool = False) -> list[Piece]:
    """Return what the answer does with the passage; the tip is the meaning of that state."""
    state = outcome.state
    name = "refused" if state == "uncited" and outcome.is_refusal else _AT_LAST.get(state, GOLD_NAMES[state])
    if is_several and name in _OF_SEVERAL:
        name = _OF_SEVERAL[name]
    kind: Kind = "plain" if state in ("cited", "declined") else "strong"
    return [Piece(" · "), Piece(name, kind, tip=GOLD_MEANINGS[state], term=f"gold.{state}")]


def _names(gold: GoldQuestion, *, names_document: bool) -> list[str]:
    """Return the names of what candidates are compared with: `chunk of section 5.4.1, p. 43 of manual`."""
    target = gold_target(gold)
    if target is None:
        return []

    def place(name: str, doc_id: str | None) -> str:
        return f"{name} of {doc_id}" if names_document and doc_id else name

    names = []
    if target.kind == "chunk":
        for chunk_id in gold.chunks:
            parts = parse(chunk_id)
            page = f", p. {parts.page}" if parts and parts.page else ""
            chunk = place(f"chunk of section {parts.sect_path}{page}", parts.doc_uid) if parts else ""
            names.append(chunk or f"chunk {chunk_id}")
    elif target.kind == "section":
        names = [f"section {section.strip()}" for section in gold.sections if section.strip()]
    else:
        pages = ((span.page_idx, span.doc_id) for span in gold.spans if span.page_idx is not None)
        names = [place(f"page {page_idx + 1}", doc_id) for page_idx, doc_id in pages]
    return list(dict.fromkeys(names))


def _listed_names(gold: GoldQuestion, names: Sequence[str]) -> str:
    """Return `page 59 and page 61`; "or" where the gold names alternatives for one passage.

    Spans on several pages are parts of one answer, which needs all of them.
    """
    needs_all = len({(span.doc_id, span.page_idx) for span in gold.spans}) > 1
    more = [f"{len(names) - MAX_NAMED} more"] if len(names) > MAX_NAMED else []
    return (" and " if needs_all else " or ").join([*names[:MAX_NAMED], *more])


def ranking_rows(view: QuestionView, indexed: Mapping[str, object]) -> list[tuple[str, list[Piece]]]:
    """Return the row `Ranking`: `Ranking miss · gold section at rank 3 of reranked · next: rerank`.

    `indexed` is the question's row of the index. No row if the question is not judged.
    """
    bucket = next((each for each in BUCKETS if each == indexed["bucket"]), None)
    last, top = view.last_stage, top_stage(view.trace)
    if bucket is None or last is None:
        return []
    ranks = {last.name: indexed["section_rank"]}
    if top is not None:
        ranks.setdefault(top, indexed["top_rank"])
    stages = {each.name: each.candidates for each in view.stages}
    places = []
    for stage, rank in ranks.items():
        name = "the prompt" if stage == "chunks" else stage
        by = " (another chunk of it)" if _is_other_chunk(view, stages.get(stage, ()), rank) else ""
        places.append(f"not in {name}" if rank is None else f"at rank {rank:,} of {name}{by}")
    meaning = f"{BUCKET_MEANINGS[bucket]} {BUCKET_STEPS.get(bucket) or ''}".strip()
    lever = BUCKET_LEVERS.get(bucket)
    pieces = [
        Piece(
            BUCKET_NAMES[bucket],
            "strong" if lever else "plain",
            tip=f"{bucket}: {meaning}",
            term=f"bucket.{bucket}",
        ),
        Piece(f" · gold {_ranked_kind(view)} {', '.join(places)}"),
    ]
    return [("Ranking", [*pieces, *([Piece(f" · next: {lever}")] if lever else [])])]


def _ranked_kind(view: QuestionView) -> str:
    """Return by which place of the gold ranks are counted: its section, else its chunk or page."""
    gold = view.gold
    if gold is None or gold.sections:
        return "section"
    if not gold.chunks:
        return "page"
    listed = (each for stage in view.stages for each in stage.candidates if each.gold == "chunk")
    has_section = any(each.candidate.section_id for each in listed) or any(map(parse, gold.chunks))
    return "section" if has_section else "chunk"


def _is_other_chunk(view: QuestionView, candidates: Sequence[CandidateView], rank: object) -> bool:
    """Return whether the candidate at a rank of the gold section is another chunk than the gold ones.

    The row `Gold` speaks of gold chunks where there are any, so both rows together would seem to disagree.
    Ranks of equal scores are given by id, so among those it is not known which candidate has the rank.
    """
    if view.gold is None or not view.gold.chunks:
        return False
    gold = [each.candidate for each in candidates if each.gold == "chunk"]
    there = [each.candidate for each in candidates if each.candidate.rank == rank]
    scores = {each.score for each in there} - {None}
    return bool(there) and not any(each.rank == rank or each.score in scores for each in gold)


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
#: Characters shown of a summary; the raw record has the rest.
MAX_SUMMARY = 1_000
#: Characters shown of a score's label, and of who gave it.
MAX_SCORE = 200


def label_chip(view: QuestionView) -> tuple[Piece, str]:
    """Return the label's chip and its reason; those of a stored report are in its own words."""
    stored = view.stored
    if stored is not None:
        known = next((label for label in LABELS if label == stored.label), None)
        own = chip(known) if known else Piece(stored.label, "no-label")
        return own, f"{stored.why or 'no reason given'} (as stored)"
    if view.row is None:
        return chip(None), "no usable chunks to judge it by" if view.is_question_known else NOT_KNOWN
    needs_none = view.row.why == GROUNDED[1] and not view.row.signals.cited
    return chip(view.row.label), "answer grounded; it cites nothing" if needs_none else view.row.why


def step(
    view: QuestionView, row: ReportRow, found: Mapping[str, FoundSpan], verdict: Verdict | None = None
) -> str:
    """Return what to do about this answer: first on a contradicted citation, then by its verdict or label.

    `found` holds the located passages by their id. An answer that a page contradicts is no baseline.
    """
    template = view.profile.template
    usual = step_for(row, template, view.gold_outcome, view.omissions)
    if verdict is not None:
        usual = verdict.next_step
    numbers = (item.citation.number for item in view.citations)
    first = citation.first_step((n, found[cite_id(n)]) for n in numbers if cite_id(n) in found)
    if first is None:
        return usual
    return first if usual in ("", next_step("ok", template)) else f"{first} {usual}"


def signal_rows(
    view: QuestionView, row: ReportRow, indexed: Mapping[str, object]
) -> list[tuple[str, list[Piece]]]:
    """Return each signal of the label with its value, problems first.

    `indexed` is the question's row of the index, with the label of the run's stored report.
    """
    signals = row.signals
    rows = gold_rows(view) + ranking_rows(view, indexed)
    if unsupported := signals.numbers_unsupported:
        numbers: list[Piece] = []
        for number in unsupported[:MAX_WORDS_NAMED]:
            numbers += [Piece(", ")] * bool(numbers) + [Piece(number, "strong")]
        verb = "is" if len(unsupported) == 1 else "are"
        ending = f" {verb} not in the {counted(len(view.trace.chunk_ids), 'chunk')}"
        rows.append(("Numbers", [*numbers, Piece(ending)]))
    rows += omission_rows(view)
    issues = [
        [Piece(suspicion_text(code), tip=code, term=f"issue.{code}" if code in SUSPICIONS else "")]
        for code in row.suspicions
    ]
    rows += zip(["Issues", *[""] * len(issues)], issues, strict=False)
    refusal = view.explanation.refusal
    if refusal is not None:
        rows.append(("Refusal", [Piece("“"), Piece(refusal), Piece("”")]))
    if refusal is None or view.explanation.is_other_wording:
        rows.append(("Phrase in evidence", _phrase(view)))
    # The question's content words; stopwords only if nothing else aligned.
    content = [token for token in view.explanation.query if token.is_content]
    found = [token.token for token in content if token.is_found]
    missing = [token.token for token in content if not token.is_found]
    pieces = [Piece(f"{len(found)} of {len(content)}")]
    pieces += [Piece(f": {_listed(found)}")] if found else []
    pieces += [Piece(" · not "), Piece(_listed(missing), "strong")] if missing else []
    stopwords = [token.token for token in view.explanation.query if token.is_found and not token.is_content]
    if stopwords and not found:
        pieces.append(Piece(f" · only stopwords: {_listed(stopwords)}"))
    rows.append(("Question words", pieces))
    if signals.answer_coverage is not None:
        # `62 % in the evidence · not found: sprocket, flange`
        pieces = [
            Piece(f"{percent(signals.answer_coverage)} in the evidence", tip=_COVERAGE, term="term.coverage")
        ]
        lost = view.explanation.words_missing
        pieces += [Piece(f" · not found: {_listed(lost)}", "muted")] if lost else []
        rows.append(("Answer words", pieces))
    elif refusal is None:
        rows.append(("Answer words", [Piece("it has no content word")]))
    rows.append(("Citations", [Piece(_citation_words(view, signals))]))
    own = view.measures
    measures = (
        None if own.ok is None else Piece(f"ok: {'yes' if own.ok else 'no'}"),
        None if own.delta_s is None else Piece(f"ΔS {own.delta_s:.2f}", tip=_DELTA_S, term="term.ΔS"),
        None if own.lambda_state is None else Piece(f"λ {own.lambda_state}", tip=_LAMBDA, term="term.λ"),
        None if own.latency_ms is None else Piece(f"{own.latency_ms:,.0f} ms"),
    )
    measured = [each for piece in measures if piece is not None for each in (Piece(" · "), piece)]
    rows += [("Pipeline's measures", measured[1:])] if measured else []
    stored_label = indexed["stored_label"]
    if stored_label is not None and stored_label != row.label:
        name = LABEL_NAMES.get(str(stored_label), str(stored_label))
        stored = Piece(name, "strong", tip=f"{stored_label}: {_STALE}")
        rows.append(("Stored report", [Piece("says "), stored]))
    return rows + summary_rows(indexed["llm_summary"])


def summary_rows(summary: object) -> list[tuple[str, list[Piece]]]:
    """Return what a model wrote about the label's checks, marked as what it is; empty without a summary."""
    if not isinstance(summary, str):
        return []
    shown = summary if len(summary) <= MAX_SUMMARY else f"{summary[:MAX_SUMMARY]}…"
    return [("Summary by a model", [Piece(shown), Piece(" (auxiliary, decides nothing)", "muted")])]


def stored_rows(view: QuestionView, stored: StoredRow) -> list[tuple[str, list[Piece]]]:
    """Return the content of a report's row, with how many of its ids the workspace knows."""
    seen = seen_texts(view)
    resolved = sum(item.chunk is not None for item in view.citations)
    cited = f"{len(view.citations):,} cited: {resolved:,} with a chunk" if view.citations else "none"
    rows = gold_rows(view)
    if stored.label not in LABELS:
        rows.append(("Label", [Piece(stored.label, "strong"), Piece(" is not one of Proofspan's labels")]))
    rows += [
        ("Retrieved", [Piece(f"{len(stored.chunks)} ids, {len(seen)} with a chunk in this workspace")]),
        ("Citations", [Piece(cited)]),
    ]
    return rows + summary_rows(stored.llm_summary)


def _citation_words(view: QuestionView, signals: Signals) -> str:
    """Return `2 cited, 1 retrieved, 2 with a chunk`: ids; one may be cited for several passages.

    Where the profile's template reads another place than the one that holds the citations, it says so.
    """
    passages, template = len(view.citations), view.profile.template
    if not signals.cited:
        if not passages:
            return "none"
        of = "the citation payload" if view.trace.payload else "the answer's text"
        held = f"{counted(passages, 'passage')} in {of}"
        if not (payload_ids(view.trace) or view.trace.ids_in_text):
            return f"no chunk id; {held}"
        other = "payload" if template == "seed" else "seed"
        return f"none where template {template} looks; {held}, which template {other} or none reads"
    retrieved = f"{signals.cited_retrieved:,} retrieved"
    ids = f"{signals.cited:,} cited"
    if passages > signals.cited:
        ids = f"{counted(signals.cited, 'chunk')} cited for {passages:,} passages"
    return f"{ids}, {retrieved}, {signals.cited_resolved:,} with a chunk"


def _phrase(view: QuestionView) -> list[Piece]:
    first = next(iter(matched_phrases(view)), None)
    if first is None:
        return [Piece("none that the label's rule counts")]
    is_long = len(first.phrase) > MAX_PHRASE
    shown = f"{first.phrase[: MAX_PHRASE - 1].rstrip()}…" if is_long else first.phrase
    low = first.phrase.lower()
    ranks = [str(rank) for rank, text in seen_texts(view).items() if low in text.lower()]
    noun = "chunk" if len(ranks) == 1 else "chunks"
    where = f" in {noun} {', '.join(ranks[:MAX_WORDS_NAMED])}" if ranks else ""
    return [Piece("“"), Piece(shown, tip=first.phrase if is_long else ""), Piece("”"), Piece(where)]


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MAX_WORDS_NAMED} more" if len(words) > MAX_WORDS_NAMED else ""
    return ", ".join(words[:MAX_WORDS_NAMED]) + more


def score_pieces(score: Score) -> Iterator[Piece]:
    """Yield the value of a score, who or what gave it, and why."""
    number = "" if score.number is None else number_words(score.number)
    label = "" if score.label is None else shortened(score.label, MAX_SCORE)
    # A word for the number, such as `true` or `4`, says it already.
    is_same = label in ("true", "false") or number_in(label) == score.number
    value = f"{label} ({number})" if label and number and not is_same else label or number
    yield Piece(value or "no value", "strong")
    if score.by:
        yield Piece(f" by {shortened(score.by, MAX_SCORE)}", "muted")
    if score.explanation:
        yield Piece(f" · {shortened(score.explanation, MAX_SUMMARY)}")
