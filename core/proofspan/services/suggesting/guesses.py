"""Which fields are the question, the answer, the chunks and the gold: by the usual names, else by shape."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from proofspan.contracts.records.records import Json
from proofspan.services.suggesting.shapes import Node, fits
from proofspan.traces.formats.table import columns_of
from proofspan.traces.importers.paths import Path, Place, Select

_TEXT = (
    *("page_content", "chunk_text", "text", "content", "document_content", "chunk", "passage", "snippet"),
    *("body", "context", "quote", "paragraph"),
)
_QUOTE = ("quote", "cited_text", "evidence_text", "quoted_text", "excerpt", *_TEXT)
_DOCUMENT = (
    *("document_id", "doc_id", "document_name", "doc_name", "file_name", "filename", "file", "document"),
    *("doc", "source_document", "source", "file_path", "uri", "url", "title"),
)
_PAGE = ("page_idx", "page_index", "page_number", "page_num", "page_no", "pageno", "page", "pg")
_LABEL = ("page_label",)
_TOTALS = ("total_pages", "page_count", "num_pages", "n_pages")
_ID = ("chunk_id", "passage_id", "node_id", "snippet_id", "id")
_SCORE = ("score", "relevance_score", "similarity_score", "rerank_score", "similarity", "relevance")
_SECTION = ("section_id", "section")
_PART_NAMES = {
    "id": _ID,
    "text": _TEXT,
    "doc_id": _DOCUMENT,
    "section_id": _SECTION,
    "page": _PAGE,
    "page_label": _LABEL,
    "score": _SCORE,
}
_STAGES = (
    ("citations", ("citation", "citations", "cited", "cites", "cite", "footnotes")),
    ("gold", ("gold", "golden", "relevant", "evidence", "evidences", "expected", "reference", "ground")),
    ("reranked", ("reranked", "rerank", "reranker")),
    ("fused", ("fused", "fusion", "hybrid", "merged")),
    (
        "retrieved",
        (
            *("retrieved", "retrieval", "context", "contexts", "chunk", "chunks", "passage", "passages"),
            *("document", "documents", "docs", "source", "sources", "hits", "nodes", "candidates", "ctx"),
            *("results", "matches", "snippets"),
        ),
    ),
)
_ROLE = ("role", "speaker", "type", "from", "sender")
_PEOPLE, _MODELS = ("user", "human"), ("assistant", "ai", "bot", "model", "agent")
#: A text of prose is at least so long on average.
_PROSE = 60
#: A document's name in a path or with its ending.
_LOCATED = re.compile(r"[/\\]|\.pdf$", re.IGNORECASE)


@dataclass(slots=True)
class Found:
    """The path of a field, of how many items it is not null, an example, and why it is unsure, if it is."""

    path: Path
    found: int
    of: int
    example: Json
    unsure: str = ""
    base: int | None = None
    is_located: bool = False


@dataclass(slots=True)
class ListGuess:
    """A list of passages: its path, the fields of its entries, and lists that are joined by places."""

    each: Found
    fields: dict[str, Found] = field(default_factory=dict)
    joins: dict[str, Path] = field(default_factory=dict)


@dataclass(slots=True)
class Guess:
    """The parts of records. `rows`: each is a chunk of a question that several records share."""

    fields: dict[str, Found] = field(default_factory=dict)
    lists: dict[str, ListGuess] = field(default_factory=dict)
    expected: Found | None = None
    group_by: Path | None = None
    #: What else there is, with a note on it.
    others: list[tuple[str, Found]] = field(default_factory=list)

    @property
    def has_traces(self) -> bool:
        """Return whether anything was asked, but for a set of gold questions alone."""
        is_answered = "answer" in self.fields or bool(self.lists.keys() - {"gold"})
        return "q" in self.fields and (is_answered or not self.has_gold)

    @property
    def has_gold(self) -> bool:
        """Return whether there are gold questions."""
        return "q" in self.fields and (self.expected is not None or "gold" in self.lists)


def guessed(records: Node) -> Guess:
    """Return the guess for records, of which `records` is the shape."""
    guess = Guess()
    scalars = [each for each in records.scalars() if fits(each.path_below(records))]
    by_name = {each.name: each for each in reversed(scalars) if each.is_text}
    columns = columns_of(reversed(by_name))
    used: list[Node] = []
    for part in ("q", "answer", "expected"):
        if part in columns:
            node = by_name[columns[part]]
            used.append(node)
            found = _found(node, records)
            if part == "expected":
                guess.expected = found
            else:
                guess.fields[part] = found
    _add_messages(guess, records)
    if "q" not in guess.fields and (asking := next(filter(_asks, scalars), None)) is not None:
        used.append(asking)
        guess.fields["q"] = _found(asking, records)
    _add_id(guess, records, [each for each in scalars if each not in used], used)
    unnamed = [each for entry in records.lists() if (each := _add_list(guess, entry, records)) is not None]
    if not guess.lists.keys() - {"gold", "citations"} and len(unnamed) == 1:
        guess.lists["retrieved"] = unnamed.pop()
    guess.others += [("list", each.each) for each in unnamed]
    if guess.lists.keys() == {"gold"} and guess.expected is None:
        guess.expected = guess.fields.pop("answer", None)  # of a set of gold questions
    _share_bases(guess)
    if "q" in guess.fields and not guess.lists.keys():
        _add_rows(guess, records, [each for each in scalars if each not in used])
    if "q" not in guess.fields:
        guess.fields = _parts(records, records)
    known = {str(each.path) for each in guess.fields.values()}
    if guess.group_by is not None:
        known |= {str(each.path) for each in guess.lists["retrieved"].fields.values()}
    left = [each for each in scalars if each not in used and str(each.path_below(records)) not in known]
    guess.others += [("", _found(each, records)) for each in left]
    return guess


def _share_bases(guess: Guess) -> None:
    """Let lists whose pages are at the same path count from the same number."""
    pages = [listed.fields["page"] for listed in guess.lists.values() if "page" in listed.fields]
    bases = {str(each.path): each.base for each in pages if each.base is not None}
    for each in pages:
        if each.base is None and (base := bases.get(str(each.path))) is not None:
            each.base, each.unsure = base, ""


def _found(node: Node, above: Node, unsure: str = "") -> Found:
    example = node.values[0] if node.values else None
    return Found(node.path_below(above), node.found_in(above), len(above.values), example, unsure)


def _asks(node: Node) -> bool:
    """Return whether most of the texts are questions by their last sign."""
    texts = node.texts
    return node.is_text and 2 * sum(each.rstrip()[-1:] in ("?", "？", "؟") for each in texts) > len(texts)


def _add_messages(guess: Guess, records: Node) -> None:
    """Add question and answer of lists of messages, where no field has them."""
    for entry in records.lists():
        role = next((each for each in entry.scalars() if each.name in _ROLE), None)
        text = _named(entry, ("content", "text", "value", "message"))
        if role is None or text is None:
            continue
        for part, roles in (("q", _PEOPLE), ("answer", _MODELS)):
            name = next((each for each in roles if each in role.values), None)
            if name is not None and part not in guess.fields:
                steps = (*entry.steps[len(records.steps) : -1], Select(str(role.steps[-1]), name))
                path = Path((*steps, *text.path_below(entry).steps))
                values = [next(path.all(Place(each, each, 1)), None) for each in records.values]
                there = [each for each in values if isinstance(each, str)]
                if there:
                    guess.fields[part] = Found(path, len(there), len(values), there[0])


def _add_id(guess: Guess, records: Node, scalars: Sequence[Node], used: list[Node]) -> None:
    """Add the question's id: by its name, else by an ending `id` where all values differ."""
    by_name = {each.name: each for each in reversed(scalars)}
    name = columns_of(reversed(by_name)).get("q_id")
    ids = [by_name[name]] if name is not None else []
    ids += [
        each
        for each in scalars
        if each.name.endswith("_id") and len({*map(str, each.values)}) == len(records.values)
    ]
    plain = [each for each in ids if not any(isinstance(value, float) for value in each.values)]
    if plain:
        used.append(plain[0])
        guess.fields["q_id"] = _found(plain[0], records)


