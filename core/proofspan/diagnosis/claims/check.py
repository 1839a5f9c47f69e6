"""Check an answer: each claim with its best evidence, its support, and its status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from proofspan.contracts.records.records import GoldQuestion, Trace
from proofspan.diagnosis.answers import claims_of, payload_ids, refuses
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import MOST_CLAIMS, MOST_TEXT, split_claims
from proofspan.diagnosis.claims.support import (
    NO_SUPPORT,
    EvidenceSource,
    ReadClaim,
    Sources,
    Support,
    best_support,
)
from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    Claim,
    ClaimEvidence,
    ClaimStatus,
    Origin,
)
from proofspan.diagnosis.claims.word_forms import language_of
from proofspan.diagnosis.corpus import Survey
from proofspan.diagnosis.types import Profile
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import STAGES, listed

#: A claim with at least this support is supported. Chosen once on the development files of four public sets
#: (docs/measurements.md), as the value with the best mean of their balanced accuracies.
SUPPORTED = 0.6


def check_answer(
    answer: str,
    prompt: Sequence[EvidenceSource],
    survey: Survey,
    *,
    question: str = "",
    blanked: str | None = None,
    further: Iterable[Sequence[EvidenceSource]] = (),
    claims: Sequence[Claim] | None = None,
) -> CheckedAnswer:
    """Return the claims of an answer, each with its best evidence, support and status.

    `prompt` is what the answerer saw, in its order. `further` are groups of other passages, best first; they
    are only read where the prompt does not support a claim, and only count where they do. `blanked` is the
    answer with spaces in the place of citations and refusal phrases. `claims` are its claims where they are
    known.
    """
    if claims is None:
        claims = split_claims(answer, question=question, blanked=blanked)
    if not claims:
        return CheckedAnswer()
    groups = _Groups(prompt, further)
    own = language_of(answer)
    plain = answer if blanked is None else blanked
    checked = tuple([_checked(claim, plain, own, groups, survey) for claim in claims])
    scores = [each.support for each in checked]
    support = round((min(scores) + sum(scores) / len(scores)) / 2, 4)
    return CheckedAnswer(checked, support, _note(answer, claims, prompt))


class _Groups:
    """Groups of sources, read one after the other as they are asked for."""

    def __init__(self, prompt: Sequence[EvidenceSource], further: Iterable[Sequence[EvidenceSource]]) -> None:
        self._read = [prompt]
        self._rest = iter(further)

    def __iter__(self) -> Iterator[Sequence[EvidenceSource]]:
        place = 0
        while True:
            if place == len(self._read):
                try:
                    self._read.append(next(self._rest))
                except StopIteration:
                    return
            yield self._read[place]
            place += 1


def _checked(claim: Claim, plain: str, own: str | None, groups: _Groups, survey: Survey) -> CheckedClaim:
    text = plain[claim.start : claim.end]
    language = language_of(text) or own
    read = ReadClaim(text, language, survey)
    best, of = NO_SUPPORT, None
    for place, group in enumerate(groups):
        found = best_support(read, group)
        if place == 0 or found.score >= SUPPORTED:
            best, of = found, group
        if best.score >= SUPPORTED:
            break
    if of is None or best.source < 0:
        return CheckedClaim(claim, "unsupported", 0.0)
    source = of[best.source]
    status: ClaimStatus = "supported" if best.score >= SUPPORTED else "unsupported"
    if status == "unsupported" and language and source.text.language not in (None, language):
        status = "other_language"
    return CheckedClaim(claim, status, round(best.score, 4), _evidence(source, best))


def _evidence(source: EvidenceSource, best: Support) -> ClaimEvidence:
    unit = source.text.units[best.unit]
    return ClaimEvidence(
        source.origin,
        source.chunk_id,
        unit.start,
        unit.end,
        source.text.text_of(best.unit),
        source.doc_id,
        source.page_idx,
    )


def _note(answer: str, claims: Sequence[Claim], prompt: Sequence[EvidenceSource]) -> str:
    notes = []
    if len(answer) > MOST_TEXT:
        notes.append(f"only the first {MOST_TEXT:,} characters of the answer were checked")
    elif len(claims) == MOST_CLAIMS:
        notes.append(f"only the first {MOST_CLAIMS:,} claims were checked")
    notes += dict.fromkeys(source.text.note for source in prompt if source.text.note)
    return "; ".join(notes)


class Checker:
    """Check the answers of traces against the chunks of a corpus."""

    def __init__(
        self, texts: Mapping[str, str], survey: Survey, places: Places, *, cache_bytes: int = 250_000_000
    ) -> None:
        """`survey` is the corpus' word rarity; `places` are those of its chunks."""
        self._survey = survey
        self._places = places
        self._sources = Sources(texts, places, cache_bytes=cache_bytes)
        self._by_page: dict[tuple[str | None, int], list[str]] | None = None

    def check(self, trace: Trace, profile: Profile, gold: GoldQuestion | None = None) -> CheckedAnswer:
        """Return the checked claims of a trace's answer; none for a refusal.

        What is not in the prompt counts only where the prompt does not support a claim: other retrieved
        candidates, the chunks of cited pages, and gold's chunks and quotes, in that order.
        """
        answer = trace.answer
        lower = answer.lower()
        refusals = tuple([phrase.lower() for phrase in profile.refusal])
        if not lower.strip() or refuses(lower, refusals):
            return CheckedAnswer()
        cited = payload_ids(trace) or trace.ids_in_text
        return check_answer(
            answer,
            list(map(self._sources.__getitem__, trace.chunk_ids)),
            self._survey,
            question=trace.q,
            blanked=claims_of(answer, lower, (trace.chunk_ids, cited)),
            further=self._further(trace, gold),
        )

    def _further(self, trace: Trace, gold: GoldQuestion | None) -> Iterator[Sequence[EvidenceSource]]:
        seen = set(trace.chunk_ids)
        groups: tuple[tuple[Origin, Callable[[], Iterable[str]]], ...] = (
            ("retrieved", lambda: (item[1] for name in STAGES for item in listed(trace, name))),
            ("cited_page", lambda: self._on_cited_pages(trace)),
            ("gold", lambda: gold.chunks if gold else ()),
        )
        for origin, ids_of in groups:
            ids = [each for each in dict.fromkeys(ids_of()) if each not in seen]
            seen.update(ids)
            if ids:
                yield [self._sources[each]._replace(origin=origin) for each in ids]
        if gold is not None and gold.spans:
            yield [
                EvidenceSource("gold", None, SourceText(span.quote), span.doc_id, span.page_idx)
                for span in gold.spans
            ]

    def _on_cited_pages(self, trace: Trace) -> Iterator[str]:
        """Yield the cited chunks, then the chunks of the cited pages."""
        cited = citations(trace)
        yield from (each.chunk_id for each in cited if each.chunk_id is not None)
        if self._by_page is None:
            self._by_page = {}
            for chunk_id, place in self._places.items():
                if place.page_idx is not None:
                    self._by_page.setdefault((place.doc_id, place.page_idx), []).append(chunk_id)
        for each in cited:
            if each.page_idx is not None:
                yield from self._by_page.get((each.doc_id, each.page_idx), ())
