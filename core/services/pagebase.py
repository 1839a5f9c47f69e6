"""The page-base doctor in words: one sentence a finding, and what mends it at its source.

The rule is `core.evidence.pagebase`'s. Here it meets what it is asked about (spans located in bulk, the
placed citations of a run), what the documents print on their pages, and who wrote the page numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from core.contracts.records import TraceKey
from core.errors import EvidenceFault, ManifestFault, printable
from core.evidence.pagebase import (
    MIN_QUOTES,
    NEAR_OFFSETS,
    PageBaseFinding,
    PlacedQuote,
    diagnose,
    speaks_for_itself,
)
from core.evidence.spanfile import Located
from core.evidence.types import DocumentInfo
from core.manifest.paths import artifact_path
from core.manifest.types import Manifest
from core.metrics.intervals import share_in_words
from core.traces.importers.folder import mapping_of

_IDENTITY = ("q_id", "paraphrase", "seed", "repeat")
#: So many sections are named; of more, the rest is counted.
MAX_NAMED = 4


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote the cited pages, by what mends them where they are one too high or one too low.

    `printed` says what to do where printed numbers were written.
    """

    too_high: str
    too_low: str
    printed: str


#: Native records: the producer itself has to change.
PRODUCER = Writer(
    too_high="let the producer count `page_idx` from 0 and `page` from 1: what it writes is one too high",
    too_low="let the producer write its number as `page_idx`, not as `page`: `page` counts from 1",
    printed="let the producer write the place of the page, `page_idx` counted from 0, not the number on it",
)
#: Lines of `proofspan locate`.
SPAN_LINES = Writer(
    too_high="write `cited_page_idx` counted from 0: these lines count from 1",
    too_low="write `cited_page_idx` as the source counts, from 0: 1 was taken off for nothing",
    printed="write printed numbers as `cited_page_label`, not as `cited_page_idx`",
)


@dataclass(frozen=True, slots=True)
class CitedPages:
    """What a run's citations tell of its pages.

    `offsets` says of traces how many pages from the cited one their text stands (see `offsets_of`).
    """

    findings: tuple[PageBaseFinding, ...]
    offsets: Mapping[TraceKey, int]


def mapping_writer(mapping: str, keys: Sequence[str]) -> Writer:
    """Files imported by the mapping of this name, whose pages these keys of it give."""
    at = " and ".join(f"`{key}`" for key in keys)
    again = f"at {at} in {mapping}, then import again with --force"
    return Writer(
        too_high=f"write `base: 1` {again}",
        too_low=f"write `base: 0` {again}",
        printed=f"printed numbers have no base: look up the page_idx of each before the import (see {at})",
    )


def examine(
    quotes: Sequence[PlacedQuote], labels_of: Callable[[str], Sequence[str]]
) -> tuple[PageBaseFinding, ...]:
    """The findings on these quotes; a document is asked for its printed labels only where it needs them."""
    first = diagnose(quotes)
    off = [each.doc_id for each in first if each.doc_id is not None and each.off >= MIN_QUOTES]
    labels = {doc_id: found for doc_id in off if (found := labels_of(doc_id))}
    return diagnose(quotes, labels) if labels else first


def labels_in(document: Callable[[Path], DocumentInfo], path: Path | None) -> Sequence[str]:
    """The labels that a document prints; none where it cannot be opened, which others report."""
    try:
        return document(path).labels if path is not None else ()
    except EvidenceFault:
        return ()


def quotes_of_spans(located: Iterable[Located], *, root: Path) -> list[PlacedQuote]:
    """The spans that speak for themselves; a document goes by its path inside `root`."""
    top = root.resolve()
    return [
        PlacedQuote(str(source.path.relative_to(top)), source.query.cited_page_idx, found.page_idx)
        for source, found in ((each.source, each.found) for each in located)
        if found is not None and found.page_idx is not None
        if source.path is not None and source.query is not None and source.query.cited_page_idx is not None
        if speaks_for_itself(found, source.query.quote)
    ]


