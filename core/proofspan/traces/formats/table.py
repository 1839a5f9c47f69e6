"""Tables with the usual column names: a row is a question. CSV, Parquet, and JSON rows with these names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import first_of, number_of, text_of
from proofspan.contracts.records.records import Json, StageName
from proofspan.traces.formats.nested import list_of, number, text
from proofspan.traces.formats.payloads import passage_of
from proofspan.traces.formats.records import read_records
from proofspan.traces.formats.types import Asked, Cited, Format, Passage, Reading, Sample

#: The names of columns in lower case with _ between words; the first that a table has counts.
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "q": (
        *("question", "query", "user_input", "user_query", "user_question", "question_text", "prompt"),
        *("input", "q"),
    ),
    "answer": (
        *("response", "generated_answer", "generated_response", "model_answer", "model_response"),
        *("rag_answer", "llm_answer", "predicted_answer", "prediction", "generation", "completion"),
        *("actual_output", "output", "answer"),
    ),
    "contexts": (
        *("contexts", "context", "retrieved_contexts", "retrieved_context", "retrieval_context", "chunks"),
        *("retrieved_chunks", "retrieved_passages", "passages", "source_documents", "retrieved_documents"),
        *("retrieved_docs", "documents", "docs", "sources"),
    ),
    "ids": (
        *("retrieved_context_ids", "context_ids", "chunk_ids", "retrieved_ids", "retrieved_doc_ids"),
        "doc_ids",
    ),
    "reranked": ("reranked_contexts", "reranked_chunks", "reranked_documents", "reranked_passages"),
    "expected": (
        *("reference_answer", "expected_answer", "ground_truth", "ground_truths", "gold_answer", "gt_answer"),
        *("golden_answer", "correct_answer", "ideal_answer", "expected_output", "expected_response"),
        *("expected", "reference", "gold", "target", "answer"),
    ),
    "gold": (
        *("reference_contexts", "gold_contexts", "gold_context", "gold_passages", "gold_documents"),
        *("gold_chunks", "expected_documents", "expected_document", "relevant_documents"),
        "expected_contexts",
    ),
    "cited": ("citations", "citation", "cited_passages", "cited_sources", "answer_citations"),
    "gold_ids": ("reference_context_ids", "gold_ids", "gold_doc_ids", "relevant_doc_ids", "gold_chunk_ids"),
    "q_id": ("question_id", "query_id", "q_id", "qid", "sample_id", "example_id", "id", "_id"),
    "run": ("run_id", "run", "model", "model_name", "system", "experiment"),
}
#: Columns with the place of a row's only passage, of a row without one the place that its answer cites.
_DOCUMENT = (
    *("document", "document_name", "doc_name", "doc", "file_name", "filename", "file", "file_path", "pdf"),
    *("source_document", "source_file", "source"),
)
_PAGE = ("page_idx", "page_index", "page", "page_number", "page_no", "page_num")
_NO_WORD = re.compile(r"[^a-z0-9]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: What separates names in one cell, and the longest name.
_BETWEEN = re.compile(r"\s*[|\n;]\s*")
_MOST_NAME = 120
_DEEPEST = 6


def plain_name(name: str) -> str:
    """Return a name in lower case with _ between its words."""
    return _NO_WORD.sub("_", _INNER_CAPITAL.sub("_", name).lower()).strip("_")


def columns_of(names: Iterable[str]) -> dict[str, str]:
    """Return the column of each part of a question, such as {"q": "Question"}; none has two parts."""
    left: dict[str, str] = {}
    for name in names:
        left.setdefault(plain_name(name), name)
    found: dict[str, str] = {}
    for part, usual in COLUMNS.items():
        if (plain := next((each for each in usual if each in left), None)) is not None:
            found[part] = left.pop(plain)
    return found


def detect(sample: Sample) -> str | None:
    """Return why a source is such a table: it has a question, and an answer or what was retrieved."""
    if sample.shape not in ("table", "lines", "array") or not sample.records:
        return None
    names = list(dict.fromkeys(name for each in sample.records for name in each))
    found = columns_of(names)
    if sample.shape != "table" and (found.get("q") == "q" or not {"contexts", "cited"} & found.keys()):
        return None  # a trace of our own, gold questions, or records of anything
    if "q" not in found or not {"answer", "contexts", "ids", "reranked", "cited"} & found.keys():
        return None
    return f"it has the columns {', '.join(found.values())}"


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each row."""
    columns: dict[str, str] = {}
    known: tuple[str, ...] = ()
    for place, row in read_records(path, reading):
        if (names := tuple(row)) != known:  # rows of CSV leave out empty cells
            known = names
            columns = columns_of(
                [*columns.values(), *(each for each in names if each not in columns.values())]
            )
        yield question_of(place, row, columns, reading)


