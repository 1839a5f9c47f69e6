"""The Question page in words: what a badge, a header and a signal say. Pure; nothing here draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.contracts.records import LABELS, GoldSpan, SourceLine, Trace, TraceKey
from core.evidence.types import FoundSpan
from core.services.questions import CitationView, QuestionView
from core.services.spans import PageView
from core.traces.reports import StoredRow
from core.triage.advice import suspicion_text
from core.triage.reflect import GROUNDED
from core.triage.types import PhraseMatch, ReportRow, Signals
from core.ui import finding_words
from core.ui.gold_words import gold_rows
from core.ui.safe import Piece, chip
from core.ui.whole_phrases import whole_phrases
from core.ui.words import counted, lines, variant

Range = tuple[int, int]

_STATUS = {"partial": "in part"}
MAX_WORDS_NAMED = 12
#: Characters of a question's id that are shown; an id may be a whole sentence.
MAX_ID = 60
NO_TRACE = (
    "There is no trace behind this row: the run has a stored report alone, and a report keeps no answer."
)


def answer_pieces(
    answer: str,
    *,
    phrases: Iterable[Range] = (),
    unsupported: Iterable[Range] = (),
    numbers_after: Mapping[int, Sequence[int]] | None = None,
    instead: Mapping[Range, int] | None = None,
    chosen: int | None = None,
) -> list[Piece]:
    """The answer with its marks; ranges are half-open characters of it and may overlap.

    A number that no evidence holds outweighs the phrase that it stands in. `numbers_after` puts citation
    numbers behind a place; `instead` shows a citation's number in place of the id that stands in the text.
    """
    phrases, unsupported = list(phrases), list(unsupported)
    numbers_after, instead = numbers_after or {}, instead or {}
    edges = {0, len(answer), *numbers_after}
    for start, end in (*phrases, *unsupported, *instead):
        edges |= {start, end}
    places = sorted(edge for edge in edges if 0 <= edge <= len(answer))
    pieces: list[Piece] = []
    for start, end in zip(places, [*places[1:], len(answer)], strict=True):
        pieces += (_number(n, chosen) for n in numbers_after.get(start, ()))
        if start == end:
            continue
        replaced = next((span for span in instead if span[0] <= start and end <= span[1]), None)
        if replaced is not None:
            if replaced[0] == start:
                pieces.append(_number(instead[replaced], chosen, tip=answer[slice(*replaced)]))
        elif _covers(unsupported, start, end):
            _append(pieces, Piece(answer[start:end], "unsupported", tip="stands nowhere in the evidence"))
        else:
            _append(pieces, Piece(answer[start:end], "phrase" if _covers(phrases, start, end) else "plain"))
    return pieces


def marked_answer(view: QuestionView, *, chosen: int | None) -> list[Piece]:
    """The answer with its phrases, unsupported numbers and citations marked.

    A quote of the payload that stands in answer and evidence is marked whole, with its citation's number
    behind it. Any other phrase carries the numbers of the citations whose chunk holds it; an id that the
    answer writes out is shown as the number of its citation.
    """
    numbers, quoted = _numbers_by_chunk(view), _quoted(view)
    phrases = [phrase for phrase in _phrases(view) if not _overlaps(phrase, quoted)]
    unsupported = [(number.start, number.end) for number in view.explanation.numbers]
    return answer_pieces(
        view.trace.answer,
        phrases=sorted([*quoted, *((phrase.answer_start, phrase.answer_end) for phrase in phrases)]),
        unsupported=unsupported,
        numbers_after={
            **_numbers_after(phrases, numbers, unsupported),
            **{end: found for (_, end), found in quoted.items()},
        },
        instead={
            (cited.range.start, cited.range.end): numbers[cited.chunk_id]
            for cited in view.explanation.cited
            if cited.range is not None and cited.chunk_id in numbers
        },
        chosen=chosen,
    )


def _quoted(view: QuestionView) -> dict[Range, list[int]]:
    """Where the answer says a payload's quote word for word, with the numbers of the citations; only quotes
    that the evidence holds, and none that overlaps an earlier one."""
    texts = list(_evidence(view).values())
    found: dict[Range, list[int]] = {}
    for item in view.citations:
        quote = item.citation.quote if item.quote_from == "payload" else None
        start = view.trace.answer.find(quote) if quote else -1
        if quote and start >= 0 and any(quote in text for text in texts):
            place = (start, start + len(quote))
            if place in found or not any(low < place[1] and place[0] < high for low, high in found):
                found.setdefault(place, []).append(item.citation.number)
    return found


def _overlaps(phrase: PhraseMatch, ranges: Iterable[Range]) -> bool:
    return any(start < phrase.answer_end and phrase.answer_start < end for start, end in ranges)


def _phrases(view: QuestionView) -> tuple[PhraseMatch, ...]:
    """The answer's matched phrases as they are marked: whole words, whole numbers."""
    return whole_phrases(view.trace.answer, view.explanation.phrases, list(_evidence(view).values()))


