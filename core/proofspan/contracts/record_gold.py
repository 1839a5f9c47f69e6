"""The rules of gold questions and of redirects: what they say must be able to hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.offset_rules import offset_findings
from proofspan.contracts.payload_rules import page_findings
from proofspan.contracts.record_chunk import line_findings
from proofspan.contracts.record_lists import ids_of, unknown_chunks
from proofspan.contracts.records import Json

#: What an answer can be held against.
_EVIDENCE: Final = ("sections", "chunks", "spans")
#: Kind of redirect → how many new ids it has, at least and at most.
_NEW_IDS: Final[Mapping[str, tuple[int, int]]] = {
    **dict.fromkeys(("same", "rev", "shift", "merge"), (1, 1)),
    "split": (2, 1 << 53),
    "gone": (0, 0),
}


def gold_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a gold question beyond its schema."""
    known = [name for name in _EVIDENCE if obj.get(name)]
    if obj.get("answerable") is False and known:
        said = f"answerable is false, and {', '.join(known)} say where the answer stands"
        yield Finding("gold_contradicts", "answerable", said)
    elif obj.get("answerable") is not False and not known:
        said = "none of sections, chunks and spans says where the answer stands"
        yield Finding("gold_without_evidence", "", said)
    if obj.get("q") == "" or ("q" not in obj and obj.get("question") == ""):
        yield Finding("empty_q", "q", "q is ''")
    spans = obj.get("spans")
    for place, span in enumerate(spans if isinstance(spans, list) else (), start=1):
        if isinstance(span, dict):
            for finding in _span(span):
                yield finding.inside(f"spans[{place}]")
    yield from unknown_chunks(ids_of(obj.get("chunks")), context, "chunks")


def redirect_findings(obj: Mapping[str, Json], _: Context) -> Iterator[Finding]:
    """Everything that is wrong with a redirect beyond its schema."""
    kind, new_ids = obj.get("kind"), obj.get("new_ids")
    if not isinstance(kind, str) or kind not in _NEW_IDS or not isinstance(new_ids, list):
        return
    least, most = _NEW_IDS[kind]
    if not least <= len(new_ids) <= most:
        wanted = "none" if most == 0 else f"{least}" if most == least else f"{least} or more"
        yield Finding("bad_new_ids", "new_ids", f"new_ids holds {len(new_ids):,}, and {kind} has {wanted}")
    if kind == "same" and len(new_ids) == 1 and new_ids[0] != obj.get("old_id"):
        yield Finding("bad_new_ids", "new_ids", f"the kind is same, and the id is now {shown(new_ids[0])}")


def _span(span: Mapping[str, Json]) -> Iterator[Finding]:
    if span.get("quote") == "":
        yield Finding("empty_quote", "quote", "quote is ''")
    if span.get("offsets") is not None:
        yield from offset_findings(span["offsets"])
    yield from line_findings(span.get("span"))
    yield from page_findings(span)