def question_of(place: str, row: dict[str, Json], columns: Mapping[str, str], reading: Reading) -> Asked:
    """Return the question of a row. A cell that should hold passages and does not is kept as a field."""
    cells = {part: row.get(name) for part, name in columns.items()}
    passages = passages_of(cells.get("contexts"), cells.get("ids"))
    reranked = passages_of(cells.get("reranked"), None)
    cited = passages_of(cells.get("cited"), None)
    gold = passages_of(cells.get("gold"), cells.get("gold_ids"))
    named, alone = _named_place(row, columns), reranked or passages
    if named is not None and len(alone) == 1 and alone[0].document is None and alone[0].page is None:
        alone[0].document, alone[0].page, alone[0].page_base = named.document, named.page, named.page_base
    elif named is not None and not (alone or cited or gold or "expected" in columns) and cells.get("answer"):
        cited = [named]
    read_as = {"contexts": passages, "reranked": reranked, "cited": cited, "gold": gold}
    unread = {
        columns[part]
        for part, found in read_as.items()
        if not found and any(_flat(list_of(cells.get(part)), _DEEPEST))
    }
    used = {*columns.values()} - unread
    others = {
        name: value for name, value in row.items() if name not in used and value not in (None, "", [], {})
    }
    reading.fields(row, row.keys() - unread)
    numbers = {name: _score(value) for name, value in others.items() if plain_name(name) not in _PAGE}
    scores: dict[str, Json] = {name: found for name, found in numbers.items() if found is not None}
    lists: dict[StageName, list[Passage]] = {}
    if passages:
        lists["retrieved" if cells.get("reranked") else "chunks"] = passages
    if reranked:
        lists["chunks"] = reranked
    expected = [each for value in list_of(cells.get("expected")) if (each := text(value)) is not None]
    return Asked(
        place=place,
        q=text(cells.get("q")) or "",
        q_id=text_of(cells.get("q_id")),
        answer=text(cells.get("answer")),
        lists=lists,
        cited=[Cited(passage=each) for each in cited],
        expected=expected[0] if expected else None,
        gold=gold,
        scores=scores,
        fields={name: value for name, value in others.items() if name not in scores}
        | ({"expected_answers": expected} if len(expected) > 1 else {}),
        run=text(cells.get("run")) or "",
    )


def _named_place(row: Mapping[str, Json], columns: Mapping[str, str]) -> Passage | None:
    """Return the page that a row names in a column of its own, with its document; None without a page."""
    plain = {plain_name(name): value for name, value in row.items() if name not in columns.values()}
    page_name = next((name for name in _PAGE if name in plain), "")
    page = number(plain.get(page_name))
    if page is None or not page.is_integer() or not 0 <= page < 1e6:
        return None
    return Passage(
        document=text_of(first_of(plain, _DOCUMENT)),
        page=int(page),
        page_base=0 if page_name in ("page_idx", "page_index") else None,
    )


def _score(value: Json) -> float | None:
    """Return the number in a cell; whole numbers of more than nine digits are rather ids."""
    found = number_of(value) if not isinstance(value, str) else number(value)
    return found if found is not None and abs(found) < 1e9 else None


def passages_of(cell: Json, ids: Json) -> list[Passage]:
    """Return the passages of a cell in their order: a list of texts, documents or lists of these, or a text.

    Short names with | or ; between them, and `ids` without texts, are names of documents or chunks.
    """
    names = [text_of(each) for each in _flat(_split(ids), _DEEPEST)]
    found = [each for value in _flat(_split(cell), _DEEPEST) if (each := _passage(value)) is not None]
    if not found:
        return [Passage(id=name) for name in names if name is not None]
    for passage, name in zip(found, names, strict=False):
        if name is not None:
            passage.id = name
    return found


def _split(cell: Json) -> list[Json]:
    """Return the entries of a cell, one text of short names as names of documents."""
    entries = list_of(cell)
    if isinstance(cell, str) and entries == [cell]:
        parts = [each for each in _BETWEEN.split(cell.strip()) if each]
        if parts and all(len(each) <= _MOST_NAME and " " not in each for each in parts):
            return [{"name": each} for each in parts]
    return entries


def _flat(values: list[Json], depth: int) -> Iterator[Json]:
    """Yield the entries of lists in lists, a text or document with its score as one entry."""
    for value in values:
        is_scored = isinstance(value, list) and len(value) == 2 and number_of(value[1]) is not None
        if isinstance(value, list) and depth and not is_scored:
            yield from _flat(value, depth - 1)
        else:
            yield value


def _passage(value: Json) -> Passage | None:
    if isinstance(value, list) and isinstance(value[0], str):  # a text with its score
        return Passage(text=value[0], score=number_of(value[1]))
    if isinstance(value, dict) and value.keys() == {"name"}:
        return Passage(id=value["name"], document=value["name"])
    if (found := passage_of(value)) is not None:
        return found
    name = text_of(first_of(value, ("id", "chunk_id", "doc_id"))) if isinstance(value, dict) else None
    return None if name is None else Passage(id=name, score=number_of(value.get("score")))


TABLE = Format(
    name="table",
    title="table of questions (CSV, Parquet)",
    versions="the usual column names, in any case and with any signs between words",
    suffix=".csv",
    example=b"Question,Answer,Contexts,Ground Truth,Faithfulness\n"
    b"How much oil?,4.5 litres.,\"['It holds 4.5 litres.', 'Check it monthly.']\",4.5 litres,0.75\n",
    documentation="A row is a question. Columns are found by their names, such as question, response, "
    "contexts, citations, ground_truth and model; contexts are lists, also of lists, or lists as JSON or "
    "Python in a cell. Columns such as source and page place the row's only passage; without any passage and "
    "without an expected answer they are what the answer cites. Other columns are kept: numbers as scores, "
    "the rest as fields. Rows with different models are different runs.",
    detect=detect,
    read=read,
)
