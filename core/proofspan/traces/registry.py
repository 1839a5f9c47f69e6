"""The formats that are opened without a mapping: our own, and those that other packages register."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from proofspan.traces.formats.beir import BEIR
from proofspan.traces.formats.deepeval import DEEPEVAL
from proofspan.traces.formats.financebench import FINANCEBENCH
from proofspan.traces.formats.inspect_logs import INSPECT
from proofspan.traces.formats.inspectorraget import INSPECTORRAGET
from proofspan.traces.formats.open_rag_eval import OPEN_RAG_EVAL
from proofspan.traces.formats.own import OWN
from proofspan.traces.formats.promptfoo import PROMPTFOO
from proofspan.traces.formats.ragas import RAGAS
from proofspan.traces.formats.ragchecker import RAGCHECKER
from proofspan.traces.formats.spans.langfuse import LANGFUSE
from proofspan.traces.formats.spans.langsmith import LANGSMITH
from proofspan.traces.formats.spans.mlflow import MLFLOW
from proofspan.traces.formats.spans.openinference import OPENINFERENCE
from proofspan.traces.formats.spans.otlp import OTLP
from proofspan.traces.formats.table import TABLE
from proofspan.traces.formats.trec import TREC
from proofspan.traces.formats.types import Format, Sample
from proofspan.traces.responses.anthropic import ANTHROPIC
from proofspan.traces.responses.azure_search import AZURE_SEARCH
from proofspan.traces.responses.bedrock import CONVERSE, KNOWLEDGE_BASE
from proofspan.traces.responses.cohere import COHERE
from proofspan.traces.responses.gemini import GEMINI
from proofspan.traces.responses.langchain_v1 import LANGCHAIN
from proofspan.traces.responses.llamaindex import LLAMAINDEX
from proofspan.traces.responses.mistral import MISTRAL
from proofspan.traces.responses.openai import OPENAI

#: The entry-point group in which another package names its `Format`.
GROUP = "proofspan.formats"
#: Our own, the more particular first: the first that recognizes a source reads it.
FORMATS: tuple[Format, ...] = (
    OWN,
    FINANCEBENCH,
    ANTHROPIC,
    OPENAI,
    COHERE,
    MISTRAL,
    CONVERSE,
    KNOWLEDGE_BASE,
    GEMINI,
    AZURE_SEARCH,
    LANGCHAIN,
    LLAMAINDEX,
    OPENINFERENCE,
    OTLP,
    LANGFUSE,
    LANGSMITH,
    MLFLOW,
    INSPECTORRAGET,
    OPEN_RAG_EVAL,
    PROMPTFOO,
    RAGCHECKER,
    DEEPEVAL,
    RAGAS,
    INSPECT,
    BEIR,
    TREC,
    TABLE,
)


class Recognized(NamedTuple):
    """The format of a source, and why."""

    format: Format
    why: str


def formats() -> tuple[Format, ...]:
    """Return all formats in the order in which they are asked: other packages' first."""
    return (*_registered(entry_points), *FORMATS)


@lru_cache(1)  # all installed packages are searched
def _registered(find: Callable[..., Iterable[EntryPoint]]) -> tuple[Format, ...]:
    return tuple(entry_point.load() for entry_point in find(group=GROUP))


def recognized(sample: Sample) -> Recognized | None:
    """Return the format of a source; None for one that no format recognizes."""
    for each in formats():
        if (why := each.detect(sample)) is not None:
            return Recognized(each, why)
    return None
