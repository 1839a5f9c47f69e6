"""What the Question page loads, each part on its own: one that is lost leaves the others standing."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from proofspan.contracts.records.records import (
    Attachment,
    Chunk,
    GoldQuestion,
    LineIssue,
    SourceLine,
    Trace,
    TraceKey,
)
from proofspan.errors import Fault, InputFault, Problem
from proofspan.evidence.attachments import CatalogueIndex, attached
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact
from proofspan.services.bundles.build import Sources, bundles_of
from proofspan.services.documents.background import Done, Failed
from proofspan.services.documents.document_set import Shelf
from proofspan.services.page.target import Target, choose, chunk_target
from proofspan.services.page.view import PageView, attachment_on, locate_view, pending_view, place_of
from proofspan.services.question.unread_lines import lines_naming
from proofspan.services.question.view import QuestionView, load_question, stored_question
from proofspan.store.files.columns import issue_from
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.stored_reports import StoredRow
from proofspan.traces.records.traces import read_trace_at
from proofspan.ui.question.attachments import Belonging, Judged, Outcome, level_name
from proofspan.ui.status import background, documents, workspace_status
from proofspan.ui.visit import session
from proofspan.ui.wording.question import short_id

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A question, the chunks it was joined with, and what could not be read."""

    view: QuestionView
    chunks: Mapping[str, Chunk]
    problems: tuple[Problem, ...]


def question(opened: session.Opened, key: TraceKey, source: SourceLine, *, is_labelled: bool) -> Loaded:
    """The question at a place of the run's traces. Raises `Fault` where the record itself is not there.

    A question that the index could not label gets no label here either; what is wrong with its chunks is
    among the run's own problems, so it is not noted again. A run without traces shows its report's row.
    """
    problems: list[Problem] = []
    is_news = is_labelled and opened.run.has_traces
    chunks: Mapping[str, Chunk] = attempted(
        lambda: session.chunks(opened)[0], {}, problems if is_news else []
    )
    gold: Mapping[str, GoldQuestion] = attempted(lambda: session.gold(opened)[0], {}, problems)
    profile, unpaged = opened.profile, opened.manifest.unpaged
    if not opened.run.has_traces:
        row = stored_row(session.report(opened)[0], source, folder=opened.manifest.folder)
        stored = stored_question(
            row, run_id=key.run_id, chunks=chunks, gold=gold, profile=profile, unpaged=unpaged
        )
        return Loaded(stored, chunks, tuple(problems))
    trace = read_trace_at(documents.plain_traces(opened), source, run_id=key.run_id, q_id=key.q_id)
    with session.corpus(opened) if chunks and is_labelled else nullcontext() as corpus:
        # A catalogue that is lost is among the run's own problems.
        notices = attempted(lambda: documents.notices(opened, corpus), None, []) if corpus else None
        view = load_question(
            trace,
            chunks=chunks,
            gold=gold,
            corpus=corpus,
            profile=profile,
            unpaged=unpaged,
            notices=notices,
        )
    return Loaded(view, chunks, tuple(problems))


def bad_lines(opened: session.Opened, store: Store, key: TraceKey) -> list[Problem]:
    """The lines of the run's traces that name a question and could not be read, a problem each."""
    records = store.line_issues(key.run_id).to_dict("records")
    issues = [issue_from({str(name): value for name, value in record.items()}) for record in records]
    return [
        problem
        for artifact in opened.run.trace_artifacts
        for problem in _naming(opened, key, artifact, issues)
    ]


def _naming(
    opened: session.Opened, key: TraceKey, artifact: Artifact, issues: Iterable[LineIssue]
) -> list[Problem]:
    """Those of one file of the run's traces or records; none where it is lost."""
    path = attempted(lambda: _plain(opened, artifact), None, [])
    of_file = (issue for issue in issues if issue.source.file == artifact.path)
    return [
        Problem(
            issue.code,
            f"a line that names {short_id(key.q_id)} could not be read: {issue.reason}",
            f"{issue.source.file}:{issue.source.line}",
            issue.fix,
        )
        for issue in (lines_naming(key.q_id, of_file, path) if path is not None else ())
    ]


def attempted(load: Callable[[], T], otherwise: T, problems: list[Problem]) -> T:
    """What `load` gives; for a fault `otherwise`, and its problems are noted."""
    try:
        return load()
    except Fault as fault:
        problems.extend(fault.problems)
        return otherwise


