"""Find systematic errors in cited pages: in spans located in bulk, and in the citations of a run.

The rule is in `proofspan.evidence.page_base`; here it is applied to data, and its findings get their sentence
and fix.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.records import TraceKey
from proofspan.errors import EvidenceFault, ManifestFault, printable
from proofspan.evidence.page_base import (
    MIN_QUOTES,
    NEAR_OFFSETS,
    PageBaseFinding,
    PlacedQuote,
    diagnose,
    is_telling,
)
from proofspan.evidence.span_file import SpanLine
from proofspan.evidence.types import DocumentInfo
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.metrics.statistics import share_in_words, wilson
from proofspan.store.files.located import read_placed, read_placed_file
from proofspan.store.files.segment_files import DamagedError
from proofspan.store.index.build import index_folder
from proofspan.traces.importers.staging import mapping_of
from proofspan.wording import counted

#: Columns of `proofspan.store.files.located.PLACED_SCHEMA` as lists, None for missing values.
Placed = Mapping[str, Sequence[Any]]
_COLUMNS = (
    *("q_id", "paraphrase", "seed", "repeat", "chunk_id", "doc_id", "section_id"),
    *("cited_page_idx", "page_idx", "page_mismatch", "tells_page"),
)
HEADLINE = (0, 0, 1)


@dataclass(frozen=True, slots=True)
class CitedPages:
    """The findings on a run's cited pages.

    `offsets` has, for traces whose citations on other pages are all off by the same number of pages, that
    number; the traces' `run_id` is "".
    """

    findings: tuple[PageBaseFinding, ...]
    offsets: Mapping[TraceKey, int]


def examine(
    quotes: Sequence[PlacedQuote], labels_of: Callable[[str], Sequence[str]]
) -> tuple[PageBaseFinding, ...]:
    """Return the findings on these quotes; printed labels are read only of documents with many off."""
    first = diagnose(quotes)
    off = [each.doc_id for each in first if each.doc_id is not None and each.off >= MIN_QUOTES]
    labels = {doc_id: found for doc_id in off if (found := labels_of(doc_id))}
    return diagnose(quotes, labels) if labels else first


def labels_in(document: Callable[[Path], DocumentInfo], path: Path | None) -> Sequence[str]:
    """Return the labels that a document prints; none where it cannot be opened."""
    try:
        return document(path).labels if path is not None else ()
    except EvidenceFault:
        return ()


def quotes_of_spans(located: Iterable[SpanLine], *, root: Path) -> list[PlacedQuote]:
    """Return the spans that show which page was meant; a document's id is its path inside `root`."""
    top = root.resolve()
    return [
        PlacedQuote(str(each.path.relative_to(top)), each.query.cited_page_idx, each.found.page_idx)
        for each in located
        if each.found is not None and each.found.page_idx is not None
        if each.path is not None and each.query is not None and each.query.cited_page_idx is not None
        if is_telling(each.found, each.query.quote)
    ]


def examine_run(
    manifest: Manifest, run_id: str, *, cache_dir: Path, document: Callable[[Path], DocumentInfo]
) -> CitedPages:
    """Return the findings on the located citations of a run; none where they are not located.

    `document` opens a document for its labels.
    """
    folder = index_folder(manifest, run_id, cache_dir)
    known = read_placed_file(folder)
    try:
        placed = read_placed(folder, known.parts, _COLUMNS).to_pydict() if known else {}
    except DamagedError:  # replaced while it was read
        placed = {}

    def labels_of(doc_id: str) -> Sequence[str]:
        listed = manifest.document(doc_id)
        try:
            return labels_in(document, artifact_path(manifest, listed.artifact)) if listed else ()
        except ManifestFault:
            return ()

    return pages_of_placed(placed, labels_of)


def page_messages(
    manifest: Manifest, run_id: str, *, cache_dir: Path, document: Callable[[Path], DocumentInfo]
) -> tuple[str, ...]:
    """Return the findings on a run's cited pages that matter, one line each, with the fix."""
    cited = examine_run(manifest, run_id, cache_dir=cache_dir, document=document)
    return tuple(in_one_line(each, writer_of(manifest)) for each in worth_saying(cited.findings))


def pages_of_placed(placed: Placed, labels_of: Callable[[str], Sequence[str]]) -> CitedPages:
    """Return the findings on the headline citations, one trace per question, and all traces' offsets."""
    columns = [placed[name] for name in _COLUMNS] if placed else []
    alike: Counter[tuple[str, int, int, str | None, str | None]] = Counter()
    offsets: dict[TraceKey, set[int]] = defaultdict(set)
    for q_id, *variant, chunk_id, doc_id, section, cited, page_idx, is_off, tells in zip(
        *columns, strict=True
    ):
        if doc_id is None or cited is None or page_idx is None:
            continue
        if tells and tuple(variant) == HEADLINE:
            alike[doc_id, cited, page_idx, section, None if cited == page_idx else chunk_id] += 1
        if is_off:
            offsets[TraceKey("", q_id, *variant)].add(page_idx - cited)
    quotes = []
    for (doc_id, cited, page_idx, section, chunk_id), times in alike.items():
        parts = parse(chunk_id) if chunk_id is not None else None
        by_id = parts.page_idx if parts else None
        quotes.append(PlacedQuote(doc_id, cited, page_idx, section, by_id, times))
    same = {key: offset for key, (offset, *others) in offsets.items() if not others}
    return CitedPages(examine(quotes, labels_of), same)


