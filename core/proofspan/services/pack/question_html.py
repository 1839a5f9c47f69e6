"""A question of a pack as HTML: the words of its page, folded, with its pages beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED, Verdict
from proofspan.display_names import (
    CAUSE_NAMES,
    CLAIM_NAMES,
    CORRECT_NAMES,
    DIFFERENCE_NAMES,
    EVIDENCE_NAMES,
    GROUNDED_NAMES,
    LABEL_NAMES,
    NAMES,
)
from proofspan.evidence.attachments import Attached
from proofspan.journal.annotations import VERDICT_FIELDS
from proofspan.services.pack.gather import Opinion, Packed
from proofspan.services.pack.ink import Ink
from proofspan.services.pack.pictures import Pictures, crop_html
from proofspan.services.pack.redaction import DOCUMENT, FIELDS, Field
from proofspan.services.page.target import cite_id
from proofspan.services.question.verdict_signs import CORRECT_SIGNS, GROUNDED_SIGNS, in_short
from proofspan.services.question.view import CitationView, QuestionView
from proofspan.wording import with_printed

#: Citations, claims and gold spans of a question that are listed.
MOST_LISTED = 50
#: Characters of a passage, which its page shows as a whole.
PASSAGE = 1_200
#: Characters of a question in its heading; a longer one comes again as a whole.
MOST_ASKED = 1_000
REDACTED = '<p class="lost">Redacted.</p>'
#: The classes of the chips of claims.
_TONES: Mapping[str, str] = {"supported": "green", "derived": "green", "differs": "red"}


def question_html(packed: Packed, ink: Ink, *, name: str, against: str | None, pictures: Pictures) -> str:
    """Return a question as a `details` element; `name` is its id, `against` the run it is compared with.

    `ink` writes it with what is left out of it.
    """
    view = packed.view
    row = packed.row
    chip = _chip(row)
    flip = f'<span class="chip {_FLIPS[packed.flip]}">{packed.flip}</span>' if packed.flip else ""
    people = '<span class="chip gray">reviewed</span>' if packed.opinions else ""
    q_text = "Redacted" if packed.redaction.hides("question") else ink.text(str(row["q"] or ""), MOST_ASKED)
    data = {
        "cause": _known(row.get("cause"), CAUSES),
        "correct": _known(row.get("correct"), CORRECT),
        "grounded": _known(row.get("grounded"), GROUNDED),
        "flip": packed.flip,
        "people": "yes" if packed.opinions else "no",
    }
    attributes = "".join(f' data-{key}="{value}"' for key, value in data.items())
    head = (
        f'<summary><span class="id">{ink.text(str(row["q_id"]), 60)}</span>{chip}'
        f'<span class="asked">{q_text}</span>{flip}{people}</summary>'
    )
    parts = (
        [f'<p class="lost">Its record is lost: {ink.text(packed.problem.message)}.</p>']
        if packed.problem is not None
        else []
    )
    if view is not None:
        parts.append(f'<div class="words">{"".join(_words(packed, view, ink, against))}</div>')
        parts.append(f'<div class="pages">{"".join(_pages(packed, ink, pictures))}</div>')
    link = f'<p class="link"><a href="#{name}">Link to this question</a></p>'
    body = f'<div class="body" id="{name}">{"".join(parts)}{link}</div>'
    return f'<details class="q"{attributes}>{head}{body}</details>\n'


_FLIPS = {"fixed": "green", "regressed": "red"}


def _known(value: object, values: Iterable[str]) -> str:
    return next((each for each in values if each == value), "")


def _chip(row: Mapping[str, Any], prefix: str = "") -> str:
    """Return the verdict of a list's row as a chip; without one its label."""
    correct = next((each for each in CORRECT if each == row.get(f"{prefix}correct")), None)
    if correct is None:
        label = next((each for each in LABELS if each == row.get(f"{prefix}label")), None)
        return f'<span class="chip gray">{LABEL_NAMES[label] if label else "No label"}</span>'
    grounded = next((each for each in GROUNDED if each == row.get(f"{prefix}grounded")), None)
    cause = next((each for each in CAUSES if each == row.get(f"{prefix}cause")), None)
    words, shade, _ = in_short(grounded, correct, cause)
    return f'<span class="chip {shade}">{words}</span>'