def chosen_target(
    loaded: Loaded, targets: Sequence[Target], *, cite: int | None, chunk: str | None
) -> Target | None:
    """The passage that the URL means; a chunk that the question did not retrieve is shown all the same."""
    is_listed = any(target.chunk_param == chunk for target in targets)
    if chunk is not None and not is_listed and chunk in loaded.chunks:
        return chunk_target(loaded.chunks[chunk])
    return choose(targets, cite=cite, chunk=chunk)


def placed(
    opened: session.Opened, chosen: Target, targets: Sequence[Target], *, page: int | None
) -> PageView:
    """The page of the chosen passage, or that it is still being worked on."""
    manifest = opened.manifest
    key = page_key(opened, chosen, targets, page=page)
    make = partial(locate_view, chosen, targets, manifest=manifest, placer=documents.placer(), page=page)
    outcome = background.ask(key, make)
    if isinstance(outcome, Done):
        return outcome.value
    if isinstance(outcome, Failed):
        return replace(pending_view(chosen, manifest=manifest, page=page), problem=outcome.fault.problems[0])
    return pending_view(chosen, manifest=manifest, page=page, work=key)


def page_key(
    opened: session.Opened, chosen: Target, targets: Sequence[Target], *, page: int | None
) -> Hashable:
    """All that the page of a passage depends on."""
    document = opened.manifest.document(chosen.doc_id) if chosen.doc_id is not None else None
    state = workspace_status.state_of(opened.manifest, document.artifact) if document is not None else ""
    return ("page", *session.identity(opened), state, chosen, tuple(targets), page)


def attached_to(opened: session.Opened, shown: PageView) -> Belonging:
    """What the catalogue has for the chosen passage's place; a lost one is among the run's own problems."""
    catalogue = attempted(lambda: session.catalogue(opened), CatalogueIndex.of(()), [])
    return Belonging(
        shown.target.id, attached(place_of(shown), catalogue), opened.manifest, documents.placer()
    )


def seen(opened: session.Opened, shown: PageView, attachment_id: str | None) -> Attachment | None:
    """The attachment that the URL wants outlined, if the shown page has it."""
    if attachment_id is None:
        return None
    catalogue = attempted(lambda: session.catalogue(opened), CatalogueIndex.of(()), [])
    return attachment_on(shown, catalogue, attachment_id)


def level(opened: session.Opened, loaded: Loaded, key: TraceKey) -> tuple[Outcome, Hashable] | None:
    """How much of the answer's evidence a bundle of it can show and why, or that it is still being judged.

    The key of the work besides; None where there is no trace. The very rules that build the bundle: every
    citation is placed and every attachment drawn, so this is asked for last, and once.
    """
    if loaded.view.stored is not None:
        return None
    catalogue = attempted(lambda: session.catalogue(opened), CatalogueIndex.of(()), [])
    shelf = Shelf(opened.manifest, session.pdf_pool(), placer=documents.placer())
    sources = Sources(shelf, chunks=loaded.chunks, catalogue=catalogue, profile=opened.profile)
    work = ("level", *workspace_status.state_of_files(opened), key)
    return background.ask(work, partial(_judged, key, loaded.view.trace, sources)), work


def _judged(key: TraceKey, trace: Trace, sources: Sources) -> Judged:
    (bundle,) = bundles_of([(key, trace)], sources)
    return level_name(bundle), bundle.level_reason


def chunk_view(opened: session.Opened, chunk_id: str, *, page: int | None) -> PageView:
    """The place of a chunk without a question. Raises `InputFault` where there is no such chunk."""
    chunk = session.chunks(opened)[0].get(chunk_id)
    if chunk is None:
        raise InputFault.of(
            "no_such_chunk",
            f"the workspace has no chunk {chunk_id}",
            where=opened.manifest.chunks.path if opened.manifest.chunks else "chunks",
            fix="open the question from Triage; the id may come from another build of the chunks",
        )
    return placed(opened, chunk_target(chunk), (), page=page)


def _plain(opened: session.Opened, artifact: Artifact) -> Path:
    return plain_source(artifact_path(opened.manifest, artifact), cache_dir=session.cache_dir().path)


def stored_row(rows: Iterable[StoredRow], source: SourceLine, *, folder: Path) -> StoredRow:
    """The row of a run's report that the index means. Raises `InputFault` where it is gone."""
    row = next((row for row in rows if row.source == source), None)
    if row is None:
        raise InputFault.of(
            "report_changed",
            f"the report has no such row at line {source.line:,} any more",
            where=source.file,
            fix=f"run `proofspan index {shlex.quote(str(folder))}` to read it again",
        )
    return row