def examine_run(
    placed: pd.DataFrame, manifest: Manifest, document: Callable[[Path], DocumentInfo]
) -> CitedPages:
    """What the placed citations of a run tell (`Store.placed`); `document` opens one for its labels."""
    findings = examine(
        quotes_of_placed(placed), lambda doc_id: labels_in(document, _path_of(manifest, doc_id))
    )
    return CitedPages(findings, offsets_of(placed))


def _path_of(manifest: Manifest, doc_id: str) -> Path | None:
    """The document's file; None where there is none, which `check` reports."""
    listed = manifest.document(doc_id)
    try:
        return artifact_path(manifest, listed.artifact) if listed else None
    except ManifestFault:
        return None


def quotes_of_placed(placed: pd.DataFrame) -> list[PlacedQuote]:
    """The headline citations of a run that speak for themselves (`Store.placed`); one trace a question."""
    is_headline = (placed["paraphrase"] == 0) & (placed["seed"] == 0) & (placed["repeat"] == 1)
    has_pages = placed["page_idx"].notna() & placed["cited_page_idx"].notna()
    told = placed[is_headline & has_pages & placed["tells_page"]]
    columns = (told[name] for name in ("doc_id", "cited_page_idx", "page_idx", "section_id"))
    return [
        PlacedQuote(doc_id, int(cited), int(page_idx), section if isinstance(section, str) else None)
        for doc_id, cited, page_idx, section in zip(*columns, strict=True)
    ]


def offsets_of(placed: pd.DataFrame) -> dict[TraceKey, int]:
    """By trace, how many pages from the cited one its cited text stands; their `run_id` is "".

    Left out are traces without a citation on another page, and those whose citations differ in it.
    """
    off = placed[placed["page_mismatch"] & placed["page_idx"].notna() & placed["cited_page_idx"].notna()]
    found: dict[TraceKey, set[int]] = defaultdict(set)
    columns = (off[name] for name in (*_IDENTITY, "cited_page_idx", "page_idx"))
    for q_id, paraphrase, seed, repeat, cited, page_idx in zip(*columns, strict=True):
        found[TraceKey("", q_id, int(paraphrase), int(seed), int(repeat))].add(int(page_idx) - int(cited))
    return {key: offset for key, (offset, *others) in found.items() if not others}


def writer_of(manifest: Manifest) -> Writer:
    """Who wrote the cited pages of a workspace: the mapping that it was imported by, else its producer."""
    mapping = mapping_of(manifest.folder)
    return PRODUCER if mapping is None else mapping_writer(mapping, ["traces.citations.page"])


def sentence(finding: PageBaseFinding) -> str:
    """The finding in one sentence, without a full stop: `212 of 220 quotes, 96 % (93–98 %), stand …`."""
    return _SENTENCES[finding.kind](finding)


def remedy(finding: PageBaseFinding, writer: Writer) -> str | None:
    """What mends it where it comes from; None where nothing systematic is to be mended."""
    if finding.kind == "printed":
        return writer.printed
    if not finding.is_systematic:
        return None
    if finding.offset == -1:
        return writer.too_high
    if finding.offset == 1:
        return writer.too_low
    return "compare the document's edition with the one that was cited: no page base is so far off"


def worth_saying(findings: Iterable[PageBaseFinding]) -> tuple[PageBaseFinding, ...]:
    """The findings that a person should hear of: what is systematic, else once what is off without a pattern.

    Where all documents together show one offset, that is said once, and of single documents only what
    differs from it.
    """
    known = list(findings)
    said = [each for each in known if each.is_systematic]
    if not said:
        return tuple(each for each in known if each.kind == "mixed")[:1]
    if said[0].doc_id is not None:
        return tuple(said)
    return (said[0], *(each for each in said[1:] if each.kind != "shifted"))


def in_words(finding: PageBaseFinding) -> str:
    """The sentence with the document that it is about: `manual-2026: 212 of 220 quotes, …`."""
    return f"{finding.doc_id}: {sentence(finding)}" if finding.doc_id is not None else sentence(finding)


