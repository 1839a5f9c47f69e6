"""promptfoo results: a test is a question, asked once by each pair of a provider and a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from proofspan.contracts.records.field_values import first_of, index_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.nested import (
    entries,
    first_object,
    kept,
    last_question,
    list_of,
    measure,
    number,
    object_of,
    stated,
    text,
)
from proofspan.traces.formats.payloads import add_score
from proofspan.traces.formats.records import json_of, read_records, sample_of
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample

#: The variables of a test that are read; promptfoo leaves their names to its users.
_Q = ("question", "query", "q", "user_query", "user_question", "user_input", "input", "message")
_CONTEXTS = ("context", "contexts", "retrieved_contexts", "documents", "chunks", "passages")
_EXPECTED = ("expected", "expected_answer", "expected_output", "reference", "ground_truth", "answer")
#: The names of an answer's text in an output that is an object.
_ANSWER = ("answer", "output", "text", "response", "content", "result")
#: Assertions whose value is an expected answer.
_REFERENCES = ("equals", "factuality", "model-graded-factuality", "similar", "context-recall")
#: A result's fields; those of a test case are in `vars` and in the grading too, but for its description.
_USED = frozenset(
    {
        "vars",
        "prompt",
        "response",
        "success",
        "score",
        "namedScores",
        "gradingResult",
        "latencyMs",
        "provider",
    }
    | {"testIdx", "promptIdx", "promptId", "testCase"}
)
_COPIED = ("error", "failureReason", "cost", "tokenUsage", "metadata", "vars", "id", "description")
#: The columns of a table after each output; earlier versions have some, and the status in the output.
_ABOUT = ("Status", "Score", "Named Scores", "Reasoning", "Grader Reason", "Comment")
_STATUS = re.compile(r"\[(PASS|FAIL|ERROR)\] ")
#: Parts of a test's metadata that an export of a workspace writes.
_OURS = frozenset({"q_id", "answerable", "context", "gold"})
_NAMED = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_HEAD = re.compile(r"(?:\[(?P<provider>[^\]]*)\] )?(?P<prompt>.*)", re.DOTALL)


def detect(sample: Sample) -> str | None:
    """Return why a source is promptfoo's: a summary of results, a result on each line, or its table."""
    if sample.shape == "table":
        outputs = _outputs([*sample.first])
        return f"the table has {len(outputs)} outputs, each with its grader's reason" if outputs else None
    first = sample.first
    if "prompts" in first and "vars" in first_object(first.get("tests")):
        return "it has prompts, and tests with vars"
    summary = object_of(first.get("results")) or first
    result = first_object(summary.get("results"))
    if {"version", "stats"} <= summary.keys() and isinstance(summary.get("results"), list):
        return f"the results of version {text(summary['version'])} come with stats"
    for where, each in (("a result", result), ("a record", first)):
        if {"vars", "success", "namedScores"} <= each.keys() and {"prompt", "promptIdx"} & each.keys():
            return f"{where} has vars, success and namedScores"
    return None


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each result, or for each test of a configuration, which has not run."""
    prompts: dict[str, list[str]] = {}
    first = sample_of(path).first
    if "tests" in first and "results" not in first:
        yield from _tests(path, first, reading)
        return
    for place, result in _results(path, reading):
        reading.fields(result, {*_USED, *_COPIED})
        variables, case = object_of(result.get("vars")), object_of(result.get("testCase"))
        response = object_of(result.get("response"))
        reading.fields(response, {"output", "error"}, at="response.")
        reading.fields(case, {"vars", "assert", "description"}, at="testCase.")
        grading = object_of(result.get("gradingResult"))
        index = index_of(result.get("testIdx"))
        output = response.get("output") if response else result.get("response")
        parts = object_of(output)
        contexts = [_passage(each) for each in _contexts(variables, parts, grading)]
        fields = _fields(result, response, case)
        if (answer := first_of(parts, _ANSWER)) is not None:
            fields["output"] = {**parts}
        yield Asked(
            place=place,
            q=_question(variables, result.get("prompt")),
            q_id=_own_id(result) or (None if index is None else f"test-{index}"),
            answer=text(output if answer is None else answer),
            lists={"chunks": contexts} if contexts else {},
            expected=_expected(variables, case),
            scores=_scores(result, grading, reading),
            fields=fields,
            run=_run(result, prompts),
        )


def _tests(path: Path, config: Mapping[str, Json], reading: Reading) -> Iterator[Asked]:
    """Yield a question for each test. The provider `echo` answers with the prompt, if that is a variable."""
    providers, templates = list_of(config.get("providers")), list_of(config.get("prompts"))
    provider = providers[0] if len(providers) == 1 else None
    provider = provider if isinstance(provider, dict) else {"id": provider}
    template = templates[0] if len(templates) == 1 and provider.get("id") == "echo" else None
    for place, test in entries(path, reading, ("tests",), used=("prompts", "providers")):
        reading.fields(test, {"vars", "assert", "metadata", "description", "options"})
        variables, metadata = object_of(test.get("vars")), object_of(test.get("metadata"))
        contexts = [_passage(each) for each in list_of(first_of(variables, _CONTEXTS))]
        described = list_of(metadata.get("context"))
        if len(described) == len(contexts):
            contexts = [_placed(*each) for each in zip(contexts, described, strict=True)]
        yield Asked(
            place=place,
            q=_question(variables, None),
            q_id=_own_id(test),
            answer=_filled(template, variables),
            lists={"chunks": contexts} if contexts else {},
            expected=_expected(variables, test),
            gold=[_placed(_passage(each), each) for each in list_of(metadata.get("gold"))],
            answerable=False if metadata.get("answerable") is False else None,
            fields=kept(
                {"metadata": {name: metadata[name] for name in metadata if name not in _OURS}}, ("metadata",)
            ),
            run=text(provider.get("label")) or "",
        )


def _own_id(test: Mapping[str, Json]) -> str | None:
    return text(object_of(test.get("metadata")).get("q_id"))


def _filled(template: Json, variables: Mapping[str, Json]) -> str | None:
    """Return a template that is one variable as its value; None for any other."""
    named = _NAMED.fullmatch(template) if isinstance(template, str) else None
    return text(variables.get(named[1])) if named else None


def _placed(passage: Passage, described: Json) -> Passage:
    """Return a passage with the id and the place that the metadata of an export gives."""
    about = object_of(described)
    if not about:
        return passage
    passage.id, passage.document = text(about.get("id")), text(about.get("source"))
    passage.page, passage.section = index_of(about.get("page_idx")), text(about.get("section_id"))
    passage.label, passage.page_base = text(about.get("page_label")), None if passage.page is None else 0
    passage.more = {}
    return passage


def _results(path: Path, reading: Reading) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the results with their places; a row of a table has one for each prompt, here as in JSON."""
    if sample_of(path).shape != "table":
        yield from entries(path, reading, ("results", "results"), ("results",))
        return
    for test, (place, row) in enumerate(read_records(path, reading)):
        reading.problems[:] = [each for each in reading.problems if each.code != "duplicate_column"]
        names = [*row]
        outputs = _outputs(names)
        reading.fields(row, names)
        first = min(outputs, default=0)
        variables = {name: row[name] for name in names[:first] if name != "Description"}
        for index, about in enumerate(outputs.items()):
            if (result := _result(row, names, *about)) is not None:
                result |= {"vars": variables, "testIdx": test, "promptIdx": index}
                result["description"] = row.get("Description")
                yield place, result


