"""Why a question has its label: the verdict, and each signal with its value. Pure; nothing here draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofspan.contracts.records import LABELS
from proofspan.diagnosis.advice import next_step, step_for, suspicion_text
from proofspan.diagnosis.reflect import GROUNDED
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.evidence.types import FoundSpan
from proofspan.metrics.intervals import percent
from proofspan.services.questions import QuestionView
from proofspan.traces.reports import StoredRow
from proofspan.ui import citation_words
from proofspan.ui.answer_words import matched_phrases, seen_texts
from proofspan.ui.gold_words import Ranking, gold_rows, ranking_rows
from proofspan.ui.safe import Piece, chip
from proofspan.ui.safety_words import omission_rows
from proofspan.ui.words import counted

_STALE = "The report was made before these traces, or by other rules; the label above is worked out anew."
#: What the pipeline's own measures mean, as far as one can say.
_DELTA_S = "The pipeline's own distance between the question and what was retrieved: 0 is close, 1 is far."
_LAMBDA = "The pipeline's own word on whether its retrieval settled: convergent is good, chaotic is bad."
_COVERAGE = "The share of the answer's content words that the evidence holds; rare words count more."
#: So many words, numbers or ranks are named; of more, the rest is counted.
MAX_WORDS_NAMED = 12
#: Why a question has no label whose records do not say what it is.
NOT_KNOWN = "nothing says what was asked"
#: Characters of a phrase that are shown; its tip has the rest.
MAX_PHRASE = 60


def verdict(view: QuestionView) -> tuple[Piece, str]:
    """The label's chip and the reason beside it; of a stored report its own words, whatever they are."""
    stored = view.stored
    if stored is not None:
        known = next((label for label in LABELS if label == stored.label), None)
        said = chip(known) if known else Piece(stored.label, "no-label")
        return said, f"{stored.why or 'no reason given'} (as stored)"
    if view.row is None:
        return chip(None), "no usable chunks to judge it by" if view.is_question_known else NOT_KNOWN
    return chip(view.row.label), reason(view.row)


def reason(row: ReportRow) -> str:
    """Why a row has its label: the reference's words, but for citations that nobody made.

    Where a profile asks for none, an answer is grounded without them.
    """
    if row.why == GROUNDED[1] and not row.signals.cited:
        return "answer grounded; it cites nothing"
    return row.why


def step(view: QuestionView, row: ReportRow, found: Mapping[str, FoundSpan]) -> str:
    """What to do about this answer: first the pages that speak against a citation, then what its label asks.

    `found` holds the placed passages by their id. Where a page contradicts it, an `ok` is no baseline.
    """
    template = view.profile.template
    usual = step_for(row, template, view.gold_outcome, view.omissions)
    numbers = (item.citation.number for item in view.citations)
    first = citation_words.first_step((n, found[f"cite:{n}"]) for n in numbers if f"cite:{n}" in found)
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
    """Why this label: each signal with its value, the ones that speak against the answer first.

    `stored_label` is what the run's stored report says; told where it is another one. `ranking` is what the
    index has of the gold section's ranks.
    """
    signals = row.signals
    unsupported = signals.numbers_unsupported
    rows = gold_rows(view) + ranking_rows(view, ranking)
    rows += [("Numbers", _numbers(view, unsupported))] if unsupported else []
    rows += omission_rows(view)
    found = [[Piece(suspicion_text(code), tip=code)] for code in row.suspicions]
    rows += zip(["Stands out", *[""] * len(found)], found, strict=False)
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
        rows.append(("Pipeline says", measured))
    if stored_label is not None and stored_label != row.label:
        rows.append(("Stored report", [Piece("says "), Piece(stored_label, "strong", tip=_STALE)]))
    return rows


