"""Load what the Question page shows, each part by itself: if one is lost, the others are still shown."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import pandas as pd

from proofspan.contracts.records.records import Attachment, Chunk, GoldQuestion, SourceLine, TraceKey
from proofspan.errors import Fault, InputFault, Problem
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.evidence.types import IndexedSpan
from proofspan.fingerprints import file_state
from proofspan.services.documents.background import Done, Failed
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.claims import claim_targets
from proofspan.services.page.target import Target, choose, chunk_target, cite_id, targets_of
from proofspan.services.page.view import PageView, attachment_on, locate_view, pending_view
from proofspan.services.question.claims import judged_question
from proofspan.services.question.unread_lines import lines_naming
from proofspan.services.question.view import QuestionView, load_question, stored_question, stored_row
from proofspan.store.files.columns import issue_from
from proofspan.store.files.types import Neighbours
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.traces import read_trace_at
from proofspan.ui.status import background, documents, workspace_status
from proofspan.ui.viewer.claim_places import ShownClaims
from proofspan.ui.visit import session
from proofspan.ui.widgets.chunk_choice import named_chunks
from proofspan.ui.wording.claims import claim_lines
from proofspan.ui.wording.question import short_id
from proofspan.wording import Labels, no_labels

T = TypeVar("T")
#: How many questions are kept for all visits as they were loaded, and as many with their claims.
KEPT = 64


@dataclass(frozen=True, slots=True)
class Loaded:
    """A question, the chunks it was joined with, and the problems of what could not be read."""

    view: QuestionView
    chunks: Mapping[str, Chunk]
    problems: tuple[Problem, ...]


def question(opened: session.Opened, key: TraceKey, source: SourceLine, *, is_labelled: bool) -> Loaded:
    """Load the question at a place of the run's traces. Raises `Fault` if its record no longer exists.

    A question without a label in the index gets none here either; the problems of its chunks are then among
    the run's own. A run without traces shows the row of its report. What was loaded is kept for as long as
    no file changes: a click on the page shows the same question.
    """
    state = (*session.run_state(opened, key.run_id), key, source, is_labelled)
    return session.cached("question", state, lambda: _question(opened, key, source, is_labelled), most=KEPT)


def _question(opened: session.Opened, key: TraceKey, source: SourceLine, is_labelled: bool) -> Loaded:
    problems: list[Problem] = []
    has_traces, profile, unpaged = opened.run.has_traces, opened.profile, opened.manifest.unpaged
    of_chunks = problems if is_labelled and has_traces else []
    chunks: Mapping[str, Chunk] = attempted(lambda: session.chunks(opened)[0], {}, of_chunks)
    gold: Mapping[str, GoldQuestion] = attempted(lambda: session.gold(opened)[0], {}, problems)
    if not has_traces:
        row = stored_row(session.report(opened)[0], source, folder=opened.manifest.folder)
        stored = stored_question(
            row, run_id=key.run_id, chunks=chunks, gold=gold, profile=profile, unpaged=unpaged
        )
        return Loaded(stored, chunks, tuple(problems))
    trace = read_trace_at(documents.plain_traces(opened), source, run_id=key.run_id, q_id=key.q_id)
    with session.corpus_lender(opened)() if chunks and is_labelled else nullcontext() as corpus:
        # A lost catalogue is among the run's own problems.
        notices = attempted(lambda: documents.notices(opened, corpus), None, []) if corpus else None
        view = load_question(
            trace, chunks=chunks, gold=gold, corpus=corpus, profile=profile, unpaged=unpaged, notices=notices
        )
    return Loaded(view, chunks, tuple(problems))


def claims(
    opened: session.Opened, loaded: Loaded, *, follows: bool, labels: Labels = no_labels
) -> ShownClaims | None:
    """Return the claims of the answer with their evidence, and the verdict on it; None without a label.

    `follows` says whether any answer of the run follows the template, `labels` name a document's pages.
    """
    if loaded.view.row is None or loaded.view.stored is not None:
        return None
    # A question that was loaded again is another object: its claims are kept with it.
    named = frozenset(each.doc_id for each in targets_of(loaded.view) if labels(each.doc_id))
    key = (id(loaded), opened.manifest.unpaged, follows, named)
    made = session.cached(
        "claims", key, lambda: (loaded, _claims(opened, loaded, follows, labels)), most=KEPT
    )
    return made[1]


def _claims(opened: session.Opened, loaded: Loaded, follows: bool, labels: Labels) -> ShownClaims | None:
    with session.judge_lender(opened)() as (checker, trails):
        judged = judged_question(loaded.view, checker, follows=follows, trails=trails)
    if judged is None:
        return None
    checked = judged.checked
    held = (each.evidence.chunk_id for each in checked.claims if each.evidence and each.evidence.chunk_id)
    texts = {each: loaded.chunks[each].text for each in dict.fromkeys(held) if each in loaded.chunks}
    lines = claim_lines(checked, loaded.view, texts=texts, unpaged=opened.manifest.unpaged, labels=labels)
    return ShownClaims(checked, judged.verdict, lines, claim_targets(checked, loaded.chunks))


def bad_lines(opened: session.Opened, store: Store, key: TraceKey) -> list[Problem]:
    """Return the lines of the run's traces that name a question and could not be read."""
    records = store.line_issues(key.run_id).to_dict("records")
    issues = [issue_from({str(name): value for name, value in record.items()}) for record in records]
    problems = []
    for artifact in opened.run.trace_artifacts:
        try:
            path = artifact_source(opened.manifest, artifact, cache_dir=session.cache_dir().path)
        except Fault:
            continue
        of_file = (issue for issue in issues if issue.source.file == artifact.path)
        for issue in lines_naming(key.q_id, of_file, path):
            message = f"a line that names {short_id(key.q_id)} could not be read: {issue.message}"
            where = f"{issue.source.file}:{issue.source.line}"
            problems.append(Problem(issue.code, message, where, issue.fix))
    return problems


