"""InspectorRAGet experiments: a task is a question, each model's results are a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from proofspan.contracts.records.field_values import first_of
from proofspan.contracts.records.records import Json
from proofspan.traces.formats.nested import (
    entries,
    first_object,
    kept,
    last_question,
    list_of,
    number,
    object_of,
    stated,
    text,
)
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Asked, Format, Passage, Reading, Sample

#: The list of results; its name before schema version 2 last.
_RESULTS = (("results",), ("evaluations",))
#: The lists that results refer to.
_LISTS = ("models", "metrics", "tasks", "documents")
_COPIED_OF_TASK = ("dataset", "comments", "flagged", "tools", "annotations", "answerability", "task_type")
_TASK = frozenset({"task_id", "input", "contexts", "targets", *_COPIED_OF_TASK})
_COPIED_OF_RESULT = ("model_steps", "comments")
_RESULT = frozenset(
    {
        *("task_id", "model_id", "output", "model_response", "scores", "annotations", "contexts"),
        *_COPIED_OF_RESULT,
    }
)
_DOCUMENT = frozenset({"document_id", "text", "title", "score"})
_VALUE = frozenset({"value"})
_ANSWERABLE = {"answerable": True, "unanswerable": False}


def detect(sample: Sample) -> str | None:
    """Return why a source is InspectorRAGet's: one object has models, metrics, tasks and results."""
    first = sample.first
    if not {"models", "metrics", "tasks"} <= first.keys() or first.keys().isdisjoint(
        {"results", "evaluations"}
    ):
        return None
    ids = {"models": "model_id", "tasks": "task_id", "results": "task_id", "evaluations": "task_id"}
    found = [name for name, key in ids.items() if key in first_object(first.get(name))]
    return (
        f"it has models, metrics, tasks and results, and {found[0]} with {ids[found[0]]}" if found else None
    )


def read(path: Path, reading: Reading) -> Iterator[Asked]:
    """Yield a question for each result of a task and a model."""
    around: dict[str, Json] = {}
    experiment: _Experiment | None = None
    for place, result in entries(path, reading, *_RESULTS, around=around, used=(*_LISTS, "schema_version")):
        experiment = experiment or _Experiment(_whole(path, around), reading)
        if (asked := experiment.asked(place, result)) is not None:
            yield asked


def _whole(path: Path, around: dict[str, Json]) -> dict[str, Json]:
    """Return an experiment without its results: what is before them, or all, where more comes after them."""
    if around.keys() >= {*_LISTS} or around.keys() >= {*_LISTS} & sample_of(path).first.keys():
        return around
    whole: dict[str, Json] = {}
    for _ in entries(path, Reading(path.name), *_RESULTS, around=whole):
        pass
    return whole


