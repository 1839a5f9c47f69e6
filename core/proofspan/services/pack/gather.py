"""One question of a pack: its record, claims and verdict, its pages, notices, and people's opinions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proofspan.contracts.records.records import Attachment, Chunk, SourceLine
from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import Fault, Problem
from proofspan.evidence.attachments import SAFETY_KINDS, Attached, CatalogueIndex, attached
from proofspan.journal.annotations import Annotation, Annotations, Target, answer_id
from proofspan.manifest.types import Manifest, Run
from proofspan.services.documents.document_cache import Placer
from proofspan.services.pack.crops import PagePart, crops_of
from proofspan.services.pack.redaction import Field, Redaction
from proofspan.services.page.claims import claim_targets
from proofspan.services.page.target import Target as Passage
from proofspan.services.page.target import targets_of
from proofspan.services.page.view import place_of
from proofspan.services.passes.checking import answer_checker
from proofspan.services.question.claims import AnswerChecker, Judged
from proofspan.services.question.view import QuestionView, load_question, stored_question, stored_row
from proofspan.store.index.labelling import Labeller, find_inputs, labeller_for, read_led_chunks
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.stored_reports import StoredRow, read_report
from proofspan.traces.records.traces import read_trace_at
from proofspan.traces.separate.join_cache import trace_file

#: Notices of a question that are shown.
MOST_NOTICES = 12


@dataclass(frozen=True, slots=True)
class Materials:
    """The inputs of a run's questions. `traces` is its file; if None, `rows` are those of its report."""

    manifest: Manifest
    run: Run
    placer: Placer
    redaction: Redaction
    profile: Profile
    labeller: Labeller
    checker: AnswerChecker
    chunks: Mapping[str, Chunk]
    catalogue: CatalogueIndex
    annotations: Annotations
    traces: Path | None
    rows: tuple[StoredRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Opinion:
    """A person's verdict or note. `is_of_another`: it is about an earlier text of the answer."""

    annotation: Annotation
    is_of_another: bool


@dataclass(frozen=True, slots=True)
class Packed:
    """A question of a pack. `row` has the columns of its list, those of the compared run as `was_…`.

    `view` and `judged` are None where its record is lost, which `problem` says. `more_pages` counts pages
    beyond the limit. `is_withheld`: it rests on a redacted document, so more is left out of it.
    """

    row: Mapping[str, Any]
    redaction: Redaction
    view: QuestionView | None = None
    judged: Judged | None = None
    crops: tuple[PagePart, ...] = ()
    more_pages: int = 0
    notices: tuple[Attached, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    problem: Problem | None = None
    flip: str = ""
    is_withheld: bool = False

    @property
    def problems(self) -> Iterator[Problem]:
        """Yield what is missing of it."""
        if self.problem is not None:
            yield self.problem
        yield from (crop.problem for crop in self.crops if crop.problem is not None)


def load_materials(
    manifest: Manifest,
    run: Run,
    *,
    placer: Placer,
    redaction: Redaction,
    annotations: Annotations,
    follows: bool,
    cache_dir: Path,
) -> Materials:
    """Load what the questions of an indexed run are made from.

    `follows` is whether any of its answers follows the template. Raises Fault where the run's own file cannot
    be read; what is missing besides leaves its part out, as the index says.
    """
    profile = profile_from(manifest.triage)
    inputs = find_inputs(manifest, profile, None, cache_dir=cache_dir)
    labeller = labeller_for(inputs)[0]
    chunks: Mapping[str, Chunk] = {}
    catalogue: Mapping[str, Attachment] = {}
    if manifest.chunks is not None and labeller.corpus is not None:
        chunks = read_led_chunks(manifest, manifest.chunks, cache_dir=cache_dir)[0]
    if inputs.catalogue.path is not None:
        catalogue = read_catalogue(inputs.catalogue.path, file=inputs.catalogue.file)[0]
    traces, rows = None, list[StoredRow]()
    if run.has_traces:
        traces = trace_file(manifest, run, cache_dir=cache_dir).needed_path
    elif run.report is not None:
        source = artifact_source(manifest, run.report, cache_dir=cache_dir)
        rows = read_report(source, file=run.report.path)[0]
    return Materials(
        manifest,
        run,
        placer,
        redaction,
        profile,
        labeller,
        answer_checker(inputs, follows=follows, labeller=labeller),
        chunks,
        CatalogueIndex.of(catalogue.values()),
        annotations,
        traces,
        tuple(rows),
    )


def with_all_texts(rows: Iterable[Mapping[str, Any]], materials: Materials) -> Materials:
    """Return the materials with the redacted texts of all questions: a text may come again in another one."""
    texts = materials.redaction.texts
    for row in rows:
        with suppress(Fault):  # `gather` states it
            view = _view(row, materials)
            texts |= _redaction(view, _judged(view, materials), materials).texts
    return replace(materials, redaction=replace(materials.redaction, texts=texts))


def gather(row: Mapping[str, Any], materials: Materials, *, flip: str = "") -> Packed:
    """Return the question of a list's row; what is lost of it is stated, nothing is raised."""
    try:
        view = _view(row, materials)
    except Fault as fault:
        return Packed(row, materials.redaction, problem=fault.problems[0], flip=flip)
    judged = _judged(view, materials)
    redaction = _redaction(view, judged, materials)
    passages = [each for each in targets_of(view) if each.doc_id not in redaction.documents]
    if redaction.hides("expected"):
        passages = [each for each in passages if each.kind != "gold"]
    is_withheld = redaction.fields != materials.redaction.fields
    if is_withheld:  # without its evidence another page would say nothing
        passages = [each for each in passages if each.kind == "cited"]
    evidence: dict[int, Passage] = {}
    if judged is not None and not redaction.hides("claims"):
        found = claim_targets(judged.checked, materials.chunks)
        evidence = {number: each for number, each in found.items() if each.doc_id not in redaction.documents}
    crops, more = crops_of(
        passages,
        evidence,
        judged.checked if judged is not None else None,
        manifest=materials.manifest,
        placer=materials.placer,
        redaction=redaction,
        catalogue=materials.catalogue,
    )
    return Packed(
        row,
        redaction,
        view,
        judged,
        crops,
        more,
        () if redaction.hides("notices") else tuple(_notices(crops, materials)),
        tuple(_opinions(view, materials)),
        flip=flip,
        is_withheld=is_withheld,
    )


def _view(row: Mapping[str, Any], materials: Materials) -> QuestionView:
    manifest, labeller, run_id = materials.manifest, materials.labeller, materials.run.run_id
    source = SourceLine(str(row["file"]), int(row["line"]), int(row["offset"]), int(row["length"]))
    gold, unpaged = labeller.questions, manifest.unpaged
    if materials.traces is None:
        stored = stored_row(materials.rows, source, folder=manifest.folder)
        return stored_question(
            stored,
            run_id=run_id,
            chunks=materials.chunks,
            gold=gold,
            profile=materials.profile,
            unpaged=unpaged,
        )
    return load_question(
        read_trace_at(materials.traces, source, run_id=run_id, q_id=str(row["q_id"])),
        chunks=materials.chunks,
        gold=gold,
        corpus=labeller.corpus,
        profile=materials.profile,
        unpaged=unpaged,
        notices=labeller.notices,
    )


def _judged(view: QuestionView, materials: Materials) -> Judged | None:
    return materials.checker.judged(view.trace, view.row, view.omissions or ())


def _redaction(view: QuestionView, judged: Judged | None, materials: Materials) -> Redaction:
    """Return what is left out of a question, with the texts that are blacked out in what stays."""
    redaction, trace, gold = materials.redaction, view.trace, view.gold
    if not redaction.is_any:
        return redaction
    checked = judged.checked.claims if judged is not None else ()
    spans = gold.spans if gold is not None else ()
    quoted = [(each.citation.doc_id, each.citation.quote or "") for each in view.citations]
    quoted += [(each.doc_id, each.quote) for each in spans]
    quoted += [(each.evidence.doc_id, each.evidence.text) for each in checked if each.evidence is not None]
    of_gold = [
        chunk.doc_id for each in (gold.chunks if gold else ()) if (chunk := materials.chunks.get(each))
    ]
    omissions = view.omissions or ()
    claims = [*trace.answer.splitlines(), *(each.claim.text for each in checked)]
    expected = (gold.answer or "", gold.anchor or "") if gold is not None else ()
    texts: dict[Field, Iterable[str]] = {
        "question": (trace.q, gold.q if gold is not None else ""),
        "answer": (trace.answer, *claims),
        "claims": claims,
        "expected": (*expected, *(each.quote for each in spans)),
        "quotes": [quote for _, quote in quoted],
        "notices": [each.text for each in omissions],
    }
    return redaction.of_question(
        rests_on=(*(doc_id for doc_id, _ in quoted), *of_gold, *(each.doc_id for each in omissions)),
        texts=texts,
        also=[quote for doc_id, quote in quoted if doc_id in redaction.documents],
    )


def _notices(crops: Iterable[PagePart], materials: Materials) -> Iterable[Attached]:
    """Return the notices of the shown places, those that belong to them before those beside them."""
    found: dict[str, Attached] = {}
    for crop in crops:
        for each in attached(place_of(crop.page), materials.catalogue):
            if each.attachment.kind in SAFETY_KINDS:
                found.setdefault(each.attachment.attachment_id, each)
    return sorted(found.values(), key=lambda each: (each.is_beside, each.gravity))[:MOST_NOTICES]


def _opinions(view: QuestionView, materials: Materials) -> Iterable[Opinion]:
    trace, annotations = view.trace, materials.annotations
    target = Target(materials.run.run_id, trace.q_id, trace.paraphrase, trace.seed)
    verdicts = annotations.verdicts.get(target, {})
    given = [*verdicts.values(), *annotations.notes.get(target, ())]
    own = answer_id(trace.answer)
    return [
        Opinion(each, each.answer not in (None, own)) for each in sorted(given, key=lambda each: each.order)
    ]
