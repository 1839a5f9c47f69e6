"""The `proofspan` command. Each command is a module of its own, imported only when it is called."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from proofspan.cli import interrupts
from proofspan.cli.interrupts import keep_writable, refuse_undecodable, written_out
from proofspan.errors import Fault

#: command name → (module below `proofspan.cli`, one line for the list)
COMMANDS: dict[str, tuple[str, str]] = {
    "open": ("open_cmd", "Start the dashboard on a workspace."),
    "check": ("check_cmd", "Verify a workspace: every artifact, hash and record."),
    "index": ("index_cmd", "Build or refresh the index of a workspace."),
    "triage": ("triage_cmd", "Label the questions of bare trace and chunk files."),
    "validate": ("validate_cmd", "Hold records to the contract: one finding a line."),
    "locate": ("locate_cmd", "Place quotes on the pages of PDFs, in bulk."),
    "render": ("render_cmd", "Draw one PDF page, with a quote highlighted."),
    "chunk-ids": ("chunk_ids_cmd", "Audit chunk ids, mint them, and map older ones to new."),
    "bundle": ("bundle_cmd", "Build and validate evidence bundles."),
    "import": ("import_cmd", "Turn other tools' files into a workspace."),
    "export": ("export_cmd", "Write a run's triage as CSV, JSONL or Markdown."),
    "metrics": ("metrics_cmd", "Measure runs: each number with its counts, interval and goal."),
    "gate": ("gate_cmd", "Pass or fail a run by goals, flips and suspicions, for CI."),
    "cohort": ("cohort_cmd", "Freeze a bucket's questions by name, and count conversions."),
    "contract": ("contract_cmd", "Print the prompt contract, its smoke test, and the schemas."),
    "hash": ("hash_cmd", "Print the canonical sha256 of JSONL and JSON files."),
}


@dataclass(frozen=True, slots=True)
class Started:
    """How a command was started; `alone` where this process does nothing but run it."""

    alone: bool


class LazyGroup(click.Group):
    """Keeps `proofspan --help` quick: a command's module is imported when the command is looked up."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        refuse_undecodable(args, ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            ctx.exit(interrupts.INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with interrupts.held():
            module = importlib.import_module(f"proofspan.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
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
    help="Print the version, and the commit where it is known.",
)
def group() -> None:
    """Evidence inspection for retrieval-augmented generation.

    Exit status: 0 good, 1 findings, 2 unusable input.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point; turns every `Fault` into its message on stderr and exit status 2."""
    keep_writable()
    with interrupts.remembered():
        try:
            with written_out():
                group.main(args=arguments, prog_name="proofspan", obj=Started(alone=arguments is None))
        except Fault as fault:
            with contextlib.suppress(OSError):  # nobody is there to read why
                for problem in fault.problems:
                    click.echo(f"error: {problem}", err=True)
            sys.exit(2)