def _outputs(names: Sequence[str]) -> dict[int, dict[str, str]]:
    """Return the places of a table's outputs with the columns about each, by what they hold."""
    found: dict[int, dict[str, str]] = {}
    for place, name in enumerate(names):
        base = re.sub(r" \(\d+\)\Z", "", name)
        if base not in _ABOUT:
            last = place
        elif place:
            found.setdefault(last, {})[base] = name
    return {place: about for place, about in found.items() if {"Grader Reason", "Comment"} <= about.keys()}


def _result(
    row: Mapping[str, Json], names: Sequence[str], output: int, about: Mapping[str, str]
) -> dict[str, Json] | None:
    """Return one output of a row as a result is in JSON; None where the prompt did not run."""
    cells = {base: row.get(name) for base, name in about.items()}
    words = text(row.get(names[output])) or ""
    if not words and not any(cells.values()):
        return None
    marked = _STATUS.match(words)
    status = text(cells.get("Status")) or (marked[1] if marked else None)
    head = _HEAD.fullmatch(names[output])
    return {
        "response": {"output": words[marked.end() :] if marked else words},
        "prompt": {"label": head["prompt"] if head else None},
        "provider": head["provider"] if head else None,
        "success": None if status is None else status == "PASS",
        "score": cells.get("Score"),
        "namedScores": json_of(cells.get("Named Scores")),
        "gradingResult": {"reason": cells.get("Grader Reason"), "comment": cells.get("Comment")},
        "error": text(cells.get("Grader Reason")) if status == "ERROR" else None,
    }


