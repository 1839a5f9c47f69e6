"""The canonical records. Everything read from a file becomes one of these, once, at the door.

Pages are 0-based `page_idx` everywhere; `page` and `p=` of foreign records are 1-based and converted where
they are read. Offsets are half open. A `Box` is `(x0, y0, x1, y1)` in points, origin top left of the visible
page, unrotated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from proofspan.errors import Problem

Json = Any
Box = tuple[float, float, float, float]
Label = Literal["ok", "retrieval_drift", "generation_drift", "refusal_ok", "refusal_suspect"]
OffsetUnit = Literal["char", "byte", "token", "line"]
BoxSpace = Literal["points", "unit", "per_mille"]
AttachmentKind = Literal["warning", "caution", "note", "image", "table", "symbol"]
StageName = Literal["retrieved", "fused", "reranked", "chunks"]

#: The question of a response that was saved without its request.
NO_QUESTION = "(the question is not in the file)"

#: Worst first: the order in which Triage shows them and in which labels sort.
LABELS: tuple[Label, ...] = (
    "generation_drift",
    "retrieval_drift",
    "refusal_suspect",
    "refusal_ok",
    "ok",
)


@dataclass(frozen=True, slots=True)
class Offsets:
    """A half-open range in a document's canonical text; `start < end` is checked by rules, not here."""

    start: int
    end: int
    unit: OffsetUnit = "char"


@dataclass(frozen=True, slots=True)
class SourceLine:
    """The place of a record: the file as the manifest names it, 1-based line, byte offset and length."""

    file: str
    line: int
    offset: int
    length: int


NOWHERE = SourceLine("", 0, 0, 0)


@dataclass(frozen=True, slots=True)
class LineIssue(Problem):
    """A problem with one line of a file, mostly that it holds no record.

    `where` is `file:line` of the `source`; `excerpt` holds at most the line's first 200 characters.
    """

    source: SourceLine = NOWHERE
    excerpt: str = ""

    @classmethod
    def at(cls, source: SourceLine, code: str, message: str, fix: str, excerpt: str = "") -> Self:
        """Build the issue of the line at `source`."""
        return cls(code, message, f"{source.file}:{source.line}", fix, source=source, excerpt=excerpt)

    def as_json(self) -> dict[str, Json]:
        """Return the issue as commands print it."""
        return {
            "source": asdict(self.source),
            "code": self.code,
            "reason": self.message,
            "fix": self.fix,
            "excerpt": self.excerpt,
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk at a rank in one stage. `rank` is 1-based; absent scores and pages are None."""

    chunk_id: str
    rank: int
    doc_id: str | None = None
    section_id: str | None = None
    page_idx: int | None = None
    score: float | None = None
    pre_score: Mapping[str, float] = field(default_factory=dict)
    post_score: Mapping[str, float] = field(default_factory=dict)
    features: Mapping[str, Json] = field(default_factory=dict)
    text: str | None = None
    raw: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stage:
    """One ranked list of a trace, in rank order."""

    name: StageName
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A pointer from an answer to a span. `origin` is "payload" or "answer_text".

    `number` is the 1-based position among the trace's citations and what `?cite=` names. `quote` is the text
    to look for on the page: the payload's own, else the chunk's text (filled in by services).
    `page_from` is the source of the page: a record, or only the `p=` part of the chunk id. `page_note` is a
    problem with the payload's page: "page_below_one" (its `page` counts from 1, so 0 is a finding),
    "page_unreadable", "pages_disagree". `page_label` is the label printed on the page, as the record gives
    it; without a page index it is looked up in the document. `last_page_idx` is the last page of a place that
    runs over several.
    """

    number: int
    chunk_id: str | None
    doc_id: str | None = None
    section_id: str | None = None
    page_idx: int | None = None
    offsets: Offsets | None = None
    quote: str | None = None
    box: Box | None = None
    box_space: BoxSpace | None = None
    origin: Literal["payload", "answer_text"] = "payload"
    raw: Mapping[str, Json] = field(default_factory=dict)
    page_from: Literal["record", "chunk_id"] | None = None
    page_note: Literal["page_below_one", "page_unreadable", "pages_disagree"] | None = None
    page_label: str | None = None
    last_page_idx: int | None = None


@dataclass(frozen=True, slots=True)
class TraceKey:
    """The identity of a trace inside a workspace. `repeat` counts from 1; the second of a kind is `Q80#2`."""

    run_id: str
    q_id: str
    paraphrase: int = 0
    seed: int = 0
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class AnswerBlock:
    """An auditable answer block: its citations, answer and measures, and its `[start, end)` in the text.

    `keys` are its keys in the order of the text, each once.
    """

    citations: tuple[Json, ...]
    answer: str
    delta_s: float | None
    lambda_state: str | None
    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """One question in one run, with what every reader needs; the rest is read from `raw` on demand.

    Building this must stay cheap (a million times an index build), so candidates and citations are read
    by `proofspan.traces.records.trace_record.stages` and `proofspan.traces.records.citations.citations`.

    `chunk_ids` are the ids of `chunks` in order, chunks without one skipped. `suspicions` are those of the
    line itself (`answer_missing`, `chunks_missing`, `chunk_without_id`, `citation_page_zero`,
    `question_unknown`). `payload` are the entries of the citation payload, `ids_in_text` the ids of
    `citations: [id, id]` in the answer, and `block` is the auditable block in it.
    """

    q: str
    answer: str
    chunk_ids: tuple[str, ...]
    run_id: str
    q_id: str
    paraphrase: int
    seed: int
    source: SourceLine
    suspicions: tuple[str, ...]
    raw: Mapping[str, Json]
    payload: Sequence[Json] = ()
    ids_in_text: tuple[str, ...] = ()
    block: AnswerBlock | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """An atomic unit of retrieval. `page_idx` is None where it is not known; `hash` as the file gives it.

    `page_label` is what is printed on its page, for a producer that knows no index.
    """

    chunk_id: str
    text: str
    doc_id: str | None = None
    section_id: str | None = None
    section_number: str | None = None
    page_idx: int | None = None
    order_in_section: int | None = None
    offsets: Offsets | None = None
    box: Box | None = None
    box_space: BoxSpace | None = None
    tokens: int | None = None
    hash: str | None = None
    block_type: str | None = None
    anchor: str | None = None
    raw: Mapping[str, Json] = field(default_factory=dict)
    page_label: str | None = None


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """The place of a gold answer: a quote on a page of a document, with offsets where they are known."""

    doc_id: str
    page_idx: int | None
    quote: str
    offsets: Offsets | None = None


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """The known right answer to one question, and its evidence.

    `grades` are the relevances of gold chunks by id, from 1; a chunk without one has 1.
    """

    q_id: str
    q: str
    answerable: bool = True
    answer: str | None = None
    type: str | None = None
    sections: tuple[str, ...] = ()
    decoy_sections: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    grades: Mapping[str, int] = field(default_factory=dict)
    spans: tuple[GoldSpan, ...] = ()
    anchor: str | None = None
    paraphrases: tuple[str, ...] = ()
    raw: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment to an answer: a signal box, a picture, a table, a symbol of a document.

    `box` is in `box_space`, points by default. `render_ref` is the record's own text (see
    `proofspan.contracts.records.render_ref`), None if there is nothing to draw.
    """

    attachment_id: str
    kind: AttachmentKind
    doc_id: str | None = None
    section_id: str | None = None
    page_idx: int | None = None
    box: Box | None = None
    box_space: BoxSpace = "points"
    text: str = ""
    caption: str | None = None
    render_ref: str | None = None
    raw: Mapping[str, Json] = field(default_factory=dict)