def attempted(load: Callable[[], T], otherwise: T, problems: list[Problem]) -> T:
    """Return what `load` gives; for a fault `otherwise`, with the fault's problems added to `problems`."""
    try:
        return load()
    except Fault as fault:
        problems.extend(fault.problems)
        return otherwise


def chosen_target(
    loaded: Loaded,
    targets: Sequence[Target],
    *,
    cite: int | None,
    chunk: str | None,
    evidence: Target | None = None,
) -> Target | None:
    """Return the passage that the URL names: a claim's `evidence`, or any chunk of the workspace."""
    if evidence is not None:
        return evidence
    is_listed = any(target.chunk_param == chunk for target in targets)
    if chunk is not None and not is_listed and chunk in loaded.chunks:
        return chunk_target(loaded.chunks[chunk])
    return choose(targets, cite=cite, chunk=chunk)


def chunk_named(chunks: Mapping[str, Chunk], name: str) -> tuple[str | None, Sequence[Chunk]]:
    """Return the id of the chunk that an address names by its id or alias, and the chunks to choose from.

    These are several of one alias, and then there is no id. A name that is neither is returned as it is.
    """
    named = [] if name in chunks else named_chunks(name, chunks)
    if len(named) > 1:
        return None, named
    return (named[0].chunk_id if named else name), ()


def placed(
    opened: session.Opened, chosen: Target, targets: Sequence[Target], *, page: int | None
) -> PageView:
    """Return the page of the chosen passage, or a pending one while it is being prepared."""
    manifest = opened.manifest
    key, make = _page_task(opened, documents.placer(), chosen, targets, page)
    outcome = background.ask(key, make)
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Failed):
        return replace(pending_view(chosen, manifest=manifest, page=page), problem=outcome.fault.problems[0])
    return pending_view(chosen, manifest=manifest, page=page, work=key)


def gold_apart(shown: PageView, targets: Sequence[Target]) -> tuple[Target, Target] | None:
    """Return the shown passage and the gold passage where they are on different pages, else None.

    With a gold passage shown, the first is a citation.
    """
    named = [each for each in targets if each.doc_id is not None]
    cited = gold = shown.target
    if shown.target.kind == "gold":
        cited = next((each for each in named if each.kind == "cited"), cited)
    else:
        gold = next((each for each in named if each.kind == "gold"), gold)

    def place(target: Target) -> tuple[str | None, int | None]:
        found = shown.found.get(target.id)
        page_idx = found.page_idx if found is not None else None
        return target.doc_id, target.query.cited_page_idx if page_idx is None else page_idx

    return (cited, gold) if place(cited) != place(gold) else None


def _page_task(
    opened: session.Opened, placer: Placer, chosen: Target, targets: Sequence[Target], page: int | None
) -> tuple[Hashable, Callable[[], PageView]]:
    """Return the background task of a page under a key of everything that it depends on."""
    manifest = opened.manifest
    document = manifest.document(chosen.doc_id) if chosen.doc_id is not None else None
    state = workspace_status.state_of(manifest, document.artifact) if document is not None else ""
    make = partial(locate_view, chosen, targets, manifest=manifest, placer=placer, page=page)
    return ("page", *session.identity(opened), state, chosen, tuple(targets), page), make