def _words(packed: Packed, view: QuestionView, ink: Ink, against: str | None) -> Iterator[str]:
    redaction = packed.redaction
    if packed.is_withheld:
        left = ", ".join(field for field in FIELDS if field in redaction.fields)
        yield f'<p class="lost">This question rests on a redacted document; left out: {left}.</p>'
    if len(view.trace.q) > MOST_ASKED:
        yield from _part("Question", "question", ink, lambda: _text(view.trace.q, ink))
    yield from _verdict(packed, ink, against)
    without = "It is not recorded: the run has no traces." if view.stored is not None else "It is empty."
    yield from _part("Answer", "answer", ink, lambda: _text(view.trace.answer, ink) or f"<p>{without}</p>")
    yield from _expected(view, ink)
    if packed.judged is not None and packed.judged.checked.claims:
        claims = packed.judged.checked.claims

        def listed() -> str:
            items = "".join(f"<li>{''.join(_claim(each, ink))}</li>" for each in claims[:MOST_LISTED])
            return f'<ol class="claims">{items}</ol>{_more(len(claims), "claims")}'

        yield from _part("Claims of the answer", "claims", ink, listed)
    yield from _citations(packed, view, ink)
    if redaction.hides("notices"):
        if view.omissions:
            yield f"<h3>Notices</h3>{REDACTED}"
    elif packed.notices or view.omissions:
        yield f"<h3>Notices</h3>{''.join(_omissions(view, ink))}"
        yield "".join(_notice(each, ink) for each in packed.notices)
    if packed.opinions:
        yield f"<h3>Reviews</h3><ul>{''.join(_opinion(each, ink) for each in packed.opinions)}</ul>"


def _part(title: str, field: Field, ink: Ink, shown: Any) -> Iterator[str]:
    yield f"<h3>{title}</h3>{REDACTED if ink.redaction.hides(field) else shown()}"


def _text(text: str, ink: Ink) -> str:
    return f'<p class="text">{ink.text(text)}</p>' if text.strip() else ""


def _more(count: int, what: str) -> str:
    return f"<p>… and {count - MOST_LISTED:,} more {what}.</p>" if count > MOST_LISTED else ""


def _verdict(packed: Packed, ink: Ink, against: str | None) -> Iterator[str]:
    verdict = packed.judged.verdict if packed.judged is not None else None
    yield "<h3>Verdict</h3>"
    if verdict is None:
        yield f"<p>{_chip(packed.row)}</p>"
    else:
        yield f"<p>{''.join(_axes(verdict))}</p>"
        yield f"<p>{_cause(verdict, ink)}</p>"
    if against is not None:
        was = _chip(packed.row, "was_") if packed.row.get("was_label") is not None else "not asked"
        yield f"<p>In {ink.text(against)}: {was}</p>"


def _axes(verdict: Verdict) -> Iterator[str]:
    if verdict.grounded is not None:
        sign = GROUNDED_SIGNS[verdict.grounded]
        yield f'<span class="chip {sign.tone}">{sign.sign} {GROUNDED_NAMES[verdict.grounded]}</span> '
        yield "against its evidence. "
    sign = CORRECT_SIGNS[verdict.correct]
    yield f'<span class="chip {sign.tone}">{sign.sign} {CORRECT_NAMES[verdict.correct]}</span> '
    yield "against the expected answer."


def _cause(verdict: Verdict, ink: Ink) -> str:
    name = "Cause unknown" if verdict.cause is None else CAUSE_NAMES[verdict.cause]
    certainty = f" ({verdict.certainty})" if verdict.cause not in (None, "none") else ""
    if ink.redaction.hides("reasons"):
        return f"<b>{name}</b>{certainty}"
    labels = ink.labels(verdict.doc_id)
    sentence = ink.text(with_printed(verdict.sentence, labels))
    step = ink.text(with_printed(verdict.next_step, labels))
    step = f' <span class="muted">Next step: {step}</span>' if step else ""
    return f"<b>{name}</b>{certainty}{': ' if sentence else ''}{sentence}{step}"


def _expected(view: QuestionView, ink: Ink) -> Iterator[str]:
    gold = view.gold
    if gold is None:
        return

    def shown() -> str:
        parts = [_text(gold.answer or gold.anchor or "", ink)]
        if not gold.answerable:
            parts = ["<p>None: the documents do not answer this question.</p>"]
        for span in gold.spans[:MOST_LISTED]:
            if ink.redaction.hides("quotes") or span.doc_id in ink.redaction.documents:
                continue
            place = ink.place(span.doc_id, span.page_idx)
            quote = ink.text(span.quote, PASSAGE)
            parts.append(f'<p class="quote gold">{quote}<br><small>{place}</small></p>')
        return "".join(parts) or "<p>It is not recorded.</p>"

    yield from _part("Expected answer", "expected", ink, shown)


