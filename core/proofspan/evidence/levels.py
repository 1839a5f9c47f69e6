"""The level of a bundle: how much of its evidence can be shown, and why it is not more.

The level is read from the bundle alone, so that anyone who has it can check its level.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.contracts.records.records import Attachment
from proofspan.errors import printable
from proofspan.evidence.bundles import Bundle, BundleCitation, Level

#: Characters of a caption, and of any other text, that a sentence quotes.
NAME, LINE = 60, 300
#: Missing things named one by one; the rest is counted.
MAX_MISSING = 3

#: Codes of problems: the bundle does not list everything, no passage can be shown, a document has another
#: revision, a citation has no text.
CUT = ("attachments_cut", "bundle_cut")
PASSAGE_NOT_SHOWN = "passage_not_shown"
REVISION_DIFFERS = "rev_mismatch"
QUOTE_MISSING = "quote_missing"


def judge(bundle: Bundle) -> tuple[Level, str]:
    """Return the level that the rules give a bundle, and the reason. The bundle's own `level` is ignored."""
    cited = bundle.citation
    # Documents that are not the ones that were cited or described.
    changes = [each.problem.message for each in bundle.documents if each.problem and each.sha256]
    problems = cited.problems if cited else ()
    changes += [each.message for each in problems if each.code == REVISION_DIFFERS]
    ending = "".join(f" Note: {one_line(message)}." for message in dict.fromkeys(changes))
    why_none = "the answer cites nothing"
    if bundle.citations:
        first, more = bundle.citations[0], _and_more(bundle.citations)
        why_none = f"citation {first.number}{more}: {_why_not_shown(first)}"
    if cited is None or not cited.is_shown:
        passages = [one_line(each.message) for each in bundle.problems if each.code == PASSAGE_NOT_SHOWN]
        reasons = [why_none, *(passages or ["nothing was retrieved"])]
        return "text_only", f"Question and answer as text alone: {'; '.join(reasons)}.{ending}"
    opening, is_passage = "", cited.origin == "retrieved"
    if is_passage:
        none = f"No citation can be shown, {why_none}" if bundle.citations else "The answer cites nothing"
        opening = f"{none}: this is the closest retrieved passage. "
    else:
        failed = [each for each in bundle.citations if each.number != cited.number and not each.is_placed]
        if failed:
            first = failed[0]
            unshown = f"it can't be shown: {_why_not_shown(first)}"
            reason = _not_placed(first) if first.is_shown else unshown
            of_all = f"{_and_more(failed)} of {len(bundle.citations)}"
            ending = f" Not located: citation {first.number}{of_all}: {reason}.{ending}"
    missing = [] if cited.is_placed else [_not_placed(cited)]
    for item in bundle.attachments:
        if not item.drawable:
            reason = item.problem.message if item.problem else "the reason is not known"
            missing.append(f"{name_of(item.attachment)} can't be drawn: {one_line(reason)}")
    is_cut = any(problem.code in CUT for problem in bundle.problems)
    missing += ["not all attachments are listed"] if is_cut else []
    if not missing:
        count = len(bundle.attachments)
        attached = f"all {count} attachments can be drawn" if count else "it has no attachments"
        attached = "its attachment can be drawn" if count == 1 else attached
        passage = "Its text" if is_passage else "The cited passage"
        return "full", f"{opening}{passage} was found {_place(cited)}, and {attached}.{ending}"
    safety = bundle.safety_attachments
    is_safe = bool(safety) and all(item.drawable for item in safety) and not is_cut
    notices = "its safety notice" if len(safety) == 1 else f"all {len(safety)} safety notices"
    shown = f"{_page(cited)} can be shown{f', with {notices}' if is_safe else ''}"
    rest = len(missing) - MAX_MISSING
    named = "; ".join([*missing[:MAX_MISSING], *([f"and {rest} more"] if rest > 0 else [])])
    return ("safety_citation" if is_safe else "citation_only"), f"{opening}{shown}; {named}.{ending}"


def _and_more(citations: Sequence[BundleCitation]) -> str:
    return f" (and {len(citations) - 1} more)" if len(citations) > 1 else ""


def _why_not_shown(citation: BundleCitation) -> str:
    return one_line(citation.problems[-1].message) if citation.problems else "it names no place"


def _not_placed(citation: BundleCitation) -> str:
    """Return why the text of the citation shown is not highlighted on its page."""
    found = citation.found
    if found is None:
        reason = citation.problems[-1].message if citation.problems else "there is no text to locate"
        return f"its text could not be located: {one_line(reason)}"
    if any(problem.code == QUOTE_MISSING for problem in citation.problems):
        return "it gives a place but no text that could confirm it"
    if found.status == "not_found":
        return "its text was not found" + (f": {one_line(found.note)}" if found.note else "")
    return "the page with its text can't be shown"


def name_of(item: Attachment) -> str:
    """Return the name of an attachment in a sentence: `the picture “Figure 5-3” (i-004)`."""
    named = one_line(item.caption or "", length=NAME)
    words = f" “{named}”" if named and named.casefold() != item.kind else ""
    kind = "picture" if item.kind == "image" else item.kind
    return f"the {kind}{words} ({one_line(item.attachment_id, length=NAME)})"


def _page(citation: BundleCitation) -> str:
    is_passage = citation.origin == "retrieved"
    if citation.page_idx_from == "text":
        return "Its document" if is_passage else "The cited document"
    number = (citation.shown_page_idx or 0) + 1
    if citation.shown_page_idx != citation.page_idx:
        return f"PDF page {number}, where the text was found,"
    return f"{'Its' if is_passage else 'The cited'} page, PDF page {number},"


def _place(citation: BundleCitation) -> str:
    """Return where the text is and how well it agrees: `on PDF page 42 (exact)`."""
    found = citation.found
    if found is None:
        return "nowhere"
    is_clean = found.status in ("exact", "normalized")
    agreed = found.status if is_clean else f"{found.status}, {found.agreement:.2f}"
    numbers = sum(difference.kind == "number" for difference in found.differences)
    if numbers:
        agreed += ", a number differs" if numbers == 1 else f", {numbers} numbers differ"
    if found.ranges:
        first, last = found.ranges[0].first_line, found.ranges[-1].last_line
        return f"on line {first} ({agreed})" if first == last else f"on lines {first}–{last} ({agreed})"
    other = ", not on the cited one" if found.page_mismatch else ""
    return f"on PDF page {(citation.shown_page_idx or 0) + 1}{other} ({agreed})"


def one_line(text: str, *, length: int = LINE) -> str:
    """Return untrusted text for use in a sentence: on one line, cut, without control characters."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= length else line[:length].rstrip() + "…"
