"""Label the questions of bare trace and chunk files, or of one run of a workspace, and check their claims."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from proofspan.contracts.records.records import LineIssue, Trace
from proofspan.diagnosis.answers import follows_template, payload_ids
from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.labelling import QUESTION_UNKNOWN, declines, verdict
from proofspan.diagnosis.safety import KINDS, Notices, omitted
from proofspan.diagnosis.suggest import Suggestion, add_facts, suggest_profile
from proofspan.diagnosis.types import Profile, ReportRow, profile_from
from proofspan.errors import InputFault, ManifestFault, Problem
from proofspan.manifest.types import Manifest
from proofspan.services.question.claims import AnswerChecker, with_claims
from proofspan.services.workspace.open import chosen_run
from proofspan.store.index.labelling import NO_FILE, SideFile, find_inputs, read_side_file
from proofspan.store.index.plan import find_source
from proofspan.traces.lines.encodings import damage_of
from proofspan.traces.lines.reader import open_source, unfinished_bytes
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import place_of, read_chunks
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.identity import Repeats
from proofspan.traces.records.redirects import gold_of_today, mapped, read_redirects, with_redirects
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.record_files import RecordFile

#: How many line issues explain why a chunk file holds no chunk.
ISSUES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Sources:
    """The files to read, both of which exist.

    `run_id`, gold questions, redirects and catalogue are the manifest's; with bare files there are none, and
    their lines may name their own run. `with_claims`: claims are checked too.
    """

    traces: RecordFile
    chunks: SideFile
    profile: Profile
    run_id: str | None = None
    gold: SideFile = NO_FILE
    redirects: SideFile = NO_FILE
    catalogue: SideFile = NO_FILE
    with_claims: bool = True


@dataclass(slots=True)
class Outcome:
    """Counts of the rows that were read."""

    profile: Profile
    labels: Counter[str] = field(default_factory=Counter)
    suspicions: Counter[str] = field(default_factory=Counter)
    facts: dict[str, int] = field(default_factory=dict)
    issues: list[LineIssue] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    waiting_bytes: int = 0

    @property
    def suggestion(self) -> Suggestion | None:
        """Return the profile that would fit, where no answer follows the one that was used."""
        return suggest_profile(self.facts, self.profile)


def bare_sources(
    traces: Path, chunks: Path, profile: Profile, *, cache_dir: Path, fix_encoding: bool = False
) -> Sources:
    """Return the sources of bare files; packed ones are unpacked below `cache_dir`, all repaired if asked."""
    plain = partial(plain_source, cache_dir=cache_dir, fix_encoding=fix_encoding)
    trace_file = RecordFile(plain(traces), str(traces), is_final=True)
    return Sources(trace_file, SideFile(plain(chunks), str(chunks), is_fixed=fix_encoding), profile)


def run_sources(
    manifest: Manifest, run_id: str | None, profile: Profile | None, *, cache_dir: Path
) -> Sources:
    """Return the files of one run as the index finds and names them, so that both give the same labels.

    `run_id` None is the latest run, `profile` None the manifest's. Raises ManifestFault or InputFault where
    the index would have rows without labels or none at all.
    """
    run = chosen_run(manifest, run_id)
    if not run.has_traces:
        raise ManifestFault.of(
            "not_named",
            "the manifest names no traces for this run",
            where=f"{manifest.folder}: runs[{run.run_id}]",
            fix="add `traces: {path: …}` there",
        )
    inputs = find_inputs(manifest, profile or profile_from(manifest.triage), None, cache_dir=cache_dir)
    source = find_source(manifest, run, cache_dir=cache_dir)
    if inputs.chunks.path is None or source.path is None:
        raise InputFault(*source.problems, *inputs.chunks.problems)
    return Sources(
        source,
        inputs.chunks,
        inputs.profile,
        run.run_id,
        gold=inputs.gold,
        redirects=inputs.redirects,
        catalogue=inputs.catalogue,
    )


def report_rows(
    sources: Sources, outcome: Outcome, on_offset: Callable[[int, int], object] = lambda offset, total: None
) -> Iterator[ReportRow]:
    """Yield the report rows in file order and count them in `outcome`.

    `on_offset` is called with the byte offset of each trace and the size of their file. Raises InputFault
    where the chunk file holds no chunk or the traces are no JSONL.
    """
    path, file, chunk_file = sources.traces.needed_path, sources.traces.file, sources.chunks
    assert chunk_file.path is not None  # noqa: S101 - no source is made without
    with open_source(path) as traces:
        total = os.fstat(traces.fileno()).st_size
    own_chunks, issues = read_chunks(chunk_file.path, file=chunk_file.file)
    outcome.issues += [*sources.traces.issues, *issues]
    if not own_chunks:
        message, fix = "the file holds no chunk", "write chunks as {id, text}, in a JSON array or one a line"
        problem = Problem("no_chunks", message, chunk_file.file, fix)
        raise InputFault(problem, *issues[:ISSUES_SHOWN])
    chunks = with_redirects(own_chunks, read_side_file(sources.redirects, read_redirects)[0])
    corpus = Corpus(mapped(chunks, lambda chunk: chunk.text))
    if foreign := foreign_file(path, file=file):
        raise InputFault(foreign)
    for plain, name in ((path, file), (chunk_file.path, chunk_file.file)):
        if (damage := damage_of(plain, file=name)) is not None:
            outcome.warnings.append(damage)
    checker, places = AnswerChecker(outcome.profile, None), mapped(chunks, place_of)
    if sources.with_claims:
        gold = gold_of_today(read_side_file(sources.gold, read_gold)[0], chunks)
        of_chunks = Checker(corpus.texts, corpus.survey, places)
        checker = AnswerChecker(outcome.profile, of_chunks, gold, follows=_follow(sources, outcome.profile))
    attachments = read_side_file(sources.catalogue, read_catalogue)[0].values()
    notices = Notices([each for each in attachments if each.kind in KINDS], corpus)
    repeats = Repeats()
    for item in iter_traces(path, file=file, run_id=sources.run_id, final=sources.traces.is_final):
        on_offset(item.source.offset, total)
        if isinstance(item, LineIssue):
            outcome.issues.append(item)
            continue
        repeat, row = repeats.key_of(item).repeat, verdict(item, corpus, outcome.profile)
        if row is None:
            outcome.suspicions.update([QUESTION_UNKNOWN])
            continue
        variant = {"paraphrase": item.paraphrase, "seed": item.seed}
        repeated = ("duplicate_question",) if repeat > 1 else ()
        judged = checker.judged(item, row, omitted(item, row, notices, places) or ())
        row = with_claims(row, judged) if judged is not None else row
        row = replace(  # with the identity only as far as the trace itself gives it
            row,
            q_id=row.q_id if item.raw.get("q_id") or item.raw.get("qid") else None,
            suspicions=tuple(sorted((*row.suspicions, *repeated))) if repeated else row.suspicions,
            extra={**row.extra, **{name: number for name, number in variant.items() if number}},
        )
        outcome.labels[row.label] += 1
        outcome.suspicions.update(row.suspicions)
        add_facts(outcome.facts, item, row, outcome.profile)
        yield row
    if not sources.traces.is_final:
        outcome.waiting_bytes = unfinished_bytes(path)


def _follow(sources: Sources, profile: Profile) -> bool:
    """Return whether any answer follows the template, as most often the first does."""
    file = sources.traces
    if profile.template == "none":
        return True
    for item in iter_traces(file.needed_path, file=file.file, run_id=sources.run_id, final=file.is_final):
        if isinstance(item, Trace):
            lower, has_payload = item.answer.lower(), bool(payload_ids(item))
            follows = follows_template(lower, has_payload=has_payload, template=profile.template)
            if follows or declines(item, profile):
                return True
    return False
