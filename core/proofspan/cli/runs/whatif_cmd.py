"""`proofspan whatif`: what follows from other settings, from a run's logged lists alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import pandas as pd
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import (
    CACHE_OPTION,
    JSON_OPTION,
    OUTPUT_OPTION,
    NamedPath,
    check_outputs,
    json_text,
    progress_bar,
    workspace_files,
    write_bytes,
    write_parts,
)
from proofspan.cli.tables import pairs_table, table_of
from proofspan.cli.workspace.index_cmd import indexed
from proofspan.contracts.records.records import Json
from proofspan.display_names import CAUSE_NAMES, LABEL_NAMES
from proofspan.errors import InputFault, printable
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.values import (
    counted_in_words,
    difference_in_words,
    interval_in_words,
    number_in_words,
)
from proofspan.services.compare import p_words, verdict_sentence
from proofspan.services.whatif.engine import HEADLINES, SHOWN, usable, what_if
from proofspan.services.whatif.lists import Lists, load_lists
from proofspan.services.whatif.logged import logged
from proofspan.services.whatif.params import NAMES, SWEPT, params_of, settings_of, values_of
from proofspan.services.whatif.report import logged_to_json, sweep_to_json, what_if_to_json
from proofspan.services.whatif.save import save
from proofspan.services.whatif.sweep import sweep, with_value
from proofspan.services.whatif.types import Logged, LoggedList, Settings, Sweep, Swept, WhatIf
from proofspan.services.workspace.open import chosen_run
from proofspan.store.files.types import Progress
from proofspan.wording import counted

#: Columns of an output that is not a terminal.
WIDTH_WITHOUT_TERMINAL = 140
#: The most questions that are listed; all are in the JSON.
MOST_LISTED = 40
#: Characters of a listed question.
_CUT = 60


@click.command("whatif")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="The run; the latest if none is named.")
@click.option("--k", metavar="K", help="The constant of reciprocal rank fusion.")
@click.option("--weight", multiple=True, metavar="LIST:W", help="The weight of a fused list; repeat.")
@click.option("--depth", metavar="N", help="Only the first N places of each list are fused.")
@click.option("--top", metavar="N", help="The length of the fused list.")
@click.option("--ties", metavar="ORDER", help="What equal scores are ordered by: section, chunk or logged.")
@click.option(
    "--rerank", multiple=True, metavar="FEATURE:W|off", help="Rerank by features, or not at all; repeat."
)
@click.option("--prompt", metavar="N", help="How many chunks of the last list reach the prompt.")
@click.option("--template", metavar="NAME", help="Label by this template: seed, payload or none.")
@click.option("--refusal", multiple=True, metavar="PHRASE", help="Label by these refusal phrases; repeat.")
@click.option("--support", metavar="S", help="The least support of a supported claim, 0 to 1.")
@click.option("--sweep", "swept", metavar="NAME=A,B,…", help="Try values: k=1,10,60 or weight:bm25=0,1,2.")
@click.option("--metric", metavar="ID", default=HEADLINES[0], help="The metric of the sweep.")
@click.option("--save-as", metavar="RUN_ID", help="Write the result as a run of its own.")
@click.option("--list", "as_list", is_flag=True, help="Print what the run logs, and so what can be changed.")
@JSON_OPTION
@CACHE_OPTION
@OUTPUT_OPTION
def command(
    workspace: Path,
    run_id: str | None,
    swept: str | None,
    metric: str,
    save_as: str | None,
    as_list: bool,
    as_json: bool,
    cache_dir: Path | None,
    output: str,
    **given: Any,
) -> None:
    """Compute what follows from other settings of a run in WORKSPACE, without asking a model.

    Fusion, reranking, the cut before the prompt, the triage profile and the support of claims are computed
    again from what the traces log. Answers stay as they were logged. The index is refreshed and claims are
    checked first.

    Exit status: 0 good, 2 unusable input.
    """
    manifest = load_manifest(workspace)
    run = chosen_run(manifest, run_id)
    params = {name: _texts(given[name]) for name in NAMES if given[name]}
    settings, notes = settings_of(params)
    asked = None if swept is None else _asked(swept, metric)
    if notes:
        raise click.UsageError(" ".join(notes))
    if as_list and (params or swept or save_as):
        raise click.UsageError("--list prints what the run logs and takes no settings")
    if swept and save_as:
        raise click.UsageError("--save-as saves one setting: leave out --sweep")
    check_outputs([output], workspace_files(manifest))
    store = indexed(manifest, [run.run_id], cache_dir, claims=True)
    with progress_bar("reading lists") as on_step:
        lists = load_lists(manifest, run.run_id, store, on_progress=partial(_step, on_step))
    _require(manifest, lists, settings if asked is None else asked.first(settings))
    value: dict[str, Json]
    parts: Iterator[RenderableType]
    if as_list:
        found = logged(lists)
        value, parts = logged_to_json(found), _logged_parts(found)
    elif asked is not None:
        tried = sweep(lists, settings, asked.swept, asked.name, asked.values, metric)
        value, parts = sweep_to_json(run.run_id, tried), _sweep_parts(run.run_id, tried)
    else:
        computed = what_if(lists, settings)
        value, parts = what_if_to_json(computed), _parts(computed, has_gold=manifest.gold is not None)
    if as_json:
        write_bytes(json_text(value), output)
    else:
        write_parts(*parts, output=output, width=WIDTH_WITHOUT_TERMINAL)
    if save_as is not None:
        path = save(manifest, run.run_id, store, settings, save_as=save_as)
        click.echo(f"saved as the run {save_as}: {path.relative_to(manifest.folder)}", err=True)


def _texts(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return given if isinstance(given, tuple) else (given,)


def _step(on_step: Any, progress: Progress) -> None:
    on_step(progress.run_id, progress.done, progress.total)


class _Asked(NamedTuple):
    """The setting that `--sweep` varies, with the list or feature of a weight, and the values."""

    swept: Swept
    name: str
    values: tuple[float, ...]

    def first(self, settings: Settings) -> Settings:
        """Return the settings with the first value."""
        return with_value(settings, self.swept, self.name, self.values[0])


def _asked(text: str, metric: str) -> _Asked:
    """Return what `k=1,10,60` or `weight:bm25=0,1,2` asks for."""
    if metric not in SHOWN:
        raise click.UsageError(f"--metric {metric} is not one of {', '.join(SHOWN)}")
    given, sign, listed = text.partition("=")
    of, _, name = given.partition(":")
    swept = next((each for each in SWEPT if each == of), None)
    if swept is None or not sign or bool(name) != (swept in ("weight", "rerank")):
        raise click.UsageError(
            f"--sweep {text}: write NAME=A,B with one of {', '.join(SWEPT)}; a weight as weight:bm25=0,1,2"
        )
    values, notes = values_of(listed, swept)
    if notes or not values:
        raise click.UsageError(" ".join(notes) or f"--sweep {text} names no value")
    return _Asked(swept, name, values)


def _require(manifest: Manifest, lists: Lists, settings: Settings) -> None:
    """Raise InputFault for settings that the run's lists do not allow."""
    _, notes = usable(lists, settings)
    if notes:
        raise InputFault.of(
            "setting_unusable",
            " ".join(notes),
            where=f"runs[{lists.run.run_id}]",
            fix=f"proofspan whatif {manifest.folder} --run {lists.run.run_id} --list",
        )