def in_one_line(finding: PageBaseFinding, writer: Writer) -> str:
    """All of it for a terminal: `manual-2026: 212 of 220 quotes, … — what to do`."""
    return printable(" — ".join(filter(None, (in_words(finding), remedy(finding, writer)))))


def how_far(offset: int) -> str:
    """`one page earlier`, `two pages later`, `7 pages later`."""
    steps = {1: "one page", 2: "two pages"}.get(abs(offset), f"{abs(offset):,} pages")
    return f"{steps} {'earlier' if offset < 0 else 'later'}"


def _as_cited(finding: PageBaseFinding) -> str:
    return f"{_counted(finding)} where {'it is' if finding.quotes == 1 else 'they are'} cited"


def _shifted(finding: PageBaseFinding) -> str:
    return (
        f"{_counted(finding)} {how_far(finding.offset)} than cited: {_why(finding.offset, 'this producer')}"
    )


def _printed(finding: PageBaseFinding) -> str:
    return f"{_counted(finding)} on the page that bears the cited number: printed numbers were cited"


def _in_sections(finding: PageBaseFinding) -> str:
    where = _sections(finding.sections)
    alone = finding.near[NEAR_OFFSETS.index(finding.offset)] if finding.offset in NEAR_OFFSETS else 0
    is_all = alone == finding.standing
    these = f"{finding.standing:,} of {finding.quotes:,} quotes stand {how_far(finding.offset)} than cited"
    who = "the producer of that section" if len(finding.sections) == 1 else "the producer of those sections"
    within = f"{', all' if is_all else ''} in {where}"
    return f"{these}{within} ({finding.standing:,} of its {finding.within:,}): {_why(finding.offset, who)}"


def _too_few(finding: PageBaseFinding) -> str:
    return f"{_off(finding)}: too few to tell a page base from a slip"


def _mixed(finding: PageBaseFinding) -> str:
    return f"{_off(finding)}: no page base explains them"


_SENTENCES: Mapping[str, Callable[[PageBaseFinding], str]] = {
    "as_cited": _as_cited,
    "shifted": _shifted,
    "printed": _printed,
    "in_sections": _in_sections,
    "too_few": _too_few,
    "mixed": _mixed,
}


def _counted(finding: PageBaseFinding) -> str:
    """`212 of 220 quotes, 96 % (93–98 %), stand`."""
    verb = "stands" if finding.standing == 1 else "stand"
    noun = "quote" if finding.quotes == 1 else "quotes"
    share = share_in_words(finding.standing, finding.quotes)
    return f"{finding.standing:,} of {finding.quotes:,} {noun}, {share}, {verb}"


def _off(finding: PageBaseFinding) -> str:
    """`67 of 346 quotes stand on other pages than cited (33 one page earlier, 34 one page later)`."""
    parts = [
        f"{count:,} {how_far(offset)}"
        for offset, count in zip(NEAR_OFFSETS, finding.near, strict=True)
        if offset and count
    ]
    parts += [f"{finding.elsewhere:,} farther away"] if finding.elsewhere else []
    parts += [f"in {_sections(finding.sections)}"] if finding.sections else []
    is_one = finding.off == 1
    noun = "quote" if finding.quotes == 1 else "quotes"
    pages = "stands on another page" if is_one else "stand on other pages"
    where = ", ".join(parts)
    return f"{finding.off:,} of {finding.quotes:,} {noun} {pages} than cited ({where})"


def _why(offset: int, who: str) -> str:
    if offset == -1:
        return f"{who} counts pages from 1"
    if offset == 1:
        return f"{who} counts pages from 0, and was read as counting from 1"
    return "always as far, but no page base is"


def _sections(sections: Sequence[str]) -> str:
    named = list(sections[:MAX_NAMED])
    if len(sections) > MAX_NAMED:
        named.append(f"{len(sections) - MAX_NAMED} more")
    return f"section{'s' * (len(sections) > 1)} {', '.join(named)}"