def stored_rows(view: QuestionView, stored: StoredRow) -> list[tuple[str, list[Piece]]]:
    """What a report's row says, with what the workspace knows of its ids."""
    seen = seen_texts(view)
    resolved = sum(item.is_resolved for item in view.citations)
    cited = f"{len(view.citations):,} cited: {resolved:,} with a chunk" if view.citations else "none"
    rows = gold_rows(view)
    if stored.label not in LABELS:
        rows.append(("Label", [Piece(stored.label, "strong"), Piece(" is none of Proofspan's labels")]))
    rows += [
        ("Retrieved", [Piece(f"{len(stored.chunks)} ids, {len(seen)} with a chunk in this workspace")]),
        ("Citations", [Piece(cited)]),
    ]
    if stored.llm_summary:
        aside = Piece(" (auxiliary, decides nothing)", "muted")
        rows.append(("Summary", [Piece(stored.llm_summary), aside]))
    return rows


def _citation_words(signals: Signals, *, passages: int) -> str:
    """`2 cited, 1 retrieved, 2 with a chunk`: ids; one may be cited for several passages."""
    if not signals.cited:
        where = f"none where the profile looks; {counted(passages, 'passage')} in the citation payload"
        return where if passages else "none"
    retrieved = f"{signals.cited_retrieved:,} retrieved"
    ids = f"{signals.cited:,} cited"
    if passages > signals.cited:
        ids = f"{counted(signals.cited, 'chunk')} cited for {passages:,} passages"
    return f"{ids}, {retrieved}, {signals.cited_resolved:,} with a chunk"


def _answer_words(view: QuestionView, coverage: float | None) -> list[Piece]:
    """`62 % in the evidence · not found: sprocket, flange`."""
    if coverage is None:
        return [Piece("it has no content word")]
    told = [Piece(f"{percent(coverage)} in the evidence", tip=_COVERAGE)]
    missing = dict.fromkeys(word.text for word in view.explanation.words_missing)
    if missing:
        shown = ", ".join(list(missing)[:MAX_WORDS_NAMED])
        more = f" and {len(missing) - MAX_WORDS_NAMED} more" if len(missing) > MAX_WORDS_NAMED else ""
        told.append(Piece(f" · not found: {shown}{more}", "muted"))
    return told


def _numbers(view: QuestionView, numbers: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    for place, number in enumerate(numbers[:MAX_WORDS_NAMED]):
        pieces += [Piece(", ")] * (place > 0) + [Piece(number, "strong")]
    count = len(view.trace.chunk_ids)
    stand = "stands" if len(numbers) == 1 else "stand"
    return [*pieces, Piece(f" {stand} nowhere in the {count} chunk{'s' * (count != 1)}")]


def _phrase(view: QuestionView) -> list[Piece]:
    """The first phrase that counts, with the ranks of the chunks that hold it."""
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
    return f" in chunk{'s' * (len(ranks) > 1)} {', '.join(ranks[:MAX_WORDS_NAMED])}"


def _query_words(view: QuestionView) -> list[Piece]:
    """The question's content words; its stopwords are named only where nothing else aligned."""
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
        pieces.append(Piece(f" · only such words as {_listed(stopwords)}"))
    return pieces


def _listed(words: Sequence[str]) -> str:
    more = f" and {len(words) - MAX_WORDS_NAMED} more" if len(words) > MAX_WORDS_NAMED else ""
    return ", ".join(words[:MAX_WORDS_NAMED]) + more


def _measures(view: QuestionView) -> list[Piece]:
    """`ok: yes · ΔS 0.45 · λ convergent · 5 ms`: what the trace says of itself."""
    said = view.measures
    told = [
        None if said.ok is None else Piece(f"ok: {'yes' if said.ok else 'no'}"),
        None if said.delta_s is None else Piece(f"ΔS {said.delta_s:.2f}", tip=_DELTA_S),
        None if said.lambda_state is None else Piece(f"λ {said.lambda_state}", tip=_LAMBDA),
        None if said.latency_ms is None else Piece(f"{said.latency_ms:,.0f} ms"),
    ]
    pieces = [piece for piece in told if piece is not None]
    return [each for piece in pieces for each in (Piece(" · "), piece)][1:]