def _evidence(view: QuestionView) -> dict[int, str]:
    """The texts that the answerer saw, by rank."""
    seen = next((stage.candidates for stage in view.stages if stage.name == "chunks"), ())
    return {item.candidate.rank: item.candidate.text for item in seen if item.candidate.text}


def _numbers_after(
    phrases: Sequence[PhraseMatch], numbers: Mapping[str, int], unsupported: Sequence[Range]
) -> dict[int, list[int]]:
    """Citation numbers by their place in the answer: once behind phrases in a row that they all hold.

    A place inside a number moves behind it: a figure is never cut in two.
    """
    after: dict[int, list[int]] = {}
    held_before, last = None, 0
    for phrase in phrases:
        chunks = {chunk_id for chunk_id, _, _ in phrase.places}
        held = [number for chunk_id, number in numbers.items() if chunk_id in chunks]
        if held == held_before:
            after.pop(last, None)
        last = next((end for start, end in unsupported if start < phrase.answer_end < end), phrase.answer_end)
        if held:
            after[last] = held
        held_before = held
    return after


def name_piece(trace: Trace, repeat: int) -> Piece:
    """The question's id and which trace of it: `Q01 · p1 · s0 · #2`; a long id stands whole in the tip."""
    key = TraceKey(trace.run_id or "", trace.q_id, trace.paraphrase, trace.seed, repeat)
    name = " · ".join([short_id(trace.q_id), *variant(key)])
    return Piece(name, "muted", tip=trace.q_id if len(trace.q_id) > MAX_ID else "")


def short_id(q_id: str) -> str:
    """An id in the width of a header."""
    return q_id if len(q_id) <= MAX_ID else f"{q_id[: MAX_ID - 1]}…"


def marked_question(view: QuestionView) -> list[Piece]:
    """The question with its content words marked that the evidence holds."""
    text, at, pieces = view.trace.q, 0, []
    found = (
        each
        for token in view.explanation.query
        if token.is_content and token.places
        for each in token.in_question
    )
    for each in sorted(found, key=lambda each: each.start):
        pieces += [Piece(text[at : each.start]), Piece(text[each.start : each.end], "found")]
        at = each.end
    return [piece for piece in (*pieces, Piece(text[at:])) if piece.text]


def _numbers_by_chunk(view: QuestionView) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for item in view.citations:
        if item.citation.chunk_id is not None:
            numbers.setdefault(item.citation.chunk_id, item.citation.number)
    return numbers


