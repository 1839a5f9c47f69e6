"""The frame of a pack as HTML: policy, style and script, the release check, numbers, search and filters."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, GROUNDED
from proofspan.display_names import CAUSE_NAMES, CORRECT_NAMES, GROUNDED_NAMES
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.values import value_in_words
from proofspan.resources import text_of
from proofspan.services.compare import p_words, pair_in_words
from proofspan.services.metrics.report import MetricsReport
from proofspan.services.pack.ink import Ink
from proofspan.services.pack.redaction import Redaction
from proofspan.services.release import ReleaseVerdict
from proofspan.wording import counted

#: Reasons of the release verdict that are listed.
MOST_REASONS = 8
_STATES = {"ready": ("✓", "green"), "not_ready": ("✗", "red"), "not_enough_evidence": ("?", "yellow")}
_STATUSES = {"pass": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


@dataclass(frozen=True, slots=True)
class Summary:
    """The facts of a pack's run. `rows` are the questions in it, of `whole` in the run.

    `has_opinions`: people gave verdicts on answers of the workspace, or wrote notes.
    """

    manifest: Manifest
    run: Run
    against: str | None
    whole: int
    rows: Sequence[Mapping[str, Any]]
    flips: Mapping[str, str]
    metrics: MetricsReport
    verdict: ReleaseVerdict
    redaction: Redaction
    has_opinions: bool = False


def head_html(summary: Summary, ink: Ink) -> str:
    """Return the file up to its first question."""
    style, script = text_of("services/pack/pack.css"), text_of("services/pack/pack.js")
    policy = "; ".join(
        (
            "default-src 'none'",
            "img-src data:",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    run = summary.run
    title = f"{ink.text(run.run_id, 200)} · {ink.text(summary.manifest.name, 200)}"
    return "".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n',
            f"<title>Evidence pack · {title}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>",
            f'<p class="kind">Evidence pack</p><h1>{title}</h1>',
            "".join(f"<p>{line}</p>" for line in _about(summary, ink)),
            "</header>\n<main>\n",
            *_release(summary.verdict, ink),
            *_numbers(summary, ink),
            *_tools(summary),
        )
    )


def end_html() -> str:
    """Return the file behind its last question."""
    script = text_of("services/pack/pack.js")
    return f"</section>\n</main>\n<script>{script}</script>\n</body>\n</html>\n"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _about(summary: Summary, ink: Ink) -> Iterator[str]:
    run, count = summary.run, len(summary.rows)
    details = (run.title, run.ts and run.ts[:10], summary.metrics.facts.profile.describe())
    yield ink.text(" · ".join(filter(None, details)), 400)
    yield (
        f"{counted(count, 'question')}, the most harmful first"
        if count == summary.whole
        else f"<b>The {count:,} most harmful of {counted(summary.whole, 'question')}.</b> "
        "The others are not in this file"
    ) + (f", compared with {ink.text(summary.against, 200)}." if summary.against else ".")
    if words := summary.redaction.in_words():
        yield f"<b>Redacted:</b> {words}. What is redacted is not in this file."


def _release(verdict: ReleaseVerdict, ink: Ink) -> Iterator[str]:
    sign, shade = _STATES[verdict.state]
    compared = ink.text(verdict.compared)
    yield (
        f'<section class="panel"><h2>Release check '
        f'<span class="chip {shade}">{sign} {verdict.words}</span></h2>'
        f"<p>{verdict.counts_in_words()}{compared}.</p>"
    )
    reasons = verdict.reasons
    items = "".join(_reason(each.sentence, each.change, ink) for each in reasons[:MOST_REASONS])
    yield f"<ul>{items}</ul>" if items else ""
    if len(reasons) > MOST_REASONS:
        yield f"<p>… and {counted(len(reasons) - MOST_REASONS, 'more reason')}.</p>"
    yield "</section>\n"


def _reason(sentence: str, change: str, ink: Ink) -> str:
    todo = f' <span class="muted">{ink.text(change)}</span>' if change else ""
    return f"<li>{ink.text(sentence)}.{todo}</li>"


def _numbers(summary: Summary, ink: Ink) -> Iterator[str]:
    compared, measured = summary.metrics.compared, summary.metrics.measured
    head = ["Metric", ink.text(summary.run.run_id, 100), "Goal"]
    if compared is not None:
        head += [ink.text(compared.vs, 100), "Difference (95 % interval)", "McNemar"]
    yield '<section class="panel"><h2>Numbers</h2>'
    if compared is not None:
        yield "".join(f"<p>{ink.text(sentence)}</p>" for sentence in compared.sentences)
    yield "<details><summary>All metrics with counts and 95 % intervals</summary>"
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f'<th scope="col">{each}</th>' for each in head) + "</tr></thead><tbody>"
    pairs = {pair.metric.metric_id: pair for pair in compared.pairs} if compared is not None else {}
    for name, value in measured.values.items():
        pair = pairs.get(name)
        if value.value is None and pair is None:
            continue
        cells = [value_in_words(value), _goal(summary, name, ink)]
        if compared is not None:
            there = value_in_words(pair.there) if pair is not None and pair.there is not None else "–"
            p = p_words(pair.p) if pair is not None and pair.p is not None else ""
            cells += [there, pair_in_words(pair) if pair is not None else "", p]
        row = "".join(f"<td>{cell}</td>" for cell in cells)
        yield f'<tr><th scope="row">{ink.text(value.metric.name)}</th>{row}</tr>'
    yield "</tbody></table></div></details></section>\n"


def _goal(summary: Summary, name: str, ink: Ink) -> str:
    measured = summary.metrics.measured
    goal, verdict = measured.goals.get(name), measured.verdicts.get(name)
    if goal is None:
        return ""
    sign, shade = _STATUSES.get(verdict.status, ("·", "gray")) if verdict is not None else ("·", "gray")
    return f'<span class="chip {shade}">{sign} {ink.text(goal.in_words())}</span>'


def _tools(summary: Summary) -> Iterator[str]:
    """Yield the heading of the questions, with search and filters that the script shows."""
    yield '<section class="questions"><h2>Questions</h2>'
    yield '<div id="search:tools" class="tools" hidden>'
    yield '<label>Search <input type="search" id="search:words" autocomplete="off"></label>'
    counts: dict[str, Counter[str]] = {}
    for row in summary.rows:
        for name in ("cause", "correct", "grounded"):
            counts.setdefault(name, Counter())[str(row.get(name) or "")] += 1
    yield _select("cause", "Cause", CAUSES, CAUSE_NAMES, counts)
    yield _select("correct", "Correctness", CORRECT, CORRECT_NAMES, counts)
    yield _select("grounded", "Grounding", GROUNDED, GROUNDED_NAMES, counts)
    if summary.flips:
        own = Counter(summary.flips.get(str(row["q_id"]), "") for row in summary.rows)
        turns = {"fixed": "Fixed", "regressed": "Regressed"}
        yield _select("flip", "Change", tuple(turns), turns, {"flip": own})
    if summary.has_opinions:
        yield _select("people", "People", ("yes", "no"), {"yes": "Reviewed", "no": "Not reviewed"}, {})
    yield '<button type="button" id="search:all">Open all</button>'
    yield '<output id="search:count" aria-live="polite"></output></div>'
    yield '<p id="search:none" class="lost" hidden>No question matches.</p>\n'
    if not summary.rows:
        yield "<p>The run has no question.</p>"


def _select(
    name: str,
    title: str,
    values: Sequence[str],
    names: Mapping[str, str],
    counts: Mapping[str, Mapping[str, int]],
) -> str:
    own = counts.get(name)
    options = "".join(
        f'<option value="{value}">{names[value]}{f" ({own[value]:,})" if own is not None else ""}</option>'
        for value in values
        if own is None or own.get(value)
    )
    return f'<label>{title} <select name="{name}"><option value="">All</option>{options}</select></label>'