def _logged_parts(found: Logged) -> Iterator[RenderableType]:
    yield Text.assemble((printable(found.run_id), "bold"), f" · {counted(found.questions, 'question')}")
    own = [f"{name} {text}" for name, texts in params_of(found.settings).items() for text in texts]
    yield Text(printable(", ".join(own)), "dim")
    if found.lists:
        yield Text(
            f"The logged order comes out again in {found.reproduced:,} of "
            f"{counted(found.questions, 'question')}."
        )
    for title, named in (("list", found.lists), ("feature", found.features)):
        if named:
            yield Text()
            yield _listed(title, named)
    yield from map(Text, ("",) * bool(found.why) + found.why)


def _listed(title: str, named: Sequence[LoggedList]) -> Table:
    table = table_of(title, "questions", "longest", "lowest", "highest")
    for column in table.columns[1:]:
        column.justify = "right"
    for each in named:
        low, high = f"{each.low:,.6g}", f"{each.high:,.6g}"
        table.add_row(Text(printable(each.name)), f"{each.questions:,}", f"{each.longest:,}", low, high)
    return table


def _sweep_parts(run_id: str, found: Sweep) -> Iterator[RenderableType]:
    metric = METRICS[found.metric_id]
    over = f"{found.swept} of {found.name}" if found.name else found.swept
    yield Text.assemble((metric.name, "bold"), printable(f" over {over}, run {run_id}"))
    yield Text()
    table = table_of(found.swept, "value", "of", "95 %", "difference", "95 %", "McNemar", "")
    for column in table.columns[:-1]:
        column.justify, column.no_wrap = "right", True
    for point in found.points:
        mean = point.difference
        ends = (mean.mean, mean.low, mean.high) if mean else (0.0, 0.0, 0.0)
        mid, low, high = (difference_in_words(metric, end) for end in ends)
        mark = "logged" if point.is_logged else "larger than chance" if point.is_clear else ""
        table.add_row(
            f"{point.value:g}",
            number_in_words(metric, point.metric.value),
            Text(counted_in_words(point.metric) if point.metric.denominator else "", "dim"),
            Text(interval_in_words(point.metric), "dim"),
            mid if mean else "",
            Text(f"{low} to {high}" if mean else "", "dim"),
            "" if point.p is None else p_words(point.p),
            Text(mark, "bold" if point.is_clear else "dim"),
        )
    yield table
    yield Text()
    yield Text(found.sentence, "dim")


