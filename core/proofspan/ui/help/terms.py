"""Meanings for the glossary that no other registry has: terms, differences, release verdicts, families."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.diagnosis.claims.types import DifferenceKind
from proofspan.services.release import State

#: Heading → term → meaning, in Markdown with links inside docs/.
TERMS: Mapping[str, Mapping[str, str]] = {
    "Data": {
        "workspace": "a folder with a manifest",
        "manifest": "`pipeline_manifest.yaml`, which names every file of a workspace",
        "artifact": "a file that the manifest names",
        "document": "a PDF, text, Markdown or HTML file that answers are checked against",
        "chunk": "a piece of a document as the pipeline indexed it",
        "section": "a numbered part of a document, such as 5.4.2",
        "gold question": "a question with its right answer and where it is: in sections, in chunks, or on "
        "pages",
        "run": "one pass of a pipeline over a set of questions",
        "derived run": "a run computed from a logged one, its *parent*, such as a saved rerank; nobody asked "
        "again",
        "trace": "one question of a run: retrieved chunks, answer, citations",
        "variant": "another wording (paraphrase) or seed of the same question",
        "stage": "one ranked list of a trace: retrieved, fused, reranked",
        "candidate": "a chunk in a stage, with rank and score",
        "segment": "a part of an answer that cites for itself",
        "line issue": "a line of a file that holds no record",
        "page_idx": "a page, counted from 0; the *printed label* is what is printed on it",
        "revision": "a state of a document, named by a hash",
        "redirect": "an old chunk id and the ids that replaced it",
    },
    "Evidence": {
        "citation": "what an answer names as its evidence; its record is the *citation payload*",
        "quote": "the text that a citation claims is in the document",
        "span": "a place in a document: page and boxes, or characters and lines",
        "locate": "to find the span of a quote",
        "located citation": "a citation with its span, status and agreement",
        "status": "how well a quote agrees with its page: exact, normalized, fuzzy, partial, not found",
        "agreement": "the share of a quote's words that are on the page, 0 to 1",
        "difference": "words of a quote that read differently on the page",
        "claim": "a piece of an answer that asserts something: a sentence, list item, table row or clause",
        "support": "how well the evidence says the same as a claim, 0 to 1",
        "contradiction": "a claim that differs from its evidence, in a number or a date for instance",
        "bundle": "everything needed to show one answer, in one record",
        "attachment": "a warning, picture or table that belongs to cited text",
        "render": "to draw a page or a region of it",
    },
    "Judgement": {
        "label": "one of five verdicts on an answer, by fixed rules",
        "signal": "a measured property of an answer, such as unsupported numbers",
        "suspicion": "a signal that a person should look at, in the column Issues",
        "coverage": "the share of the answer's content words that are in the evidence; rare words count more",
        "bucket": "a question's ranking: hit, ranking miss, recall miss",
        "metric, goal": "a number over a run, and the threshold it should reach",
        "base": "what a metric counts: how many of what, and what is left out for which reason",
        "paired difference": "the difference between two runs in a metric, question by question, over the "
        "questions that count in both",
        "release check": "goals, flips, claims and rules that decide whether a run is ready for release, not "
        "ready, or lacks evidence; the command is `gate`",
        "pinning record": "what a run was made with: models, libraries, commands, fusion, machine, hashes of "
        "two runs",
        "determinism": "two runs of the same commands give the same output",
        "lift": "by how many questions more a run puts the gold section first than its baseline",
        "stop rule": "two runs in a row of one class without lift: another class of change is due",
        "flip": "a question that changed its label or outcome between two runs",
        "cohort": "a named list of questions",
        "sprint record": "goals, work packages, decisions, risks and log of a sprint, in a file that people "
        "only add to",
        "entry": "a line of the sprint record: who set what, when",
        "checkpoint, check-in": "a day's summary in nine points; a report on a work package in seven",
        "contract": "the citation contract: fields and rules that make an answer auditable",
        "rule, code": "one rule of the contract, and its stable name",
        "finding": "a rule that a record breaks, with file, line and fix",
        "problem": "anything wrong with the input: code, message, where, fix, severity",
        "fix": "what to do about a problem",
        "cause": "the first point of failure of a question; see [verdicts](verdicts.md#causes)",
        "grounded": "an answer against its evidence: supported, partly, not, contradicted",
        "correct": "an answer against the expected one",
        "what-if": "a run with other settings, computed from its logged lists; see the "
        "[guide](guide.md#what-if)",
        "reproduced": "a question whose logged order comes out again with the run's own settings",
        "harm": "the place of an answer in a list with the most harmful first",
        "λ": "the pipeline's own judgement of whether retrieval settled: convergent is good, chaotic is bad",
        "ΔS": "the pipeline's own distance between the question and what was retrieved: 0 is close, 1 is far",
    },
    "Program": {
        "fingerprint": "size, time and identity of a file, by which a change is noticed",
        "cache": "computed data that can be deleted without loss",
        "index": "the cache of a run: one row for each trace",
        "background task": "work that goes on while a page is shown",
        "worker process": "a process that reads PDFs with limits on time and memory",
        "component": "a part of a page with JavaScript of its own",
        "golden": "an expected text or number in a file, compared by a test",
    },
}
#: The meaning of each kind of difference between a claim and its evidence.
DIFFERENCE_MEANINGS: Mapping[DifferenceKind, str] = {
    "number": "The evidence has another number.",
    "unit": "The evidence has the same number with another unit.",
    "scale": "The number is off by a factor, such as thousands for millions.",
    "date": "The evidence has another date or period.",
    "negation": "One of the two negates what the other says.",
    "direction": "One says more, up or before where the other says less, down or after.",
    "name": "The evidence names another thing, person or place.",
    "qualifier": "The evidence holds under a condition that the answer leaves out.",
    "quantifier": "The evidence speaks of another quantity, such as some instead of all.",
    "modality": "One says must where the other says may or should.",
}
#: The meaning of each release verdict.
RELEASE_MEANINGS: Mapping[State, str] = {
    "ready": "Every check of the run passes.",
    "not_ready": "At least one check fails.",
    "not_enough_evidence": "No check fails, and at least one lacks the evidence to be decided.",
}
#: The meaning of each family of rules, by the beginning of its codes; the field's name ends them.
FAMILY_MEANINGS: Mapping[str, str] = {
    "missing_": "The record lacks a field that the contract requires.",
    "empty_": "A field of the record is empty, as an adapter's default is.",
    "wrong_type_": "A field of the record does not have the type that its schema requires.",
    "bad_": "A field of the record has a value that its schema does not allow.",
}
