"""The page-base doctor in words: one sentence a finding, and what mends it at its source. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.errors import printable
from proofspan.evidence.pagebase import NEAR_OFFSETS, PageBaseFinding
from proofspan.metrics.intervals import share_in_words, wilson

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
    is_all = alone == finding.standing
    these = f"{finding.standing:,} of {finding.quotes:,} quotes stand {how_far(finding.offset)} than cited"
    who = "the producer of that section" if len(finding.sections) == 1 else "the producer of those sections"
    within = f"{', all' if is_all else ''} in {where}"
    return f"{these}{within} ({finding.standing:,} of its {finding.within:,}): {_why(finding.offset, who)}"


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
    verb = "stands" if finding.standing == 1 else "stand"
    noun = "quote" if finding.quotes == 1 else "quotes"
    share = share_in_words(finding.standing, finding.quotes)
    return f"{finding.standing:,} of {finding.quotes:,} {noun}, {share}, {verb}"


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