def _add_list(guess: Guess, entry: Node, records: Node) -> ListGuess | None:
    """Add a list of passages to the stage that its name says; return one of prose whose name says none."""
    if not fits(entry.path_below(records)) or any(each.name in _ROLE[:2] for each in entry.scalars()):
        return None
    found = _found(entry, records)
    found.found = sum(bool(each) for each in _list_values(entry, records))
    found.example = None
    parts = _parts(entry, entry)
    listed = ListGuess(found, parts)
    if entry.is_text and "text" not in parts:
        listed.fields["text"] = Found(Path(()), len(entry.values), len(entry.values), entry.values[0])
        _add_joins(listed, entry, records)
    if "text" not in listed.fields and "id" not in listed.fields:
        return None
    words = set(entry.name.split("_"))
    stage = next((stage for stage, names in _STAGES if words.intersection(names)), None)
    is_prose = median(map(len, map(str, _values(listed, "text", entry))) or [0]) >= _PROSE
    if stage is None and is_prose:
        return listed
    if stage is None or stage in guess.lists or (stage == "retrieved" and not (is_prose or entry.keys)):
        guess.others.append(("list" if stage is None else f"another list for {stage}", found))
    else:
        guess.lists[stage] = listed
    return None


def _list_values(entry: Node, records: Node) -> Iterator[Json]:
    path = Path(entry.path_below(records).steps)
    for each in records.values:
        yield list(path.all(Place(each, each, 1)))


