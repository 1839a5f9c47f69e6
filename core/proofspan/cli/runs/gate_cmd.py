"""`proofspan gate`: the release verdict of the pages, with an exit status for CI."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from proofspan.cli.output import (
    CACHE_OPTION,
    JSON_OPTION,
    OUTPUT_OPTION,
    SIGNS,
    NamedPath,
    check_outputs,
    json_text,
    workspace_files,
    write_bytes,
    write_parts,
)
from proofspan.cli.workspace.index_cmd import indexed, refreshed
from proofspan.errors import InputFault, Problem
from proofspan.manifest.load import load_manifest
from proofspan.metrics.goals import Goal, read_goals
from proofspan.services.compare import other_run
from proofspan.services.gate import (
    junit_xml,
    markdown,
    question_line,
    release_verdict,
    report_to_json,
)
from proofspan.services.markdown_text import one_line
from proofspan.services.release import ReleaseVerdict, State
from proofspan.services.stop_rule import runs_needed
from proofspan.services.workspace.open import chosen_run

_STYLES: dict[State, str] = {
    "ready": "bold green",
    "not_ready": "bold red",
    "not_enough_evidence": "bold yellow",
}
#: Wide enough for a line per check if the width of the output is unknown.
WIDTH_WITHOUT_TERMINAL = 200
#: Questions of a check that are printed with their texts, and by their ids; `--json` has more.
SHOWN, SHOWN_BY_ID = 20, 60

_GOAL = re.compile(r"\s*(?P<metric>[^<>=\s]+)\s*(?P<threshold>[<>=].*)", re.DOTALL)


@click.command("gate")
@click.argument("workspace", type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="The run; the latest when none is named.")
@click.option("--against", metavar="ID", help="The run to compare with; else its baseline or the one before.")
@click.option("--goal", "goals", multiple=True, help='Such as "section_match_at_1>=0.7"; repeat.')
@click.option("--allow", multiple=True, metavar="Q_ID", help="A question that may flip; repeat.")
@click.option("--strict", is_flag=True, help="Warnings and missing evidence fail too.")
@click.option("--junit", metavar="FILE", help="Also write the checks as JUnit XML.")
@click.option("--markdown", "as_markdown", metavar="FILE", help="Also write them for a pull request.")
@click.option("--link-base", metavar="URL", help="The dashboard's address, for links to questions.")
@JSON_OPTION
@CACHE_OPTION
@OUTPUT_OPTION
def command(workspace: Path, strict: bool, cache_dir: Path | None, output: str, **asked: Any) -> None:
    """Check whether a run of WORKSPACE is ready for release: its goals, flips, claims, rules and lines.

    Thresholds are those of the manifest's `goals` and `gates`; where it says nothing, the acceptance targets.
    No question that was ok may become retrieval_drift or generation_drift, and no trace may name another
    index, model or analyzer than the run pins, or cite nothing where the profile asks for citations. The
    index and the claims are brought up to date first.

    Exit status: 0 ready, or not enough evidence, 1 not ready (with --strict: or not enough evidence), 2
    unusable input.
    """
    goals, address = _goals(asked["goals"]), asked["link_base"] or ""
    is_address = urlsplit(address).scheme in ("http", "https") and urlsplit(address).netloc
    if asked["link_base"] is not None and not is_address:
        raise click.UsageError(
            f"--link-base {address!r} is not an address such as https://proofspan.example/"
        )
    base = quote(address, safe=":/?&=%@[]~-._")
    manifest = load_manifest(workspace)
    junit, as_markdown, against = asked["junit"], asked["as_markdown"], asked["against"]
    outputs = [name for name in (output, junit, as_markdown) if name is not None]
    check_outputs(outputs, workspace_files(manifest))
    run = chosen_run(manifest, asked["run_id"])
    if against is not None:
        chosen_run(manifest, against)
    refreshed(manifest, runs_needed(manifest, run), cache_dir)
    runs = filter(None, (run.run_id, against or other_run(manifest, run.run_id)))
    store = indexed(manifest, list(dict.fromkeys(runs)), cache_dir, claims=True)
    allow = asked["allow"]
    report = release_verdict(
        store, manifest, run.run_id, against=against, goals=goals, allow=allow, strict=strict
    )
    if as_markdown is not None:
        write_bytes(markdown(report, base=base).encode(), as_markdown)
    if junit is not None:
        write_bytes(junit_xml(report), junit)
    if asked["as_json"]:
        write_bytes(json_text(report_to_json(report, base=base)), output)
    else:
        write_parts(*_parts(report), output=output, width=WIDTH_WITHOUT_TERMINAL)
    sys.exit(0 if report.passes() else 1)


def _goals(given: Sequence[str]) -> dict[str, Goal]:
    """Parse `--goal`. Raises InputFault for an unknown metric or threshold."""
    asked: dict[str, Goal] = {}
    problems: list[Problem] = []
    for text in given:
        match = _GOAL.fullmatch(text)
        if match is None:
            raise click.UsageError(f'--goal {text!r} is not a goal; write one such as "gt_in_top_20>=0.9"')
        goals, wrong = read_goals({match["metric"]: match["threshold"]}, where="--goal")
        problems += wrong
        if not wrong:
            asked[match["metric"]] = goals[match["metric"]]
    if problems:
        raise InputFault(*problems)
    return asked


def _parts(report: ReleaseVerdict) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for check in report.checks:
        sign, style = SIGNS[check.outcome]
        table.add_row(Text(sign, style), Text(one_line(check.title)), Text(one_line(check.message, cut=None)))
    yield table
    for check in report.checks:
        if check.affected:
            yield Text()
            yield Text(f"{one_line(check.title)}: {check.count:,}", "bold")
            # The questions with their texts if they changed, else by id.
            is_change = any(each.change for each in check.affected)
            shown = SHOWN if is_change else SHOWN_BY_ID
            more = [f"… and {check.count - shown:,} more, see --json"] if check.count > shown else []
            if is_change:
                lines = [*map(question_line, check.affected[:shown]), *more]
            else:
                lines = [" ".join([*(one_line(each.q_id) for each in check.affected[:shown]), *more])]
            yield from (Text(f"  {each}") for each in lines)
    for title, sentences in (
        ("Reasons", tuple(reason.sentence for reason in report.reasons)),
        ("What would change it", report.changes),
    ):
        if sentences:
            yield Text()
            yield Text(title, "bold")
            yield from (Text(f"  {one_line(each, cut=None)}") for each in sentences)
    of = one_line(f"{report.run_id}{report.compared}", cut=None)
    counts = f"{report.counts_in_words()}{' (strict)' if report.strict else ''}"
    yield Text()
    yield Text(f"Release check of {of}: {report.words}; {counts}", _STYLES[report.state])
