"""Label the traces of a run: what that depends on, and the labeller."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from proofspan.contracts.records.records import GoldQuestion, LineIssue, Trace
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.gold import GoldOutcome, GoldTarget, gold_outcome, gold_target
from proofspan.diagnosis.labelling import REFUSAL_LABELS, RULES_VERSION, declines, lacks_template, verdict
from proofspan.diagnosis.safety import KINDS, MOST_NOTICES, Notices, omitted_ids
from proofspan.diagnosis.topic import GoldPlaces
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.errors import Problem
from proofspan.fingerprints import Fingerprint, change_since, fingerprint_of, sha256_of
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.citations import NO_CHUNK_FILE, ChunkFile
from proofspan.metrics.gold_eval import Judge, Judged
from proofspan.store.files.columns import INDEX_VERSION
from proofspan.store.files.run_file import RunFile
from proofspan.store.index.side_files import NO_FILE, SideFile, find_side_file, read_side_file
from proofspan.traces.contract import context_of, trace_codes
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import Places, place_of, read_chunks
from proofspan.traces.records.citations import citations
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import gold_of_today, mapped, of_today, read_redirects, with_redirects


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs that a run's labels depend on besides its traces, known without reading records.

    `context` is what the contract validates the run's traces against, without the corpus, which the labeller
    adds. `chunks_print` is the fingerprint of the chunk file.
    """

    profile: Profile
    chunks: SideFile
    gold: SideFile = NO_FILE
    catalogue: SideFile = NO_FILE
    redirects: SideFile = NO_FILE
    context: Context = NO_CONTEXT
    chunks_print: Fingerprint | None = None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return why files cannot be used."""
        files = (self.chunks, self.gold, self.catalogue, self.redirects)
        return tuple(problem for file in files for problem in file.problems)

    @property
    def key(self) -> str:
        """Return a hash that differs whenever rows made from the same traces might differ."""
        context = orjson.dumps(self.context, default=sorted, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(self.labeller_key.encode() + context).hexdigest()

    @property
    def labeller_key(self) -> str:
        """Return the `key` without the run's own pins: runs with one such key share a labeller."""
        parts = {
            "index": INDEX_VERSION,
            "rules": RULES_VERSION,
            "template": self.profile.template,
            "refusal": list(self.profile.refusal),
            "chunks": self.chunks.version if self.chunks.path else None,
            "gold": self.gold.version,
            "catalogue": self.catalogue.version,
            "redirects": self.redirects.version,
        }
        return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def variant_of(profile: Profile) -> str:
    """Return a short name that differs between profiles."""
    return hashlib.sha256(orjson.dumps([profile.template, *profile.refusal])).hexdigest()[:8]


def find_inputs(
    manifest: Manifest,
    profile: Profile,
    earlier: RunFile | None,
    *,
    cache_dir: Path,
    run: Run | None = None,
) -> Inputs:
    """Return the inputs as they are now; an `earlier` index spares hashing an unchanged chunk file.

    Without a `run` there are no pins and so no context. A packed file is unpacked into the cache; its version
    is that of the packed file.
    """
    chunks, chunks_print = _find_chunks(manifest, earlier, cache_dir)
    others = (manifest.gold, manifest.catalogue, manifest.redirects)
    gold, catalogue, redirects = (
        find_side_file(manifest, artifact, cache_dir=cache_dir) for artifact in others
    )
    context = NO_CONTEXT if run is None else context_of(manifest, run, None)
    return Inputs(profile, chunks, gold, catalogue, redirects, context, chunks_print)


def _find_chunks(
    manifest: Manifest, earlier: RunFile | None, cache_dir: Path
) -> tuple[SideFile, Fingerprint | None]:
    artifact = manifest.chunks
    if artifact is None:
        problem = Problem(
            "no_chunks",
            "the manifest names no chunks, so questions have no label",
            "chunks",
            "name the chunk file: chunks: {path: corpus/chunks.jsonl}",
        )
        return SideFile(problems=(problem,)), None
    fingerprint: Fingerprint | None = None

    def digest(path: Path) -> str:
        nonlocal fingerprint
        known = earlier.chunks_print if earlier else None
        if earlier and known and earlier.chunks_sha256 and change_since(path, known) == "same":
            fingerprint = known
            return earlier.chunks_sha256
        fingerprint = fingerprint_of(path)
        return sha256_of(path)

    file = find_side_file(manifest, artifact, cache_dir=cache_dir, digest=digest)
    if file.path and artifact.sha256 and artifact.sha256.lower() != file.version:
        problem = Problem(
            "chunks_differ",
            f"the chunk file is not the one that the manifest names (its sha256 begins {file.version[:12]}, "
            f"the manifest's {artifact.sha256[:12]}); its questions have no label",
            f"{artifact.key}: {artifact.path}",
            "restore the file, or correct its sha256 in the manifest",
        )
        file = replace(file, path=None, problems=(problem,))
    return file, fingerprint if file.version != "unusable" else None


