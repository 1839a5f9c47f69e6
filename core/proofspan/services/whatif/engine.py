"""Compute what follows from changed settings, from the logged lists of a run alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.ranked import CUTS
from proofspan.metrics.statistics import Mean
from proofspan.metrics.values import MetricValue, metric_value
from proofspan.services.compare import MetricPair, metric_pairs
from proofspan.services.whatif.answers import causes, labels, same_sets, supported
from proofspan.services.whatif.lists import MOST_CANDIDATES, Lists
from proofspan.services.whatif.logged import fusion_of, logged, sources_of
from proofspan.services.whatif.ranking import NewLists, fuses, new_lists, outcomes
from proofspan.services.whatif.types import Settings, Weights, WhatIf
from proofspan.store.files.types import Flips
from proofspan.store.query.filters import TURNS
from proofspan.wording import counted

#: The metrics of a what-if, the headline ones first.
HEADLINES = ("section_match_at_1", "gt_in_top_20")
SHOWN = tuple(
    dict.fromkeys(
        (
            *HEADLINES,
            *(name for name, metric in METRICS.items() if metric.group in ("ranking", "labels")),
            *("grounded_answers", "supported_claims"),
        )
    )
)
#: What flips are counted by.
OUTCOMES = ("section_match_at_1", "gt_in_top_20")
_CHANGING = ("bucket", "label", "cause", "grounded")


class _Computed(NamedTuple):
    """The lists that settings lead to, and the index's columns as they would be."""

    new: NewLists
    table: pa.Table


def lists_by(lists: Lists, settings: Settings) -> NewLists:
    """Return the lists that settings lead to, all of which the run must allow (`usable`)."""
    by = fusion_of(lists, logged(lists).settings, settings) if fuses(settings) else None
    return new_lists(lists, settings, by, sources_of(lists))


def _computed(lists: Lists, settings: Settings, *, answered: bool = True) -> _Computed:
    """Compute what settings lead to, without labels, claims and causes where not `answered`."""
    new = lists_by(lists, settings)
    columns: dict[str, Sequence[object]] = {}
    if answered:
        columns["label"] = labels(lists, new.ranks["chunks"], settings.profile)
        columns["cause"] = causes(lists, new)
        if settings.support is not None:
            columns |= supported(lists, settings.support)
    table = _ranked(lists, new)
    for name, values in columns.items():
        table = _replaced(table, name, pa.array(values, table.schema.field(name).type))
    return _Computed(new, table)


def _ranked(lists: Lists, new: NewLists) -> pa.Table:
    """Return the index's columns with the ranks of new lists."""
    found, table = outcomes(lists, new), lists.table
    rows = pa.array(found.rows & table.column("unranked").is_null().to_numpy())
    columns: dict[str, object] = {
        "section_rank": found.section_rank,
        "top_rank": found.top_rank,
        "section_coverage": found.section_coverage,
        "ndcg_10": found.ndcg_10,
        "reciprocal_rank": found.reciprocal_rank,
        **{f"recall_{cut}": found.recall[cut] for cut in CUTS},
        "bucket": found.bucket,
    }
    for name, values in columns.items():
        computed = pa.array(values, from_pandas=True).cast(table.schema.field(name).type)
        table = _replaced(table, name, pc.if_else(rows, computed, table.column(name).combine_chunks()))
    return table


def _replaced(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), table.schema.field(name), values)


def what_if(lists: Lists, settings: Settings) -> WhatIf:
    """Return what follows from settings beside the logged run.

    A setting that cannot be used, such as a list that the run does not log, is left out with a note.
    """
    used, notes = usable(lists, settings)
    new, table = _computed(lists, used)
    pairs, numbers = _pairs(lists, table, SHOWN)
    before = _numbers(lists, SHOWN)
    prompts = ~same_sets(lists.ranks["chunks"], new.ranks["chunks"])
    was, now = _shown(lists.table), _shown(table)
    return WhatIf(
        logged(lists),
        settings,
        pairs,
        {name: _flips(before[name], numbers[name]) for name in OUTCOMES},
        {name: _changes(was[name], now[name]) for name in _CHANGING},
        _moved(was, now, prompts),
        int(prompts.sum()),
        (*notes, *_notes(lists, used, new, was["cause"], now["cause"])),
    )


