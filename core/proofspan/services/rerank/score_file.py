"""Scores from elsewhere: a line of q_id, chunk_id and score for each candidate."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from proofspan.contracts.records.field_values import id_of, number_of
from proofspan.contracts.records.records import Json, SourceLine, TraceKey
from proofspan.errors import InputFault, Problem
from proofspan.services.rerank.candidates import Asked, Scored
from proofspan.traces.lines.reader import RawLine, UnusableError, issue_of, parse_line, read_lines
from proofspan.traces.records.identity import count_of, q_id_of
from proofspan.wording import counted

#: The problems that are named; the rest are counted.
NAMED = 20

Identity = tuple[str, int, int]


def read_scores(path: Path, asked: Sequence[Asked], *, known: Container[str]) -> Scored:
    """Return the scores of the candidates. `known` are all questions of the run.

    Lines of questions that are not reranked are passed over. A paraphrase, seed or repeat without scores of
    its own keeps its order and is left out. Raises InputFault for lines that cannot be used, and for
    candidates without a score.
    """
    by_identity = {_identity(each.key): each for each in asked if each.key.repeat == 1}
    found: dict[Identity, dict[str, tuple[float, int]]] = {}
    problems: list[Problem] = []
    for raw in read_lines(path, final=True):
        try:
            identity, chunk_id, score = _score_of(raw)
            if (of := by_identity.get(identity)) is not None:
                _add(found.setdefault(identity, {}), of, chunk_id, score, raw.line)
            elif identity[0] not in known:
                fix = "Remove the line, or name the run that was scored."
                raise UnusableError("unknown_question", f"the run has no question {identity[0]!r}", fix)
        except UnusableError as why:
            source = SourceLine(path.name, raw.line, raw.offset, raw.length)
            problems.append(issue_of(why, source, raw.data))
    problems += _missing(path, asked, found)
    if problems:
        rest = len(problems) - NAMED
        more = [Problem("more_problems", f"{counted(rest, 'problem')} more like these", path.name)]
        raise InputFault(*problems[:NAMED], *(more if rest > 0 else []))
    scored = {}
    for each in asked:
        scores = found.get(_identity(each.key), {})
        if all(chunk_id in scores for chunk_id, _ in each.candidates):
            scored[each.key] = {chunk_id: scores[chunk_id][0] for chunk_id, _ in each.candidates}
    return scored


def _identity(key: TraceKey) -> Identity:
    return key.q_id, key.paraphrase, key.seed


def _score_of(raw: RawLine) -> tuple[Identity, str, float]:
    obj: Json = parse_line(raw)
    fix = 'Write {"q_id": "Q80", "chunk_id": "…", "score": 0.82} on each line.'
    if not isinstance(obj, dict):
        raise UnusableError("not_an_object", "the line is not a JSON object", fix)
    chunk_id, score = id_of(obj), number_of(obj.get("score"))
    if chunk_id is None:
        raise UnusableError("chunk_id_missing", "chunk_id is missing", fix)
    if score is None:
        raise UnusableError("score_missing", "score is missing or not a number", fix)
    return (q_id_of(obj, None), count_of(obj, "paraphrase"), count_of(obj, "seed")), chunk_id, score


def _add(scores: dict[str, tuple[float, int]], asked: Asked, chunk_id: str, score: float, line: int) -> None:
    candidates = dict(asked.candidates)
    if chunk_id not in candidates:
        message = f"{chunk_id!r} is not among the {len(candidates)} candidates of {asked.name}"
        fix = (
            f"Score the first 20 of stages.{asked.stage}." if asked.stage != "chunks" else "Score its chunks."
        )
        raise UnusableError("unknown_chunk", message, fix)
    if chunk_id in scores:
        message = f"{chunk_id!r} of {asked.name} has a score on line {scores[chunk_id][1]:,}"
        raise UnusableError("duplicate_score", message, "Keep one score of each candidate.")
    scores[chunk_id] = score, line


def _missing(
    path: Path, asked: Sequence[Asked], found: dict[Identity, dict[str, tuple[float, int]]]
) -> Iterator[Problem]:
    """Yield a problem for each trace of which candidates have no score."""
    for each in asked:
        scores = found.get(_identity(each.key))
        if each.key.repeat > 1 or (scores is None and not each.is_headline):
            continue
        lacking = [chunk_id for chunk_id, _ in each.candidates if chunk_id not in (scores or {})]
        if lacking:
            of = counted(len(each.candidates), "candidate")
            message = f"{each.name}: no score for {len(lacking)} of {of}"
            fix = f"Add a line for each, first for {lacking[0]!r}."
            yield Problem("score_missing", message, path.name, fix)
