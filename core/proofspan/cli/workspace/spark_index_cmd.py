"""`proofspan spark-index`: index traces of a lake by Apache Spark, as a workspace like any other."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import click

from proofspan.cli.output import NamedPath, json_text
from proofspan.errors import printable
from proofspan.wording import counted

FORMATS = ("parquet", "delta", "jsonl")


@click.command("spark-index")
@click.argument("traces")
@click.option("--out", "-o", required=True, help="A new folder that all workers see.")
@click.option("--chunks", help="The chunks: Parquet, Delta or JSONL.")
@click.option("--workspace", type=NamedPath(), help="Documents, gold questions, settings and pins.")
@click.option("--run-id", metavar="ID", help="The run of all traces; else each is in that of its own run_id.")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="The format of TRACES.")
@click.option("--master", metavar="URL", help="Spark's master; here, by default.")
@click.option("--broadcast-limit", type=click.IntRange(min=0), metavar="BYTES", help="See below.")
@click.option("--claims/--no-claims", default=True, help="Check the claims of the answers as well.")
@click.option("--locate/--no-locate", default=True, help="Locate the citations as well.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    traces: str,
    out: str,
    chunks: str | None,
    workspace: Path | None,
    run_id: str | None,
    format_: str | None,
    master: str | None,
    broadcast_limit: int | None,
    claims: bool,
    locate: bool,
    as_json: bool,
) -> None:
    """Index TRACES, a path of Parquet, Delta or JSONL, by Apache Spark.

    Needs proofspan[spark] and Java 17 or later. The output is a workspace, which `proofspan open` and every
    other command read without Spark; its manifest is written last, so that half an output is never opened.
    Chunks of up to --broadcast-limit bytes (256 MiB) are given to every worker whole; of more, each group of
    traces gets those that it needs.

    Exit status: 0 every record was read, 1 some records could not be read, 2 nothing was indexed.
    """
    from proofspan.spark import index  # asks for nothing of Spark, but takes a while to import
    from proofspan.spark.job import BROADCAST_LIMIT

    report = index(
        traces,
        out=out,
        chunks=chunks,
        workspace=workspace,
        run_id=run_id,
        format=format_,
        master=master,
        broadcast_limit=BROADCAST_LIMIT if broadcast_limit is None else broadcast_limit,
        claims=claims,
        locate=locate,
    )
    if as_json:
        click.echo(json_text({**asdict(report), "out": str(report.out)}), nl=False)
    else:
        for run, traces_of_run in report.traces.items():
            issues = report.line_issues[run]
            more = f", {counted(issues, 'record')} could not be read" if issues else ""
            click.echo(printable(f"{run or '(no run id)'}: {counted(traces_of_run, 'trace')}{more}"))
        click.echo(printable(f"Open it with: proofspan open {report.out}"))
    sys.exit(1 if report.has_findings else 0)