def _question(variables: Mapping[str, Json], prompt: Json) -> str:
    """Return the variable that asks, else the prompt as it was sent, of a chat its last question."""
    if (named := text(first_of(variables, _Q))) is not None:
        return named
    raw = json_of(prompt.get("raw") if isinstance(prompt, dict) else prompt)
    return last_question(raw) or text(raw) or ""


def _contexts(
    variables: Mapping[str, Json], output: Mapping[str, Json], grading: Mapping[str, Json]
) -> list[Json]:
    """Return the variable with the passages, else what the output or an assertion names as its context."""
    for held in (variables, output):
        if found := list_of(first_of(held, _CONTEXTS)):
            return found
    for component in list_of(grading.get("componentResults")):
        if found := list_of(object_of(object_of(component).get("metadata")).get("context")):
            return found
    return []


def _passage(value: Json) -> Passage:
    """Return a passage; of an object its text, its id and where it is from."""
    if not isinstance(value, dict):
        return Passage(text=text(value))
    names = {
        "text": ("text", "content", "page_content", "pageContent", "passage"),
        "id": ("id", "chunk_id", "_id"),
        "document": ("source", "document", "title", "file", "filename"),
        "score": ("score",),
    }
    found = {name: first_of(value, keys) for name, keys in names.items()}
    if found["text"] is None:
        return Passage(text=text(value))
    used = {key for keys in names.values() for key in keys}
    return Passage(
        text=text(found["text"]),
        id=text(found["id"]),
        document=text(found["document"]),
        score=number(found["score"]),
        more={key: each for key, each in value.items() if key not in used},
    )


def _expected(variables: Mapping[str, Json], case: Mapping[str, Json]) -> str | None:
    for each in list_of(case.get("assert")):
        if isinstance(each, dict) and each.get("type") in _REFERENCES and isinstance(each.get("value"), str):
            value = str(each["value"])
            if not _NAMED.fullmatch(value):
                return value
            if (named := _filled(value, variables)) is not None:
                return named
    return text(first_of(variables, _EXPECTED))


