"""Health's table of cited pages: by run and document, how far from them their quotes stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from proofspan.evidence.pagebase import NEAR_OFFSETS, PageBaseFinding
from proofspan.services.pagebase import CitedPages
from proofspan.services.pagebase_words import Writer, remedy, sentence
from proofspan.ui import safe

#: Offsets as column titles: pages before the cited one, the cited one, pages after it.
TITLES: Mapping[int, str] = {-2: "−2", -1: "−1", 0: "cited", 1: "+1", 2: "+2"}
ELSEWHERE = "farther"
_OFFSETS = (*(TITLES[offset] for offset in NEAR_OFFSETS), ELSEWHERE)
ALL_DOCUMENTS = "all documents"
#: Pixels of a row whose sentence takes one line, or up to three: below 65 a table breaks no line.
LOW_ROW, TALL_ROW = 34, 66
ROWS_IN_SIGHT = 6
#: Characters of a sentence that fit into a line.
FIT = 85


def cited_pages(known: Mapping[str, CitedPages], writer: Writer) -> None:
    """Where the quotes of each run stand, in pages from the cited one, and what mends what is off."""
    safe.show(safe.text([safe.Piece("Cited pages")], role="heading"))
    frame = page_frame(known, writer)
    if frame.empty:
        said = (
            "No run cites text that tells which page was meant."
            if known
            else "No run's citations are located yet; proofspan index does that."
        )
        safe.show(safe.text([safe.Piece(said, "muted")], role="line"))
        return
    hint = (
        "How many quotes stand how many pages from the one that is cited. Counted are those of headline "
        "traces that stand on one page alone, with words enough to tell."
    )
    safe.show(safe.text([safe.Piece(hint, "muted")], role="hint"))
    has_remedy = "what to do" in frame
    row = TALL_ROW if has_remedy or frame["what it says"].str.len().max() > FIT else LOW_ROW
    st.dataframe(
        frame,
        hide_index=True,
        key="cited-pages",
        row_height=row,
        height=row * min(len(frame), ROWS_IN_SIGHT) + 36,
        placeholder="·",
        column_config={
            "run": st.column_config.TextColumn(width=60),
            "document": st.column_config.TextColumn(width=130),
            "what it says": st.column_config.TextColumn(width=280 if has_remedy else 560),
            "what to do": st.column_config.TextColumn(width=290),
            **{title: st.column_config.NumberColumn(width=56, format="localized") for title in _OFFSETS},
        },
        alt="Cited pages by run and document",
    )


def page_frame(known: Mapping[str, CitedPages], writer: Writer) -> pd.DataFrame:
    """One row a run and document, what can be mended first; offsets that nothing stands at are missing.

    The column of remedies is left out where there is none.
    """
    rows = [row for run_id, cited in known.items() for row in _rows(run_id, cited.findings, writer)]
    frame = pd.DataFrame(rows, columns=["run", "document", "what it says", "what to do", *_OFFSETS])
    frame = frame.astype(dict.fromkeys(_OFFSETS, "Int64"))
    return frame if frame["what to do"].any() else frame.drop(columns="what to do")


def _rows(run_id: str, findings: Iterable[PageBaseFinding], writer: Writer) -> Iterator[dict[str, Any]]:
    for finding in sorted(findings, key=lambda each: not each.is_systematic):
        counts = [count or None for count in (*finding.near, finding.elsewhere)]
        yield {
            "run": safe.clean(run_id),
            "document": safe.clean(ALL_DOCUMENTS if finding.doc_id is None else finding.doc_id),
            "what it says": _as_sentence(sentence(finding)),
            "what to do": _as_sentence(remedy(finding, writer) or ""),
            **dict(zip(_OFFSETS, counts, strict=True)),
        }


def _as_sentence(told: str) -> str:
    return safe.clean(f"{told[:1].upper()}{told[1:]}.".replace("`", "")) if told else ""
