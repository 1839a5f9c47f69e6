"""The page-base doctor at work: on spans located in bulk, and on the placed citations of a run.

The rule is in `proofspan.evidence.page_base`, the words in `proofspan.services.page_base`. Here they meet
the data, what the documents print on their pages, and who wrote the page numbers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from proofspan.evidence.span_file import Located
from proofspan.evidence.types import DocumentInfo
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.metrics.statistics import share_in_words, wilson
from proofspan.store.files.located import read_placed, read_placed_file
from proofspan.store.files.segment_files import DamagedError
from proofspan.store.index.build import index_folder
from proofspan.traces.importers.staging import mapping_of

#: Columns of `proofspan.store.files.located.PLACED_SCHEMA` as lists, None for what is missing.
Placed = Mapping[str, Sequence[Any]]


#: Those that the doctor needs.
_COLUMNS = (
    *("q_id", "paraphrase", "seed", "repeat", "chunk_id", "doc_id", "section_id"),
    *("cited_page_idx", "page_idx", "page_mismatch", "tells_page"),
)
HEADLINE = (0, 0, 1)


@dataclass(frozen=True, slots=True)
class CitedPages:
    """What a run's citations tell of its pages.

    `offsets` says of traces how many pages from the cited one their text stands, where that is one and the
    same for all their citations on other pages; the traces' `run_id` is "".
    """

    findings: tuple[PageBaseFinding, ...]
    offsets: Mapping[TraceKey, int]


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
        if is_telling(found, source.query.quote)
    ]


def examine_run(
    manifest: Manifest, run_id: str, *, cache_dir: Path, document: Callable[[Path], DocumentInfo]
) -> CitedPages:
    """What the placed citations of a run tell; nothing where there are none.

    `document` opens a document for its labels.
    """
    folder = index_folder(manifest, run_id, cache_dir)
    known = read_placed_file(folder)
    try:
        placed = read_placed(folder, known.parts, _COLUMNS).to_pydict() if known else {}
    except DamagedError:  # replaced while it was read
        placed = {}
    return pages_of_placed(placed, lambda doc_id: labels_in(document, _path_of(manifest, doc_id)))


def told_of_run(
    manifest: Manifest, run_id: str, *, cache_dir: Path, document: Callable[[Path], DocumentInfo]
) -> tuple[str, ...]:
    """What a person should hear of a run's cited pages, one line each, with what mends it."""
    cited = examine_run(manifest, run_id, cache_dir=cache_dir, document=document)
    return tuple(in_one_line(each, writer_of(manifest)) for each in worth_saying(cited.findings))


def pages_of_placed(placed: Placed, labels_of: Callable[[str], Sequence[str]]) -> CitedPages:
    """The findings on the headline citations, one trace a question; the offsets of all traces."""
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
    quotes = [
        PlacedQuote(doc_id, cited, page_idx, section, _page_by_id(chunk_id), times)
        for (doc_id, cited, page_idx, section, chunk_id), times in alike.items()
    ]
    same = {key: offset for key, (offset, *others) in offsets.items() if not others}
    return CitedPages(examine(quotes, labels_of), same)


def _page_by_id(chunk_id: str | None) -> int | None:
    """The page that a chunk's id names, where it does."""
    parts = parse(chunk_id) if chunk_id is not None else None
    return parts.page_idx if parts else None


def _path_of(manifest: Manifest, doc_id: str) -> Path | None:
    """The document's file; None where there is none, which `check` reports."""
    listed = manifest.document(doc_id)
    try:
        return artifact_path(manifest, listed.artifact) if listed else None
    except ManifestFault:
        return None


def writer_of(manifest: Manifest) -> Writer:
    """Who wrote the cited pages of a workspace: the mapping that it was imported by, else its producer."""
    mapping = mapping_of(manifest.folder)
    return PRODUCER if mapping is None else mapping_writer(mapping, ["traces.citations.page"])


# The page-base doctor in words: one sentence a finding, and what mends it at its source. Pure.

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
    printed="let the producer write what is printed as `page_label`, not as `page` or `page_idx`",
)
#: Lines of `proofspan locate`.
SPAN_LINES = Writer(
    too_high="write `cited_page_idx` counted from 0: these lines count from 1",
    too_low="write `cited_page_idx` as the source counts, from 0: 1 was taken off for nothing",
    printed="write printed numbers as `cited_page_label`, not as `cited_page_idx`",
)