def chunk_view(opened: session.Opened, chunk_id: str, *, page: int | None) -> PageView:
    """Return the page of a chunk without a question. Raises `InputFault` if there is no such chunk."""
    chunk = session.chunks(opened)[0].get(chunk_id)
    if chunk is None:
        where = opened.manifest.chunks.path if opened.manifest.chunks else "chunks"
        fix = "open the question from Triage; the id may come from another build of the chunks"
        message = f"the workspace has no chunk {chunk_id}"
        raise InputFault.of("no_such_chunk", message, where=where, fix=fix)
    return placed(opened, chunk_target(chunk), (), page=page)


def seen(opened: session.Opened, shown: PageView, attachment_id: str | None) -> Attachment | None:
    """Return the attachment that the URL outlines, if it is on the shown page."""
    return attachment_on(shown, catalogue(opened), attachment_id) if attachment_id is not None else None


def catalogue(opened: session.Opened) -> CatalogueIndex:
    """Return the catalogue; a lost one is among the run's own problems."""
    return attempted(lambda: session.catalogue(opened), CatalogueIndex.of(()), [])


# Located citations from the index, for documents that are not open. Rows are those of `Store.placed`, one per
# citation; None if the run's citations are not located.


def indexed_citations(rows: pd.DataFrame | None, key: TraceKey) -> dict[str, IndexedSpan]:
    """Return status and page of a question's located citations, by the id of their passage."""
    if rows is None:
        return {}
    is_own = (rows["q_id"] == key.q_id) & (rows["repeat"] == key.repeat)
    is_own &= (rows["paraphrase"] == key.paraphrase) & (rows["seed"] == key.seed)
    found: dict[str, IndexedSpan] = {}
    for row in rows[is_own & (rows["status"] != "not_placed")].to_dict("records"):
        found[cite_id(row["number"])] = IndexedSpan(
            row["status"],
            None if pd.isna(row["page_idx"]) else int(row["page_idx"]),
            bool(pd.notna(row["page_mismatch"]) and row["page_mismatch"]),
            0.0 if pd.isna(row["agreement"]) else float(row["agreement"]),
            numbers_differ=bool(pd.notna(row["numbers_differ"]) and row["numbers_differ"]),
        )
    return found


def citing(rows: pd.DataFrame | None, chunk_id: str, *, run_id: str) -> dict[TraceKey, int]:
    """Return the run's traces that cite a chunk, in order, with the number of the first such citation."""
    if rows is None:
        return {}
    traces: dict[TraceKey, int] = {}
    for row in rows[rows["chunk_id"] == chunk_id].to_dict("records"):
        key = TraceKey(run_id, row["q_id"], int(row["paraphrase"]), int(row["seed"]), int(row["repeat"]))
        traces.setdefault(key, int(row["number"]))
    return traces


def prefetch(
    opened: session.Opened,
    store: Store,
    *,
    shown: PageView | None,
    targets: Sequence[Target],
    beside: Neighbours,
) -> None:
    """Prepare the pages of the next and the previous question, and the page after the shown one.

    Not while the shown page is pending: its document may hang, and would be requested once more.
    """
    if shown is not None and shown.is_pending:
        return
    if shown is not None and shown.image is not None:
        page_idx = shown.image.page.page_idx + 1
        if page_idx < (shown.page_count or 0):
            task = _page_task(opened, documents.placer(), shown.target, targets, page_idx)
            background.tasks().prefetch(*task)
    for neighbour in (beside.previous, beside.next):  # the newest is prepared first
        if neighbour is not None and opened.run.has_traces:
            _prefetch_question(opened, store, neighbour)


def _prefetch_question(opened: session.Opened, store: Store, key: TraceKey) -> None:
    path = attempted(lambda: documents.plain_traces(opened), None, [])
    task = ("ahead", *session.identity(opened), path and file_state(path), key)
    if path is None or background.tasks().has(task) or (row := store.find(key)) is None:
        return
    profile, unpaged = opened.profile, opened.manifest.unpaged
    placer, tasks = documents.placer(), background.tasks()
    chunks: Mapping[str, Chunk] = attempted(lambda: session.chunks(opened)[0], {}, [])
    gold: Mapping[str, GoldQuestion] = attempted(lambda: session.gold(opened)[0], {}, [])

    def draw() -> None:
        """Prepare the page that the question opens with, under the key that it will ask for."""
        trace = read_trace_at(path, row.source, run_id=key.run_id, q_id=key.q_id)
        view = load_question(trace, chunks=chunks, gold=gold, corpus=None, profile=profile, unpaged=unpaged)
        targets = targets_of(view)
        if (chosen := choose(targets)) is not None:
            tasks.prefetch(*_page_task(opened, placer, chosen, targets, None))

    tasks.prefetch(task, draw)
