"""Which rules of the contract a question breaks, each with its next step, and the way to the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import streamlit as st

from proofspan.contracts.findings import Finding
from proofspan.services.question_findings import BrokenRule
from proofspan.ui import safe
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState
from proofspan.ui.words import counted

#: So many rules stand there at once, the rest is folded; of each so many sentences are said, and so many
#: places are named for each.
MOST_RULES, MOST_SAID, MOST_PLACES = 3, 4, 4
_SEVERITIES = ("error", "warning")


def show_findings(broken: Sequence[BrokenRule], view: ViewState) -> None:
    """The broken rules of the shown question, the worst in sight and the rest in a fold; nothing if none."""
    if not broken:
        return
    with st.container(border=True, key="contract", gap="xsmall"):
        _show_rules(broken[:MOST_RULES], view, head=heading(broken))
        if rest := broken[MOST_RULES:]:
            with st.expander(counted(len(rest), "more broken rule"), key="contract-rest"):
                _show_rules(rest, view)


def heading(broken: Sequence[BrokenRule]) -> list[Piece]:
    """`Contract 3 rules broken: 2 errors, 1 warning`."""
    found = [each.rule.severity for each in broken]
    told = [counted(found.count(severity), severity) for severity in _SEVERITIES if severity in found]
    total = f"{counted(len(broken), 'rule')} broken: {', '.join(told)}"
    return [Piece("Contract ", "strong"), Piece(total, "muted")]


def rule_rows(each: BrokenRule) -> Iterator[tuple[str, list[Piece]]]:
    """A rule in words: its title, where it is broken and how, then its code and what to do."""
    title = each.rule.title
    said = _by_message(each.findings)
    for message, fields in islice(said.items(), MOST_SAID):
        is_told = fields == [message.partition(" ")[0]]  # by the sentence itself
        yield title, [*([] if is_told else _places(fields)), Piece(message)]
        title = ""
    if len(said) > MOST_SAID:
        yield "", [Piece(f"and {counted(len(said) - MOST_SAID, 'more finding')} like these", "muted")]
    step = safe.coded(f"Next step: {each.rule.next_step}", "muted") if each.rule.next_step else []
    yield "", [Piece(each.rule.code, "code", tip=each.rule.meaning), Piece("  "), *step]


def _by_message(findings: Sequence[Finding]) -> dict[str, list[str]]:
    """The fields of each sentence: what is wrong in every citation is said once."""
    found: dict[str, list[str]] = {}
    for finding in findings:
        found.setdefault(finding.message, []).append(finding.field)
    return found


def _places(fields: Sequence[str]) -> Iterator[Piece]:
    named = [field for field in fields if field]
    for place, field in enumerate(named[:MOST_PLACES]):
        yield from [Piece(", ", "muted")] if place else []
        yield Piece(field, "code")
    if left_out := named[MOST_PLACES:]:
        yield Piece(f" and {counted(len(left_out), 'more place')}", "muted", tip=", ".join(left_out))
    if named:
        yield Piece(": ", "muted")


def _show_rules(broken: Sequence[BrokenRule], view: ViewState, *, head: Sequence[Piece] = ()) -> None:
    top = [safe.text(head, role="line")] if head else []
    safe.show(*top, safe.facts([row for each in broken for row in rule_rows(each)]))
    shared = [each for each in broken if each.is_shared]
    if not shared:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        told = f"All questions of {view.run} that break them:"
        safe.show(safe.text([Piece(told, "muted")], role="hint"), width="content")
        for each in shared:
            st.page_link(
                "pages/triage.py",
                label=safe.label(f"{each.questions:,} {each.rule.title}"),
                query_params=view.without_filter().change(code=(each.rule.code,)).as_list().params(),
                width="content",
            )