def _claim(each: CheckedClaim, ink: Ink) -> Iterator[str]:
    tone = _TONES.get(each.status, "yellow")
    yield f'<span class="chip {tone}">{CLAIM_NAMES[each.status]}</span> {ink.text(each.claim.text)}'
    evidence, redaction = each.evidence, ink.redaction
    is_quoted = not redaction.hides("quotes")
    if evidence is not None and evidence.doc_id in redaction.documents:
        is_quoted = False
    if evidence is not None and is_quoted:
        place = ink.place(evidence.doc_id, evidence.page_idx, evidence.chunk_id)
        what = "Closest passage" if each.status == "unsupported" else "Evidence"
        yield f'<p class="quote">{ink.text(evidence.text, PASSAGE)}<br><small>{what}: {place}</small></p>'
    for difference in each.differences if is_quoted else ():
        yield (
            f'<p class="differs"><b>{DIFFERENCE_NAMES[difference.kind]}</b>: '
            f"the answer has “{ink.text(difference.claimed)}”, "
            f"the evidence “{ink.text(difference.found)}”</p>"
        )
    if not redaction.hides("reasons"):
        yield f"<p>Computed: {ink.text(each.formula)}</p>" if each.formula else ""
        yield f'<p class="muted">{ink.text(each.note)}</p>' if each.note else ""


def _citations(packed: Packed, view: QuestionView, ink: Ink) -> Iterator[str]:
    if not view.citations:
        return
    found = {name: span for crop in packed.crops for name, span in crop.page.found.items()}
    yield '<h3>Citations</h3><ul class="cited">'
    for each in view.citations[:MOST_LISTED]:
        span = found.get(cite_id(each.citation.number))
        state = "numbers_differ" if span is not None and span.numbers_differ else span.status if span else ""
        yield f"<li>{_citation(each, EVIDENCE_NAMES.get(state, ''), ink)}</li>"
    yield f"</ul>{_more(len(view.citations), 'citations')}"


def _citation(each: CitationView, state: str, ink: Ink) -> str:
    cited = each.citation
    if cited.doc_id in ink.redaction.documents:
        return f"[{cited.number}] {DOCUMENT}"
    place = ink.place(cited.doc_id, cited.page_idx, cited.chunk_id)
    seen = "" if each.is_retrieved else " <b>not in the prompt</b>"
    how = f' <span class="muted">{state}</span>' if state else ""
    quote = ""
    if cited.quote and each.quote_from == "payload" and not ink.redaction.hides("quotes"):
        quote = f'<p class="quote">{ink.text(cited.quote, PASSAGE)}</p>'
    return f"[{cited.number}] {place}{seen}{how}{quote}"


def _omissions(view: QuestionView, ink: Ink) -> Iterator[str]:
    for each in (view.omissions or ())[:MOST_LISTED]:
        page = ink.text(ink.page(each.doc_id, each.page_idx))
        place = f" on {page}" if page else ""
        yield (
            f'<p class="differs"><b>{each.kind.upper()}</b>{place} is not mentioned in the answer: '
            f"“{ink.text(each.text, PASSAGE)}”</p>"
        )


def _notice(each: Attached, ink: Ink) -> str:
    item = each.attachment
    if item.doc_id in ink.redaction.documents:
        return ""
    beside = " (on a neighbouring page)" if each.is_beside else ""
    page = ink.text(ink.page(item.doc_id, item.page_idx))
    place = f", {page}" if page else ""
    text = ink.text(item.text or item.caption or "", PASSAGE)
    return f'<p class="notice {item.kind}"><b>{item.kind.upper()}</b>{place}{beside}: {text}</p>'


def _opinion(each: Opinion, ink: Ink) -> str:
    opinion, redaction = each.annotation, ink.redaction
    who = "A reviewer" if redaction.hides("people") else ink.text(opinion.author, 200)
    parts = []
    if opinion.kind == "verdict":
        values = [(name, getattr(opinion, name)) for name in VERDICT_FIELDS]
        named = [f"{name}: {NAMES[name].get(value, value)}" for name, value in values if value is not None]
        parts.append("; ".join(filter(None, ["agrees" if opinion.agrees else "does not agree", *named])))
    if not redaction.hides("notes"):
        parts += [f"[{', '.join(opinion.tags)}]"] if opinion.tags else []
        parts += [opinion.text] if opinion.text else []
    elif opinion.text or opinion.tags:
        parts.append("a redacted note")
    earlier = " (about an earlier text of the answer)" if each.is_of_another else ""
    return f"<li><b>{who}</b>, {ink.text(opinion.at[:10])}: {ink.text(' '.join(parts))}{earlier}</li>"


def _pages(packed: Packed, ink: Ink, pictures: Pictures) -> Iterator[str]:
    for crop in packed.crops:
        yield crop_html(crop, ink, packed.judged, pictures)
    if not packed.crops:
        yield '<p class="lost">There is no page to show.</p>'
    if packed.more_pages:
        yield f"<p>… and {packed.more_pages:,} more pages that are cited or expected.</p>"
