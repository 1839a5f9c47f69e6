"""The evaluation recipe, step by step: what of it this run has done, and what is missing.

Source: the evaluation recipe of the traceability contract (docs/requirements.md). Gold questions for
every section; paraphrases and seeds; then citation match and coverage; where match falls short the findings
first, and only then the knobs of retrieval and reranking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from proofspan.contracts.records.names import SectionKey, section_key
from proofspan.contracts.records.records import GoldQuestion
from proofspan.diagnosis.topic import section_of
from proofspan.metrics.goals import DEFAULT_GOALS, Goal, Verdict, judge
from proofspan.metrics.ranked import BUCKET_LEVERS, Bucket
from proofspan.metrics.values import MetricValue, value_in_words
from proofspan.services.metrics.run_metrics import RunMetrics
from proofspan.services.question.variants import Stability
from proofspan.store.files.located import EVIDENCE_NAMES, EvidenceState
from proofspan.store.query.filters import Filter
from proofspan.store.query.metric_sql import PARAPHRASES, SEEDS
from proofspan.store.query.store import Store
from proofspan.traces.records.chunks import Places

#: Gold questions a section: fewer say little about it, more cost without telling more.
LEAST, MOST = 3, 5
#: What the intended section has to be covered, where no goal says something else.
COVERAGE = 0.70
#: So many sections or findings are named; of more, the rest is counted.
NAMED = 6

#: Suspicions that speak against what is cited, in the order in which they are looked at.
CITATION_SUSPICIONS: Mapping[str, str] = {
    "citation_outside_retrieved": "cite an id that was never retrieved",
    "unresolved_chunk_id": "name an id without a chunk",
    "citation_page_zero": "cite a page below 1",
    "citations_disagree": "cite differently in text and payload",
    "citations_empty": "have a citation line that names no id",
    "chunk_without_id": "list a chunk without an id",
}
#: What of cited text on its page speaks against a citation.
_WRONG_ON_PAGE: tuple[EvidenceState, ...] = ("not_found", "page_mismatch", "numbers_differ", "not_placed")

Done = Literal["done", "missing", "waiting"]


@dataclass(frozen=True, slots=True)
class Way:
    """Something to look at: in a few words, and the filter that shows its questions."""

    words: str
    shows: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `done` says whether it is done, misses something, or waits for the step before."""

    title: str
    done: Done
    said: str
    ways: tuple[Way, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """What there is to look at in a run, as numbers of questions.

    `placed` is None while the citations are not located.
    """

    suspicions: Mapping[str, int] = field(default_factory=dict)
    placed: Mapping[EvidenceState, int] | None = None
    buckets: Mapping[Bucket | None, int] = field(default_factory=dict)


def run_recipe(
    store: Store,
    metrics: RunMetrics,
    stability: Stability,
    *,
    gold: Mapping[str, GoldQuestion],
    places: Places,
    corpus: Iterable[str],
) -> tuple[Step, ...]:
    """The five steps for a run, in their order. `places` and `corpus` are what `gold_step` takes."""
    shown = Filter(metrics.run_id)
    placed = store.run_facts(metrics.run_id).placed
    findings = Findings(
        suspicions=dict(store.options(metrics.run_id)["suspicion"]),
        placed=store.evidence_counts(shown) if placed else None,
        buckets=store.bucket_counts(shown),
    )
    value = metrics.values["citation_match"]
    match = metrics.verdicts.get("citation_match") or judge(DEFAULT_GOALS["citation_match"], value)
    looked = findings_step(findings, match)
    return (
        gold_step(gold, places, corpus),
        variants_step(stability),
        measured_step(metrics.values, metrics.goals, metrics.verdicts),
        looked,
        knobs_step(findings, match, looked),
    )


def gold_step(gold: Mapping[str, GoldQuestion], places: Places, corpus: Iterable[str]) -> Step:
    """Three to five gold questions for every section.

    `places` says where chunks lie that gold questions name, `corpus` which sections have chunks.
    """
    title = f"Gold questions: {LEAST} to {MOST} a section"
    if not gold:
        return Step(title, "missing", "The workspace names no gold questions.")
    names, asked = _sections_asked(gold.values(), places)
    if not asked:
        return Step(title, "missing", f"None of the {len(gold):,} gold questions names a section or a chunk.")
    few = {key: count for key, count in asked.items() if count < LEAST}
    many = {key: count for key, count in asked.items() if count > MOST}
    enough = len(asked) - len(few) - len(many)
    told = [
        f"{_of(enough, len(asked), 'section')} that are asked about have {LEAST} to {MOST}",
        *_listed("fewer", few, names),
        *_listed("more", many, names),
        *_unasked(asked, corpus),
        *_by_chapter(asked),
    ]
    return Step(title, "missing" if few else "done", _sentence("; ".join(told)))


def variants_step(asked: Stability) -> Step:
    """Three paraphrases by two seeds of every question."""
    title = f"Ask each question in {PARAPHRASES} paraphrases with {SEEDS} seeds"
    several = len(asked.questions)
    questions = several + asked.once
    if not questions:
        return Step(title, "missing", "The run holds no question.")
    if not several:
        return Step(title, "missing", f"Each of the {questions:,} questions was asked once.")
    told = f"{_of(asked.enough, questions, 'question')} were asked so often"
    once = f", {asked.once:,} only once" if asked.once else ""
    return Step(title, "done" if asked.enough == questions else "missing", _sentence(told + once))


def measured_step(
    values: Mapping[str, MetricValue], goals: Mapping[str, Goal], verdicts: Mapping[str, Verdict]
) -> Step:
    """Citation match and the coverage of the intended section, held against what they are to reach."""
    title = "Check citation match and coverage"
    names = ("citation_match", "section_coverage", "anchor_coverage")
    measured = [name for name in names if name in values and values[name].value is not None]
    if "citation_match" not in measured:
        return Step(title, "missing", "Nothing to count: no answer with gold cites anything.")
    told = [
        f"{values[name].metric.name} {value_in_words(values[name])}{_held(values[name], goals, verdicts)}"
        for name in measured
    ]
    return Step(title, "done", f"{'; '.join(told)}.", (Way("answers that miss", {"miss": "citation_match"}),))


def findings_step(findings: Findings, match: Verdict) -> Step:
    """Where citations match too rarely: what is wrong with them, before anything is tuned."""
    title = "If citations match too rarely, look at the findings first"
    if match.status != "fail":
        return _unneeded(title, match)
    ways = (*_suspicion_ways(findings.suspicions), *_placed_ways(findings.placed or {}))
    told = "" if findings.placed is not None else " Citations are not located yet, so more may come."
    if not ways:
        return Step(title, "waiting" if told else "done", f"No finding speaks against a citation.{told}")
    kinds = f"{len(ways)} kinds of findings speak" if len(ways) > 1 else "One kind of finding speaks"
    return Step(title, "missing", f"{kinds} against citations; mend these first.{told}", ways)


def knobs_step(findings: Findings, match: Verdict, before: Step) -> Step:
    """Retrieval and reranking, by the buckets in which ranking failed, after the step of the findings."""
    title = "Only then tune retrieval and reranking"
    if match.status != "fail":
        return _unneeded(title, match)
    failed = {bucket: findings.buckets.get(bucket, 0) for bucket in BUCKET_LEVERS}
    ways = tuple(
        Way(f"{count:,} {bucket}: {BUCKET_LEVERS[bucket]}", {"bucket": (bucket,)})
        for bucket, count in failed.items()
        if count
    )
    if before.done != "done":
        return Step(title, "waiting", "After the findings above.", ways)
    if not ways:
        return Step(title, "done", "Ranking puts every gold section first: look at how answers cite.")
    return Step(title, "missing", "The gold section is not first where these questions are asked.", ways)


def _unneeded(title: str, match: Verdict) -> Step:
    if match.status == "unknown":
        return Step(title, "waiting", "Not known before citation match is.")
    return Step(title, "done", "Not needed: citations match often enough.")


def _held(value: MetricValue, goals: Mapping[str, Goal], verdicts: Mapping[str, Verdict]) -> str:
    """`, passes at least 0.95`; nothing where there is no goal."""
    name = value.metric.metric_id
    if name in goals and name in verdicts:
        words = {"pass": "reaches", "warn": "nearly reaches", "fail": "misses"}.get(verdicts[name].status)
        return f", {words} its goal ({goals[name].passes.in_words()})" if words else ""
    if name != "section_coverage" or value.value is None:
        return ""
    return f", {'reaches' if value.value >= COVERAGE else 'misses'} its target (at least {COVERAGE:.2f})"


def _suspicion_ways(counts: Mapping[str, int]) -> Iterable[Way]:
    for code, words in CITATION_SUSPICIONS.items():
        if counts.get(code):
            yield Way(f"{counts[code]:,} {words}", {"suspicion": (code,)})


def _placed_ways(counts: Mapping[EvidenceState, int]) -> Iterable[Way]:
    for state in _WRONG_ON_PAGE:
        if counts.get(state):
            yield Way(f"{counts[state]:,} {EVIDENCE_NAMES[state]}", {"evidence": (state,)})


def _sections_asked(
    gold: Iterable[GoldQuestion], places: Places
) -> tuple[dict[SectionKey, str], Counter[SectionKey]]:
    """How many questions ask about each section, and how each is written first."""
    names: dict[SectionKey, str] = {}
    asked: Counter[SectionKey] = Counter()
    for question in gold:
        sections = question.sections or [
            section_of(places[chunk]) for chunk in question.chunks if chunk in places
        ]
        keys = {section_key(section): section.strip() for section in sections if section_key(section)}
        names = {**keys, **names}
        asked.update(keys.keys())
    return names, asked


def _unasked(asked: Mapping[SectionKey, int], corpus: Iterable[str]) -> Iterable[str]:
    known = set(map(section_key, corpus)) - {()}
    without = len(known - asked.keys())
    if without:
        yield f"{without:,} of the {len(known):,} sections with chunks have none"


def _by_chapter(asked: Mapping[SectionKey, int]) -> Iterable[str]:
    """Where sections are small, what their chapters have says more."""
    chapters: Counter[str] = Counter()
    for key, count in asked.items():
        chapters[key[0]] += count
    if 1 < len(chapters) < len(asked):
        enough = sum(count >= LEAST for count in chapters.values())
        yield f"of the {len(chapters):,} chapters {enough:,} have {LEAST} or more"


def _listed(what: str, counts: Mapping[SectionKey, int], names: Mapping[SectionKey, str]) -> Iterable[str]:
    if not counts:
        return
    ordered: Sequence[SectionKey] = sorted(counts, key=lambda key: (counts[key], key))
    named = ", ".join(f"{names[key]} ({counts[key]:,})" for key in ordered[:NAMED])
    more = f" and {len(ordered) - NAMED:,} more" if len(ordered) > NAMED else ""
    yield f"{what}: {named}{more}"


def _of(part: int, whole: int, noun: str) -> str:
    """`none of the 33 sections`, `all 41 questions`, `3 of the 33 sections`."""
    nouns = f"{whole:,} {noun}{'' if whole == 1 else 's'}"
    return f"all {nouns}" if part == whole else f"{f'{part:,}' if part else 'none'} of the {nouns}"


def _sentence(told: str) -> str:
    return f"{told[:1].upper()}{told[1:]}."
