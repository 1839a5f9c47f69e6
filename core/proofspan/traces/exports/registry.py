"""The formats of other tools that a run is written in."""

from __future__ import annotations

from proofspan.traces.exports.beir import BEIR
from proofspan.traces.exports.deepeval import DEEPEVAL
from proofspan.traces.exports.openinference import OPENINFERENCE
from proofspan.traces.exports.promptfoo import PROMPTFOO
from proofspan.traces.exports.ragas import RAGAS
from proofspan.traces.exports.table import TABLE
from proofspan.traces.exports.trec import TREC
from proofspan.traces.exports.types import ExportFormat

#: By the name that the command takes.
EXPORT_FORMATS: dict[str, ExportFormat] = {
    each.name: each for each in (OPENINFERENCE, RAGAS, DEEPEVAL, PROMPTFOO, BEIR, TREC, TABLE)
}
