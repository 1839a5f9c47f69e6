"""The questions that two runs answer differently well, in an order, and as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

import orjson
import pandas as pd

from proofspan.contracts.records import LABELS
from proofspan.diagnosis.report import question_cell
from proofspan.services.exports import Export, Frames, cell, csv_lines, plain
from proofspan.store.filters import Filter, Sort
from proofspan.store.queries import Store

FlipKind = Literal["fixed", "regressed"]
FLIP_KINDS: tuple[FlipKind, ...] = get_args(FlipKind)

#: Of each kind so many are listed; the rest is counted.
MOST_LISTED = 5_000
#: What a list of flips may be sorted by: the URL's name → the columns, in their natural direction.
FLIP_SORTS: Mapping[str, tuple[str, ...]] = {
    "section_rank": ("section_rank", "was_rank"),
    "label": ("label", "was_label"),
}
#: The columns of an exported row.
COLUMNS = (
    *("run_id", "vs", "outcome", "flip", "q_id", "q"),
    *("was_label", "label", "was_bucket", "bucket", "was_rank", "rank"),
)


def flip_list(store: Store, shown: Filter, kind: FlipKind, sort: Sort) -> pd.DataFrame:
    """The first `MOST_LISTED` flips of a kind, as `Store.flip_rows` has them, in the asked order.

    By any other order than those of `FLIP_SORTS` they stay as they come, the worst first.
    """
    rows = store.flip_rows(shown, kind, MOST_LISTED, 0)
    by = list(FLIP_SORTS.get(sort.by, ()))
    if not by:
        return rows
    severity = {name: rows[name].map(LABELS.index, na_action="ignore") for name in by if "label" in name}
    keys = rows.assign(**severity)
    order = keys.sort_values(by, ascending=not sort.descending, kind="stable", na_position="last").index
    return rows.loc[order].reset_index(drop=True)


def flip_frames(store: Store, shown: Filter, sort: Sort) -> Iterator[pd.DataFrame]:
    """Both lists with `COLUMNS`, the fixed ones first: what an export writes."""
    for kind in FLIP_KINDS:
        rows = flip_list(store, shown, kind, sort).rename(columns={"section_rank": "rank"})
        yield rows.assign(run_id=shown.run, vs=shown.vs, outcome=shown.outcome, flip=kind)[list(COLUMNS)]


def _records(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for values in zip(*(_column(frame[name], name) for name in COLUMNS), strict=True):
        yield dict(zip(COLUMNS, values, strict=True))


def _column(values: pd.Series[Any], name: str) -> list[Any]:
    known = [plain(value) for value in values.tolist()]
    if name not in ("was_rank", "rank"):
        return known
    return [None if value is None else int(value) for value in known]  # pandas makes floats of them


def _csv_pieces(frames: Frames) -> Iterator[str]:
    yield csv_lines([COLUMNS])
    for frame in frames:
        yield csv_lines([cell(record[name]) for name in COLUMNS] for record in _records(frame))


def _jsonl_pieces(frames: Frames) -> Iterator[str]:
    for frame in frames:
        yield "".join(
            orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE).decode()
            for record in _records(frame)
        )


def _markdown_pieces(frames: Frames) -> Iterator[str]:
    """A table for a pull request: what flipped, its question, the rank of its gold section, its label."""
    yield "| flip | q_id | question | gold at rank | label |\n|---|---|---|---|---|\n"
    for frame in frames:
        for record in _records(frame):
            cells = (
                record["flip"],
                question_cell(record["q_id"]),
                question_cell(record["q"]),
                ranks_in_words(record["was_rank"], record["rank"]),
                labels_in_words(record["was_label"], record["label"]),
            )
            yield f"| {' | '.join(cells)} |\n"


#: Kind → how it is written, in the order in which kinds are offered.
FLIP_EXPORTS: Mapping[str, Export] = {
    "csv": Export("CSV", "csv", "text/csv", _csv_pieces),
    "jsonl": Export("JSON lines", "jsonl", "application/x-ndjson", _jsonl_pieces),
    "markdown": Export("Markdown table", "md", "text/markdown", _markdown_pieces),
}


def ranks_in_words(was: int | None, now: int | None) -> str:
    """`7 → 1`, `none → 3`, and `1` where it stayed: the rank of the gold section then and now."""
    then, here = ("none" if rank is None else f"{rank:,}" for rank in (was, now))
    return here if then == here else f"{then} → {here}"


def labels_in_words(was: str | None, now: str | None) -> str:
    """`retrieval_drift → ok`, and `ok` where it stayed."""
    then, here = was or "no label", now or "no label"
    return here if then == here else f"{then} → {here}"
