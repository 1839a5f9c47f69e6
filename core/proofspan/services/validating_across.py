"""The rules that look at a record beside others: of its file, and of the files validated with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.record_lists import ids_of
from proofspan.contracts.records import Json
from proofspan.traces.fields import first_of, id_of, index_of, text_of

#: Record type → the field of its id, and what else tells two such records apart.
_IDENTITY: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "chunk": ("chunk_id", ()),
    "catalogue": ("attachment_id", ()),
    "redirect": ("old_id", ()),
    "gold": ("q_id", ()),
    "query": ("q_id", ("paraphrase", "seed", "run_id")),
    "retrieved": ("q_id", ("ranker", "paraphrase", "seed", "run_id")),
    "rerank": ("q_id", ("model", "paraphrase", "seed", "run_id")),
    "prompt-frame": ("q_id", ("paraphrase", "seed", "run_id")),
    "answer": ("q_id", ("paraphrase", "seed", "run_id")),
    "trace": ("q_id", ("paraphrase", "seed", "run_id")),
    "report": ("q_id", ("paraphrase", "seed", "run_id")),
    "log": ("qid", ("seg", "paraphrase", "seed", "run_id")),
    "rag-traces": ("qid", ("seg", "paraphrase", "seed", "run_id")),
}
#: Of these a second one answers a question again; of the others it takes an id that is taken.
_ANSWERING = frozenset({"answer", "trace"})
#: Record type → the field with the chunks that it names.
_NAMING: Mapping[str, str] = {
    "retrieved": "items",
    "rerank": "items",
    "answer": "cited_chunks",
    "prompt-frame": "citations",
    "log": "citations",
    "rag-traces": "citations",
}
#: Record types that say of themselves which question they belong to, and are none themselves.
_JOINED = frozenset({"retrieved", "rerank", "prompt-frame"})
_COUNTED = ("paraphrase", "seed")
#: The code of a chunk that was not retrieved, and what happened to it all the same.
_CITED, _RERANKED = ("cited_not_retrieved", "cited"), ("reranked_not_retrieved", "reranked")
#: Record types that say what was retrieved, and which questions there are.
RELATING = ("query", "retrieved", "answer", "log", "rag-traces")


class Facts(NamedTuple):
    """What of a record others are compared with. `identity` is "" where the record needs none.

    `ids` are the chunks that it names, None in the place of an entry without one.
    """

    kind: str
    identity: str
    q_id: str
    ids: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """What the separate records of one invocation say together: chunks by question, and all questions."""

    retrieved: Mapping[str, frozenset[str]] = field(default_factory=dict)
    questions: frozenset[str] = frozenset()


def facts_of(kind: str, obj: Mapping[str, Json]) -> Facts | None:
    """The facts of a record; None for types that are compared with nothing."""
    if kind not in _IDENTITY and kind not in _NAMING:
        return None
    q_id = text_of(first_of(obj, ("q_id", "qid"))) or ""
    return Facts(kind, _identity(kind, obj), q_id, tuple(ids_of(obj.get(_NAMING.get(kind, "")))))


def _identity(kind: str, obj: Mapping[str, Json]) -> str:
    name, others = _IDENTITY.get(kind, ("", ()))
    own = id_of(obj) if kind == "chunk" else text_of(first_of(obj, (name, "q_id", "qid")))
    if not own:
        return ""
    told = [own]
    for other in others:
        value = index_of(obj.get(other)) or 0 if other in _COUNTED else text_of(obj.get(other))
        if value:
            told.append(f"{other} {value}")
    return ", ".join(told)


class Relating:
    """Gathers what records say together."""

    def __init__(self) -> None:
        self._retrieved: dict[str, set[str]] = defaultdict(set)
        self._questions: set[str] = set()

    def add(self, facts: Facts) -> None:
        """Note a record's chunks, or its question."""
        if facts.kind == "retrieved":
            self._retrieved[facts.q_id].update(filter(None, facts.ids))
        elif facts.kind in RELATING and facts.q_id:
            self._questions.add(facts.q_id)

    def related(self) -> Related:
        """All of it."""
        retrieved = {q_id: frozenset(ids) for q_id, ids in self._retrieved.items()}
        return Related(retrieved, frozenset(self._questions))


class Across:
    """Judges the records of a file in their order; of each id only eight bytes are kept."""

    def __init__(self, related: Related) -> None:
        self._related = related
        self._lines: dict[int, int] = {}

    def findings(self, line: int, facts: Facts) -> Iterator[Finding]:
        """What is wrong with the record on `line` beside those before it."""
        if facts.identity:
            yield from self._repeated(line, facts)
        if facts.kind in _JOINED and facts.q_id:
            yield from self._unjoined(facts)
        if facts.kind in _NAMING and facts.kind != "retrieved" and facts.q_id and self._related.retrieved:
            yield from self._unretrieved(facts)

    def _repeated(self, line: int, facts: Facts) -> Iterator[Finding]:
        told = f"{facts.kind}\n{facts.identity}".encode("utf-8", "replace")
        key = int.from_bytes(blake2b(told, digest_size=8).digest())
        first = self._lines.setdefault(key, line)
        if first != line:
            code = "duplicate_question" if facts.kind in _ANSWERING else "duplicate_id"
            said = f"{shown(facts.identity)} came before, on line {first:,}"
            yield Finding(code, _IDENTITY[facts.kind][0], said)

    def _unjoined(self, facts: Facts) -> Iterator[Finding]:
        known = self._related.questions
        if known and facts.q_id not in known:
            yield Finding(
                "unjoined_record", "q_id", f"no answer, query or log line has the id {shown(facts.q_id)}"
            )

    def _unretrieved(self, facts: Facts) -> Iterator[Finding]:
        retrieved = self._related.retrieved.get(facts.q_id, frozenset())
        code, verb = _RERANKED if facts.kind == "rerank" else _CITED
        for place, chunk_id in enumerate(facts.ids, start=1):
            if chunk_id is not None and chunk_id not in retrieved:
                among = f"not among the {len(retrieved):,}" if retrieved else "nothing was"
                said = f"{shown(chunk_id)} is {verb}, and {among} retrieved for {shown(facts.q_id)}"
                yield Finding(code, f"{_NAMING[facts.kind]}[{place}]", said)
