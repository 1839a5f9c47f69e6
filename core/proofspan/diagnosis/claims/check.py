"""Check an answer: each claim with its best evidence, its support, and its status."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count

from proofspan.contracts.records.records import GoldQuestion, Trace
from proofspan.diagnosis.answers import claims_of, from_another_prompt, payload_ids, refuses
from proofspan.diagnosis.claims.cells import WrongCell, wrong_cell, wrong_code
from proofspan.diagnosis.claims.computed import Computed, computed
from proofspan.diagnosis.claims.differences import differences_of
from proofspan.diagnosis.claims.figures import figures_of
from proofspan.diagnosis.claims.foreign import foreign_figures
from proofspan.diagnosis.claims.read_claim import ReadClaim, opens_with_nobody
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import Split, claims_in
from proofspan.diagnosis.claims.support import (
    NO_SUPPORT,
    WITHOUT_FIGURE,
    Evidence,
    EvidenceSource,
    Sources,
    Support,
    best_support,
    verbatim_source,
)
from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    Claim,
    ClaimDifference,
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

#: Why a claim in another language than its evidence has no support: it names no figure and nobody.
UNDECIDED = "the evidence is in another language, and the claim has no figure or name to compare"
_UNDECIDED_SUPPORT = 0.5
#: A claim with less support than this is about something else than its best evidence.
COMPARABLE = 0.22
#: The share of its support that a claim keeps for each difference.
WITH_DIFFERENCE = 0.2
#: Differences that show in any two languages.
OF_ANY_LANGUAGE = frozenset(("number", "unit", "scale", "date"))
OF_FIGURES = frozenset(("number", "unit", "scale"))
#: A claim with this support is the source's own words, whatever its language seems to be.
VERBATIM = 0.9
_DIGIT = re.compile(r"\d")
#: A claim with at least this support is supported. Chosen once on the development files of four public sets
#: (docs/measurements.md): from 0.40 to 0.50 the mean of their balanced accuracies is within 0.014 of the
#: best, and of these a high one shows fewer claims as supported that are not.
SUPPORTED = 0.48


def status_by(support: float, least: float = SUPPORTED) -> ClaimStatus:
    """Return the status of a claim that nothing but its support decides."""
    return "supported" if support >= least else "unsupported"


#: Why an answer is not checked whose trace lists no candidates, not even none.
NOT_LISTED = "the trace does not say what was retrieved"


def check_answer(
    answer: str,
    prompt: Sequence[EvidenceSource],
    survey: Survey,
    *,
    question: str = "",
    blanked: str | None = None,
    claims: Sequence[Claim] | None = None,
    further: Iterable[Sequence[EvidenceSource]] = (),
) -> CheckedAnswer:
    """Return the claims of an answer, each with its best evidence, support and status.

    `prompt` is what the answerer saw, in its order. `further` are groups of other passages, best first; they
    are only read where the prompt does not support a claim, and only count where they do. `blanked` is the
    answer with spaces in the place of citations and refusal phrases, `claims` are those of the answer where
    somebody has split it.
    """
    if claims is None:
        split = claims_in(answer, question, blanked=blanked)
    else:
        split = Split(tuple(claims), answer if blanked is None else blanked)
    if not split.claims:
        return CheckedAnswer(note=split.note)
    task = _Task(split.text, question, survey, prompt, further)
    checked = tuple(map(task.checked, split.claims))
    return CheckedAnswer(checked, support_of(checked), _note(split, prompt, task.note))


def support_of(checked: Iterable[CheckedClaim]) -> float | None:
    """Return the support of an answer, led by the weakest of its claims; None where none was decided."""
    decided = [each.support for each in checked if each.note != UNDECIDED]
    return round((min(decided) + sum(decided) / len(decided)) / 2, 4) if decided else None


class _Task:
    """An answer and its evidence, prepared for all of its claims."""

    def __init__(
        self,
        text: str,
        question: str,
        survey: Survey,
        prompt: Sequence[EvidenceSource],
        further: Iterable[Sequence[EvidenceSource]],
    ) -> None:
        self._text = text
        self._beside = f"{question}\n{text}"
        self._survey = survey
        self._language = language_of(text) or language_of(question)
        self._of_nobody = opens_with_nobody(text, question)
        self._given = figures_of(question) if _DIGIT.search(question) else []
        self._read = [Evidence(prompt, given=self._given)]
        self._rest = iter(further)

    @property
    def note(self) -> str:
        """Return what was left out of the prompt's passages so far."""
        return self._read[0].note

    def checked(self, claim: Claim) -> CheckedClaim:
        """Return a claim with its best evidence."""
        text = self._text[claim.start : claim.end]
        of_nobody = self._of_nobody and not self._text[: claim.start].strip()
        language = self._language
        read = ReadClaim(text, language, self._survey, of_nobody=of_nobody)
        if verbatim_source(read, self._read[0]) is None:
            language = language_of(text) or self._language or language_of(text, guess=True)
            if language != self._language:
                read = ReadClaim(text, language, self._survey, of_nobody=of_nobody)
        best, where = NO_SUPPORT, None
        for number, group in enumerate(self._evidence()):
            found = best_support(read, group)
            if number == 0 or found.score >= SUPPORTED:
                best, where = found, group
            if best.score >= SUPPORTED:
                break
        if where is None:
            return CheckedClaim(claim, "unsupported", 0.0)
        source = where.sources[best.source] if best.source >= 0 else None
        if source is not None and best.score == 1.0 and _is_whole(read, source, best):
            return CheckedClaim(claim, "supported", 1.0, _evidence(source, best))
        of = _language_of(source, where)
        is_foreign = language is not None and of is not None and of != language
        evidence: ClaimEvidence | None = None
        follows: Computed | None = None
        differences: tuple[ClaimDifference, ...] = ()
        if source is not None:
            evidence = _evidence(source, best)
            score = best.score / WITHOUT_FIGURE if best.lost else best.score
            follows = computed(read, best, where)
            differences = self._differences(claim, read, where, source, best, is_foreign=is_foreign)
            if follows:  # what follows by arithmetic is no wrong number
                differences = tuple(each for each in differences if each.kind not in OF_FIGURES)
            elif not any(each.kind in OF_FIGURES for each in differences):
                cell = wrong_cell(read, source.text, best.unit)
                if cell is not None:
                    evidence = _evidence(source, best._replace(unit=cell.unit))
                    differences = (*differences, _of_cell(claim, cell))
            if not differences and not is_foreign:
                code = wrong_code(read, source.text, best.unit)
                differences = (_in_answer(claim, code),) if code is not None else ()
        if differences:
            support = round(best.score * WITH_DIFFERENCE ** len(differences), 4)
            return CheckedClaim(claim, "differs", support, evidence, differences)
        formula = follows.formula if follows else ""
        if is_foreign and best.score < VERBATIM:
            if follows:  # its figures are not lost
                support = max(best.entities or 0.0, _UNDECIDED_SUPPORT)
                return CheckedClaim(claim, "other_language", round(support, 4), evidence, formula=formula)
            if best.entities is None:
                return CheckedClaim(claim, "other_language", _UNDECIDED_SUPPORT, evidence, note=UNDECIDED)
            return CheckedClaim(claim, "other_language", round(best.entities, 4), evidence)
        if follows:
            if follows.source >= 0:  # a row that the claim names: what it is about is no question
                score = max(score, SUPPORTED)
                row = where.sources[follows.source]
                evidence = _evidence(row, best._replace(unit=follows.unit))
            return CheckedClaim(claim, "derived", round(min(1.0, score), 4), evidence, formula=formula)
        return CheckedClaim(claim, status_by(best.score), round(best.score, 4), evidence)

    def _differences(
        self,
        claim: Claim,
        read: ReadClaim,
        where: Evidence,
        source: EvidenceSource,
        best: Support,
        *,
        is_foreign: bool,
    ) -> tuple[ClaimDifference, ...]:
        """Return how a claim and its best evidence differ, with places in the answer and in the passage.

        What is about something else cannot differ, and what another language says only by its figures.
        """
        score = best.score / WITHOUT_FIGURE if best.lost else best.score
        unit = source.text.units[best.unit]
        if (score < COMPARABLE and not is_foreign) or _is_whole(read, source, best):
            return ()  # it is about something else, or word for word the same
        found = differences_of(
            read.text,
            source.text.text,
            unit.start,
            unit.end,
            language=read.language,
            source_language=source.text.language,
            beside=self._beside,
            elsewhere=(each.text.text for each in where.sources if each is not source),
        )
        if len(best.elsewhere) > 1:  # what other passages say by several figures is about something else
            found = tuple(each for each in found if each.kind not in OF_FIGURES)
        if is_foreign:
            found = tuple(each for each in found if each.kind in OF_ANY_LANGUAGE)
        if unit.role == "row":  # another row is about another subject
            found = tuple(each for each in found if unit.start <= each.found_start <= unit.end)
        if is_foreign and read.figures and not any(each.kind in OF_FIGURES for each in found):
            others = (each.text for each in where.sources if each is not source)
            found += foreign_figures(read, source.text, best.unit, others)
        return tuple(_in_answer(claim, each) for each in found)

    def _evidence(self) -> Iterator[Evidence]:
        """Yield the groups of passages, read one after the other as they are asked for."""
        yield self._read[0]
        for number in count(1):
            if number == len(self._read):
                group = next(self._rest, None)
                if group is None:
                    return
                self._read.append(Evidence(group, given=self._given))
            yield self._read[number]


