"""Locate claims in documents: the sentence, list item or table row that says the same, and where it differs.

A page's text comes from the worker in its lines. The claim is checked against it as an answer is checked
against its chunks, and the best sentence is located as a quote, so that its boxes are those of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from proofspan.contracts.records.records import Json
from proofspan.diagnosis.claims.check import check_answer, support_of
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import MOST_TEXT, Split, claims_in
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.claims.types import CheckedAnswer, CheckedClaim, Claim, ClaimStatus
from proofspan.diagnosis.corpus import Corpus, Survey
from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence import span_file
from proofspan.evidence.pdf.page_labels import with_page
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.span_file import SpanLine
from proofspan.evidence.text.text_document import TextDocument, locate_in_text
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.recent import Recent

#: Characters of a text before and behind a sentence that say which of several equal ones is meant.
CONTEXT = 200
#: Characters of a text that are prepared together.
MAX_PART = 100_000
#: Statuses of a claim that a passage supports.
DECIDED: tuple[ClaimStatus, ...] = ("supported", "derived")
#: Claims of one text that are looked for beyond the cited page.
MAX_SEARCHED = 50
#: Prepared pages that are kept for the claims that follow.
CACHED_PAGES = 64


def passage_query(text: str, start: int, end: int, page_idx: int | None) -> SpanQuery:
    """Return the query that locates characters of a text on its page."""
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    return SpanQuery(text[start:end], page_idx, before=before, after=after)


def survey_of(source: SourceText) -> Survey:
    """Return how rare the words of a text are among its sentences, where no corpus is at hand."""
    return Corpus({str(number): source.text_of(number) for number in range(len(source.units))}).survey


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A checked claim and where its evidence was found, None without any.

    `words` are the places of the words that differ, in the order of its differences; None where it is unclear
    which words of the page they are.
    """

    checked: CheckedClaim
    found: FoundSpan | None = None
    words: tuple[FoundSpan | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimSpan(FoundSpan):
    """Where a text's claims are decided: the place is that of the first of them that is weakest."""

    support: float = 0.0
    claims: tuple[PlacedClaim, ...] = ()

    @property
    def weakest(self) -> PlacedClaim:
        """Return the first claim that differs from its evidence, else the one with the least support."""
        return min(self.claims, key=lambda each: (each.checked.status != "differs", each.checked.support))

    @property
    def verdict(self) -> ClaimStatus:
        """Return the status of the weakest claim."""
        return self.weakest.checked.status if self.claims else "unsupported"


@dataclass(frozen=True, slots=True)
class Passage:
    """A page, or a part of a text, that claims are compared with, prepared."""

    number: int
    source: SourceText
    survey: Survey

    @classmethod
    def of(cls, text: str, number: int) -> Passage:
        """Prepare a text."""
        source = SourceText(text)
        return cls(number, source, survey_of(source))


class ClaimLocator:
    """A `PdfPool` that also locates claims: a query with a `claim` gets a `ClaimSpan`. Thread-safe."""

    def __init__(self, pool: PdfPool) -> None:
        self._pool = pool
        self._pages: Recent[Passage] = Recent(CACHED_PAGES)

    def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[FoundSpan | Problem]:
        """Yield at least one result, in order, up to the first problem; quotes in one request."""
        count = next((number for number, query in enumerate(queries) if query.claim), len(queries))
        if count:
            yield from self._pool.locate_each(path, queries[:count])
            return
        try:
            yield self._placed(path, queries[0])
        except EvidenceFault as fault:
            yield fault.problems[0]

    def _placed(self, path: Path, query: SpanQuery) -> ClaimSpan:
        info, note = self._pool.document(path), ""
        if query.cited_label is not None:
            query, note = with_page(query, info.labels)
        cited = query.cited_page_idx
        if cited is not None and cited >= info.page_count:
            note = f"page_idx {cited} is not in the document, which has {info.page_count} pages"
            cited = None

        def likely() -> list[int]:
            return self._pool.pages_for(path, query.claim[:MOST_TEXT], cited)

        def elsewhere() -> Iterator[Passage]:
            """Yield the cited page's neighbours, then the pages with most of the claim's words."""
            if cited is None:
                return
            near = [page for page in (cited - 1, cited + 1) if 0 <= page < info.page_count]
            yield from self._passages(path, near)
            yield from self._passages(path, [page for page in likely() if page not in (*near, cited)])

        first = self._passages(path, likely() if cited is None else [cited])
        if cited is not None and not first[0].source.units:
            note = f"page_idx {cited} has no text to compare the claim with"
        checked, texts = checked_claims(query.claim, first, elsewhere())
        wanted = passages(checked, texts)
        found = self._pool.locate_many(path, list(dict.fromkeys(wanted.values())))
        located = dict(zip(dict.fromkeys(wanted.values()), found, strict=True))
        return _joined(checked, wanted, located, note=note, cited=query.cited_page_idx)

    def _passages(self, path: Path, pages: Sequence[int]) -> list[Passage]:
        """Return the prepared texts of pages, those that are not cached in one request."""
        found = {page: self._pages.get((path, page)) for page in pages}
        missing = [page for page, known in found.items() if known is None]
        if missing:
            for page, text in zip(missing, self._pool.page_lines(path, missing), strict=True):
                found[page] = prepared = Passage.of(text, page)
                self._pages.put((path, page), prepared)
        return [known for known in found.values() if known is not None]


def placed_in_text(query: SpanQuery, document: TextDocument) -> FoundSpan:
    """Locate a quote or a claim in a document without pages."""
    if not query.claim:
        return locate_in_text(query, document)
    # A long text is compared in parts, as a prepared text is bounded.
    parts: list[str] = []
    for line in document.text.splitlines(keepends=True):
        if not parts or len(parts[-1]) + len(line) > MAX_PART:
            parts.append("")
        parts[-1] += line
    first = [Passage.of(part, number) for number, part in enumerate(parts)]
    checked, texts = checked_claims(query.claim, first)
    wanted = {number: replace(each, cited_page_idx=None) for number, each in passages(checked, texts).items()}
    located = {each: locate_in_text(each, document) for each in dict.fromkeys(wanted.values())}
    return _joined(checked, wanted, located)


def checked_claims(
    text: str, first: Sequence[Passage], elsewhere: Iterable[Passage] = ()
) -> tuple[CheckedAnswer, dict[int, str]]:
    """Check the claims of a text, and return the texts of the passages that decide them, by number.

    A passage decides a claim by itself: of several the one that supports it, else the one that comes closest.
    Passages `elsewhere` count only where they support what the first ones do not. A text without a claim,
    such as a heading, is one itself.
    """
    split = claims_in(text)
    stripped = text.strip()
    if not split.claims and stripped:
        start = text.find(stripped)
        split = split._replace(claims=(Claim(stripped, start, start + len(stripped), "sentence"),))
    claims = split.claims
    best = [_best(checks) for checks in zip(*(_checks(split, claims, each) for each in first), strict=True)]
    seen = {each.number: each.source.text for each in first}
    is_open = [number for number, each in enumerate(best) if each.status not in DECIDED][:MAX_SEARCHED]
    for passage in elsewhere if is_open else ():
        seen[passage.number] = passage.source.text
        checks = _checks(split, [claims[number] for number in is_open], passage)
        decided = {
            number: each for number, each in zip(is_open, checks, strict=True) if each.status in DECIDED
        }
        best = [decided.get(number, each) for number, each in enumerate(best)]
        is_open = [number for number in is_open if number not in decided]
        if not is_open:
            break
    best = best or [CheckedClaim(claim, "unsupported", 0.0) for claim in claims]
    return CheckedAnswer(tuple(best), support_of(best), split.note), seen


def _checks(split: Split, claims: Sequence[Claim], passage: Passage) -> tuple[CheckedClaim, ...]:
    source = EvidenceSource("cited_page", None, passage.source, page_idx=passage.number)
    return check_answer(split.text, [source], passage.survey, claims=claims).claims


def _best(checks: Sequence[CheckedClaim]) -> CheckedClaim:
    """Return the check that supports its claim, else that with the most support; of equal ones the first."""
    return max(checks, key=lambda each: (each.status in DECIDED, each.support))


#: The number of a claim, and that of one of its differences, or `EVIDENCE`.
Part = tuple[int, int]
EVIDENCE = -1


def passages(checked: CheckedAnswer, texts: Mapping[int, str]) -> dict[Part, SpanQuery]:
    """Return the queries that locate the evidence of claims, and its words that differ, in texts by page_idx.

    Claims with the same evidence have the same query.
    """
    wanted: dict[Part, SpanQuery] = {}
    for number, each in enumerate(checked.claims):
        evidence = each.evidence
        if evidence is None or evidence.page_idx is None:
            continue
        text, page_idx = texts[evidence.page_idx], evidence.page_idx
        wanted[number, EVIDENCE] = passage_query(text, evidence.start, evidence.end, page_idx)
        for place, difference in enumerate(each.differences):
            if difference.found:
                words = difference.found_start, difference.found_end
                wanted[number, place] = passage_query(text, *words, page_idx)
    return wanted


def _joined(
    checked: CheckedAnswer,
    wanted: Mapping[Part, SpanQuery],
    located: Mapping[SpanQuery, FoundSpan],
    *,
    note: str = "",
    cited: int | None = None,
) -> ClaimSpan:
    def place(number: int, part: int) -> FoundSpan | None:
        found = located[wanted[number, part]] if (number, part) in wanted else None
        return None if found is None or (part != EVIDENCE and found.alternatives) else found

    claims = tuple(
        PlacedClaim(
            each, place(number, EVIDENCE), tuple(place(number, n) for n in range(len(each.differences)))
        )
        for number, each in enumerate(checked.claims)
    )
    note = "; ".join(filter(None, (note, checked.note)))
    span = ClaimSpan("not_found", None, False, 0.0, note=note, support=checked.support or 0.0, claims=claims)
    found = span.weakest.found if claims else None
    if found is None or found.status == "not_found":
        return span
    fields = ("status", "page_idx", "agreement", "rects", "continues", "ranges")
    is_elsewhere = cited is not None and found.page_idx not in (None, cited)
    values = {name: getattr(found, name) for name in fields}
    return replace(span, page_mismatch=is_elsewhere, **values)


# Output of `proofspan locate`.


def to_json(located: SpanLine) -> bytes:
    """Return one output line, keys sorted, with its line break: that of a quote, or of a claim."""
    if located.query is None or not located.query.claim:
        return span_file.to_json(located)
    status = "not_found" if located.problem is not None else "unsupported"
    row: dict[str, Json] = {"id": located.span_id, "support": None, "status": status}
    if isinstance(span := located.found, ClaimSpan):
        row |= {"support": span.support, "page_mismatch": span.page_mismatch}
        row |= _claim_row(span.weakest) if span.claims else {}
        if len(span.claims) > 1:
            listed = [each.checked.claim for each in span.claims]
            places = [{"text": each.text, "start": each.start, "end": each.end} for each in listed]
            rows = [_claim_row(each) | {"support": each.checked.support} for each in span.claims]
            row["claims"] = [place | own for place, own in zip(places, rows, strict=True)]
        if span.note:
            row["note"] = "; ".join(filter(None, (span.note, row.get("note"))))
    if (problem := located.problem) is not None:
        row["error"] = {"code": problem.code, "message": problem.message, "fix": problem.fix}
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def _claim_row(placed: PlacedClaim) -> dict[str, Json]:
    """Return what is known of one claim; fields that are usually empty are omitted then."""
    checked, found, evidence = placed.checked, placed.found, placed.checked.evidence
    is_placed = found is not None and found.status != "not_found"
    row: dict[str, Json] = {
        "status": checked.status,
        "evidence": evidence.text if evidence is not None else None,
        "page_idx": found.page_idx if found is not None and is_placed else None,
        "rects": found.rects if found is not None and is_placed else (),
        "differences": [
            {
                "kind": each.kind,
                "claimed": each.claimed,
                "claimed_start": each.claimed_start,
                "claimed_end": each.claimed_end,
                "found": each.found,
                "found_start": each.found_start - (evidence.start if evidence else 0),
                "found_end": each.found_end - (evidence.start if evidence else 0),
                "rects": words.rects if words is not None else (),
            }
            for each, words in zip(checked.differences, placed.words, strict=True)
        ],
    }
    if found is not None and found.ranges:
        row["ranges"] = found.ranges
    if found is not None and found.continues:
        row["continues"] = [span_file.place_row(place) for place in found.continues]
    if checked.formula:
        row["formula"] = checked.formula
    if checked.note:
        row["note"] = checked.note
    return row
