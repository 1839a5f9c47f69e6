"""Questions of another tool's file in one form for all formats, before they become a workspace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from proofspan.contracts.records.records import BoxSpace, Json, StageName
from proofspan.errors import Problem
from proofspan.traces.lines.unpack import OnBytes, no_progress

PageBase = Literal[0, 1]
Shape = Literal["object", "array", "lines", "table", "zip", "folder", "text", "http", "other"]
#: Most problems of one source that are listed; the others are counted.
MOST_PROBLEMS = 200
#: Sets of fields that are counted before they become counts of each field.
_MOST_ALIKE = 1_024


@dataclass(slots=True, kw_only=True)
class Passage:
    """A text that a pipeline had or an API cited, placed as far as its source says.

    `id` is the source's own id and `document` its name for the document: a title, a file's name, a path, a
    URI or an id. `page` counts as the source does, from `page_base`; None where unknown, so that it is
    measured. `last_page` is the last of several, where the text runs over them. `label` is the label printed
    on the page, `offsets` are characters of the document's text, half open. `box` is in the units of
    `box_space`. `more` is what else the source says.
    """

    text: str | None = None
    id: str | None = None
    document: str | None = None
    section: str | None = None
    page: int | None = None
    last_page: int | None = None
    page_base: PageBase | None = None
    label: str | None = None
    score: float | None = None
    offsets: tuple[int, int] | None = None
    box: tuple[float, float, float, float] | None = None
    box_space: BoxSpace | None = None
    more: dict[str, Json] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Cited:
    """A citation of an answer: a place, and the part of the answer that it supports.

    `passage.text` is the quote, None where the source gives none. `chunk` is the id of a passage of the
    question's lists that it names. `span` are characters of the answer, half open. `reason` says why it
    cannot lead to a page, such as that it names a web page; it is kept all the same.
    """

    passage: Passage
    chunk: str | None = None
    span: tuple[int, int] | None = None
    reason: str = ""


@dataclass(slots=True, kw_only=True)
class Asked:
    """A question with its answer, as a source has it.

    `place` is its place in the source for messages: "line 3", "trace 1a2b". `q_id` is the source's own id;
    without one the question's text decides. `lists` are its ranked lists, the best first; `chunks` are what
    the model saw. `expected` is the expected answer and `gold` what holds it; `answerable` is False where
    the source says that nothing does. `scores` are measures, feedback and annotations of other tools by name:
    a number, a text, or `{"score", "label", "explanation", "by"}` with those that are known; a list of these
    where several people or judges gave one. `fields` are copied as they are. Questions with the same `run`
    are a run of their own: a model, or a repetition. `review` is what people say of the answer in the
    workspace that it is written from (see `proofspan.traces.exports.reviews`); no format gives one.
    """

    place: str
    q: str
    q_id: str | None = None
    answer: str | None = None
    lists: dict[StageName, list[Passage]] = field(default_factory=dict)
    cited: list[Cited] = field(default_factory=list)
    expected: str | None = None
    gold: list[Passage] = field(default_factory=list)
    answerable: bool | None = None
    scores: dict[str, Json] = field(default_factory=dict)
    fields: dict[str, Json] = field(default_factory=dict)
    run: str = ""
    review: dict[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """The reading of a source: how often each field was understood, and which records could not be used.

    `records` counts what the source calls its records (rows, spans, samples). `lost` counts those that gave
    nothing, each with a problem. `on_bytes` is called with how many bytes are read and how many there are:
    of a packed file those on the disk, of an archive those of its members unpacked; a source of several runs
    is read one after the other.
    """

    file: str
    records: int = 0
    lost: int = 0
    problems: list[Problem] = field(default_factory=list)
    not_listed: int = 0
    on_bytes: OnBytes = field(default=no_progress, repr=False, compare=False)
    _understood: Counter[str] = field(default_factory=Counter)
    _left: Counter[str] = field(default_factory=Counter)
    #: How many records had the same fields: where, the fields that are used, and those that hold anything.
    _alike: dict[tuple[str, frozenset[str], tuple[str, ...]], int] = field(default_factory=dict)

    @property
    def understood(self) -> Counter[str]:
        """How often each field that is used held anything."""
        self._count()
        return self._understood

    @property
    def left(self) -> Counter[str]:
        """How often each other field held anything."""
        self._count()
        return self._left

    def fields(self, record: Mapping[str, Json], used: Collection[str], at: str = "") -> None:
        """Count the fields of a record that hold anything: those in `used`, and the others as left."""
        names = tuple(record)
        if not all(record.values()):  # 0 and false say something
            names = tuple(name for name, value in record.items() if value or isinstance(value, (int, float)))
        if not names:
            return
        key = at, frozenset(used), names
        self._alike[key] = self._alike.get(key, 0) + 1
        if len(self._alike) > _MOST_ALIKE:
            self._count()

    def _count(self) -> None:
        for (at, used, names), times in self._alike.items():
            for name in names:
                (self._understood if name in used else self._left)[f"{at}{name}"] += times
        self._alike.clear()

    def problem(self, code: str, message: str, place: str, fix: str, *, lost: bool = True) -> None:
        """Note a problem of a record, which is lost with it unless `lost` is False."""
        self.lost += lost
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(code, message, f"{self.file}: {place}", fix))
        else:
            self.not_listed += 1


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a source, by which its format is recognized.

    `records` are its first objects: the one object, the first of an array or of lines, or the first rows of
    a table. `names` are the files in an archive or a folder. `head` is at most 64 KiB, unpacked.
    """

    path: Path
    shape: Shape
    head: bytes = b""
    records: tuple[Mapping[str, Json], ...] = ()
    names: tuple[str, ...] = ()

    @property
    def first(self) -> Mapping[str, Json]:
        """Return the first object, {} without one."""
        return self.records[0] if self.records else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format that is opened without a mapping.

    `detect` returns why a source has this format, such as "every row has user_input and response", None if it
    does not. `read` yields the questions of a source and counts in `Reading`; it raises a Fault where nothing
    can be read. `title` is how people call it, `versions` what was read to write it. `example` is a small
    source of this format, which tests open; `suffix` is the ending of such a file. `documentation` is a
    sentence or two for docs: what becomes a question, and which traps there are.
    """

    name: str
    title: str
    versions: str
    suffix: str
    example: bytes
    documentation: str
    detect: Callable[[Sample], str | None]
    read: Callable[[Path, Reading], Iterator[Asked]]
