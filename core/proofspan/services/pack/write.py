"""Write an evidence pack: choose the questions of a run, the worst first, and write them as one HTML file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, BinaryIO

from proofspan.errors import Fault, Problem
from proofspan.journal.annotations import read_annotations
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.services.compare import other_run
from proofspan.services.documents.document_cache import Placer
from proofspan.services.gate import release_verdict
from proofspan.services.metrics.report import metrics_report
from proofspan.services.pack.frame_html import Summary, end_html, head_html
from proofspan.services.pack.gather import gather, load_materials, with_all_texts
from proofspan.services.pack.ink import Ink
from proofspan.services.pack.pictures import Pictures
from proofspan.services.pack.question_html import question_html
from proofspan.services.pack.redaction import Redaction
from proofspan.services.rows import plain
from proofspan.services.workspace.open import chosen_run
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.wording import Labels

#: Questions of a pack unless another number is asked for: some 100 kB each.
MOST_QUESTIONS = 200
#: Called with the question's id, how many are done, and how many there are.
OnQuestion = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """The questions written of a run's `whole`, and the problems of what is missing, each once."""

    questions: int
    whole: int
    problems: tuple[Problem, ...]


def needed_runs(manifest: Manifest, run_id: str, against: str | None) -> list[str]:
    """Return the runs whose index and checked claims a pack needs."""
    other = against or other_run(manifest, run_id)
    return list(dict.fromkeys(filter(None, (run_id, other))))


def write_pack(
    sink: BinaryIO,
    store: Store,
    manifest: Manifest,
    run_id: str,
    *,
    placer: Placer,
    against: str | None = None,
    redaction: Redaction | None = None,
    limit: int = MOST_QUESTIONS,
    on_question: OnQuestion = lambda q_id, done, total: None,
) -> Report:
    """Write the pack of an indexed run with checked claims; `against` is another such run.

    At most `limit` questions are written, the most harmful first, one at a time. The same files and options
    give the same bytes. Raises Fault where the run itself cannot be read; what is missing besides is stated
    in its place.
    """
    run, redaction = chosen_run(manifest, run_id), redaction or Redaction()
    shown = Filter(run_id, vs=against or "")
    frame = store.page(shown, Sort(), limit=limit, offset=0)
    rows = [
        {str(name): plain(value) for name, value in record.items()} for record in frame.to_dict("records")
    ]
    whole, flips = store.total(run_id), _flips(store, manifest, shown)
    verdict = release_verdict(store, manifest, run_id, against=against)
    materials = load_materials(
        manifest,
        run,
        placer=placer,
        redaction=redaction,
        annotations=read_annotations(manifest),
        follows=store.run_facts(run_id).suggestion is None,
        cache_dir=store.cache_dir,
    )
    if redaction.is_any:
        materials = with_all_texts(rows, materials)
        redaction = materials.redaction
    pictures, ink = Pictures(), Ink(redaction, _labels(manifest, placer), manifest.unpaged)
    names = list(_names([str(row["q_id"]) for row in rows], ink))
    summary = Summary(
        manifest,
        run,
        against,
        whole,
        rows,
        flips,
        metrics_report(store, manifest, run_id, vs=against),
        verdict,
        redaction,
        bool(materials.annotations.entries),
    )
    sink.write(head_html(summary, ink).encode())
    problems: dict[Problem, None] = {}
    for number, (row, name) in enumerate(zip(rows, names, strict=True)):
        on_question(str(row["q_id"]), number, len(rows))
        packed = gather(row, materials, flip=flips.get(str(row["q_id"]), ""))
        problems |= dict.fromkeys(packed.problems)
        own = replace(ink, redaction=packed.redaction)
        sink.write(question_html(packed, own, name=name, against=against, pictures=pictures).encode())
    sink.write(end_html().encode())
    on_question("", len(rows), len(rows))
    return Report(len(rows), whole, tuple(problems))


def outcome_of(manifest: Manifest) -> str:
    """Return the outcome by which a question is fixed or regressed."""
    return "correct_answers" if manifest.gold is not None else "grounded_answers"


def _flips(store: Store, manifest: Manifest, shown: Filter) -> Mapping[str, str]:
    """Return which questions flipped compared with another run, by id."""
    if not shown.vs:
        return {}
    by = Filter(shown.run, vs=shown.vs, outcome=outcome_of(manifest))
    count = store.flips(by)
    kinds: dict[Any, int] = {"fixed": count.fixed, "regressed": count.regressed}
    return {
        str(q_id): kind
        for kind, number in kinds.items()
        if number
        for q_id in store.flip_rows(by, kind, number, 0)["q_id"]
    }


def _labels(manifest: Manifest, placer: Placer) -> Labels:
    """Return the printed page numbers of documents; none of one that cannot be opened."""

    @cache
    def labels(doc_id: str | None) -> Sequence[str]:
        document = manifest.paged_document(doc_id)
        if document is None:
            return ()
        try:
            return placer.document(artifact_path(manifest, document.artifact)).labels
        except Fault:  # its page says so
            return ()

    return labels


def _names(q_ids: list[str], ink: Ink) -> Iterator[str]:
    """Yield a name for each question; two that would have one name get a number."""
    taken: set[str] = set()
    for q_id in q_ids:
        name, number = ink.name(q_id), 1
        while name in taken:
            number += 1
            name = f"{ink.name(q_id)}~{number}"
        taken.add(name)
        yield name