def _scores(result: Mapping[str, Json], grading: Mapping[str, Json], reading: Reading) -> dict[str, Json]:
    """Return the outcome, the score, each assertion's result, and the metrics that no assertion names."""
    reading.fields(
        grading,
        {"pass", "score", "reason", "comment", "componentResults", "namedScores"},
        at="gradingResult.",
    )
    success = result.get("success", grading.get("pass"))
    scores: dict[str, Json] = {}
    if success is not None:
        reasons = filter(None, (text(grading.get("reason")), text(grading.get("comment"))))
        scores["success"] = stated(label=_label(success), explanation=" · ".join(reasons))
    if (score := measure(first_of({**grading, **result}, ("score",)))) is not None:
        scores["score"] = score
    for each in list_of(grading.get("componentResults")):
        component = each if isinstance(each, dict) else {"score": each}
        used = {"pass", "score", "reason", "assertion", "comment", "metadata"}
        reading.fields(component, used, at="gradingResult.componentResults.")
        assertion = object_of(component.get("assertion"))
        kind = text(assertion.get("type"))
        found = stated(
            score=number(component.get("score")),
            label=_label(component.get("pass")),
            explanation=text(first_of(component, ("comment", "reason"))),
            by="a person" if kind == "human" else text(assertion.get("provider")),
        )
        add_score(scores, text(assertion.get("metric")) or kind or "assertion", found)
    for name, value in object_of(result.get("namedScores")).items():
        if name not in scores:
            scores[name] = measure(value)
    return scores


def _label(passed: Json) -> str | None:
    return ("failed", "passed")[passed] if isinstance(passed, bool) else text(passed)


def _fields(
    result: Mapping[str, Json], response: Mapping[str, Json], case: Mapping[str, Json]
) -> dict[str, Json]:
    fields = kept(result, _COPIED) | kept(case, ("description",))
    if (latency := number(result.get("latencyMs"))) is not None:
        fields["latency_ms"] = latency
    if "error" not in fields and (error := text(response.get("error"))):
        fields["error"] = error
    return fields


def _run(result: Mapping[str, Json], prompts: dict[str, list[str]]) -> str:
    """Return the provider's name; of its second prompt and on with the prompt's number.

    `prompts` are the prompts of each provider so far, in the order of the file.
    """
    provider, prompt = result.get("provider"), result.get("prompt")
    if isinstance(provider, dict):
        provider = first_of({name: value or None for name, value in provider.items()}, ("label", "id"))
    name = text(provider) or ""
    known = prompts.setdefault(name, [])
    label = prompt.get("label") if isinstance(prompt, dict) else None
    of_prompt = text(first_of(result, ("promptIdx", "promptId"))) or text(label) or ""
    if of_prompt not in known:
        known.append(of_prompt)
    place = known.index(of_prompt) + 1
    return name if place == 1 else f"{name}, prompt {place}".removeprefix(", ")


PROMPTFOO = Format(
    name="promptfoo",
    title="promptfoo",
    versions="promptfoo 0.121: results of version 3 (and 2) as JSON, JSONL and CSV, and a configuration "
    "with its tests as JSON",
    suffix=".json",
    example=b'{"evalId":"eval-1","results":{"version":3,"timestamp":"2026-01-01T00:00:00Z","prompts":[],'
    b'"stats":{"successes":1,"failures":0,"errors":0},"results":[{"promptIdx":0,"testIdx":0,'
    b'"provider":{"id":"openai:o5"},"prompt":{"raw":"How much oil?","label":"ask"},'
    b'"vars":{"question":"How much oil?","context":"It holds 4.5 litres."},'
    b'"response":{"output":"4.5 litres."},"success":true,"score":1,"namedScores":{},"latencyMs":12}]},'
    b'"config":{},"shareableUrl":null}\n',
    documentation="A test is a question, and each pair of a provider and a prompt a run. The question is the "
    "variable `question`, `query` or `input`, else the prompt as it was sent; the variable `context` or "
    "`documents`, or such a field of an output that is an object, is what the model saw. Assertions are kept "
    "as scores with their reasons, manual grades as by a person. The expected answer is that of an `equals`, "
    "`factuality`, `similar` or `context-recall` assertion, else the variable `expected` or `reference`. A "
    "configuration gives its tests as questions, which only the provider `echo` answers.",
    detect=detect,
    read=read,
)
