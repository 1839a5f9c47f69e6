"""Citations that say where they point and nothing of the payload: many pipelines write no others.

All of them lack the same, so an index build need not ask each citation for each field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from proofspan.contracts.citation_rules import section_of
from proofspan.contracts.context import NO_CONTEXT
from proofspan.contracts.payload_rules import CITATION, PAYLOAD_MARKS, item_findings
from proofspan.contracts.ranking_rules import RANKS, SCORES
from proofspan.contracts.records import Json
from proofspan.contracts.values import id_of, page_of
from proofspan.traces.contract_cited import citing_findings
from proofspan.traces.contract_reading import Located, Reading

#: What is read of a citation beside its place.
_STATED: Final = PAYLOAD_MARKS.union(SCORES, RANKS, {"snippet_id"})
_SPARSE = {"chunk_id": "c", "doc_id": "d", "section_id": "s"}
_LACKING: Final[tuple[Located, ...]] = tuple(
    [("", finding) for finding in item_findings(_SPARSE, NO_CONTEXT, CITATION)]
)


def cited_codes(reading: Reading) -> Iterable[Located]:
    """Findings with all the codes of `citing_findings`; of sparse citations those of one are enough."""
    return _LACKING if _are_sparse(reading) else citing_findings(reading)


def _are_sparse(reading: Reading) -> bool:
    """Whether the only citations are sparse ones of one section, each with a place that can be read."""
    if len(reading.cited) != 1 or reading.is_joined:
        return False
    items = reading.cited[0].entries
    section = section_of(items[0])
    return all(_is_sparse(item) and item["section_id"] == section for item in items)


def _is_sparse(item: Json) -> bool:
    if type(item) is not dict or not _STATED.isdisjoint(item):
        return False
    chunk_id, doc_id, section = id_of(item), item.get("doc_id"), section_of(item)
    if not chunk_id or chunk_id.isspace() or section is None or type(doc_id) is not str:
        return False
    return bool(doc_id.strip()) and page_of(item)[1] is None