def writer_of(manifest: Manifest) -> Writer:
    """Return who wrote the cited pages of a workspace: the mapping of its import, else its producer."""
    mapping = mapping_of(manifest.folder)
    return PRODUCER if mapping is None else mapping_writer(mapping, ["traces.citations.page"])


#: How many sections are named; others are counted.
MAX_NAMED = 4
#: Why all pages are off by one.
_WHY = {
    -1: "the producer counts pages from 1",
    1: "the producer counts pages from 0, and was read as counting from 1",
}


#: Who wrote the cited pages: the fixes for pages that are one too high (-1) or too low (1), or printed.
Writer = Mapping[int | Literal["printed"], str]

#: Native records: the producer itself has to change.
PRODUCER: Writer = {
    -1: "let the producer count `page_idx` from 0 and `page` from 1: what it writes is one too high",
    1: "let the producer write its number as `page_idx`, not as `page`: `page` counts from 1",
    "printed": "let the producer write printed numbers as `page_label`, not as `page` or `page_idx`",
}
#: Lines of `proofspan locate`.
SPAN_LINES: Writer = {
    -1: "write `cited_page_idx` counted from 0: these lines count from 1",
    1: "write `cited_page_idx` as the source counts, from 0: 1 was subtracted in error",
    "printed": "write printed numbers as `cited_page_label`, not as `cited_page_idx`",
}


def mapping_writer(mapping: str, keys: Sequence[str]) -> Writer:
    """Return the fixes for files imported by a mapping, in which these keys give the pages."""
    again = f"at {' and '.join(f'`{key}`' for key in keys)} in {mapping}, then import again with --force"
    return {
        -1: f"write `base: 1` {again}",
        1: f"write `base: 0` {again}",
        "printed": f"map printed numbers as `page_label`, in place of `page` {again}",
    }


def fix(finding: PageBaseFinding, writer: Writer) -> str | None:
    """Return the fix at the source of the pages; None where nothing systematic is wrong."""
    if finding.kind == "printed":
        return writer["printed"]
    other = "compare the document's edition with the cited one: no page base explains such an offset"
    return writer.get(finding.offset, other) if finding.is_systematic else None


def worth_saying(findings: Iterable[PageBaseFinding]) -> tuple[PageBaseFinding, ...]:
    """Return the findings to show: systematic ones, else the first without a pattern.

    An offset of all documents together is shown once, and of single documents only what differs from it.
    """
    known = list(findings)
    systematic = [each for each in known if each.is_systematic]
    if not systematic:
        return tuple(each for each in known if each.kind == "mixed")[:1]
    if systematic[0].doc_id is not None:
        return tuple(systematic)
    return (systematic[0], *(each for each in systematic[1:] if each.kind != "shifted"))


def sentence(finding: PageBaseFinding) -> str:
    """Return the finding in one sentence, without its full stop: `212 of 220 quotes, 96 %, are …`."""
    quotes, supporting, offset = finding.quotes, finding.supporting, finding.offset
    if finding.kind == "as_cited":
        low, high = (100 * end for end in wilson(quotes, quotes))
        are = "is" if quotes == 1 else "are"
        return f"{quotes:,} of {counted(quotes, 'quote')} {are} on the cited page ({low:.0f}–{high:.0f} %)"
    named, more = finding.sections[:MAX_NAMED], len(finding.sections) - MAX_NAMED
    listed = ", ".join([*named, *([f"{more} more"] if more > 0 else [])])
    sections = f"section{'s' if len(finding.sections) > 1 else ''} {listed}"
    if finding.kind in ("too_few", "mixed"):
        near = zip(NEAR_OFFSETS, finding.near, strict=True)
        parts = [f"{count:,} {how_far(each)}" for each, count in near if each and count]
        parts += [f"{finding.elsewhere:,} farther away"] if finding.elsewhere else []
        off = (
            f"{finding.off:,} of {counted(quotes, 'quote')} {'is' if finding.off == 1 else 'are'} on another"
        )
        off += f" page than cited ({', '.join(parts)}){f', in {sections}' if finding.sections else ''}"
        if finding.kind == "mixed":
            return f"{off}: no page base explains them"
        known = finding.by_id >= finding.off
        return f"{off}{', where the chunk ids place them' if known else ': too few to say why'}"
    are = "is" if supporting == 1 else "are"
    head, share = f"{supporting:,} of {counted(quotes, 'quote')}", share_in_words(supporting, quotes)
    if finding.kind == "printed":
        return f"{head}, {share}, {are} on the page that bears the cited number: printed numbers were cited"
    why = _WHY.get(offset, "always by the same number, but no page base is so large")
    if finding.kind == "shifted":
        return f"{head}, {share}, {are} {how_far(offset)} than cited: {why}"
    there = f"{supporting:,} of {finding.within:,} there"
    return f"{head} {are} {how_far(offset)} than cited in {sections} ({there}): {why}"


def in_words(finding: PageBaseFinding) -> str:
    """Return the sentence after its document: `manual-2026: 212 of 220 quotes, …`."""
    return f"{finding.doc_id}: {sentence(finding)}" if finding.doc_id is not None else sentence(finding)


def in_one_line(finding: PageBaseFinding, writer: Writer) -> str:
    """Return document, sentence and fix for a terminal: `manual-2026: 212 of 220 quotes, … — the fix`."""
    return printable(" — ".join(filter(None, (in_words(finding), fix(finding, writer)))))


def how_far(offset: int) -> str:
    """Return an offset in words: `one page earlier`, `two pages later`, `7 pages later`."""
    steps = {1: "one page", 2: "two pages"}.get(abs(offset), f"{abs(offset):,} pages")
    return f"{steps} {'earlier' if offset < 0 else 'later'}"
