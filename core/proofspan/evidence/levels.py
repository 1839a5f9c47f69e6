"""How much of an answer's evidence a bundle can show, by rule, and a sentence that says why not more.

The rules read what the bundle holds and nothing else, so that anyone who has it can check its level.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.contracts.records.records import AttachmentKind
from proofspan.errors import printable
from proofspan.evidence.bundles import Bundle, BundleAttachment, BundleCitation, BundleProblem, Level

#: So much of a caption names an attachment in a sentence, in characters.
NAME = 60
#: A stranger's text is told with at most so many characters.
LINE = 300
#: So many of the things that are missing are told one by one.
MISSING_TOLD = 3

#: Codes of problems: the bundle does not list everything, no passage can be shown, a document is another one,
#: a citation has no text.
CUT = ("attachments_cut", "bundle_cut")
PASSAGE_NOT_SHOWN = "passage_not_shown"
REVISION_DIFFERS = "rev_mismatch"
QUOTE_MISSING = "quote_missing"

_KINDS: dict[AttachmentKind, str] = {
    "warning": "warning",
    "caution": "caution",
    "note": "note",
    "image": "picture",
    "table": "table",
    "symbol": "symbol",
}


def judge(bundle: Bundle) -> tuple[Level, str]:
    """The level of a bundle and its reason, by what else it holds; its own `level` is not asked."""
    cited = bundle.citation
    if cited is None or not cited.is_shown:
        reasons = [_why_no_page(bundle.citations)] if bundle.citations else ["the answer cites nothing"]
        passages = [one_line(each.message) for each in bundle.problems if each.code == PASSAGE_NOT_SHOWN]
        reasons += passages or ["nothing was retrieved"]
        return "text_only", f"Question and answer as text alone: {'; '.join(reasons)}." + _changes(bundle)
    missing = [] if cited.is_placed else [_not_placed(cited)]
    missing += [_not_drawn(item) for item in bundle.attachments if not item.drawable]
    is_cut = any(problem.code in CUT for problem in bundle.problems)
    missing += ["not all that belongs to it is listed"] if is_cut else []
    opening = _opening(cited, bundle.citations)
    if not missing:
        reason = f"{_passage(cited)} stands {_place(cited)}, {_all_drawn(len(bundle.attachments))}."
        return "full", opening + reason + _others(bundle) + _changes(bundle)
    safety = bundle.safety_attachments
    is_safe = bool(safety) and all(item.drawable for item in safety) and not is_cut
    with_notices = f", with {_notices(len(safety))}" if is_safe else ""
    reason = f"{opening}{_page(cited)} can be shown{with_notices}; {_told(missing)}."
    return ("safety_citation" if is_safe else "citation_only"), reason + _others(bundle) + _changes(bundle)


def _others(bundle: Bundle) -> str:
    """That citations beside the one which is shown are not placed, as a further sentence."""
    cited = bundle.citation
    if cited is None or cited.origin == "retrieved":
        return ""
    failed = [each for each in bundle.citations if each.number != cited.number and not each.is_placed]
    if not failed:
        return ""
    others = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    first = failed[0]
    reason = _not_placed(first) if first.is_shown else f"it can't be shown: {_why_not_shown(first)}"
    return f" Not placed: citation {first.number}{others} of {len(bundle.citations)}: {reason}."


def _changes(bundle: Bundle) -> str:
    """That a document is not the one which was cited or described, as further sentences."""
    told = [each.problem.message for each in bundle.documents if each.problem and each.sha256]
    told += [each.message for each in _problems_of(bundle) if each.code == REVISION_DIFFERS]
    return "".join(f" Note: {one_line(message)}." for message in dict.fromkeys(told))


def _problems_of(bundle: Bundle) -> Sequence[BundleProblem]:
    return bundle.citation.problems if bundle.citation else ()


def _opening(citation: BundleCitation, citations: Sequence[BundleCitation]) -> str:
    """What has to be said first where the answer does not cite what is shown."""
    if citation.origin != "retrieved":
        return ""
    if not citations:
        return "The answer cites nothing: this is the closest retrieved passage. "
    return f"No citation can be shown, {_why_no_page(citations)}: this is the closest retrieved passage. "


def _why_no_page(citations: Sequence[BundleCitation]) -> str:
    """Why there is nothing to turn to; of many citations the first is told."""
    others = f" (and {len(citations) - 1} more)" if len(citations) > 1 else ""
    return f"citation {citations[0].number}{others}: {_why_not_shown(citations[0])}"


def _why_not_shown(citation: BundleCitation) -> str:
    """Why there is no page of this citation to turn to."""
    return one_line(citation.problems[-1].message) if citation.problems else "it names no place"


def _not_placed(citation: BundleCitation) -> str:
    """Why the text of the citation that is shown is not marked on its page."""
    found = citation.found
    if found is None:
        reason = citation.problems[-1].message if citation.problems else "there is no text to look for"
        return f"its text could not be looked for: {one_line(reason)}"
    if any(problem.code == QUOTE_MISSING for problem in citation.problems):
        return "it gives a place and no text that could confirm it"
    if found.status == "not_found":
        return "its text was not found" + (f": {one_line(found.note)}" if found.note else "")
    return "the page where its text stands can't be shown"


def _not_drawn(item: BundleAttachment) -> str:
    reason = item.problem.message if item.problem else "the reason is not known"
    return f"{name_of(item)} can't be drawn: {one_line(reason)}"


def name_of(item: BundleAttachment) -> str:
    """An attachment in a sentence: `the picture “Figure 5-3” (i-004)`."""
    named = one_line(item.caption or "", length=NAME)
    words = f" “{named}”" if named and named.casefold() != item.kind else ""
    return f"the {_KINDS[item.kind]}{words} ({one_line(item.attachment_id, length=NAME)})"


def _told(missing: Sequence[str]) -> str:
    rest = len(missing) - MISSING_TOLD
    return "; ".join(missing[:MISSING_TOLD]) + (f"; and {rest} more" if rest > 0 else "")


def _notices(count: int) -> str:
    return "its safety notice" if count == 1 else f"all {count} safety notices"


def _all_drawn(count: int) -> str:
    if not count:
        return "and nothing is attached to it"
    return "and its attachment can be drawn" if count == 1 else f"and all {count} attachments can be drawn"


def _passage(citation: BundleCitation) -> str:
    return "Its text" if citation.origin == "retrieved" else "The cited passage"


def _page(citation: BundleCitation) -> str:
    if citation.page_idx_from == "text":
        return "Its document" if citation.origin == "retrieved" else "The cited document"
    number = (citation.shown_page_idx or 0) + 1
    if citation.shown_page_idx != citation.page_idx:
        return f"PDF page {number}, where the text stands,"
    return f"{'Its' if citation.origin == 'retrieved' else 'The cited'} page, PDF page {number},"


def _place(citation: BundleCitation) -> str:
    """Where the text stands and how well it agrees: `on PDF page 42 (exact)`."""
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
    """A stranger's text inside a sentence: one line, cut, nothing in it that acts on a screen."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= length else line[:length].rstrip() + "…"
