"""`proofspan locate`: locate quotes and claims in PDFs and texts, in bulk."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import click

from proofspan.cli.output import (
    FIX_OPTION,
    NamedPath,
    check_outputs,
    output_to,
    print_problems,
    progress_bar,
)
from proofspan.diagnosis.claims.types import ClaimStatus
from proofspan.errors import InputFault, Problem
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.span_file import SpanLine, count_spans, locate_spans, read_spans
from proofspan.evidence.types import Status
from proofspan.services.claim_places import ClaimLocator, ClaimSpan, placed_in_text, to_json
from proofspan.services.page_base import (
    SPAN_LINES,
    examine,
    in_one_line,
    labels_in,
    quotes_of_spans,
    worth_saying,
)
from proofspan.traces.lines.encodings import damage_of
from proofspan.traces.lines.unpack import plain_source, temporary_folder
from proofspan.wording import counted

#: The worker reads the whole document once for a quote that is not found.
TIMEOUT_S = 60.0
STATUSES: tuple[Status, ...] = ("exact", "normalized", "fuzzy", "partial", "not_found")


@click.command("locate")
@click.argument("spans", type=NamedPath())
@click.option("-o", "--output", "found", required=True, help="The found spans to write; - for stdout.")
@click.option("--root", type=NamedPath(), help="Folder of the documents; default: the spans' own.")
@click.option("--workers", type=click.IntRange(1, 32), default=2, show_default=True, help="PDF processes.")
@FIX_OPTION
def command(spans: Path, found: str, root: Path | None, workers: int, fix_encoding: bool) -> None:
    """Locate quotes on the pages of PDFs and in the lines of texts, in bulk; check claims against them.

    SPANS has lines of {id, pdf, cited_page_idx, quote}, pages counted from 0, `pdf` relative to --root.
    `path` may replace `pdf`, and names a text if it ends in .md, .markdown or .txt. A line may also have
    `cited_page_label` (as printed on the page), `bbox` with `bbox_space` (points of the unrotated page; unit,
    0 to 1, or per_mille, 0 to 1000, of the displayed page), `offsets`, and `before` and `after`, the text
    around the quote.

    The output has a line for each: {id, status, page_idx, page_mismatch, agreement, rects, differences,
    alternatives}; for a text also `ranges` of characters (half open) with their lines; `box_agrees` for a
    `bbox`, and `unverified`, that box in points, if the page has no text to compare it with; `row` and
    `column`, label and head of a cited table cell; `error` if a line or its document cannot be used.

    A line may have a `claim`, a statement to check, in the place of its quote; `cited_page_idx` and
    `cited_page_label` may be left out. Its output is {id, status, support, evidence, page_idx, page_mismatch,
    rects, differences}: whether the document supports it (supported, differs, unsupported, derived or
    other_language), how well, 0 to 1, the sentence or table row that says the same, its place, and where the
    two differ, with kind and both words; `formula` for a derived figure, `note`, and for a text of several
    claims each in `claims`, the place being that of the weakest.

    Exit status: 0 every line was searched for, 1 some could not be, 2 unusable input.
    """
    folder = root or spans.parent
    if not folder.is_dir():
        problem = Problem("missing_folder", "the folder does not exist", str(folder), "Name it with --root.")
        raise InputFault(problem)
    check_outputs([found], [spans])
    results: Counter[str] = Counter()
    claims: Counter[str] = Counter()
    with (
        temporary_folder() as copies,
        PdfPool(workers=workers, timeout_s=TIMEOUT_S) as pool,
        output_to(found) as output,
    ):
        plain = plain_source(spans, cache_dir=Path(copies), fix_encoding=fix_encoding)

        def written(located: Iterable[SpanLine]) -> Iterator[SpanLine]:
            """Write and count each span, and pass it on, so that none is kept in memory."""
            for item in located:
                output.write(to_json(item))
                if isinstance(item.found, ClaimSpan):
                    claims[item.found.verdict] += 1
                    claims["elsewhere"] += item.found.page_mismatch
                else:
                    results[item.found.status if item.found else "not usable"] += 1
                    results["elsewhere"] += item.found.page_mismatch if item.found else 0
                if (problem := item.problem) is not None:
                    is_named = problem.where and not problem.where.startswith(str(spans))
                    message = f"{problem.where}: {problem.message}" if is_named else problem.message
                    here = replace(problem, message=message, where=f"{spans}:{item.line}")
                    click.echo(f"error: {here}", err=True)
                yield item

        with progress_bar("locating") as on_progress:
            total = count_spans(plain)
            located = locate_spans(
                read_spans(plain, root=folder, file=str(spans)),
                ClaimLocator(pool),
                workers=workers,
                on_done=lambda done: on_progress("", done, total),
                in_text=placed_in_text,
            )
            quotes = quotes_of_spans(written(located), root=folder)
        bases = examine(quotes, lambda name: labels_in(pool.document, folder / name))
        damage = damage_of(plain, file=str(spans))
    statuses = get_args(ClaimStatus)
    for kind, counts, names in (("quote", results, STATUSES), ("claim", claims, statuses)):
        parts = [", ".join(f"{counts[name]:,} {name}" for name in names if counts[name])]
        if counts["elsewhere"]:
            parts.append(f"{counts['elsewhere']:,} on another page than cited")
        if counts["not usable"]:
            parts.append(f"{counts['not usable']:,} not usable")
        total = counts.total() - counts["elsewhere"]
        if total or (kind == "quote" and not claims):
            click.echo(f"{counted(total, kind)}: {' · '.join(filter(None, parts))}", err=True)
    for finding in worth_saying(bases):
        click.echo(f"pages: {in_one_line(finding, SPAN_LINES)}", err=True)
    if damage is not None:
        print_problems([damage])
    sys.exit(1 if results["not usable"] else 0)