def _is_whole(read: ReadClaim, source: EvidenceSource, best: Support) -> bool:
    """Return whether a claim is word for word a whole sentence, item or row of its source."""
    text = source.text.text_of(best.unit)
    return read.text == text or read.text.split() == text.split()


def _of_cell(claim: Claim, cell: WrongCell) -> ClaimDifference:
    """Return a wrong cell as a difference."""
    return ClaimDifference(
        "number",
        cell.claimed.text,
        claim.start + cell.claimed.start,
        claim.start + cell.claimed.end,
        cell.found.text,
        cell.found.start,
        cell.found.end,
    )


def _in_answer(claim: Claim, difference: ClaimDifference) -> ClaimDifference:
    """Return a difference with its place in the answer instead of the claim."""
    return difference._replace(
        claimed_start=difference.claimed_start + claim.start,
        claimed_end=difference.claimed_end + claim.start,
    )


def _language_of(source: EvidenceSource | None, evidence: Evidence) -> str | None:
    """Return the language of the best passage, without one of the first that has any."""
    if source is not None:
        return source.text.language
    return next((each.text.language for each in evidence.sources if each.text.language), None)


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


def _note(split: Split, prompt: Sequence[EvidenceSource], of_figures: str) -> str:
    notes = [each for each in (split.note, of_figures) if each]
    notes += dict.fromkeys([source.text.note for source in prompt if source.text.note])
    return "; ".join(notes)