def mapping_writer(mapping: str, keys: Sequence[str]) -> Writer:
    """Files imported by the mapping of this name, whose pages these keys of it give."""
    at = " and ".join(f"`{key}`" for key in keys)
    again = f"at {at} in {mapping}, then import again with --force"
    return Writer(
        too_high=f"write `base: 1` {again}",
        too_low=f"write `base: 0` {again}",
        printed=f"map what is printed as `page_label`, in place of `page` {again}",
    )


def sentence(finding: PageBaseFinding) -> str:
    """The finding in one sentence, without a full stop: `212 of 220 quotes, 96 % (93–98 %), stand …`."""
    return _SENTENCES[finding.kind](finding)


def fix(finding: PageBaseFinding, writer: Writer) -> str | None:
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
    return printable(" — ".join(filter(None, (in_words(finding), fix(finding, writer)))))


def how_far(offset: int) -> str:
    """`one page earlier`, `two pages later`, `7 pages later`."""
    steps = {1: "one page", 2: "two pages"}.get(abs(offset), f"{abs(offset):,} pages")
    return f"{steps} {'earlier' if offset < 0 else 'later'}"


def _as_cited(finding: PageBaseFinding) -> str:
    if finding.quotes == 1:
        return "the only quote stands where it is cited"
    low, high = wilson(finding.quotes, finding.quotes)
    return f"all {finding.quotes:,} quotes stand where they are cited ({100 * low:.0f}–{100 * high:.0f} %)"


def _shifted(finding: PageBaseFinding) -> str:
    return (
        f"{_counted(finding)} {how_far(finding.offset)} than cited: {_why(finding.offset, 'this producer')}"
    )


def _printed(finding: PageBaseFinding) -> str:
    return f"{_counted(finding)} on the page that bears the cited number: printed numbers were cited"


def _in_sections(finding: PageBaseFinding) -> str:
    where = _sections(finding.sections)
    alone = finding.near[NEAR_OFFSETS.index(finding.offset)] if finding.offset in NEAR_OFFSETS else 0
    is_all = alone == finding.supporting
    these = f"{finding.supporting:,} of {finding.quotes:,} quotes stand {how_far(finding.offset)} than cited"
    who = "the producer of that section" if len(finding.sections) == 1 else "the producer of those sections"
    within = f"{', all' if is_all else ''} in {where}"
    return f"{these}{within} ({finding.supporting:,} of its {finding.within:,}): {_why(finding.offset, who)}"


def _too_few(finding: PageBaseFinding) -> str:
    if finding.by_id < finding.off:
        return f"{_off(finding)}: too few to tell why"
    one = finding.off == 1
    return (
        f"{_off(finding)}, where the {'id of its chunk puts it' if one else 'ids of their chunks put them'}"
    )


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
    verb = "stands" if finding.supporting == 1 else "stand"
    noun = "quote" if finding.quotes == 1 else "quotes"
    share = share_in_words(finding.supporting, finding.quotes)
    return f"{finding.supporting:,} of {finding.quotes:,} {noun}, {share}, {verb}"


def _off(finding: PageBaseFinding) -> str:
    """`67 of 346 quotes stand on other pages than cited (33 one page earlier, 34 one page later)`."""
    apart = {each: n for each, n in zip(NEAR_OFFSETS, finding.near, strict=True) if each and n}
    parts = [f"{count:,} {how_far(offset)}" for offset, count in apart.items()]
    parts += [f"{finding.elsewhere:,} farther away"] if finding.elsewhere else []
    is_one = finding.off == 1
    if len(apart) == 1 and not finding.elsewhere:
        where = f"{'stands' if is_one else 'stand'} {how_far(next(iter(apart)))} than cited"
    else:
        pages = "stands on another page" if is_one else "stand on other pages"
        where = f"{pages} than cited ({', '.join(parts)})"
    section = f", in {_sections(finding.sections)}" if finding.sections else ""
    return f"{finding.off:,} of {finding.quotes:,} quote{'s' * (finding.quotes != 1)} {where}{section}"


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
