"""Label the traces of a run: the files beside the traces that this depends on, and the labeller."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import orjson

from proofspan.contracts.records.records import Chunk, GoldQuestion, LineIssue, Trace
from proofspan.contracts.rules.catalogue import in_order
from proofspan.contracts.rules.context import NO_CONTEXT, Context
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.gold import GoldTarget, gold_outcome, gold_target
from proofspan.diagnosis.labelling import REFUSAL_LABELS, RULES_VERSION, declines, lacks_template, verdict
from proofspan.diagnosis.safety import KINDS, MOST_NOTICES, Notices, omitted
from proofspan.diagnosis.topic import GoldPlaces
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.errors import Fault, Problem
from proofspan.fingerprints import KnownHash, known_hash, sha256_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.metrics.gold_eval import NO_CHUNK_FILE, ChunkFile, Judge
from proofspan.store.files.cache_dir import turn
from proofspan.store.files.columns import INDEX_VERSION, index_row
from proofspan.store.files.prepared import prepared_file, read_prepared, write_prepared
from proofspan.store.files.run_file import RunFile
from proofspan.traces.contract import context_of, trace_codes
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.traces.records.chunks import Places, place_of, read_chunks
from proofspan.traces.records.citations import citations
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import gold_of_today, mapped, of_today, read_redirects, with_redirects

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file as it is now. `path` is None if it cannot be read; `problems` then says why.

    A packed file's `path` is its unpacked copy; `version` is the sha256 of the file itself, or why it
    has no hash: a file that appears or changes makes another index, as does one that is read repaired
    (`is_fixed`). `origin` is the file itself.
    """

    path: Path | None = None
    file: str = ""
    version: str = "none"
    problems: tuple[Problem, ...] = ()
    is_fixed: bool = False
    origin: Path | None = None

    @property
    def is_current(self) -> bool:
        """Return whether the file is still of this version; one that there never was is."""
        try:
            return self.origin is None or sha256_of(self.origin) == self.version
        except OSError:
            return False


NO_FILE = SideFile()


#: The files by their key in the manifest: the problem's code, the name of the file, and what its loss means.
_LOSSES: Mapping[str, tuple[str, str, str]] = {
    "chunks": ("chunks_unusable", "the chunk file", "the questions have no label"),
    "gold": ("gold_unusable", "the gold file", "answers are not compared with gold passages"),
    "catalogue": ("catalogue_unusable", "the catalogue", "omitted warnings are not known"),
    "redirects": ("redirects_unusable", "the redirects file", "ids of earlier builds name no chunk"),
}


def find_side_file(
    manifest: Manifest,
    artifact: Artifact | None,
    *,
    cache_dir: Path,
    digest: Callable[[Path], str] = sha256_of,
) -> SideFile:
    """Return the named file as it is now, unpacked; a missing or unreadable one has a problem."""
    if artifact is None:
        return NO_FILE
    try:
        path = artifact_path(manifest, artifact)
        version = digest(path)
        plain = artifact_source(manifest, artifact, cache_dir=cache_dir)
        return SideFile(plain, artifact.path, version, is_fixed=artifact.fix_encoding, origin=path)
    except Fault as fault:
        problems = fault.problems
    except OSError as error:
        problems = (Problem("unreadable", f"cannot be read: {error.strerror}", artifact.path),)
    code, file, effect = _LOSSES[artifact.key]
    losses = tuple(
        Problem(
            code,
            f"{file} {each.message.removeprefix(f'`{artifact.key}`: ').removeprefix('the file ')}; {effect}",
            f"{artifact.key}: {each.where or artifact.path}",
            each.fix or "put the file back and run `proofspan index` again",
        )
        for each in problems
    )
    return SideFile(None, artifact.path, "unusable", losses)


def read_side_file(
    file: SideFile, read: Callable[..., tuple[Mapping[str, T], list[LineIssue]]]
) -> tuple[Mapping[str, T], Sequence[LineIssue], tuple[Problem, ...]]:
    """Return the file's records by id, its lines that hold none, and why the whole file could not be read.

    There are no records where there is no file. `read` raises a Fault for another kind of file.
    """
    if file.path is None:
        return {}, (), ()
    try:
        by_id, issues = read(file.path, file=file.file)
    except Fault as fault:
        return {}, (), fault.problems
    return by_id, issues, ()


