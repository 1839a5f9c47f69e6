"""Runs in the formats of other tools: what is written is read again, and what has no place is counted."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from proofspan.cli.workspace.export_cmd import command
from proofspan.contracts.records.records import Json
from proofspan.services.opening.open import open_source
from proofspan.traces.exports.registry import EXPORT_FORMATS
from proofspan.traces.exports.types import Writing, falling_scores
from proofspan.traces.formats.deepeval import DEEPEVAL
from proofspan.traces.formats.native import Native
from proofspan.traces.formats.spans.openinference import OPENINFERENCE
from proofspan.traces.formats.table import TABLE
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading
from proofspan.traces.importers.workspace import CHUNKS, GOLD
from proofspan.traces.records.gold import gold_from
from tests.formats.test_formats import FORMATS, example, recognized, sample_of

#: A set of tests for promptfoo has no results, as its example has; tests of its own read it again.
READ_AGAIN = [each for each in FORMATS if each.name in EXPORT_FORMATS and each.name != "promptfoo"]
NUMBER = Passage(text="It holds 4.5 litres.", id="c1", document="manual", page=3, page_base=0, score=0.5)
OTHER = Passage(text="Check the oil weekly.", id="c2", document="manual", label="iv", more={"source": "bm25"})
FULL = Asked(
    place="line 1",
    q="How much oil?",
    q_id="Q1",
    answer="4.5 litres.",
    lists={"retrieved": [OTHER, NUMBER], "chunks": [NUMBER, OTHER]},
    cited=[Cited(passage=Passage(text="4.5 litres"), chunk="c1", span=(0, 3))],
    expected="4.5 litres",
    gold=[NUMBER],
    scores={"faithfulness": 1.0, "tone": "dry", "rated": {"score": 0.5, "by": "a person"}},
    fields={"persona_name": "driver", "session": "s1"},
)


def written(name: str, *asked: Asked) -> list[bytes]:
    """Return the files of a format."""
    format_ = EXPORT_FORMATS[name]
    sinks = [io.BytesIO() for _ in format_.files or ("",)]
    format_.write(asked, [NUMBER, OTHER], sinks)
    return [each.getvalue() for each in sinks]


def left(name: str, asked: Asked) -> dict[str, int]:
    """Return what a format has no place for."""
    writing = Writing()
    writing.count(asked, EXPORT_FORMATS[name])
    return dict(writing.left)


def export(name: str, workspace: Path, target: Path) -> str:
    """Run the command, and return what it printed on stderr."""
    arguments = [
        name,
        str(workspace),
        "-o",
        str(target),
        "--all-variants",
        "--cache-dir",
        f"{workspace}.cache",
    ]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    return result.stderr


@pytest.mark.parametrize("each", READ_AGAIN, ids=lambda each: each.name)
def test_an_example_is_written_as_it_was_read(each, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    open_source(example(each, tmp_path), workspace=first)
    target = tmp_path / ("again" if EXPORT_FORMATS[each.name].files else f"again{each.suffix}")
    assert "no place" not in export(each.name, first, target)
    found, reading = recognized(sample_of(target)), Reading(target.name)
    assert found is not None and found.format is each
    second.mkdir()
    native = Native(second, unknown_base=0)
    native.write(each.read(target, reading), reading)
    again = native.converted("again")
    assert reading.lost == 0 and list(again.traces or ()) == _lines(first, "runs/R001/trace.jsonl") != []
    assert _sorted(again.chunks or ()) == _sorted(_lines(first, CHUNKS))
    assert _sorted(again.gold or ()) == _sorted(_lines(first, GOLD))


def _lines(workspace: Path, name: str) -> list[Json]:
    path = workspace / name
    return [*map(orjson.loads, path.read_bytes().splitlines())] if path.exists() else []


def _sorted(records: Iterable[Json]) -> list[Json]:
    return sorted(records, key=str)  # passages may come in another order


def test_ragas_has_columns_for_numbers_and_none_for_places() -> None:
    (line,) = written("ragas", FULL)[0].splitlines()
    sample = orjson.loads(line)
    assert sample["retrieved_context_ids"] == ["c1", "c2"] and sample["reference_context_ids"] == ["c1"]
    assert (sample["faithfulness"], sample["rated"], sample["persona_name"]) == (1.0, 0.5, "driver")
    assert "tone" not in sample and "session" not in sample
    assert left("ragas", FULL) == {
        "q_id": 1, "chunks.document": 2, "chunks.page": 1, "chunks.score": 1, "chunks.label": 1,
        "chunks.source": 1, "retrieved": 2, "gold.document": 1, "gold.page": 1, "gold.score": 1,
        "citations": 1, "scores.tone": 1, "scores.rated.by": 1, "fields.session": 1,
    }  # fmt: skip


def test_deepeval_keeps_sources_scores_and_fields() -> None:
    (golden,) = orjson.loads(written("deepeval", FULL)[0])
    assert golden["retrieval_context"][0] == "deepeval_source=manual,deepeval_context=It holds 4.5 litres."
    assert golden["name"] == "Q1" and golden["context"] == ["It holds 4.5 litres."]
    assert golden["metrics_data"] == [
        {"name": "faithfulness", "score": 1.0},
        {"name": "rated", "score": 0.5, "evaluation_model": "a person"},
    ]
    assert golden["additional_metadata"] == {
        "persona_name": "driver",
        "session": "s1",
        "scores": {"tone": "dry"},
        "documents": {"context": ["manual"]},
    }
    assert {"chunks.id", "citations", "retrieved"} <= left("deepeval", FULL).keys()
    assert orjson.loads(written("deepeval")[0]) == []


def test_what_deepeval_holds_is_read_again(tmp_path: Path) -> None:
    asked = Asked(
        place="entry 1",
        q="How much oil?",
        answer="4.5 litres.",
        lists={
            "chunks": [
                Passage(text="It holds 4.5 litres.", document="a: b.pdf"),
                Passage(text="Weekly."),
                Passage(text="Check it\nmonthly.", document="manual"),
            ]
        },
        expected="4.5 litres",
        gold=[Passage(text="It holds 4.5 litres.", document="manual")],
        scores={
            "success": "failed",
            "Faithfulness": {"score": 0.5, "label": "failed", "explanation": "No figure.", "by": "a model"},
        },
        fields={"name": "oil", "comments": "x", "additional_metadata": {"session": "s1"}},
    )
    assert left("deepeval", asked) == {}
    file = tmp_path / "goldens.json"
    file.write_bytes(written("deepeval", asked)[0])
    assert [*DEEPEVAL.read(file, Reading("goldens.json"))] == [asked]


def test_ids_in_our_own_format_keep_their_bars(tmp_path: Path) -> None:
    """Their parts say document, section and page, which were lost with the bars."""
    chunk_id = "manual|r=8c1e9a02|s=2.4.1|p=002|b=007"
    file = tmp_path / "ragas.jsonl"
    file.write_bytes(
        written("ragas", Asked(place="", q="q", lists={"chunks": [Passage(text="t", id=chunk_id)]}))[0]
    )
    open_source(file, workspace=tmp_path / "workspace")
    (chunk,) = (orjson.loads(line) for line in (tmp_path / "workspace" / CHUNKS).read_bytes().splitlines())
    assert chunk["chunk_id"] == chunk_id


def test_scores_of_several_people_are_written_one_by_one() -> None:
    given = [{"score": 1.0, "label": "passed", "by": "ann"}, {"score": 0.0, "label": "failed", "by": "bob"}]
    asked = Asked(place="", q="q", answer="a", scores={"rated": given})
    spans, metrics, sample, table = (
        written(name, asked)[0] for name in ("openinference", "deepeval", "ragas", "table")
    )
    people = [{"name": "rated", "annotator_kind": each["by"], **each} for each in given]
    assert orjson.loads(spans)["annotations"] == [
        {name: value for name, value in each.items() if name != "by"} for each in people
    ]
    judged = [(each["name"], each["score"]) for each in orjson.loads(metrics)[0]["metrics_data"]]
    assert judged == [("rated", 1.0), ("rated", 0.0)]
    assert (orjson.loads(sample)["rated"], orjson.loads(sample)["rated 2"]) == (1.0, 0.0)
    assert table.split(b"\r\n")[0] == b"question,response,rated,rated 2"


def test_openinference_is_a_chain_over_its_retrievers() -> None:
    spans = [orjson.loads(line) for line in written("openinference", FULL, FULL)[0].splitlines()]
    assert [(each["span_kind"], each["name"]) for each in spans[:3]] == [
        *(("CHAIN", "query"), ("RETRIEVER", "search"), ("RETRIEVER", "search retrieved")),
    ]
    chain, search, retrieved = spans[:3]
    assert search["parent_id"] == chain["context"]["span_id"], "of the two the outer gave the result"
    assert retrieved["parent_id"] == search["context"]["span_id"]
    assert len({each["context"]["trace_id"] for each in spans}) == 2
    assert chain["annotations"][2] == {"name": "rated", "score": 0.5, "annotator_kind": "a person"}
    assert orjson.loads(chain["attributes"]["metadata"]) == {
        "q_id": "Q1",
        "persona_name": "driver",
        "session": "s1",
    }
    first, second = search["attributes"]["retrieval.documents"]
    assert first["document.metadata"] == {"source": "manual", "page_idx": 3}
    assert second["document.metadata"]["fields"] == {"source": "bm25"}, "a source is a document's name"
    assert left("openinference", FULL) == {
        "expected": 1,
        "gold.text": 1,
        "gold.id": 1,
        "gold.document": 1,
        "gold.page": 1,
        "gold.score": 1,
        "citations": 1,
    }


@pytest.mark.parametrize(
    ("lists", "again"),
    [
        ({"chunks": "ab"}, {"chunks": "ab"}),
        ({"retrieved": "abc", "chunks": "abc"}, {"chunks": "abc"}),
        ({"retrieved": "abc", "chunks": "ab"}, {"retrieved": "abc", "fused": "ab", "chunks": "ab"}),
        ({"retrieved": "abc", "fused": "ca", "chunks": "ca"}, None),
        ({"retrieved": "abc", "reranked": "cab", "chunks": "cab"}, None),
        (
            {"retrieved": "abc", "reranked": "cab", "chunks": "c"},
            {"retrieved": "abc", "reranked": "c", "chunks": "c"},
        ),
        ({"reranked": "ba"}, {"reranked": "ba", "chunks": "ba"}),
    ],
)
def test_what_the_model_saw_is_read_again(
    tmp_path: Path, lists: dict[str, str], again: dict[str, str] | None
) -> None:
    """Where a list was cut for the prompt, its own span has what is left, and the rest is counted."""
    passages = {name: Passage(text=f"text {name}", id=name) for name in "abc"}
    asked = Asked(
        place="",
        q="q",
        answer="a",
        lists={name: [passages[each] for each in ids] for name, ids in lists.items()},
    )
    file = tmp_path / "spans.jsonl"
    file.write_bytes(written("openinference", asked)[0])
    (found,) = OPENINFERENCE.read(file, Reading("spans.jsonl"))
    seen = {name: "".join(each.id or "" for each in listed) for name, listed in found.lists.items()}
    assert seen == (again or lists) and (found.q, found.answer) == ("q", "a")
    assert left("openinference", asked).get("reranked", 0) == (3 if lists.get("chunks") == "c" else 0)


def test_a_table_has_all_columns_that_any_question_has() -> None:
    plain = Asked(place="", q="=1+1", lists={"chunks": [Passage(text="one two"), Passage(text="name")]})
    first, second = csv.DictReader(io.StringIO(written("table", FULL, plain)[0].decode()))
    assert [*first] == [
        *("question_id", "question", "response", "contexts", "reference_answer", "reference_contexts"),
        *("faithfulness", "persona_name", "rated", "session", "tone"),
    ]
    assert second["question"] == "'=1+1" and second["response"] == second["rated"] == ""
    assert orjson.loads(second["contexts"]) == ["one two", {"text": "name"}], "a word could be a name"
    assert orjson.loads(first["contexts"])[0]["metadata"] == {"source": "manual", "page_idx": 3}
    assert left("table", FULL) == {"retrieved": 2, "citations": 1, "scores.rated.by": 1}


def test_what_a_table_holds_is_read_again(tmp_path: Path) -> None:
    asked = Asked(
        place="row 1",
        q="How much oil?",
        q_id="Q1",
        answer="4.5 litres.",
        lists={"chunks": [Passage(text="alone", id="c1", document="manual", page=3, page_base=0)]},
        expected="4.5 litres",
        gold=[Passage(text="It holds 4.5 litres.")],
        scores={"faithfulness": 0.5},
        fields={"session": "s one"},
        run="small-1",
    )
    file = tmp_path / "table.csv"
    file.write_bytes(written("table", asked)[0])
    assert [*TABLE.read(file, Reading("table.csv"))] == [asked]


def test_trec_ranks_by_scores_that_give_the_order() -> None:
    run, judged, topics = written("trec", FULL)
    assert run.decode().splitlines() == ["Q1 Q0 c1 1 2.0 run", "Q1 Q0 c2 2 1.0 run"], "one has no score"
    assert judged == b"Q1 0 c1 1\n" and topics == b"Q1\tHow much oil?\n"
    ranked = Asked(place="", q="a\tb\nc", lists={"fused": [NUMBER, Passage(id="a b", score=0.25)]})
    run, _, topics = written("trec", ranked)
    assert [line.split()[2:5] for line in run.decode().splitlines()] == [
        ["c1", "1", "0.5"],
        ["a_b", "2", "0.25"],
    ]
    assert topics.endswith(b"\ta b c\n")


@pytest.mark.parametrize(
    ("ids", "scores", "written_scores"),
    [
        ("ba", [0.5, 0.5], [0.5, 0.5]),
        ("ab", [0.5, 0.5], [2.0, 1.0]),
        ("ab", [0.25, 0.5], [2.0, 1.0]),
        ("ab", [16777217.0, 16777216.0], [2.0, 1.0]),
        ("ab", [0.5, None], [2.0, 1.0]),
    ],
)
def test_scores_that_give_the_order_as_trec_eval_reads_it_are_kept(
    ids: str, scores: list[float | None], written_scores: list[float]
) -> None:
    """Equal scores, in single precision, are in the falling order of ids."""
    listed = [Passage(id=name, score=score) for name, score in zip(ids, scores, strict=True)]
    assert falling_scores(listed) == written_scores


def test_other_readers_of_trec_read_it(tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    for name, data in zip(("run", "qrels"), written("trec", FULL), strict=False):
        (tmp_path / name).write_bytes(data)
    run = [*ir_measures.read_trec_run(str(tmp_path / "run"))]
    qrels = [*ir_measures.read_trec_qrels(str(tmp_path / "qrels"))]
    assert [(each.query_id, each.doc_id, each.score) for each in run] == [
        ("Q1", "c1", 2.0),
        ("Q1", "c2", 1.0),
    ]
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run) == {ir_measures.RR: 1.0}


@pytest.mark.parametrize("name", ["beir", "trec"])
def test_grades_of_judgments_survive_a_round_trip(name: str, tmp_path: Path) -> None:
    judged = [Passage(id="p1", text="t", more={"relevance": 3}), Passage(id="p2", text="u")]
    retrieved = [Passage(id="p2", text="u", score=2.0), Passage(id="p1", text="t", score=1.0)]
    asked = Asked(place="", q="q", q_id="7", lists={"retrieved": retrieved}, gold=judged)
    assert left(name, asked).keys() <= {"retrieved.text", "gold.text"}
    (tmp_path / "set").mkdir()
    for file, data in zip(EXPORT_FORMATS[name].files, written(name, asked), strict=True):
        (tmp_path / "set" / file).parent.mkdir(exist_ok=True)
        (tmp_path / "set" / file).write_bytes(data)
    open_source(tmp_path / "set", workspace=tmp_path / "workspace")
    (line,) = (tmp_path / "workspace" / GOLD).read_bytes().splitlines()
    gold = gold_from(orjson.loads(line))
    assert (gold.chunks, gold.grades) == (("p1", "p2"), {"p1": 3, "p2": 1})


def test_beir_has_all_passages_and_the_judgements() -> None:
    corpus, queries, judged, results = written("beir", FULL, FULL)
    assert [orjson.loads(line)["_id"] for line in corpus.splitlines()] == ["c1", "c2"]
    query = {"_id": "Q1", "text": "How much oil?", "metadata": {"answer": "4.5 litres"}}
    assert [orjson.loads(line) for line in queries.splitlines()] == [query, query | {"_id": "Q1#2"}]
    assert judged == b"query-id\tcorpus-id\tscore\nQ1\tc1\t1\nQ1#2\tc1\t1\n"
    assert orjson.loads(results) == {"Q1": {"c1": 2.0, "c2": 1.0}, "Q1#2": {"c1": 2.0, "c2": 1.0}}
    assert orjson.loads(written("beir", Asked(place="", q="q"))[3]) == {}
    assert {"answer", "retrieved", "citations"} <= left("beir", FULL).keys()


def test_a_folder_that_holds_anything_is_left_alone(tmp_path: Path) -> None:
    workspace, target = tmp_path / "workspace", tmp_path / "out"
    open_source(example(FORMATS[-1], tmp_path), workspace=workspace)
    export("trec", workspace, target)
    assert sorted(each.name for each in target.iterdir()) == ["qrels.txt", "queries.tsv", "run.txt"]
    for output in (str(target), "-", str(workspace / "pipeline_manifest.yaml")):
        result = CliRunner().invoke(command, ["trec", str(workspace), "-o", output])
        assert result.exception is not None and "new" in str(result.exception), output


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
IDS = st.from_regex(r"[a-z]\d{1,3}", fullmatch=True)
PASSAGES = st.lists(st.builds(Passage, text=TEXTS, id=IDS), min_size=1) | st.lists(
    st.builds(Passage, text=TEXTS), min_size=1
)


@given(q=TEXTS, answer=st.none() | TEXTS, expected=st.none() | TEXTS, listed=PASSAGES)
def test_whatever_ragas_holds_is_read_again(
    tmp_path_factory: pytest.TempPathFactory,
    q: str,
    answer: str | None,
    expected: str | None,
    listed: list[Passage],
) -> None:
    asked = Asked(place="line 1", q=q, answer=answer, lists={"chunks": listed}, expected=expected)
    file = tmp_path_factory.getbasetemp() / "ragas.jsonl"
    file.write_bytes(written("ragas", asked)[0])
    ragas = next(each for each in FORMATS if each.name == "ragas")
    assert [*ragas.read(file, Reading("ragas.jsonl"))] == [asked]
