"""The contract's rules for what a trace cites: each citation, all together, each segment's sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import orjson

from proofspan.contracts.chunk_ids import parse
from proofspan.contracts.citation_rules import items_findings, list_findings, section_of
from proofspan.contracts.clean_payload import is_clean
from proofspan.contracts.payload_rules import CITATION, LOGGED
from proofspan.contracts.records import Json
from proofspan.contracts.section_rules import cross_section
from proofspan.contracts.values import id_of, text_of
from proofspan.traces.contract_reading import Located, Reading, cited_id


def are_clean_citations(reading: Reading) -> bool:
    """Whether nothing is to be found in the citations: none, or clean ones of one chunk each or of one."""
    cited = reading.cited
    if not cited:
        return len(reading.in_text) < 2
    items, live = cited[0].entries, reading.live
    if len(cited) > 1:
        return False
    for item in items:
        if not is_clean(item, live):
            return False
    return len(items) == 1 or _do_agree(items, is_fenced=not live.allow_cross)


def citing_findings(reading: Reading) -> Iterator[Located]:
    """Everything that is wrong with the citations of a trace."""
    if not reading.cited:
        yield from _text_sections(reading)
        return
    own = reading.cited[0].entries if reading.cited[0].place == "citations" else []
    repeated = _repeats_of(own if len(reading.cited) > 1 else [])
    judged = [
        (f"{where}[{number}]", item)
        for where, items in reading.cited
        for number, item in enumerate(items, start=1)
        if items is own or not repeated(item)
    ]
    if reading.is_joined:  # ids are all that the record asks for
        judged = [(place, item) for place, item in judged if not isinstance(item, str)]
    items, demand = [item for _, item in judged], LOGGED if reading.is_joined else CITATION
    for place, finding in (*items_findings(items, reading.live, demand), *list_findings(items)):
        yield judged[place - 1][0], finding
    by_id = {cited_id(item): section_of(item) for item in own}
    for where, items in [each for each in reading.cited if each.entries is not own] or reading.cited:
        sections = [section_of(item) or by_id.get(cited_id(item)) for item in items]
        for place, finding in cross_section(sections, reading.live):
            yield f"{where}[{place}]", finding


def _do_agree(items: Sequence[dict[str, Json]], *, is_fenced: bool) -> bool:
    """Whether clean citations plainly keep the rules of lists: a section, a unit, and ranks without a tie."""
    first = items[0]
    ids, ranks, finals, scored = set(), set(), set(), set()
    for item in items:
        if is_fenced and item["section_id"] != first["section_id"]:
            return False
        if item["offsets"]["unit"] != first["offsets"]["unit"]:
            return False
        chunk_id, k_final = id_of(item), item.get("k_final")
        ids.add(chunk_id)
        ranks.add((chunk_id, item["k_pos"]))
        finals.add((chunk_id, k_final))
        scored.add((chunk_id, (item.get("score_raw"), item.get("score_norm"))))
    chunks = len(ids)
    are_ranked = chunks == len(ranks) == len({rank for _, rank in ranks})
    are_scored = chunks == len(scored) == len({scores for _, scores in scored})
    placed = {k_final for _, k_final in finals}
    return are_ranked and are_scored and (placed == {None} or chunks == len(finals) == len(placed))


def _repeats_of(own: Sequence[Json]) -> Callable[[Json], bool]:
    """Whether a citation of a segment only points at one of the trace's own, or repeats it."""
    prints = {orjson.dumps(item, option=orjson.OPT_SORT_KEYS) for item in own}
    return lambda item: (
        bool(own) and (isinstance(item, str) or orjson.dumps(item, option=orjson.OPT_SORT_KEYS) in prints)
    )


def _text_sections(reading: Reading) -> Iterator[Located]:
    """The section fence for an answer that cites in its text alone; sections are those of the candidates."""
    wanted = set(reading.in_text)
    known = {
        chunk_id: _section_in(entry, chunk_id)
        for _, entries in reading.lists
        for entry in entries
        if isinstance(entry, dict) and (chunk_id := id_of(entry) or "") in wanted
    }
    for _, finding in cross_section([known.get(chunk_id) for chunk_id in reading.in_text], reading.live):
        yield "", replace(finding, field="answer")


def _section_in(entry: dict[str, Json], chunk_id: str) -> str | None:
    """The section of a candidate: as it says itself, else as its id does."""
    parts = parse(chunk_id)
    return text_of(entry.get("section_id")) or (parts.sect_path if parts else None)
