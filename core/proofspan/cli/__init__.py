"""The `proofspan` command. Each command is a module of its own, imported only when it is called."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from proofspan.errors import Fault, Problem

#: Exit status after Ctrl-C: 128 and the number of SIGINT, as in shells.
INTERRUPTED = 130

#: command name → (module below `proofspan.cli`, one line for the list)
COMMANDS: dict[str, tuple[str, str]] = {
    "open": ("workspace.open_cmd", "Start the dashboard on a workspace, an export or a response."),
    "check": ("workspace.check_cmd", "Verify a workspace: every artifact, hash and record."),
    "index": ("workspace.index_cmd", "Build or refresh the index of a workspace."),
    "spark-index": ("workspace.spark_index_cmd", "Index the traces of a lake by Apache Spark."),
    "triage": ("runs.triage_cmd", "Label the questions of bare trace and chunk files."),
    "validate": ("records.validate_cmd", "Check records against the contract: one finding a line."),
    "locate": ("evidence.locate_cmd", "Locate quotes on the pages of PDFs, in bulk."),
    "render": ("evidence.render_cmd", "Render one PDF page, with a quote highlighted."),
    "chunk-ids": ("records.chunk_ids_cmd", "Audit chunk ids, mint them, and map older ones to new."),
    "bundle": ("evidence.bundle_cmd", "Build and validate evidence bundles."),
    "import": ("workspace.import_cmd", "Turn another tool's files into a workspace."),
    "export": ("workspace.export_cmd", "Write a run's triage, or the run for another tool."),
    "pack": ("evidence.pack_cmd", "Write a run with its proof as one HTML file to hand over."),
    "metrics": ("runs.metrics_cmd", "Measure runs: each metric with its counts, interval and goal."),
    "whatif": ("runs.whatif_cmd", "Try other settings on a run's logged lists, without a model."),
    "gate": ("runs.gate_cmd", "Check whether a run is ready for release, for CI."),
    "report": ("runs.report_cmd", "Write the release report as a PDF or PNG of one page."),
    "rerank": ("runs.rerank_cmd", "Rerank a cohort's top 20 offline: ON against OFF."),
    "cohort": ("runs.cohort_cmd", "Name the questions of a bucket, and count conversions."),
    "pin": ("records.pin_cmd", "Check pinning records, or make one to fill in."),
    "determinism": ("records.determinism_cmd", "Decide PASS or FAIL on the outputs of two runs."),
    "review": ("records.review_cmd", "List, add and merge people's verdicts, and measure agreement."),
    "sprint": ("runs.sprint_cmd", "Show, write, import and export the sprint's record."),
    "contract": ("records.contract_cmd", "Print the prompt contract, its smoke test, and the schemas."),
    "hash": ("records.hash_cmd", "Print the canonical sha256 of JSONL and JSON files."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called: `proofspan --help` stays quick."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for argument in args:
            try:
                argument.encode()
            except UnicodeEncodeError:  # it could be neither looked up nor written to JSON
                shown = os.fsencode(argument).decode("utf-8", "backslashreplace")
                message = f"the argument '{shown}' is not valid UTF-8: rename the file, or type it as UTF-8"
                raise click.UsageError(message, ctx) from None
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"proofspan.cli.{COMMANDS[cmd_name][0]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def _print_version(ctx: click.Context, _option: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        from proofspan.version import version_text  # it asks git

        click.echo(version_text())
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version, and the commit if it is known.",
)
def group() -> None:
    """Evidence inspection for retrieval-augmented generation.

    Exit status: 0 good, 1 findings, 2 unusable input, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. A `Fault` is printed on stderr and exits with 2, Ctrl-C exits with 130."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for terminals whose encoding lacks our signs
    try:
        try:
            # `obj` says whether this process does nothing else than the command.
            group.main(args=arguments, prog_name="proofspan", obj=arguments is None)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except Fault as fault:
        _exit_with(*fault.problems)
    except OSError as error:
        from proofspan.cli.output import is_write_error, not_written  # slow to import

        if error.errno != errno.EPIPE and not is_write_error(error):
            raise
        # Python flushes stdout once more at exit, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:
            sys.exit(1)
        _exit_with(not_written("standard output", error))


def _exit_with(*problems: Problem) -> NoReturn:
    for problem in problems:
        click.echo(f"error: {problem}", err=True)
    sys.exit(2)
