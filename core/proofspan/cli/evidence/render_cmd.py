"""`proofspan render`: render a PDF page, with a quote highlighted."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from proofspan.cli.output import NamedPath, check_outputs, output_to
from proofspan.errors import printable
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.span_file import with_highlights
from proofspan.evidence.types import SpanQuery


@click.command("render")
@click.argument("pdf", type=NamedPath())
@click.option("--page-idx", type=int, required=True, help="The page, counted from 0.")
@click.option("--quote", help="Text to highlight on that page.")
@click.option("--dpi", type=click.IntRange(10, 1200), default=110, show_default=True)
@click.option("-o", "--output", "picture", required=True, help="The PNG to write; - for stdout.")
def command(pdf: Path, page_idx: int, quote: str | None, dpi: int, picture: str) -> None:
    """Render one page of PDF as a lossless PNG, with a quote highlighted where the page's own text agrees.

    Exit status: 0 rendered, with the quote; 1 the quote is not on this page; 2 unusable input.
    """
    check_outputs([picture], [pdf])
    with PdfPool(workers=1) as pool:
        image = pool.render(pdf, page_idx, dpi=dpi)
        found = pool.locate(pdf, SpanQuery(quote, page_idx)) if quote is not None else None
    is_here = found is not None and found.page_idx == page_idx
    png = with_highlights(image, found.rects) if found is not None and is_here else image.data
    with output_to(picture) as output:
        output.write(png)
    page = image.page
    printed = f" · printed {page.label}" if page.label else ""
    place = f"page_idx {page.page_idx} · PDF page {page.page_idx + 1}{printed}"
    click.echo(f"{place} · {image.width} × {image.height} pixels", err=True)
    if found is not None:
        if found.page_idx is None:
            verdict = f"quote not found{': ' + found.note if found.note else ''}; nothing is highlighted"
        elif found.page_mismatch:
            verdict = f"quote not on this page: it is on page_idx {found.page_idx}; nothing is highlighted"
        else:
            differences = [f"  quote {d.quote!r}, page {d.page!r}" for d in found.differences]
            verdict = "\n".join(
                [f"quote found: {found.status}, agreement {found.agreement:.2f}", *differences]
            )
        click.echo(printable(verdict), err=True)
    sys.exit(0 if found is None or is_here else 1)
