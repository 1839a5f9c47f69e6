"""The scores of the candidates, from a cross-encoder or a file, with everything that decides them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from proofspan.contracts.records.records import Json, TraceKey
from proofspan.errors import InputFault
from proofspan.fingerprints import sha256_of
from proofspan.metrics.ranked import TOP
from proofspan.services.pinning.machine import runtime_here, versions_here
from proofspan.services.rerank.candidates import Scored, TextKind, Texts
from proofspan.services.rerank.model import LIBRARIES, CrossEncoder, OnPairs
from proofspan.services.rerank.score_file import read_scores
from proofspan.services.rerank.section_text import MAX_CHARS, MIN_FRAGMENT
from proofspan.services.rerank.selection import Selection, Sources
from proofspan.wording import counted

TIES = "score desc, section_id, chunk_id"
#: The candidates that are named in a message.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Reranked:
    """The new order: the scores, the reranker's name, and everything that decides them as `settings`.

    `record` are the parts of a pinning record that differ from the run's own. `cut`, `cut_questions` and
    `seconds` are as in `Scores`, 0 for scores from a file.
    """

    selection: Selection
    sources: Sources
    name: str
    scores: Scored
    settings: Mapping[str, Json]
    record: Mapping[str, Json]
    cut: int = 0
    cut_questions: int = 0
    seconds: float = 0.0


def with_model(
    selection: Selection,
    sources: Sources,
    model: CrossEncoder,
    *,
    text: TextKind = "section",
    revision: str | None = None,
    twice: bool = False,
    on_pairs: OnPairs | None = None,
) -> Reranked:
    """Score the candidates with a cross-encoder; `twice` does it again and compares.

    Raises InputFault if the model fails or gives other scores the second time, or a candidate has no text.
    """
    read = _texts_of(selection, Texts(sources.chunks, text))
    pairs = [(each.q, found) for each in selection.asked for found in read[each.key].values()]
    scored = model.score(pairs, on_pairs=on_pairs)
    if twice and model.score(pairs[::-1], on_pairs=on_pairs).by_pair != scored.by_pair:
        message = "the model gives other scores when it is asked again"
        fix = "use one thread (--threads 1), and weights that are not quantized while they run"
        raise InputFault.of("not_deterministic", message, where=model.name, fix=fix)
    scores = {
        each.key: {chunk_id: scored.by_pair[each.q, found] for chunk_id, found in read[each.key].items()}
        for each in selection.asked
    }
    rule: dict[str, Json] = {"of": text}
    if text == "section":
        order = "page_idx, order_in_section, offsets, chunk_id"
        rule |= {"order": order, "max_chars": MAX_CHARS, "min_fragment": MIN_FRAGMENT}
    reranker = model.record()
    pinned = {**reranker, "text": rule, **({"revision": revision} if revision else {})}
    record: dict[str, Json] = {
        "reranker": pinned,
        "libraries": versions_here(LIBRARIES),
        "runtime": {**runtime_here(), "threads": model.threads},
    }
    if twice:
        record["determinism"] = _determinism(scores)
    settings = _settings(selection, sources, {"reranker": reranker, "text": rule})
    counts = scored.cut, scored.cut_questions, scored.seconds
    return Reranked(selection, sources, model.name, scores, settings, record, *counts)


def with_scores(selection: Selection, sources: Sources, path: Path) -> Reranked:
    """Take the scores of a file. Raises InputFault as `read_scores`."""
    scores, sha256 = read_scores(path, selection.asked, known=selection.questions), sha256_of(path)
    settings = _settings(selection, sources, {"scores": {"file": path.name, "sha256": sha256}})
    reranker = {"model": path.stem, "weights": {"source": f"scores from {path.name}", "sha256": sha256}}
    return Reranked(selection, sources, path.stem, scores, settings, {"reranker": reranker})


def _texts_of(selection: Selection, texts: Texts) -> dict[TraceKey, dict[str, str]]:
    """Return the text of each candidate of each trace. Raises InputFault for those without one."""
    read: dict[TraceKey, dict[str, str]] = {}
    lacking: list[str] = []
    for each in selection.asked:
        read[each.key] = {}
        for chunk_id, entry in each.candidates:
            if (found := texts.text(chunk_id, entry)) is None:
                lacking.append(f"{chunk_id!r} of {each.name}")
            else:
                read[each.key][chunk_id] = found
    if lacking:
        more = f" and {len(lacking) - _NAMED:,} more" if len(lacking) > _NAMED else ""
        message = f"{counted(len(lacking), 'candidate')} without a text: {', '.join(lacking[:_NAMED])}{more}"
        fix = "put these chunks into the workspace's chunk file, or log their text"
        raise InputFault.of("candidate_without_text", message, where=selection.run.run_id, fix=fix)
    return read


def _determinism(scores: Scored) -> dict[str, Json]:
    """Return the hash of scores that came out twice, as a pinning record has it."""
    lines = (
        [key.q_id, key.paraphrase, key.seed, key.repeat, *each]
        for key, of in scores.items()
        for each in of.items()
    )
    digest = hashlib.sha256(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    return {"sha256": [digest.hexdigest()] * 2, "of": "bytes", "output": "scores, a line for each candidate"}


def _settings(selection: Selection, sources: Sources, settings: Mapping[str, Json]) -> dict[str, Json]:
    cohort = selection.cohort
    named = None if cohort is None else {"name": cohort.name, "q_ids": list(cohort.q_ids)}
    candidates = f"the first {TOP} of fused, else retrieved, else chunks"
    return {
        **settings,
        "cohort": named,
        "candidates": candidates,
        "ties": TIES,
        "inputs": dict(sources.hashes),
    }