def read_led_chunks(
    manifest: Manifest, artifact: Artifact, *, cache_dir: Path
) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """Return the chunks of the manifest's chunk file, by former ids too, and the lines that hold none.

    Problems of the redirects file are left to the index. Fault where the chunk file cannot be used.
    """
    plain = artifact_source(manifest, artifact, cache_dir=cache_dir)
    chunks, issues = read_chunks(plain, file=artifact.path)
    redirects = find_side_file(manifest, manifest.redirects, cache_dir=cache_dir)
    return with_redirects(chunks, read_side_file(redirects, read_redirects)[0]), issues


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs that a run's labels depend on besides its traces, known without reading records.

    `context` is what the contract validates the run's traces against, without the corpus, which the labeller
    adds. `hashes` are those of the files by their keys in the manifest. Prepared chunks are in `cache_dir`.
    """

    profile: Profile
    chunks: SideFile
    gold: SideFile = NO_FILE
    catalogue: SideFile = NO_FILE
    redirects: SideFile = NO_FILE
    context: Context = NO_CONTEXT
    hashes: dict[str, KnownHash] = field(default_factory=dict)
    cache_dir: Path | None = None

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
            "fixed": [file.is_fixed for file in (self.chunks, self.gold, self.catalogue, self.redirects)],
        }
        return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


def find_inputs(
    manifest: Manifest,
    profile: Profile,
    earlier: RunFile | None,
    *,
    cache_dir: Path,
    run: Run | None = None,
) -> Inputs:
    """Return the inputs as they are now; an `earlier` index spares hashing unchanged files.

    Without a `run` there are no pins and so no context. A packed file is unpacked into the cache; its version
    is that of the packed file.
    """
    hashes: dict[str, KnownHash] = {}

    def find(artifact: Artifact | None) -> SideFile:
        def digest(path: Path) -> str:
            key = artifact.key if artifact else ""
            hashes[key] = known_hash(path, earlier.hashes.get(key) if earlier else None)
            return hashes[key].sha256

        return find_side_file(manifest, artifact, cache_dir=cache_dir, digest=digest)

    chunks = _with_chunks(manifest.chunks, find(manifest.chunks))
    gold, catalogue, redirects = map(find, (manifest.gold, manifest.catalogue, manifest.redirects))
    context = NO_CONTEXT if run is None else context_of(manifest, run, None)
    return Inputs(profile, chunks, gold, catalogue, redirects, context, hashes, cache_dir)


def _with_chunks(artifact: Artifact | None, file: SideFile) -> SideFile:
    """Return the chunk file with the problem of a manifest that names none, or another file."""
    if artifact is None:
        problem = Problem(
            "no_chunks",
            "the manifest names no chunks, so questions have no label",
            "chunks",
            "name the chunk file: chunks: {path: corpus/chunks.jsonl}",
        )
        return SideFile(problems=(problem,))
    if file.path and artifact.sha256 and artifact.sha256.lower() != file.version:
        problem = Problem(
            "chunks_differ",
            f"the chunk file is not the one that the manifest names (its sha256 begins {file.version[:12]}, "
            f"the manifest's {artifact.sha256[:12]}); its questions have no label",
            f"{artifact.key}: {artifact.path}",
            "restore the file, or correct its sha256 in the manifest",
        )
        return replace(file, path=None, problems=(problem,))
    return file


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
        places = GoldPlaces(self.places)
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
        return inputs.context if self.corpus is None else replace(inputs.context, corpus=self.places)

    def rows(
        self, traces: Sequence[Trace], context: Context
    ) -> list[tuple[dict[str, object], ReportRow | None]]:
        """Return the index row of each trace and its report row; `context` is that of `context`.

        One step for all traces comes before the next one: so the code of a step stays in the processor's
        cache, which saves a tenth of the time. Some dozens of traces at a time are best.
        """
        verdicts = [self.verdict(trace) for trace in traces]
        codes = [
            self._codes(trace, verdict, context) for trace, verdict in zip(traces, verdicts, strict=True)
        ]
        return [
            (self._row(trace, verdict, broken), verdict)
            for trace, verdict, broken in zip(traces, verdicts, codes, strict=True)
        ]

    def _codes(self, trace: Trace, verdict: ReportRow | None, context: Context) -> Sequence[str]:
        refused = declines(trace, self.profile) if verdict is None else verdict.label in REFUSAL_LABELS
        codes = trace_codes(trace, context, declines=refused)
        if verdict is not None and lacks_template(trace, verdict, self.profile):
            return in_order((*codes, "template_violated"))
        return codes

    def _row(self, trace: Trace, verdict: ReportRow | None, codes: Sequence[str]) -> dict[str, object]:
        current, gold, cited, question = trace, None, None, self.questions.get(trace.q_id)
        if question is not None:
            current = of_today(trace, self.places, wanted=question.chunks)
            cited = citations(current)
            gold = gold_outcome(current, self.targets.get(trace.q_id), verdict, self.places, cited)
        judged = self.judge.judged(current, verdict, cited)
        notices, about = self.notices, self.about.get(trace.q_id, ())
        omissions = None if notices is None else omitted(trace, verdict, notices, self.places)
        lost = None if omissions is None else [each.attachment_id for each in omissions]
        return index_row(trace, verdict, self.places, gold, lost, about, judged, codes)


class _Chunks(NamedTuple):
    """The chunks of a workspace; `corpus` is None where they cannot be used."""

    issues: tuple[LineIssue, ...]
    problems: tuple[Problem, ...] = ()
    known: ChunkFile = NO_CHUNK_FILE
    corpus: Corpus | None = None


def prepared_corpus(manifest: Manifest, *, cache_dir: Path) -> Corpus | None:
    """Return the corpus as an index has prepared it of the files as they are now; None without one."""
    artifacts = (manifest.chunks, manifest.redirects)
    files = [find_side_file(manifest, each, cache_dir=cache_dir) for each in artifacts]
    found = (
        read_prepared(_prepared_file(cache_dir, files)) if all(not each.problems for each in files) else None
    )
    return found and found.corpus


def _prepared_file(cache_dir: Path, files: Iterable[SideFile]) -> Path:
    return prepared_file(cache_dir, *((each.version, each.file, each.is_fixed) for each in files))


def _chunks_for(inputs: Inputs) -> _Chunks:
    """Return the chunks as they were prepared for these inputs; else read, prepare and store them.

    Of several processes one prepares them, and the others wait for it. Where the cache cannot be written they
    are prepared in memory.
    """
    if inputs.cache_dir is None or inputs.chunks.path is None:
        return _read_chunks(inputs)[1]
    files = (inputs.chunks, inputs.redirects)
    path = _prepared_file(inputs.cache_dir, files)
    found = read_prepared(path)
    with ExitStack() as held:
        if found is None:
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                held.enter_context(turn(path.parent))
            found = read_prepared(path)
        if found is not None:
            return _Chunks(found.issues, (), found.known, found.corpus)
        by_id, made = _read_chunks(inputs)
        if made.corpus is not None and not made.problems and all(each.is_current for each in files):
            write_prepared(path, by_id, made.corpus, made.issues)
        return made


def _read_chunks(inputs: Inputs) -> tuple[Mapping[str, Chunk], _Chunks]:
    chunks, chunk_issues, unread = read_side_file(inputs.chunks, read_chunks)
    redirects, redirect_issues, redirect_problems = read_side_file(inputs.redirects, read_redirects)
    issues, problems = (*chunk_issues, *redirect_issues), (*unread, *redirect_problems)
    if inputs.chunks.path is None or unread:
        return {}, _Chunks(issues, problems)
    by_id = with_redirects(chunks, redirects)
    texts = mapped(by_id, lambda chunk: chunk.text)
    known = ChunkFile(mapped(by_id, place_of), texts, mapped(by_id, lambda chunk: chunk.offsets))
    return by_id, _Chunks(issues, problems, known, Corpus(texts))


def labeller_for(inputs: Inputs) -> tuple[Labeller, tuple[Problem, ...]]:
    """Read the inputs and return the labeller, and the problems of files that cannot be used."""
    chunks = _chunks_for(inputs)
    gold, gold_issues, gold_problems = read_side_file(inputs.gold, read_gold)
    catalogue, notice_issues, notice_problems = read_side_file(inputs.catalogue, read_catalogue)
    problems = (*chunks.problems, *gold_problems, *notice_problems)
    issues, known, corpus = (*chunks.issues, *notice_issues, *gold_issues), chunks.known, chunks.corpus
    if corpus is None:
        return Labeller(inputs.profile, issues=issues, questions=gold), problems
    notices = None
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
    return Labeller(
        inputs.profile, corpus, issues, gold_of_today(gold, known.places), notices, known
    ), problems