class Measured(NamedTuple):
    """A metric here and in the logged run, with the difference of each question that counts in both."""

    here: MetricValue
    difference: Mean | None
    p: float | None
    differences: list[float]


def measured(lists: Lists, settings: Settings, metric_id: str) -> Measured:
    """Return one metric with settings that can be used, without computing what it does not depend on."""
    is_ranking = METRICS[metric_id].group == "ranking"
    table = _computed(lists, settings, answered=not is_ranking).table
    pairs, numbers = _pairs(lists, table, (metric_id,))
    differences = numbers[metric_id] - _numbers(lists, (metric_id,))[metric_id]
    here = _values(lists, table)[metric_id] if not pairs else pairs[0].here
    assert here is not None  # noqa: S101 - every metric of the index has a value
    difference, p = (pairs[0].difference, pairs[0].p) if pairs else (None, None)
    return Measured(here, difference, p, differences[np.isfinite(differences)].tolist())


def _numbers(lists: Lists, metric_ids: Sequence[str]) -> Mapping[str, np.ndarray]:
    """Return the logged number of each question in metrics."""
    missing = [name for name in metric_ids if ("number", name) not in lists.kept]
    if missing:
        found = lists.store.numbers_of_table(lists.table, missing)
        lists.kept.update({("number", name): values for name, values in found.items()})
    return {name: lists.kept["number", name] for name in metric_ids}


def _values(lists: Lists, table: pa.Table) -> Mapping[str, MetricValue]:
    tallies = lists.store.tallies_of_table(table)
    return {name: metric_value(METRICS[name], tally) for name, tally in tallies.items()}


def _pairs(
    lists: Lists, table: pa.Table, metric_ids: Sequence[str]
) -> tuple[tuple[MetricPair, ...], Mapping[str, np.ndarray]]:
    """Return metrics here and in the logged run, with the number of each question here."""
    if "values" not in lists.kept:
        lists.kept["values"] = _values(lists, lists.table)
    there, here = lists.kept["values"], _values(lists, table)
    was, now = _numbers(lists, metric_ids), lists.store.numbers_of_table(table, metric_ids)
    shown = [{name: values[name] for name in metric_ids} for values in (here, there)]
    found = metric_pairs(shown[0], shown[1], lambda names: {each: now[each] - was[each] for each in names})
    pairs = {pair.metric.metric_id: pair for pair in found}
    return tuple(pairs[name] for name in metric_ids if name in pairs), now


def _flips(was: np.ndarray, now: np.ndarray) -> Flips:
    counts = {flip: int(((was == there) & (now == here)).sum()) for flip, (there, here, _) in TURNS.items()}
    return Flips(**counts, only_here=0, only_there=0, left_out=int((np.isnan(was) | np.isnan(now)).sum()))


#: The columns of a question that moves, in the logged run and here.
_MOVING = ("section_rank", "top_rank", "bucket", "label", "cause", "grounded")


def _shown(table: pa.Table) -> Mapping[str, list[Any]]:
    return {name: table.column(name).to_pylist() for name in ("q_id", "q", *_MOVING)}


def _changes(
    was: Sequence[str | None], now: Sequence[str | None]
) -> tuple[tuple[str | None, str | None, int], ...]:
    counts = Counter(zip(was, now, strict=True))
    ordered = sorted(counts.items(), key=lambda each: (-each[1], str(each[0][0]), str(each[0][1])))
    return tuple((before, after, count) for (before, after), count in ordered)


def _moved(was: Mapping[str, list[Any]], now: Mapping[str, list[Any]], prompts: np.ndarray) -> pd.DataFrame:
    """Return the questions of which anything differs, the regressed first."""
    columns = {
        "section_rank": "rank",
        "top_rank": "top_rank",
        "bucket": "bucket",
        "label": "label",
        "cause": "cause",
    }
    rows = [
        row
        for row in range(len(prompts))
        if prompts[row] or any(was[name][row] != now[name][row] for name in _MOVING)
    ]
    data: dict[str, list[Any]] = {name: [now[name][row] for row in rows] for name in ("q_id", "q")}
    for name, title in columns.items():
        data[f"was_{title}"] = [was[name][row] for row in rows]
        data[title] = [now[name][row] for row in rows]
    data["prompt_changed"] = [bool(prompts[row]) for row in rows]
    frame = pd.DataFrame(data, dtype=object)
    for name in ("was_rank", "rank", "was_top_rank", "top_rank"):
        frame[name] = frame[name].astype("Int32")
    frame["prompt_changed"] = frame["prompt_changed"].astype(bool)
    worse = [_worsening(was["section_rank"][row], now["section_rank"][row]) for row in rows]
    ordered = sorted(range(len(rows)), key=worse.__getitem__)
    return frame.iloc[ordered].reset_index(drop=True)