class Checker:
    """Check the answers of traces against the chunks of a corpus."""

    def __init__(
        self, texts: Mapping[str, str], survey: Survey, places: Places, *, cache_bytes: int = 250_000_000
    ) -> None:
        """`survey` is the corpus' word rarity; `places` are those of its chunks."""
        self.texts = texts
        self.survey = survey
        self.places = places
        self.sources = Sources(texts, places, cache_bytes=cache_bytes)
        self._by_page: dict[tuple[str | None, int], list[str]] | None = None

    def check(self, trace: Trace, profile: Profile, gold: GoldQuestion | None = None) -> CheckedAnswer:
        """Return the checked claims of a trace's answer; none for a refusal.

        What is not in the prompt counts only where the prompt does not support a claim: other retrieved
        candidates, the chunks of cited pages, and gold's chunks and quotes, in that order. The prompt is the
        one that the answer was made from. Nothing is checked where a trace neither lists nor cites anything:
        that it does not say what was retrieved is no fault of the answer.
        """
        answer = trace.answer
        lower = answer.lower()
        refusals = [phrase.lower() for phrase in profile.refusal]
        if not lower.strip() or refuses(lower, refusals):
            return CheckedAnswer()
        cited = payload_ids(trace) or trace.ids_in_text
        made_from = from_another_prompt(trace)
        prompt = trace.chunk_ids if made_from is None else made_from.chunks
        if (
            "chunks_missing" in trace.suspicions
            and not (prompt or cited)
            and not any(item for name in STAGES for item in listed(trace, name))
        ):
            return CheckedAnswer(note=NOT_LISTED)
        return check_answer(
            answer,
            list(map(self.sources.__getitem__, prompt)),
            self.survey,
            question=trace.q,
            blanked=claims_of(answer, lower, (prompt, cited)),
            further=self._further(trace, prompt, gold),
        )

    def _further(
        self, trace: Trace, prompt: Sequence[str], gold: GoldQuestion | None
    ) -> Iterator[Sequence[EvidenceSource]]:
        seen = set(prompt)
        groups: tuple[tuple[Origin, Callable[[], Iterable[str]]], ...] = (
            ("retrieved", lambda: (item[1] for name in STAGES for item in listed(trace, name))),
            ("cited_page", lambda: self._on_cited_pages(trace)),
            ("gold", lambda: gold.chunks if gold else ()),
        )
        for origin, ids_of in groups:
            ids = [each for each in dict.fromkeys(ids_of()) if each not in seen]
            seen.update(ids)
            if ids:
                yield [self.sources[each]._replace(origin=origin) for each in ids]
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
            for chunk_id, place in self.places.items():
                if place.page_idx is not None:
                    self._by_page.setdefault((place.doc_id, place.page_idx), []).append(chunk_id)
        for each in cited:
            if each.page_idx is not None:
                yield from self._by_page.get((each.doc_id, each.page_idx), ())