def badge(view: CitationView, found: FoundSpan | None, *, on: str = "page") -> str:
    """A citation in a line: `1 · exact · p. 66`, `2 · fuzzy 0.97 · says 1/16, page says 1/32`.

    A page that is not the cited one stands beside it: `3 · exact · p. 13, cited 401`. `on` is what was looked
    at, "page" or "text": of a text the lines are told, `4 · exact · lines 12–14`.
    """
    citation = view.citation
    parts = [str(citation.number)]
    is_other = found is not None and found.page_mismatch
    if found is None:
        parts.append("not resolved" if not view.is_resolved and view.quote_from is None else "")
    else:
        parts.append(status_words(found, on=on))
    number = next((d for d in found.differences if d.kind == "number"), None) if found else None
    if number is not None:
        parts.append(f"says {number.quote or 'nothing'}, {on} says {number.page or 'nothing'}")
    page_idx = found.page_idx if found and found.page_idx is not None else citation.page_idx
    if on == "text":
        parts.append(lines(found.ranges) if found and found.ranges and number is None else "")
    elif page_idx is not None and (number is None or is_other):
        cited = f", cited {citation.page_idx + 1}" if is_other and citation.page_idx is not None else ""
        parts.append(f"p. {page_idx + 1}{cited}")
    if found is None and citation.doc_id:
        parts.append(citation.doc_id)
    if not view.is_retrieved:
        parts.append("not retrieved")
    return " · ".join(part for part in parts if part)


def gold_badge(span: GoldSpan, found: FoundSpan | None, *, number: int | None = None) -> str:
    """`gold · p. 66 · manual`; in a document without pages, once it is placed, `gold · line 12 · notes`.

    `number` tells several gold spans of one question apart.
    """
    page = "" if span.page_idx is None else f"p. {span.page_idx + 1}"
    place = lines(found.ranges) if found and found.ranges else page
    name = "gold" if number is None else f"gold {number}"
    return " · ".join(part for part in (name, place, span.doc_id) if part)


def status_words(found: FoundSpan, *, on: str = "page") -> str:
    """The locator's status as a person reads it, with the agreement where it is not whole."""
    if found.status == "not_found":
        return "not found on this page" if on == "page" else f"not found in the {on}"
    words = _STATUS.get(found.status, found.status)
    whole = found.status in ("exact", "normalized")
    agreed = found.agreement if whole else min(found.agreement, finding_words.MOST)
    return words if found.status == "exact" else f"{words} {agreed:.2f}"


def place_words(view: PageView) -> str:
    """`page_idx 41 · PDF page 42 · printed 41`; the printed label only where the document carries one.

    Of a document without pages `lines 12–14 of 220`.
    """
    if view.text is not None:
        found = view.chosen
        of = counted(view.text.line_count, "line")
        return f"{lines(found.ranges)} of {view.text.line_count:,}" if found and found.ranges else of
    if view.page_idx is None:
        return ""
    of = f" of {view.page_count}" if view.page_count else ""
    printed = f" · printed {view.printed}" if view.printed else ""
    return f"page_idx {view.page_idx} · PDF page {view.page_idx + 1}{of}{printed}"


def verdict(view: QuestionView) -> tuple[Piece, str]:
    """The label's chip and the reason beside it; of a stored report its own words, whatever they are."""
    stored = view.stored
    if stored is not None:
        known = next((label for label in LABELS if label == stored.label), None)
        said = chip(known) if known else Piece(stored.label, "no-label")
        return said, f"{stored.why or 'no reason given'} (as stored)"
    if view.row is None:
        return chip(None), "no usable chunks to judge it by"
    return chip(view.row.label), reason(view.row)


def reason(row: ReportRow) -> str:
    """Why a row has its label: the reference's words, but for citations that nobody made.

    Where a profile asks for none, an answer is grounded without them.
    """
    if row.why == GROUNDED[1] and not row.signals.cited:
        return "answer grounded; it cites nothing"
    return row.why


def stored_rows(view: QuestionView, stored: StoredRow) -> list[tuple[str, list[Piece]]]:
    """What a report's row says, with what the workspace knows of its ids."""
    seen = _evidence(view)
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


def source_words(source: SourceLine) -> str:
    """Where a record stands; an entry of a JSON array has a place and no bytes of its own."""
    if not source.length:
        return f"{source.file}, entry {source.line:,}"
    return f"{source.file}, line {source.line:,}, byte {source.offset:,}, {source.length:,} bytes"