#: The columns that a what-if changes besides ranks, with their titles and the names of their values.
_CHANGED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "bucket": ("Buckets", {}),
    "label": ("Labels", LABEL_NAMES),
    "cause": ("Causes", CAUSE_NAMES),
    "grounded": ("Claims", {}),
}


def _parts(found: WhatIf, *, has_gold: bool) -> Iterator[RenderableType]:
    run_id = found.logged.run_id
    texts = [f"{name} {text}" for name, texts in params_of(found.settings).items() for text in texts]
    changed = ", ".join(texts) or "nothing changed"
    yield Text.assemble((printable(f"{run_id} with {changed}"), "bold"))
    yield Text()
    yield pairs_table(found.pairs, run_id, "what if")
    yield Text()
    for outcome, flips in found.flips.items():
        yield Text(
            printable(verdict_sentence(flips, run="what if", vs=run_id, outcome=outcome, has_gold=has_gold))
        )
    prompts = counted(found.prompts_changed, "question")
    yield Text(f"The prompt of {prompts} would hold other chunks.")
    for name, (title, names) in _CHANGED.items():
        moved = [
            f"{_named(was, names)} → {_named(now, names)} {count:,}"
            for was, now, count in found.changes[name]
            if was != now
        ]
        if moved:
            yield Text(f"{title}: {', '.join(moved)}")
    yield from map(Text, found.notes)
    if len(found.moved):
        yield Text()
        yield _moved(found.moved)
        if len(found.moved) > MOST_LISTED:
            yield Text(f"… {counted(len(found.moved), 'question')} move in all; --json lists them", "dim")


def _named(value: str | None, names: Mapping[str, str]) -> str:
    return "unknown" if value is None else names.get(value, value.replace("_", " "))


def _moved(moved: pd.DataFrame) -> Table:
    table = table_of("q_id", "question", "rank", "top 20", "label", "cause")
    for row in moved.head(MOST_LISTED).to_dict("records"):
        q = " ".join(str(row["q"]).split())
        table.add_row(
            Text(printable(str(row["q_id"]))),
            Text(printable(q if len(q) <= _CUT else f"{q[: _CUT - 1]}…")),
            _step_of(row, "rank"),
            _step_of(row, "top_rank"),
            _step_of(row, "label", LABEL_NAMES),
            _step_of(row, "cause", CAUSE_NAMES),
        )
    return table


def _step_of(row: Mapping[Any, Any], name: str, names: Mapping[str, str] | None = None) -> Text:
    """Return a value that changes as `3 → 1`, one that does not in dim."""
    was, now = row[f"was_{name}"], row[name]
    if names is None:
        before, after = ("–" if pd.isna(value) else str(value) for value in (was, now))
    else:
        before, after = (_named(value, names) for value in (was, now))
    return Text(before, "dim") if before == after else Text(f"{before} → {after}")
