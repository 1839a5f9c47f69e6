"""`proofspan triage`: the report of bare trace and chunk files, or of a run of a workspace."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from proofspan.cli.output import (
    FIX_OPTION,
    STDOUT,
    NamedPath,
    check_outputs,
    json_text,
    output_to,
    print_problems,
    progress_bar,
    workspace_files,
)
from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.types import TEMPLATES, Profile, markdown_row, row_to_json, table_head
from proofspan.errors import printable
from proofspan.manifest.load import MANIFEST_SUFFIXES, load_manifest
from proofspan.services import triage
from proofspan.services.workspace.open import profile_of_options
from proofspan.traces.lines.unpack import temporary_folder
from proofspan.wording import counted


@click.command("triage")
@click.argument("traces", metavar="TRACES|WORKSPACE", type=NamedPath())
@click.argument("chunks", required=False, type=NamedPath())
@click.option("--run", "run_id", metavar="ID", help="Of a workspace: the run; the latest when none is named.")
@click.option("-o", "--output", "report", required=True, help="The report to write as JSONL; - for stdout.")
@click.option("--markdown", help="Also write the questions as a Markdown table.")
@click.option("--template", type=click.Choice(TEMPLATES), help="Where the template check looks.  [seed]")
@click.option("--refusal", multiple=True, help="A phrase that makes an answer a refusal; repeat for several.")
@click.option("--claims/--no-claims", default=True, help="Check the claims of the answers as well.")
@FIX_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON on stdout.")
def command(
    traces: Path,
    chunks: Path | None,
    run_id: str | None,
    report: str,
    markdown: str | None,
    template: str | None,
    refusal: tuple[str, ...],
    claims: bool,
    fix_encoding: bool,
    as_json: bool,
) -> None:
    """Label the questions of TRACES (JSONL) by the texts of CHUNKS (a JSON array or JSONL), and check claims.

    Of a WORKSPACE, traces, chunks and profile are those that its manifest names.

    Exit status: 0 every line was read, whatever the labels; 1 some line could not be read; 2 a file cannot be
    used at all.
    """
    profile = profile_of_options(template, refusal)
    outputs = [name for name in (report, markdown) if name is not None]
    if as_json and STDOUT in outputs:
        raise click.UsageError("--json prints its summary on stdout, so -o and --markdown need files")
    with ExitStack() as stack:
        unpacked = Path(stack.enter_context(temporary_folder()))
        if chunks is not None:
            if run_id is not None:
                raise click.UsageError("--run chooses among the runs of a workspace; bare files hold one")
            check_outputs(outputs, (traces, chunks))
            sources = triage.bare_sources(
                traces, chunks, profile or Profile(), cache_dir=unpacked, fix_encoding=fix_encoding
            )
            again = [str(traces), str(chunks), *(["--fix-encoding"] * fix_encoding)]
        elif traces.is_dir() or traces.suffix in MANIFEST_SUFFIXES:
            if fix_encoding:
                raise click.UsageError("of a workspace the manifest says so: fix_encoding: true")
            manifest = load_manifest(traces)
            check_outputs(outputs, workspace_files(manifest))
            sources = triage.run_sources(manifest, run_id, profile, cache_dir=unpacked)
            again = [str(traces), "--run", str(sources.run_id)]
        else:
            raise click.UsageError("name the CHUNKS file after the TRACES, or a workspace alone")
        sources = replace(sources, with_claims=claims)
        outcome = triage.Outcome(sources.profile)
        on_progress = stack.enter_context(progress_bar("triage"))
        rows = triage.report_rows(sources, outcome, partial(on_progress, ""))
        lines = stack.enter_context(output_to(report))
        table = stack.enter_context(output_to(markdown)) if markdown is not None else None
        if table:
            table.write(table_head().encode())
        for row in rows:  # both files side by side: a run of any size passes through once
            lines.write(row_to_json(row) + b"\n")
            if table:
                table.write(markdown_row(row).encode())
    if as_json:
        click.echo(json_text(_summary(outcome)), nl=False)
    else:
        _print_summary(outcome, [*again, "-o", report])
        print_problems(outcome.warnings)
    sys.exit(1 if outcome.issues else 0)


def _summary(outcome: triage.Outcome) -> dict[str, object]:
    suggestion = outcome.suggestion
    return {
        "traces": outcome.labels.total(),
        "waiting_bytes": outcome.waiting_bytes,
        "labels": {label: outcome.labels[label] for label in LABELS},
        "suspicions": dict(outcome.suspicions),
        "profile": {"template": outcome.profile.template, "refusal": outcome.profile.refusal},
        "template_absent": suggestion
        and {
            "reason": suggestion.reason,
            "template": suggestion.profile.template,
            "refusal": suggestion.profile.refusal,
        },
        "warnings": [str(each) for each in outcome.warnings],
        "line_issues": [
            {
                "where": f"{issue.source.file}:{issue.source.line}",
                "code": issue.code,
                "reason": issue.message,
                "fix": issue.fix,
                "excerpt": issue.excerpt,
            }
            for issue in outcome.issues
        ],
    }


def _print_summary(outcome: triage.Outcome, arguments: Sequence[str]) -> None:
    total = outcome.labels.total()
    lines = [f"{counted(total, 'question')} · {outcome.profile.describe()}"]
    for label in LABELS:
        count = outcome.labels[label]
        share = f"{count / total:7.1%}" if total else ""
        lines.append(f"  {label:<16} {count:>8}{share}")
    for code, count in sorted(outcome.suspicions.items()):
        lines.append(f"  suspicion: {code} {count}")
    if suggestion := outcome.suggestion:
        again = shlex.join(["proofspan", "triage", *arguments])
        lines += [f"template_absent: {suggestion.reason}.", f"  Try: {again} {suggestion.options}"]
    if outcome.waiting_bytes:
        waiting = f"{outcome.waiting_bytes:,} bytes of a last line without line end wait for the rest of it"
        lines.append(waiting)
    if outcome.issues:
        lines.append(f"Lines that could not be used as they are: {len(outcome.issues)}")
        lines += [f"  {issue}" for issue in outcome.issues[: triage.ISSUES_SHOWN]]
    if len(outcome.issues) > triage.ISSUES_SHOWN:
        lines.append(f"  … and {len(outcome.issues) - triage.ISSUES_SHOWN} more; --json lists them all")
    for line in lines:
        click.echo(printable(line), err=True)