#: The rank of gold that is in no list.
_NOWHERE = 1_000_000


def _worsening(was: int | None, now: int | None) -> tuple[int, int]:
    """Return where a question comes among those that move: the regressed first, the fixed after these."""
    before, after = was or _NOWHERE, now or _NOWHERE
    kind = 0 if before == 1 < after else 1 if after == 1 < before else 2 if after > before else 3
    return kind, -abs(after - before)


def usable(lists: Lists, settings: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return the settings that the run's lists allow, and a note on each that they do not."""
    notes: list[str] = []
    sources = sources_of(lists)
    if fuses(settings) and len(sources) < 2:
        notes.append("Fusion is left as logged: the run does not log two separate lists.")
        settings = replace(settings, k=None, weights=(), depth=None, top=None, ties=None)
    weights, unknown = _known(settings.weights, sources, "list")
    rerank, without = _known(settings.rerank, lists.features, "feature")
    settings = replace(settings, weights=weights, rerank=rerank)
    notes += unknown + without
    if settings.weights:
        of = dict(logged(lists).settings.weights) | dict(settings.weights)
        if not any(of.values()):
            notes.append("All lists have weight 0, so that nothing would be found: the weights are left out.")
            settings = replace(settings, weights=())
    return settings, tuple(notes)


def _known(given: Weights, known: Iterable[str], what: str) -> tuple[Weights, list[str]]:
    """Return the names that the run logs, and a note on each other one with those that are near."""
    names, notes = sorted(known), []
    for name, _ in given:
        if name not in names:
            near = ", ".join(get_close_matches(name, names, n=3) or names[:5])
            notes.append(f"No candidate logs the {what} {name!r}{f'; it logs {near}' if near else ''}.")
    return tuple(each for each in given if each[0] in names), notes


def _notes(
    lists: Lists, settings: Settings, new: NewLists, was: Sequence[object], now: Sequence[object]
) -> tuple[str, ...]:
    """Return what the numbers leave out; `was` and `now` are the causes."""
    notes, known = [], logged(lists)
    if fuses(settings) and known.reproduced < known.questions:
        other = known.questions - known.reproduced
        notes.append(
            f"With the run's own settings {counted(other, 'question')} of {known.questions:,} "
            "do not have the logged order, so part of the difference there is not due to what was changed."
        )
    if new.unfused and fuses(settings):
        notes.append(
            f"{counted(new.unfused, 'question')} log fused candidates that are in no list; these drop out."
        )
    if fuses(settings) and not lists.sizes["retrieved"].any():
        notes.append("Only the fused list is logged: candidates that never were in it cannot come in.")
    if new.unscored:
        notes.append(
            f"{counted(new.unscored, 'candidate')} new in the list have no score of the reranker; they "
            "follow the others."
        )
    if new.lacking:
        notes.append(f"{counted(new.lacking, 'question')} lack the features and keep their order.")
    if new.chosen:
        notes.append(
            f"In {counted(new.chosen, 'question')} the logged prompt is not the beginning of the last list; "
            "a changed prompt is."
        )
    if not lists.is_checked:
        notes.append("The claims of this run are not checked, so no cause and no support is known.")
    elif unknown := sum(before is not None and after is None for before, after in zip(was, now, strict=True)):
        notes.append(
            f"The cause of {counted(unknown, 'question')} is unknown: the prompt holds other chunks than the "
            "answer was made from. Ask again to know."
        )
    if settings.support is not None and lists.is_checked:
        notes.append("Causes are those of the usual threshold of support.")
    if lists.cut:
        notes.append(
            f"Of {counted(lists.cut, 'question')} only the first {MOST_CANDIDATES:,} candidates are read."
        )
    return tuple(notes)
