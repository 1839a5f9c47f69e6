"""The files of evaluation tools: what is a question, an answer, a passage and a score of each."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import Fault
from proofspan.traces.formats.deepeval import DEEPEVAL
from proofspan.traces.formats.inspectorraget import INSPECTORRAGET
from proofspan.traces.formats.native import Native
from proofspan.traces.formats.open_rag_eval import OPEN_RAG_EVAL
from proofspan.traces.formats.promptfoo import PROMPTFOO
from proofspan.traces.formats.ragas import RAGAS
from proofspan.traces.formats.ragchecker import RAGCHECKER
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Asked, Format, Reading
from proofspan.traces.registry import FORMATS, recognized

OURS = (INSPECTORRAGET, OPEN_RAG_EVAL, PROMPTFOO, RAGCHECKER, DEEPEVAL, RAGAS)
Q, ANSWER, PASSAGE = "How much oil?", "4.5 litres.", "The engine holds 4.5 litres of oil."


class Source:
    """Writes sources into a folder and reads them as `proofspan open` does."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.reading = folder, Reading("")

    def read(self, expected: Format, text: str, suffix: str = ".json") -> list[Asked]:
        path = self.folder / f"source{suffix}"
        path.write_text(text, encoding="utf-8", newline="")
        found = recognized(sample_of(path))
        assert found is not None and found.format is expected
        self.reading = Reading(path.name)
        return list(expected.read(path, self.reading))

    def one(self, expected: Format, value: Any) -> Asked:
        [asked] = self.read(expected, json.dumps(value, indent=1))
        return asked


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def table(*rows: dict[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=[*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def texts(asked: Asked) -> list[str | None]:
    return [each.text for each in asked.lists.get("chunks", [])]


def facts(asked: Asked) -> tuple[Any, ...]:
    return asked.q, asked.q_id, asked.answer, texts(asked), asked.expected, [each.text for each in asked.gold]


# --- Ragas -----------------------------------------------------------------------------------------------


def test_ragas_reads_a_data_set_in_every_file_it_is_saved_as(source: Source) -> None:
    row = {
        "user_input": Q,
        "retrieved_contexts": [PASSAGE, 'It\'s "5W-30"'],
        "response": ANSWER,
        "reference": "4.5 l",
        "reference_contexts": [PASSAGE],
    }
    [first] = source.read(RAGAS, lines(row), ".jsonl")
    [cells] = source.read(RAGAS, table(row), ".csv")  # as `to_csv` writes lists: as Python does
    [array] = source.read(RAGAS, json.dumps([row]))
    assert facts(first) == facts(cells) == facts(array)
    assert facts(first) == (Q, None, ANSWER, [PASSAGE, 'It\'s "5W-30"'], "4.5 l", [PASSAGE])


def test_ragas_scores_of_a_csv_are_numbers(source: Source) -> None:
    row = {
        "user_input": Q,
        "retrieved_contexts": "['a']",
        "response": "b",
        "faithfulness": "0.25",
        "note": "x",
    }
    [asked] = source.read(RAGAS, table(row), ".csv")
    assert asked.scores == {"faithfulness": 0.25}
    assert dict(source.reading.left) == {"note": 1}


def test_ragas_passages_may_be_only_ids(source: Source) -> None:
    row = {"user_input": Q, "response": "b", "retrieved_contexts": ["a"], "retrieved_context_ids": [7, "k"]}
    [asked] = source.read(RAGAS, lines(row), ".jsonl")
    assert [(each.id, each.text) for each in asked.lists["chunks"]] == [("7", "a"), ("k", None)]


def test_ragas_asks_the_last_answered_question_of_a_conversation(source: Source) -> None:
    turns = [
        {"content": "Hello", "type": "human"},
        {"content": "Hello!", "type": "ai", "tool_calls": None},
        {"content": Q, "type": "human"},
        {"content": "…", "type": "tool"},
        {"content": ANSWER, "type": "ai", "tool_calls": None},
        {"content": "Thanks", "type": "human"},
    ]
    [asked] = source.read(RAGAS, lines({"user_input": turns, "reference": "4.5 l"}), ".jsonl")
    assert facts(asked) == (Q, None, ANSWER, [], "4.5 l", [])
    assert asked.fields["conversation"] == turns


def test_ragas_reads_the_column_names_before_version_0_2(source: Source) -> None:
    row = {"question": Q, "contexts": [PASSAGE], "answer": ANSWER, "ground_truths": ["4.5 l", "4.5 litres"]}
    [asked] = source.read(RAGAS, lines(row), ".jsonl")
    assert facts(asked) == (Q, None, ANSWER, [PASSAGE], "4.5 l", [])
    assert asked.fields["references"] == ["4.5 l", "4.5 litres"]


def annotated(accepted: bool, target: float | None = None) -> dict[str, Any]:
    prompt = {
        "prompt_input": {"user_input": Q},
        "prompt_output": {"reason": "It answers.", "verdict": 1},
        "edited_output": None,
    }
    return {
        "metric_input": {"user_input": Q, "response": ANSWER, "retrieved_contexts": [PASSAGE]},
        "metric_output": 1,
        "prompts": {"critic": prompt},
        "is_accepted": accepted,
        "target": target,
    }


def test_ragas_samples_of_annotated_metrics_carry_both_verdicts(source: Source) -> None:
    value = {"helpful": [annotated(True), annotated(False, 0.0)], "polite": [annotated(True)]}
    asked = source.read(RAGAS, json.dumps(value))
    assert [(each.place, each.run, each.q) for each in asked] == [
        ("helpful 1", "helpful", Q),
        ("helpful 2", "helpful", Q),
        ("polite 1", "polite", Q),
    ]
    assert asked[1].scores == {
        "helpful": {"score": 1.0, "explanation": "It answers.", "by": "Ragas"},
        "helpful: review": {"score": 0.0, "label": "rejected", "by": "a person"},
    }
    assert source.reading.records == 3 and not source.reading.left
    single = source.one(RAGAS, {"name": "helpful", "samples": [annotated(True)]})
    assert single.run == "" and single.scores["helpful"] == asked[0].scores["helpful"]


# --- DeepEval --------------------------------------------------------------------------------------------


def test_deepeval_reads_a_data_set_in_every_file_it_is_saved_as(source: Source) -> None:
    marked = "deepeval_source=manual.pdf,deepeval_context=Use 5W-30, not 10W-40."
    row: dict[str, Any] = {
        "input": Q,
        "actual_output": ANSWER,
        "expected_output": "4.5 l",
        "retrieval_context": [PASSAGE, marked],
        "context": [PASSAGE],
        "name": "oil",
        "comments": None,
    }
    joined = {**row, "retrieval_context": "|".join(row["retrieval_context"]), "context": PASSAGE}
    [first] = source.read(DEEPEVAL, json.dumps([row]))
    [line] = source.read(DEEPEVAL, lines(joined), ".jsonl")
    [cells] = source.read(DEEPEVAL, table(joined), ".csv")
    assert facts(first) == facts(line) == facts(cells)
    assert facts(first) == (Q, None, ANSWER, [PASSAGE, "Use 5W-30, not 10W-40."], "4.5 l", [PASSAGE])
    assert [each.document for each in first.lists["chunks"]] == [None, "manual.pdf"]
    assert first.fields == {"name": "oil"}


def test_empty_cells_of_a_table_do_not_hide_its_format(source: Source) -> None:
    asked = source.read(DEEPEVAL, "input,actual_output,context\nHow?,So.,\nWhere?,,Here.\n", ".csv")
    assert [(each.q, each.answer) for each in asked] == [("How?", "So."), ("Where?", None)]
    asked = source.read(RAGAS, "user_input,response\nHow?,So.\nWhere?,\n", ".csv")
    assert [(each.q, each.answer) for each in asked] == [("How?", "So."), ("Where?", None)]


def test_deepeval_test_run_and_evaluation_result_have_the_metrics_as_scores(source: Source) -> None:
    metric = {"name": "Faithfulness", "score": 0.5, "success": False, "reason": "One claim is not in it."}
    camel = {
        "testCases": [
            {
                "name": "test_case_0",
                "input": Q,
                "actualOutput": ANSWER,
                "retrievalContext": ["manual.pdf: " + PASSAGE],
                "success": False,
                "metricsData": [{**metric, "evaluationModel": "judge", "threshold": 0.7}, metric],
            }
        ],
        "conversationalTestCases": [],
        "runDuration": 2.5,
    }
    snake = {
        "test_results": [
            {
                "name": "test_case_0",
                "success": False,
                "input": Q,
                "actual_output": ANSWER,
                "retrieval_context": ["manual.pdf: " + PASSAGE],
                "metrics_data": [{**metric, "evaluation_model": "judge"}, metric],
            }
        ]
    }
    kept = {"score": 0.5, "label": "failed", "explanation": "One claim is not in it."}
    for value in (camel, {"testRunData": camel}, snake):
        asked = source.one(DEEPEVAL, value)
        assert facts(asked) == (Q, None, ANSWER, [PASSAGE], None, [])
        assert asked.lists["chunks"][0].document == "manual.pdf"
        assert asked.scores == {
            "success": "failed",
            "Faithfulness": [{**kept, "by": "judge"}, kept],
        }
    source.one(DEEPEVAL, camel)
    assert dict(source.reading.left) == {"runDuration": 1, "metrics_data.threshold": 1}


def test_deepeval_takes_what_the_retrievers_of_a_trace_returned(source: Source) -> None:
    spans = [
        {"name": "index", "output": [{"score": 0.9, "text": PASSAGE}]},
        {"name": "web", "output": "2 hits", "retrievalContext": ["Use 5W-30."]},
    ]
    case = {"input": Q, "actualOutput": ANSWER, "trace": {"uuid": "t", "retrieverSpans": spans}}
    asked = source.one(DEEPEVAL, {"testCases": [case]})
    assert texts(asked) == [PASSAGE, "Use 5W-30."]
    assert [each.score for each in asked.lists["chunks"]] == [0.9, None]
    assert source.reading.left == {"trace.uuid": 1}
    asked = source.one(DEEPEVAL, {"testCases": [case | {"retrievalContext": ["It holds oil."]}]})
    assert texts(asked) == ["It holds oil."]


def test_deepeval_reads_conversations_beside_test_cases(source: Source) -> None:
    turns = [
        {"role": "user", "content": Q, "order": 0},
        {"role": "assistant", "content": ANSWER, "order": 1, "retrievalContext": [PASSAGE]},
    ]
    value = {
        "testCases": [{"name": "a", "input": "Where?", "actualOutput": "Here."}],
        "conversationalTestCases": [{"name": "b", "scenario": "asks for oil", "turns": turns}],
    }
    first, second = source.read(DEEPEVAL, json.dumps(value))
    assert facts(first) == ("Where?", None, "Here.", [], None, [])
    assert facts(second) == (Q, None, ANSWER, [PASSAGE], None, [])
    assert second.fields["scenario"] == "asks for oil" and second.fields["conversation"] == turns


# --- promptfoo -------------------------------------------------------------------------------------------


def graded(**fields: Any) -> dict[str, Any]:
    return {
        "promptIdx": 0,
        "testIdx": 0,
        "provider": {"id": "openai:o5", "label": ""},
        "prompt": {"raw": f"Answer: {Q}", "label": "ask"},
        "vars": {"question": Q, "context": [PASSAGE]},
        "response": {"output": ANSWER},
        "success": True,
        "score": 0.75,
        "namedScores": {},
        "gradingResult": None,
        "testCase": {"assert": [{"type": "equals", "value": "4.5 l"}]},
        "latencyMs": 12,
    } | fields


def summary(*results: dict[str, Any]) -> dict[str, Any]:
    stats = {"successes": 1, "failures": 0, "errors": 0}
    held = {"version": 3, "timestamp": "2026-01-01", "prompts": [], "results": [*results], "stats": stats}
    return {"evalId": "eval-1", "results": held, "config": {}, "shareableUrl": None}


def test_promptfoo_summary_and_lines_are_the_same_questions(source: Source) -> None:
    results = [graded(), graded(testIdx=1, vars={"query": "Where?"}, response=None, error="timed out")]
    whole = source.read(PROMPTFOO, json.dumps(summary(*results)))
    assert dict(source.reading.left) == {
        "evalId": 1,
        "results.version": 1,
        "results.timestamp": 1,
        "results.stats": 1,
    }
    line = source.read(PROMPTFOO, lines(*results), ".jsonl")
    assert [facts(each) for each in whole] == [facts(each) for each in line]
    assert facts(whole[0]) == (Q, "test-0", ANSWER, [PASSAGE], "4.5 l", [])
    assert whole[0].scores == {"success": {"label": "passed"}, "score": 0.75}
    assert whole[0].fields["latency_ms"] == 12
    assert whole[1].answer is None and whole[1].fields["error"] == "timed out"


def test_promptfoo_runs_are_pairs_of_a_provider_and_a_prompt(source: Source) -> None:
    other = {"id": "anthropic:messages:x", "label": "Claude"}
    results = [
        graded(),
        graded(promptIdx=1, provider=other),
        graded(promptIdx=2),
        graded(promptIdx=3, provider=other),
        graded(testIdx=1),
    ]
    asked = source.read(PROMPTFOO, json.dumps(summary(*results)))
    runs = ["openai:o5", "Claude", "openai:o5, prompt 2", "Claude, prompt 2", "openai:o5"]
    assert [each.run for each in asked] == runs


def test_promptfoo_assertions_are_scores_and_manual_grades_are_a_persons(source: Source) -> None:
    components = [
        {"pass": True, "score": 1, "reason": "it matches", "assertion": {"type": "contains", "value": "4.5"}},
        {"pass": False, "score": 0, "reason": "no", "assertion": {"type": "contains", "value": "oil"}},
        {"pass": True, "score": 1, "reason": "Manual", "comment": "fine", "assertion": {"type": "human"}},
        {"pass": True, "score": 0.5, "reason": "r", "assertion": {"type": "llm-rubric", "metric": "tone"}},
    ]
    grading = {"pass": False, "score": 0.6, "reason": "no", "componentResults": components}
    asked = source.one(
        PROMPTFOO, summary(graded(gradingResult=grading, success=False, namedScores={"tone": 0.5, "f1": 0.1}))
    )
    assert asked.scores == {
        "success": {"label": "failed", "explanation": "no"},
        "score": 0.75,
        "contains": [
            {"score": 1.0, "label": "passed", "explanation": "it matches"},
            {"score": 0.0, "label": "failed", "explanation": "no"},
        ],
        "human": {"score": 1.0, "label": "passed", "explanation": "fine", "by": "a person"},
        "tone": {"score": 0.5, "label": "passed", "explanation": "r"},
        "f1": 0.1,
    }


def test_promptfoo_tables_hold_an_output_for_each_prompt(source: Source) -> None:
    about = "Status,Score,Named Scores,Grader Reason,Comment"
    text = (
        f"Description,question,context,[openai:o5] ask,{about},[mistral:m] ask,{about}\n"
        f'oil,{Q},"[""{PASSAGE}""]",{ANSWER},PASS,1.00,"{{""clarity"": 0.5}}",All assertions passed,,'
        "None.,FAIL,0.00,,It does not say it,checked\n"
        f"air,Where?,,,,,,,,boom,ERROR,0,,boom,\n"
    )
    first, second, third = source.read(PROMPTFOO, text, ".csv")
    assert facts(first) == (Q, "test-0", ANSWER, [PASSAGE], None, [])
    assert (first.run, second.run, third.run) == ("openai:o5", "mistral:m", "mistral:m")
    assert first.scores == {
        "success": {"label": "passed", "explanation": "All assertions passed"},
        "score": 1.0,
        "clarity": 0.5,
    }
    assert (second.answer, second.scores["score"], third.fields["error"]) == ("None.", 0.0, "boom")
    assert not source.reading.problems and not source.reading.left
    older = f"question,[openai:o5] ask,Grader Reason,Comment\n{Q},[FAIL] {ANSWER},It does not say it,\n"
    [asked] = source.read(PROMPTFOO, older, ".csv")
    assert (asked.answer, asked.scores["success"]["label"]) == (ANSWER, "failed")  # type: ignore[index,call-overload]


def test_promptfoo_asks_what_a_chat_prompt_asks_last(source: Source) -> None:
    chat = [
        {"role": "user", "content": "An example?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": [{"type": "text", "text": Q}]},
    ]
    relevance = {"pass": True, "score": 1, "reason": "", "metadata": {"context": PASSAGE}}
    asked = source.one(
        PROMPTFOO,
        summary(
            graded(
                vars={"topic": "oil"},
                prompt={"raw": json.dumps(chat), "label": "chat"},
                response={"output": [1, {"a": ANSWER}]},
                gradingResult={"pass": True, "score": 1, "reason": "", "componentResults": [relevance]},
                testCase={},
            )
        ),
    )
    assert facts(asked) == (Q, "test-0", '[1,{"a":"4.5 litres."}]', [PASSAGE], None, [])


def test_promptfoo_output_may_hold_the_answer_and_its_context(source: Source) -> None:
    output = {"answer": ANSWER, "context": [PASSAGE], "cost": 3}
    asked = source.one(PROMPTFOO, summary(graded(vars={"question": Q}, response={"output": output})))
    assert facts(asked) == (Q, "test-0", ANSWER, [PASSAGE], "4.5 l", [])
    assert asked.fields["output"] == output


def test_promptfoo_summary_that_breaks_off_is_read_as_far_as_it_goes(source: Source) -> None:
    whole = json.dumps(summary(graded(), graded(testIdx=1), graded(testIdx=2)), indent=1)
    cut = whole[: whole.index('"testIdx": 2')]
    asked = source.read(PROMPTFOO, cut)
    assert [each.q_id for each in asked] == ["test-0", "test-1"]
    assert {each.code for each in source.reading.problems} == {"truncated"} and source.reading.lost >= 1


def test_promptfoo_passages_may_be_objects(source: Source) -> None:
    document = {"page_content": PASSAGE, "source": "manual.pdf", "score": "0.5", "page": 3}
    asked = source.one(PROMPTFOO, summary(graded(vars={"question": Q, "documents": [document, {"a": 1}]})))
    first, second = asked.lists["chunks"]
    assert (first.text, first.document, first.score, first.more) == (PASSAGE, "manual.pdf", 0.5, {"page": 3})
    assert second.text == '{"a":1}'


# --- RAGChecker ------------------------------------------------------------------------------------------


def test_ragchecker_results_keep_claims_and_metrics(source: Source) -> None:
    claims = {"response_claims": [["engine", "holds", "4.5 litres"]], "answer2response": ["Entailment"]}
    result = {
        "query_id": 7,
        "query": Q,
        "gt_answer": "4.5 l",
        "response": ANSWER,
        "retrieved_context": [{"doc_id": "000", "text": PASSAGE}, {"doc_id": "manual.pdf", "text": "5W-30"}],
        "metrics": {"precision": 1.0, "recall": 0.5},
        "retrieved2answer": None,
        **claims,
    }
    value = {"results": [result], "metrics": {"overall_metrics": {"precision": 100.0}}}
    asked = source.one(RAGCHECKER, value)
    assert facts(asked) == (Q, "7", ANSWER, [PASSAGE, "5W-30"], "4.5 l", [])
    assert [(each.id, each.document) for each in asked.lists["chunks"]] == [
        ("000", None),
        (None, "manual.pdf"),
    ]
    assert asked.scores == {"precision": 1.0, "recall": 0.5} and asked.fields == claims
    assert dict(source.reading.left) == {"metrics": 1}


# --- open-rag-eval ---------------------------------------------------------------------------------------

PARTS = [
    {"text": "It holds 4.5 litres", "citations": ["[1]", "[2]"]},
    {"text": ". Use 5W-30", "citations": ["[2]"]},
    {"text": "Check it cold.", "citations": []},
]
PASSAGES = {"[1]": PASSAGE, "[2]": "5W-30"}


def cited_words(asked: Asked) -> list[tuple[str | None, str]]:
    answer = asked.answer or ""
    return [(each.chunk, answer[slice(*each.span)] if each.span else "") for each in asked.cited]


def test_open_rag_eval_report_and_table_give_the_same_runs(source: Source) -> None:
    run = {
        "retrieved_passages": PASSAGES,
        "generated_answer": PARTS,
        "retrieval_score_umbrela_scores": {"[1]": 3, "[2]": 0},
        "retrieval_score_retrieval_scores": {"precision@": {"1": 1.0}},
        "generation_score_citation_f1_score": 0.5,
        "generation_score_no_answer_score": "yes",
        "generation_score_expected_answer": "4.5 l",
    }
    runs = [run, {**run, "generated_answer": []}]
    empty = {"retrieved_passages": None, "generated_answer": None}  # of a query that was asked less often
    entry = {"query_id": "q", "query": Q, "runs": [*runs, empty], "consistency": {}}
    report = {"version": "0.3.0", "generated_at": "2026-01-01T00:00:00Z", "evaluation": [entry]}
    first, second = source.read(OPEN_RAG_EVAL, json.dumps(report))
    assert facts(first)[:2] == (Q, "q") and second.answer is None and source.reading.records == 2
    assert first.answer == "It holds 4.5 litres [1][2]. Use 5W-30 [2] Check it cold."
    assert cited_words(first) == [
        ("q-1", "It holds 4.5 litres"),
        ("q-2", "It holds 4.5 litres"),
        ("q-2", "Use 5W-30"),
    ]
    assert [(each.id, each.more) for each in first.lists["chunks"]] == [
        ("q-1", {"umbrela_score": 3}),
        ("q-2", {"umbrela_score": 0}),
    ]
    assert first.scores == {"citation_f1_score": 0.5, "no_answer_score": "yes"}
    assert first.expected == "4.5 l" and first.fields == {"retrieval_scores": {"precision@": {"1": 1.0}}}

    row = {"query_id": "q", "query": Q}
    for number, each in enumerate(runs, start=1):
        row |= {
            f"run_{number}_{name}": value if isinstance(value, str) else json.dumps(value)
            for name, value in each.items()
        }
    cells = source.read(OPEN_RAG_EVAL, table(row), ".csv")
    assert [facts(each) for each in cells] == [facts(first), facts(second)]
    assert cells[0].cited == first.cited and cells[0].scores == first.scores
    assert source.reading.records == 2


def test_open_rag_eval_answers_join_the_rows_of_a_run(source: Source) -> None:
    answer = "It holds 4.5 litres [1, 2]. Use 5W-30 [2], [1]."
    rows = [
        {"query_id": "q", "query": Q, "query_run": run, "passage_id": name, "passage": words}
        | {"generated_answer": answer if name == "[1]" else ""}
        for run in (1, 2)
        for name, words in PASSAGES.items()
    ]
    error = {"query_id": "r", "query": "Where?", "query_run": 1, "passage_id": "ERROR", "passage": "ERROR"}
    first, second, third = source.read(OPEN_RAG_EVAL, table(*rows, error | {"generated_answer": ""}), ".csv")
    assert facts(first) == facts(second) == (Q, "q", answer, [PASSAGE, "5W-30"], None, [])
    assert cited_words(first) == [
        ("q-1", "It holds 4.5 litres"),
        ("q-2", "It holds 4.5 litres"),
        ("q-2", "Use 5W-30"),
        ("q-1", "Use 5W-30"),
    ]
    assert facts(third) == ("Where?", "r", None, [], None, [])


# --- InspectorRAGet --------------------------------------------------------------------------------------


def experiment(**fields: Any) -> dict[str, Any]:
    values = [{"value": str(number), "numeric_value": number} for number in (1, 2, 3, 4)]
    rated = {"ann": {"value": "4", "timestamp": 1.0}, "ben": {"value": "3"}, "cem": {"value": ""}}
    scores = {"f1": {"system": {"value": 0.5}}, "fluency": rated, "reason": {"ann": {"value": "short"}}}
    return {
        "schema_version": 2,
        "models": [{"model_id": "a", "name": "Model A"}, {"model_id": "b", "name": "Model A"}],
        "metrics": [
            {"name": "f1", "author": "algorithm", "type": "numerical"},
            {"name": "fluency", "author": "human", "type": "categorical", "values": values},
            {"name": "reason", "author": "human", "type": "text"},
        ],
        "documents": [{"document_id": "d", "text": PASSAGE, "title": "Manual"}],
        "tasks": [
            {
                "task_id": "t",
                "task_type": "qa",
                "input": [{"speaker": "user", "text": Q}],
                "contexts": [{"document_id": "d"}],
                "targets": [{"type": "text", "value": "4.5 l"}],
                "answerability": "UNANSWERABLE",
            }
        ],
        "results": [
            {"task_id": "t", "model_id": model, "output": {"type": "text", "value": ANSWER}, "scores": scores}
            for model in ("a", "b")
        ],
    } | fields


def test_inspectorraget_models_are_runs_and_ratings_scores(source: Source) -> None:
    first, second = source.read(INSPECTORRAGET, json.dumps(experiment()))
    assert facts(first) == (Q, "t", ANSWER, [PASSAGE], "4.5 l", [])
    assert (first.run, second.run) == ("a", "b")  # the name is not enough
    assert first.answerable is False and first.lists["chunks"][0].document == "Manual"
    assert first.scores == {
        "f1": 0.5,
        "fluency": [{"score": 4.0, "label": "4", "by": "ann"}, {"score": 3.0, "label": "3", "by": "ben"}],
        "reason": {"label": "short", "by": "ann"},
    }
    assert source.reading.records == 2 and source.reading.left["scores.timestamp"] == 2


def test_inspectorraget_reads_schema_version_1(source: Source) -> None:
    new = experiment()
    task = {**new["tasks"][0], "task_type": "rag", "targets": [{"text": "4.5 l"}]}
    old = [
        {
            "task_id": "t",
            "model_id": "a",
            "model_response": ANSWER,
            "annotations": new["results"][0]["scores"],
        }
    ]
    value = {name: each for name, each in new.items() if name not in ("results", "schema_version")}
    asked = source.one(INSPECTORRAGET, {**value, "tasks": [task], "evaluations": old})
    [expected, _] = source.read(INSPECTORRAGET, json.dumps(new))
    assert facts(asked) == facts(expected) and asked.scores == expected.scores


def test_inspectorraget_conversation_asks_its_last_question(source: Source) -> None:
    turns = [
        {"role": "user", "content": "Which car?"},
        {"role": "assistant", "content": "The small one."},
        {
            "role": "tool",
            "tool_call_id": "1",
            "type": "documents",
            "content": [{"text": PASSAGE, "title": "M"}],
        },
        {"role": "user", "content": Q},
    ]
    task = {"task_id": "t", "task_type": "rag", "input": turns}
    result = {
        "task_id": "t",
        "model_id": "a",
        "output": [{"role": "assistant", "content": ANSWER}],
        "scores": {},
    }
    asked = source.one(INSPECTORRAGET, experiment(tasks=[task], results=[result]))
    assert facts(asked) == (Q, "t", ANSWER, [PASSAGE], None, []) and asked.fields["conversation"] == turns


@pytest.mark.parametrize("indent", [None, 1])
def test_inspectorraget_tasks_may_come_after_the_results(source: Source, indent: int | None) -> None:
    value = experiment()
    late = {name: value.pop(name) for name in ("tasks", "documents", "models", "metrics")}
    [first, _] = source.read(INSPECTORRAGET, json.dumps(value | late, indent=indent))
    assert facts(first) == (Q, "t", ANSWER, [PASSAGE], "4.5 l", []) and first.run == "a"


def test_inspectorraget_is_recognized_where_its_documents_are_large(source: Source) -> None:
    value = experiment()
    many = [{"document_id": f"d{number}", "text": "oil " * 100_000} for number in range(4)]
    tasks, results = value.pop("tasks"), value.pop("results")
    value |= {"documents": [*many, *value["documents"]], "tasks": tasks, "results": results}
    asked = source.read(INSPECTORRAGET, json.dumps(value, indent=1))
    assert [texts(each) for each in asked] == [[PASSAGE], [PASSAGE]]


def test_inspectorraget_result_without_its_task_is_a_problem(source: Source) -> None:
    value = experiment()
    value["results"][0]["task_id"] = "gone"
    assert len(source.read(INSPECTORRAGET, json.dumps(value))) == 1
    [problem] = source.reading.problems
    assert (problem.code, problem.where, source.reading.lost) == ("no_task", "source.json: results 1", 1)


# --- all -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ours", OURS, ids=lambda each: each.name)
def test_no_other_format_takes_the_example(ours: Format, tmp_path: Path) -> None:
    path = tmp_path / f"example{ours.suffix}"
    path.write_bytes(ours.example)
    found = [each.name for each in FORMATS if each.detect(sample_of(path))]
    assert found[0] == ours.name and {*found[1:]} <= {"table"}  # tables of any tool are asked last


@pytest.mark.parametrize("ours", OURS, ids=lambda each: each.name)
def test_an_example_over_several_lines_is_the_same(ours: Format, source: Source) -> None:
    value = json.loads(ours.example)
    [asked], [over_lines] = (
        source.read(ours, json.dumps(value, indent=indent)) for indent in (None, 1)
    )  # a line, and an object that is read in pieces
    assert facts(asked) == facts(over_lines)
    assert (asked.scores, asked.fields) == (over_lines.scores, over_lines.fields)


@pytest.mark.parametrize("ours", OURS, ids=lambda each: each.name)
def test_everything_that_an_example_holds_is_understood(ours: Format, tmp_path: Path) -> None:
    path = tmp_path / f"example{ours.suffix}"
    path.write_bytes(ours.example)
    reading = Reading(path.name)
    assert len(list(ours.read(path, reading))) == reading.records == 1
    envelope = {
        "evalId",
        "results.version",
        "results.timestamp",
        "results.stats",
    }  # of the file, not its records
    assert reading.left.keys() <= envelope | {"version", "generated_at", "name"}


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to each value inside a JSON value."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, child in children:
        yield (*above, step)
        yield from places(child, (*above, step))


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    if not way:
        return new
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    changed = {step: replaced(child, way[1:], new) if step == way[0] else child for step, child in steps}
    return changed if isinstance(value, dict) else [*changed.values()]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("ours", OURS, ids=lambda each: each.name)
@given(data=st.data())
def test_any_value_at_any_place_loses_nothing_silently(ours: Format, data: st.DataObject) -> None:
    example = json.loads(ours.example)
    way = data.draw(st.sampled_from([*places(example)]))
    value = replaced(example, way, data.draw(ANYTHING))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "source.json"
        path.write_text(json.dumps(value, indent=data.draw(st.sampled_from([None, 1]))), encoding="utf-8")
        reading, native = Reading(path.name), Native(Path(name), unknown_base=0)
        try:
            ours.detect(sample_of(path))
            native.write(ours.read(path, reading), reading)
        except Fault:
            return
        assert native.questions + reading.lost == reading.records
