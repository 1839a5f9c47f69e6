"""Before `proofspan open` serves: the workspace of files that are none, and what only a person can say."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import click

from proofspan.cli.output import progress_bar
from proofspan.errors import printable
from proofspan.manifest import trust
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.store.files.cache_dir import default_cache_dir, writable_cache_dir
from proofspan.traces.formats.types import PageBase
from proofspan.wording import counted


def is_one_workspace(things: Sequence[Path]) -> bool:
    """Return whether these are a workspace alone, or nothing. Raises UsageError for one among others."""
    from proofspan.services.opening.things import is_workspace

    workspaces = [each for each in things if is_workspace(each)]
    if workspaces and len(things) > 1:
        raise click.UsageError(f"{workspaces[0]} is a workspace: name it alone")
    return not things or bool(workspaces)


class Asking(NamedTuple):
    """Decisions on the command line; the rest is asked on a terminal."""

    page_base: PageBase | None = None
    trust_all: bool = False
    force: bool = False
    lists_all: bool = False


def made_workspace(
    things: Sequence[Path], documents: Sequence[Path], to: Path | None, asking: Asking
) -> tuple[Manifest, str]:
    """Return the manifest of a workspace made of THINGs, and the address of its first finding."""
    from proofspan.services.opening.first_finding import first_finding  # slow to import: they need pandas
    from proofspan.services.opening.make import Choices, made
    from proofspan.services.opening.summary import lines_of
    from proofspan.services.opening.things import things_of

    cache = writable_cache_dir(default_cache_dir()).path
    named = things_of(things, documents)
    with progress_bar("") as on_progress:
        choices = Choices(
            page_base=asking.page_base,
            confirm=partial(confirm_links, trust_all=asking.trust_all),
            ask_base=ask_page_base,
            on_progress=on_progress,
        )
        result = made(named, to=to, cache_dir=cache, choices=choices, force=asking.force)
    for line in lines_of(result.summary, lists_all=asking.lists_all):
        click.echo(printable(line), err=True)
    again = "as made before" if result.was_there else "made"
    click.echo(printable(f"workspace {again}: {result.workspace}"), err=True)
    manifest = load_manifest(result.workspace)
    with progress_bar("indexing") as on_progress:
        first = first_finding(
            manifest,
            cache_dir=cache,
            on_progress=lambda step: on_progress(step.run_id, step.done, step.total),
        )
    return manifest, f"question?{urlencode(first)}" if first else ""


def confirm_links(folder: Path, target: Path, count: int, *, trust_all: bool) -> bool:
    """Ask whether links to PDFs may be followed out of their folder, and remember that they may."""
    question = (
        f"{counted(count, 'document')} in {printable(str(folder))} "
        f"{'is a link' if count == 1 else 'are links'} to {printable(str(target))}. Do you trust it?"
    )
    is_confirmed = trust_all or (sys.stdin.isatty() and click.confirm(question, err=True))
    if is_confirmed:
        trust.remember(folder, target)
    return is_confirmed


def ask_page_base() -> PageBase | None:
    """Ask how the source counts pages; None where no answer can be given."""
    if not sys.stdin.isatty():
        return None
    question = "No passage shows how the source counts pages. What number has a first page?"
    answer = click.prompt(question, type=click.Choice(["0", "1"]), default="1", err=True)
    return 0 if answer == "0" else 1
