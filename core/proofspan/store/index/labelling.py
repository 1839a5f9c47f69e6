"""What a run is labelled with: chunks, profile and rules, and what is wrong with them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from proofspan.contracts.records.records import LineIssue, Trace
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.gold import GoldOutcome, gold_outcome
from proofspan.diagnosis.labelling import REFUSAL_LABELS, RULES_VERSION, declines, lacks_template, verdict
from proofspan.diagnosis.safety import Notices, omitted_ids
from proofspan.diagnosis.topic import GoldPlaces
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.errors import Fault, InputFault, Problem
from proofspan.fingerprints import Fingerprint, change_since, fingerprint_of, sha256_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.metrics.citations import NO_CHUNK_FILE, ChunkFile
from proofspan.metrics.gold_eval import Judge, Judged
from proofspan.store.files.columns import INDEX_VERSION
from proofspan.store.files.run_file import RunFile
from proofspan.store.index.side_files import (
    CATALOGUE_LOSS,
    GOLD_LOSS,
    NO_FILE,
    NO_REDIRECTS,
    NO_TARGETS,
    NOT_CATALOGUED,
    REDIRECTS_LOSS,
    Catalogued,
    GoldTargets,
    Loss,
    Redirects,
    SideFile,
    crowded_problems,
    find_side_file,
    read_notices,
    read_side_redirects,
    read_targets,
)
from proofspan.traces.contract import context_of, trace_codes
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.chunks import Places, place_of, read_chunks
from proofspan.traces.records.citations import citations
from proofspan.traces.records.redirects import mapped, of_today, with_redirects

CHUNKS_LOSS = Loss("chunks_unusable", "the chunk file", "the questions have no label")


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a run's labels depend on besides its traces, as far as it can be known without reading them.

    `chunks` is None where there is nothing to label with; `problems` then says why. `context` is what the
    contract holds the run's traces against, but for the corpus, which the labeller knows.
    """

    profile: Profile
    chunks: Path | None
    chunks_file: str
    chunks_print: Fingerprint | None
    chunks_sha256: str | None
    gold: SideFile
    problems: tuple[Problem, ...] = ()
    catalogue: SideFile = NO_FILE
    context: Context = NO_CONTEXT
    redirects: SideFile = NO_FILE

    @property
    def key(self) -> str:
        """Differs whenever rows made from the same traces might differ."""
        context = orjson.dumps(self.context, default=sorted, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(self.labeller_key.encode() + context).hexdigest()

    @property
    def labeller_key(self) -> str:
        """The same for all but the run's own pins: runs with one such key have one labeller."""
        parts = {
            "index": INDEX_VERSION,
            "rules": RULES_VERSION,
            "template": self.profile.template,
            "refusal": list(self.profile.refusal),
            "chunks": self.chunks_sha256 if self.chunks else None,
            "gold": self.gold.version,
            "catalogue": self.catalogue.version,
            "redirects": self.redirects.version,
        }
        return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def variant_of(profile: Profile) -> str:
    """A short name that tells a reading with one profile from that with another."""
    return hashlib.sha256(orjson.dumps([profile.template, *profile.refusal])).hexdigest()[:8]


def find_inputs(
    manifest: Manifest,
    profile: Profile,
    earlier: RunFile | None,
    *,
    cache_dir: Path,
    run: Run | None = None,
) -> Inputs:
    """The inputs as they are now; hashes of unchanged files are taken from an `earlier` index.

    Without a `run` nothing is known of pins, so there is no context. A packed chunk file is unpacked into the
    cache; print and hash are those of the file as it lies there.
    """
    nothing = Inputs(
        profile,
        None,
        manifest.chunks.path if manifest.chunks else "",
        None,
        None,
        find_side_file(manifest, manifest.gold, GOLD_LOSS, cache_dir=cache_dir),
        catalogue=find_side_file(manifest, manifest.catalogue, CATALOGUE_LOSS, cache_dir=cache_dir),
        context=NO_CONTEXT if run is None else context_of(manifest, run, None),
        redirects=find_side_file(manifest, manifest.redirects, REDIRECTS_LOSS, cache_dir=cache_dir),
    )
    artifact = manifest.chunks
    if artifact is None:
        problem = Problem(
            "no_chunks",
            "the manifest names no chunks, so questions have no label",
            "chunks",
            "name the chunk file: chunks: {path: corpus/chunks.jsonl}",
        )
        return replace(nothing, problems=(problem,))
    try:
        path = artifact_path(manifest, artifact)
        printed, digest = _digest(path, earlier)
    except Fault as fault:
        return replace(nothing, problems=tuple(CHUNKS_LOSS.of(artifact, each) for each in fault.problems))
    except OSError as error:
        problem = Problem("unreadable", f"cannot be read: {error.strerror}", str(artifact.path))
        return replace(nothing, problems=(CHUNKS_LOSS.of(artifact, problem),))
    hashed = replace(nothing, chunks_print=printed, chunks_sha256=digest)
    if artifact.sha256 and artifact.sha256.lower() != digest:
        return replace(hashed, problems=(_differs(artifact, digest),))
    try:
        plain = plain_source(path, cache_dir=cache_dir)
    except Fault as fault:
        return replace(hashed, problems=tuple(CHUNKS_LOSS.of(artifact, each) for each in fault.problems))
    return replace(hashed, chunks=plain)


def _digest(path: Path, earlier: RunFile | None) -> tuple[Fingerprint, str]:
    """The file's print and sha256, the latter remembered where the file is as it was."""
    known = earlier.chunks_print if earlier else None
    if earlier and known and earlier.chunks_sha256 and change_since(path, known) == "same":
        return known, earlier.chunks_sha256
    return fingerprint_of(path), sha256_of(path)


def _differs(artifact: Artifact, digest: str) -> Problem:
    return Problem(
        "chunks_differ",
        f"the chunk file is not the one that the manifest names (its sha256 begins {digest[:12]}, the "
        f"manifest's {str(artifact.sha256)[:12]}); its questions have no label",
        f"{artifact.key}: {artifact.path}",
        "restore the file, or correct its sha256 in the manifest",
    )


@dataclass(slots=True)
class Labeller:
    """Labels traces; without a corpus it gives no verdict. Belongs to one process and one thread.

    `issues` are those of chunk file, redirects and catalogue; those of the gold file stand in `gold`.
    `notices` is None where no catalogue says what an answer may leave out, `about` what gold questions are
    about, by q_id; `judge` says what metrics make of a trace.
    """

    profile: Profile
    corpus: Corpus | None = None
    places: Places = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    gold: GoldTargets = NO_TARGETS
    notices: Notices | None = None
    about: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    judge: Judge = field(default_factory=lambda: Judge({}, NO_CHUNK_FILE))

    def verdict(self, trace: Trace) -> ReportRow | None:
        """The report row of a trace; None where there are no chunks, or no question, to judge by."""
        return verdict(trace, self.corpus, self.profile)

    def context(self, inputs: Inputs) -> Context:
        """What a run's traces are held against: its own context with the corpus."""
        return inputs.context if self.corpus is None else replace(inputs.context, corpus=self.corpus.texts)

    def codes(self, trace: Trace, verdict: ReportRow | None, context: Context) -> tuple[str, ...]:
        """The rules of the contract that a trace breaks, in order; `context` is its run's."""
        refused = declines(trace, self.profile) if verdict is None else verdict.label in REFUSAL_LABELS
        codes = trace_codes(trace, context, declines=refused)
        if verdict is not None and lacks_template(trace, verdict, self.profile):
            return tuple(in_order((*codes, "template_violated")))
        return codes

    def outcomes(self, trace: Trace, verdict: ReportRow | None) -> tuple[GoldOutcome | None, Judged]:
        """What became of the trace's gold passage, and what metrics make of the trace."""
        if trace.q_id not in self.gold.questions:
            return None, self.judge.judged(trace, verdict)
        trace = of_today(trace, self.places, wanted=self.gold.questions[trace.q_id].chunks)
        target, cited = self.gold.by_question.get(trace.q_id), citations(trace)
        outcome = gold_outcome(trace, target, verdict, self.places, cited)
        return outcome, self.judge.judged(trace, verdict, cited)

    def omitted(self, trace: Trace, verdict: ReportRow | None) -> list[str] | None:
        """The notices of the cited sections that a trace may leave out, None where it cannot be known."""
        return None if self.notices is None else omitted_ids(trace, verdict, self.notices, self.places)


def labeller_for(inputs: Inputs) -> tuple[Labeller, tuple[Problem, ...]]:
    """The labeller, and what it cannot do where chunk file, gold file or catalogue are none."""
    gold, catalogued = read_targets(inputs.gold), read_notices(inputs.catalogue)
    redirects = read_side_redirects(inputs.redirects)
    problems = (*gold.problems, *catalogued.problems, *redirects.problems)
    try:
        labeller = make_labeller(
            inputs.profile,
            inputs.chunks,
            inputs.chunks_file,
            gold=gold,
            catalogued=catalogued,
            redirects=redirects,
        )
    except InputFault as fault:
        return _without_chunks(inputs.profile, gold, catalogued), (*fault.problems, *problems)
    if labeller.notices is not None:
        problems += crowded_problems(labeller.notices, file=inputs.catalogue.file)
    return labeller, problems


def make_labeller(
    profile: Profile,
    chunks: Path | None,
    file: str,
    *,
    gold: GoldTargets = NO_TARGETS,
    catalogued: Catalogued = NOT_CATALOGUED,
    redirects: Redirects = NO_REDIRECTS,
) -> Labeller:
    """Reads the chunk file. InputFault where it is no chunk file at all."""
    if chunks is None:
        return _without_chunks(profile, gold, catalogued)
    listed, issues = read_chunks(chunks, file=file)
    found = with_redirects(listed, redirects.by_id)
    texts = mapped(found, lambda chunk: chunk.text)
    places = mapped(found, place_of)
    corpus, gold = Corpus(texts), gold.of_today(found)
    notices = None if catalogued.notices is None else Notices(catalogued.notices, corpus)
    about = _about(gold, places)
    offsets = mapped(found, lambda chunk: chunk.offsets)
    judge = Judge(gold.questions, ChunkFile(places, texts, offsets))
    issues = [*issues, *redirects.issues, *catalogued.issues]
    return Labeller(profile, corpus, places, tuple(issues), gold, notices, about, judge)


def _without_chunks(profile: Profile, gold: GoldTargets, catalogued: Catalogued) -> Labeller:
    judge = Judge(gold.questions, NO_CHUNK_FILE)
    return Labeller(profile, issues=catalogued.issues, gold=gold, about=_about(gold, {}), judge=judge)


def _about(gold: GoldTargets, places: Places) -> dict[str, tuple[str, ...]]:
    known = GoldPlaces.of(places)
    return {q_id: known.about(question) for q_id, question in gold.questions.items()}