def _values(listed: ListGuess, part: str, entry: Node) -> list[Json]:
    if part not in listed.fields:
        return [""]
    path = listed.fields[part].path
    found = [next(path.all(Place(each, each, 1)), None) for each in entry.values]
    return [each for each in found if each is not None] or [""]


def _add_joins(listed: ListGuess, entry: Node, records: Node) -> None:
    """Join lists beside one of texts that are always as long: ids, scores, documents."""
    parent, lists = _beside(entry, records)
    for name, node in lists.items():
        if node.entry is None or node.lengths != lists[str(parent)].lengths or name == parent:
            continue
        other = node.entry
        while other.entry is not None and not other.keys:
            other = other.entry
        words = set(node.name.split("_"))
        parts = _parts(other, other)
        if other.is_scalar and not words & {"distance", "distances"}:
            scored = all(isinstance(each, (int, float)) for each in other.values)
            part = "score" if scored and words & {"score", "scores", "similarity", "similarities"} else ""
            part = part or ("id" if words & {"id", "ids"} and not scored else "")
            parts = (
                {part: Found(Path(()), len(other.values), len(other.values), other.values[0])} if part else {}
            )
        join = re.sub(r"\W", "_", node.name) or "other"
        for part, found in parts.items():
            if part not in listed.fields and part != "text":
                found.path = Path(found.path.steps, join)
                listed.fields[part] = found
                listed.joins[join] = other.path_below(records)


def _beside(entry: Node, records: Node) -> tuple[str | None, dict[str, Node]]:
    """Return the key of the entry's list, and the fields of the object that it is in."""
    node, last = records, None
    around = records
    for step in entry.steps[len(records.steps) :]:
        if isinstance(step, str) and step in node.keys:
            around, last, node = node, step, node.keys[step]
        elif node.inside is not None:
            node = node.inside
        else:
            break
    return last, around.keys


def _parts(item: Node, above: Node) -> dict[str, Found]:
    """Return the fields of a passage."""
    parts: dict[str, Found] = {}
    used: list[Node] = []
    for part, names in _PART_NAMES.items():
        node = _named(item, names, [each for each in item.scalars() if each not in used])
        if part == "text" and node is None:
            node = _longest([each for each in item.scalars() if each.is_text and each not in used])
        if node is None or not fits(node.path_below(above)):
            continue
        found = _found(node, above)
        if part == "page":
            _add_base(found, node, item)
        elif part == "doc_id":
            found.is_located = any(_LOCATED.search(each) for each in node.texts)
        elif (part == "score" and not _are_numbers(node)) or (part == "text" and not node.is_text):
            continue
        used.append(node)
        parts[part] = found
    if "id" in parts and "text" in parts and not _is_of_one_text(parts, item):
        parts["id"].unsure = "the same id has different texts"
    return parts