def signal_rows(view: QuestionView, row: ReportRow) -> list[tuple[str, list[Piece]]]:
    """Why this label: each signal with its value, the ones that speak against the answer first."""
    signals = row.signals
    unsupported = signals.numbers_unsupported
    rows = gold_rows(view)
    rows += [("Numbers unsupported", _numbers(view, unsupported))] if unsupported else []
    refusal = view.explanation.refusal
    if refusal is not None:
        rows.append(("Refusal", [Piece("“"), Piece(refusal.text), Piece("”")]))
    if refusal is None or view.explanation.is_other_wording:
        rows.append(("Phrase in evidence", _phrase(view)))
    rows.append(("Query words found", _query_words(view)))
    if refusal is None or signals.answer_coverage is not None:
        rows.append(("Answer words found", _answer_words(view, signals.answer_coverage)))
    rows.append(("Citations", [Piece(_citation_words(signals, passages=len(view.citations)))]))
    measured = _measures(view)
    if measured:
        rows.append(("Pipeline says", [Piece(measured)]))
    found = [[Piece(f"{suspicion_text(code)} "), Piece(code, "muted")] for code in row.suspicions]
    return [*rows, *zip(["Stands out", *[""] * len(found)], found, strict=False)]


def _citation_words(signals: Signals, *, passages: int) -> str:
    """`2 cited: 1 of them retrieved, 2 with a chunk`: ids; one may be cited for several passages."""
    if not signals.cited:
        where = f"none where the profile looks; {counted(passages, 'passage')} in the citation payload"
        return where if passages else "none"
    retrieved = f"{signals.cited_retrieved:,} of them retrieved"
    ids = f"{signals.cited:,} cited"
    if passages > signals.cited:
        ids = f"{counted(signals.cited, 'chunk')} cited for {passages:,} passages"
    return f"{ids}: {retrieved}, {signals.cited_resolved:,} with a chunk"


def _answer_words(view: QuestionView, coverage: float | None) -> list[Piece]:
    """`62% of its content words, rare ones counting more · not found: sprocket, flange`."""
    if coverage is None:
        return [Piece("it has no content word")]
    told = [Piece(f"{coverage:.0%} of its content words, rare ones counting more")]
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
    first = next(iter(_phrases(view)), None)
    if first is None:
        return [Piece("none of the answer's phrases stands in the evidence")]
    shown = first.phrase if len(first.phrase) <= 90 else first.phrase[:89].rstrip() + "…"
    return [Piece("“"), Piece(shown), Piece("”"), Piece(_ranks_holding(view, first.phrase))]


def _ranks_holding(view: QuestionView, phrase: str) -> str:
    low = phrase.lower()
    ranks = [str(rank) for rank, text in _evidence(view).items() if low in text.lower()]
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


def _measures(view: QuestionView) -> str:
    said = view.measures
    parts = [
        None if said.ok is None else f"ok: {'yes' if said.ok else 'no'}",
        None if said.delta_s is None else f"ΔS {said.delta_s:.2f}",
        None if said.lambda_state is None else f"λ {said.lambda_state}",
        None if said.latency_ms is None else f"{said.latency_ms:,.0f} ms",
    ]
    return " · ".join(part for part in parts if part)


def _append(pieces: list[Piece], piece: Piece) -> None:
    """Adds a piece; one that goes on with the mark before it becomes one with it."""
    if pieces and (pieces[-1].kind, pieces[-1].tip) == (piece.kind, piece.tip):
        piece = replace(piece, text=pieces.pop().text + piece.text)
    pieces.append(piece)


def _number(number: int, chosen: int | None, *, tip: str = "") -> Piece:
    return Piece(str(number), "number-chosen" if number == chosen else "number", tip=tip)


def _covers(ranges: Iterable[Range], start: int, end: int) -> bool:
    return any(first <= start and end <= last for first, last in ranges)