class _Experiment:
    """The lists of an experiment by their ids, which its results refer to."""

    def __init__(self, experiment: Mapping[str, Json], reading: Reading) -> None:
        self.reading = reading
        self.tasks = _by_id(experiment.get("tasks"), "task_id")
        self.documents = _by_id(experiment.get("documents"), "document_id")
        self.metrics = _by_id(experiment.get("metrics"), "name")
        #: The numbers of each metric's categories.
        self.categories = {name: _numbers(metric) for name, metric in self.metrics.items()}
        models = _by_id(experiment.get("models"), "model_id")
        names = [text(model.get("name")) for model in models.values()]
        self.models = {
            model_id: name if (name := text(model.get("name"))) and names.count(name) == 1 else model_id
            for model_id, model in models.items()
        }
        for task in self.tasks.values():
            reading.fields(task, _TASK, at="tasks.")

    def asked(self, place: str, result: Mapping[str, Json]) -> Asked | None:
        """Return the question of a result; None for one whose task is not there."""
        task_id, model_id = text(result.get("task_id")), text(result.get("model_id")) or ""
        task = self.tasks.get(task_id or "")
        if task is None:
            message = f"its task {task_id or '(none)'} is not in the file"
            self.reading.problem("no_task", message, place, "Export the experiment with its tasks.")
            return None
        self.reading.fields(result, _RESULT)
        targets = [_output(each) for each in list_of(task.get("targets"))]
        q, from_tools = _input(task.get("input"))
        seen = result.get("contexts") or task.get("contexts")
        chunks = [self._passage(each) for each in [*list_of(seen), *from_tools]]
        fields = kept(task, _COPIED_OF_TASK) | kept(result, _COPIED_OF_RESULT)
        if isinstance(task.get("input"), list) and len(task["input"]) > 1:
            fields["conversation"] = task["input"]
        if len(targets) > 1:
            fields["targets"] = task["targets"]
        answerable = text(task.get("answerability")) or ""
        return Asked(
            place=place,
            q=q or "",
            q_id=task_id,
            answer=_output(first_of(result, ("output", "model_response"))),
            lists={"chunks": chunks} if chunks else {},
            expected=targets[0] if targets else None,
            answerable=_ANSWERABLE.get(answerable.casefold()),
            scores=self._scores(object_of(first_of(result, ("scores", "annotations")))),
            fields=fields,
            run=self.models.get(model_id, model_id),
        )

    def _passage(self, value: Json) -> Passage:
        """Return a context, whose text may be only in the experiment's documents."""
        context = object_of(value)
        if not context:
            return Passage(text=text(value))
        known = self.documents.get(text(context.get("document_id")) or "", {})
        document = {**known, **kept(context, context)}
        words, name = text(document.get("text")), text(document.get("document_id"))
        return Passage(
            text=words if words or name else text(context),
            id=name,
            document=text(first_of(document, ("title", "url"))),
            score=number(document.get("score")),
            more={key: each for key, each in document.items() if key not in _DOCUMENT},
        )

    def _scores(self, scores: Mapping[str, Json]) -> dict[str, Json]:
        return {
            name: score
            for name, by_whom in scores.items()
            if (score := self._score(name, by_whom)) is not None
        }

    def _score(self, name: str, by_whom: Json) -> Json:
        """Return an algorithm's number, or people's ratings with who gave them, a list of several.

        A category counts as the number that its metric gives it. None where no value was given.
        """
        counted = self.categories.get(name, {})
        judged: list[dict[str, Json]] = []
        for who, score in by_whom.items() if isinstance(by_whom, dict) else [("", by_whom)]:
            self.reading.fields(object_of(score), _VALUE, at="scores.")
            value = score.get("value") if isinstance(score, dict) else score
            if (words := text(value)) is not None:
                judged.append(stated(score=counted.get(words, number(words)), label=words, by=who))
        if len(judged) == 1 and not counted and self.metrics.get(name, {}).get("author") != "human":
            return judged[0].get("score", judged[0])
        return judged if len(judged) > 1 else next(iter(judged), None)


def _numbers(metric: Mapping[str, Json]) -> dict[str | None, float | None]:
    return {
        text(each.get("value")): number(each.get("numeric_value"))
        for each in list_of(metric.get("values"))
        if isinstance(each, dict)
    }


def _by_id(values: Json, name: str) -> dict[str, Mapping[str, Json]]:
    """Return the objects of a list by their id, the first of each."""
    found: dict[str, Mapping[str, Json]] = {}
    for each in list_of(values):
        if isinstance(each, dict) and (known := text(each.get(name))):
            found.setdefault(known, each)
    return found


def _input(value: Json) -> tuple[str | None, list[Json]]:
    """Return the last question of a task's input, and the documents that its tools' messages hold."""
    if not isinstance(value, list):
        return text(value), []
    documents = [
        document
        for message in value
        if isinstance(message, dict) and message.get("role") == "tool"
        for document in list_of(message.get("content"))
        if isinstance(document, dict) and "text" in document
    ]
    return last_question(value), documents


def _output(value: Json) -> str | None:
    """Return the text of an output or a target: a text, a `{value}`, or messages of which the last counts."""
    if isinstance(value, list) and value and isinstance(value[-1], dict):
        value = value[-1]
    held = first_of(value, ("value", "content", "text")) if isinstance(value, dict) else None
    return text(value) if held is None else text(held)


INSPECTORRAGET = Format(
    name="inspectorraget",
    title="InspectorRAGet",
    versions="InspectorRAGet schema versions 1 and 2",
    suffix=".json",
    example=b'{"name":"oil","schema_version":2,"models":[{"model_id":"a","name":"Model A","owner":"us"}],'
    b'"metrics":[{"name":"fluency","author":"human","type":"categorical","values":[{"value":"4",'
    b'"numeric_value":4}]}],"documents":[{"document_id":"d1","text":"It holds 4.5 litres.",'
    b'"title":"Manual"}],'
    b'"tasks":[{"task_id":"t1","task_type":"qa","input":[{"speaker":"user","text":"How much oil?"}],'
    b'"contexts":[{"document_id":"d1"}],"targets":[{"type":"text","value":"4.5 litres"}]}],'
    b'"results":[{"task_id":"t1","model_id":"a","output":[{"role":"assistant","content":"4.5 litres."}],'
    b'"scores":{"fluency":{"ann":{"value":"4"}}}}]}\n',
    documentation="A task is a question, and each model is a run. Contexts are what the model saw, with "
    "their text from the experiment's documents where they only name them. Of several people's ratings the "
    "mean and each rating are kept as one score; the times of ratings are not read.",
    detect=detect,
    read=read,
)