def _are_numbers(node: Node) -> bool:
    try:
        return all(math.isfinite(float(each)) for each in node.values)
    except (ValueError, TypeError):
        return False


def _longest(texts: Sequence[Node]) -> Node | None:
    """Return the field with the longest texts, if they are prose."""
    longest = max(texts, key=_length, default=None)
    return longest if longest is not None and _length(longest) >= _PROSE else None


def _length(node: Node) -> float:
    return median(map(len, node.texts))


def _named(item: Node, names: Sequence[str], scalars: Sequence[Node] | None = None) -> Node | None:
    """Return the nearest field with the first of the names, as it is or after other words."""
    nodes = list(item.scalars()) if scalars is None else scalars
    for name in names:
        for node in nodes:
            if node.name == name or (name != "id" and node.name.endswith(f"_{name}")):
                return node
    return None


def _add_base(found: Found, node: Node, item: Node) -> None:
    """Say from which number pages count, where names or values show it: it is never guessed."""
    numbers = [_whole(each) for each in node.values]
    totals = _numbers_beside(node, item, _TOTALS)
    labels = _numbers_beside(node, item, _LABEL)
    if None in numbers:
        found.unsure = "not all of its values are whole numbers"
    elif 0 in numbers or node.name.endswith(("idx", "index")):
        found.base = 0
    elif any(page == total for page, total in totals):
        found.base = 1
    elif labels and 2 * sum(label == page + 1 for page, label in labels) > len(labels):
        found.base = 0
    else:
        found.unsure = "write 0 or 1: what does the source call a document's first page?"


def _numbers_beside(node: Node, item: Node, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of whole numbers of a field and of the field with one of the names."""
    other = _named(item, names)
    if other is None:
        return []
    paths = [each.path_below(item) for each in (node, other)]
    places = [Place(each, each, 1) for each in item.values]
    pairs = [[_whole(next(path.all(place), None)) for path in paths] for place in places]
    return [(page, number) for page, number in pairs if page is not None and number is not None]


def _whole(value: Json) -> int | None:
    if isinstance(value, str):
        return int(value) if value.isdecimal() and value.isascii() and len(value) < 10 else None
    return int(value) if isinstance(value, (int, float)) and value == int(value) else None


def _is_of_one_text(parts: dict[str, Found], item: Node) -> bool:
    texts: dict[str, Json] = {}
    for value in item.values:
        place = Place(value, value, 1)
        key, text = (next(parts[each].path.all(place), None) for each in ("id", "text"))
        if key is not None and text is not None and texts.setdefault(str(key), text) != text:
            return False
    return True


def _add_rows(guess: Guess, records: Node, scalars: Sequence[Node]) -> None:
    """Recognize records that are a chunk each, of questions that repeat."""
    asked = [str(next(guess.fields["q"].path.all(Place(each, each, 1)), "")) for each in records.values]
    if len(set(asked)) > 0.7 * len(asked):
        return
    item = Node(records.steps, records.values, {str(each.steps[-1]): each for each in scalars})
    parts = {name: found for name, found in _parts(item, records).items() if name != "q"}
    text = _named(item, _TEXT)
    if text is None or "text" not in parts or parts["text"].found < len(asked) or len({*text.texts}) == 1:
        return
    key = guess.fields["q"].path
    if "q_id" in guess.fields:
        ids = [str(next(guess.fields["q_id"].path.all(Place(each, each, 1)), "")) for each in records.values]
        if len(set(ids)) == len(set(asked)) == len({*zip(ids, asked, strict=True)}):
            key = guess.fields["q_id"].path
        else:
            del guess.fields["q_id"]
    guess.group_by = key
    each = Found(Path(()), len(asked), len(asked), None)
    guess.lists["retrieved"] = ListGuess(each, parts)