@dataclass(slots=True)
class Labeller:
    """Labels traces; without a corpus it gives no verdict. Belongs to one process and one thread.

    `issues` are the bad lines of chunk file, redirects, catalogue and gold file. `questions` are the gold
    questions by q_id, `targets` what is looked for in the traces of those that name something, `about` the
    places that they are about. `notices` is None without a catalogue; `judge` gives the numbers of metrics.
    """

    profile: Profile
    corpus: Corpus | None = None
    issues: tuple[LineIssue, ...] = ()
    questions: Mapping[str, GoldQuestion] = field(default_factory=dict)
    notices: Notices | None = None
    known: ChunkFile = NO_CHUNK_FILE
    targets: Mapping[str, GoldTarget] = field(init=False)
    about: Mapping[str, tuple[str, ...]] = field(init=False)
    judge: Judge = field(init=False)

    def __post_init__(self) -> None:
        targets = ((q_id, gold_target(question)) for q_id, question in self.questions.items())
        self.targets = {q_id: target for q_id, target in targets if target}
        places = GoldPlaces.of(self.places)
        self.about = {q_id: places.about(question) for q_id, question in self.questions.items()}
        self.judge = Judge(self.questions, self.known)

    @property
    def places(self) -> Places:
        """Return the place of each chunk of the chunk file."""
        return self.known.places

    def verdict(self, trace: Trace) -> ReportRow | None:
        """Return the report row of a trace; None without chunks or question to judge by."""
        return verdict(trace, self.corpus, self.profile)

    def context(self, inputs: Inputs) -> Context:
        """Return the context that a run's traces are validated in: its own, with the corpus."""
        return inputs.context if self.corpus is None else replace(inputs.context, corpus=self.corpus.texts)

    def codes(self, trace: Trace, verdict: ReportRow | None, context: Context) -> tuple[str, ...]:
        """Return the contract rules that a trace breaks, in order; `context` is its run's."""
        refused = declines(trace, self.profile) if verdict is None else verdict.label in REFUSAL_LABELS
        codes = trace_codes(trace, context, declines=refused)
        if verdict is not None and lacks_template(trace, verdict, self.profile):
            return tuple(in_order((*codes, "template_violated")))
        return codes

    def outcomes(self, trace: Trace, verdict: ReportRow | None) -> tuple[GoldOutcome | None, Judged]:
        """Return where the trace's gold passage was found, and its numbers for metrics."""
        if trace.q_id not in self.questions:
            return None, self.judge.judged(trace, verdict)
        trace = of_today(trace, self.places, wanted=self.questions[trace.q_id].chunks)
        target, cited = self.targets.get(trace.q_id), citations(trace)
        outcome = gold_outcome(trace, target, verdict, self.places, cited)
        return outcome, self.judge.judged(trace, verdict, cited)

    def omitted(self, trace: Trace, verdict: ReportRow | None) -> list[str] | None:
        """Return the notices of the cited sections that a trace may omit, None where that is not known."""
        return None if self.notices is None else omitted_ids(trace, verdict, self.notices, self.places)


def labeller_for(inputs: Inputs) -> tuple[Labeller, tuple[Problem, ...]]:
    """Read the inputs and return the labeller, and the problems of files that cannot be used."""
    chunks, chunk_issues, unread = read_side_file(inputs.chunks, read_chunks)
    gold, gold_issues, gold_problems = read_side_file(inputs.gold, read_gold)
    catalogue, notice_issues, notice_problems = read_side_file(inputs.catalogue, read_catalogue)
    redirects, redirect_issues, redirect_problems = read_side_file(inputs.redirects, read_redirects)
    problems = (*unread, *gold_problems, *notice_problems, *redirect_problems)
    issues = (*chunk_issues, *redirect_issues, *notice_issues, *gold_issues)
    if inputs.chunks.path is None or unread:
        return Labeller(inputs.profile, issues=issues, questions=gold), problems
    by_id = with_redirects(chunks, redirects)
    texts = mapped(by_id, lambda chunk: chunk.text)
    known = ChunkFile(mapped(by_id, place_of), texts, mapped(by_id, lambda chunk: chunk.offsets))
    corpus, notices = Corpus(texts), None
    if catalogue:
        notices = Notices(tuple(each for each in catalogue.values() if each.kind in KINDS), corpus)
        if notices.crowded:  # one problem for all sections with more notices than are looked for
            doc_id, section, count = notices.crowded[0]
            others = len(notices.crowded) - 1
            more = f", and so have {others:,} other sections" if others else ""
            message = (
                f"section {section[:80]} of {doc_id[:80] or 'no document'} has {count:,} warnings and "
                f"cautions{more}; only the first {MOST_NOTICES} of a section are looked for in the answers"
            )
            fix = "give each entry of the catalogue the narrowest section that contains it"
            file = inputs.catalogue.file
            problems += (Problem("section_crowded", message, file, fix, severity="warning"),)
    return Labeller(inputs.profile, corpus, issues, gold_of_today(gold, by_id), notices, known), problems
