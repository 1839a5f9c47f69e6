"""Spans files of `proofspan locate`: JSONL lines of `{id, pdf, cited_page_idx, quote}` in, located spans out.

A line may have a `claim`, a statement to check, instead of the quote.

A text document is named by `path` instead of `pdf` and recognized by its suffix. A line that can't be used
gives a line with its `error`; no line is lost and the order stays. The end of the module highlights spans on
a page's picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
import orjson

from proofspan.contracts.records.field_values import index_of, offsets_of
from proofspan.contracts.records.records import Box, Json
from proofspan.errors import Fault, InputFault, ManifestFault, Problem
from proofspan.evidence.geometry import box_to_pixels
from proofspan.evidence.locate_bulk import Ask, GivenUp, InText, Locator, locate_bulk
from proofspan.evidence.pdf.png import CHANNELS, decode_rgb, encode_png
from proofspan.evidence.text.text_document import locate_in_text
from proofspan.evidence.text_file import TEXT_SUFFIXES
from proofspan.evidence.types import FoundSpan, PageImage, Place, SpanQuery
from proofspan.manifest.paths import resolve_reference
from proofspan.traces.lines.reader import MAX_LINE, RawLine, read_lines

BOX_SPACES = ("points", "unit", "per_mille")
COORDINATES = 4
INDEX_RANGE = "from 0 to 2**53"
#: Lines that are located together and in memory at once, and resolved document names that are cached.
WINDOW, MANY_DOCUMENTS = 10_000, 4_096


@dataclass(frozen=True, slots=True)
class SpanLine:
    """One line: a quote and its document, once located with the `found` span, or the problem of either."""

    line: int
    span_id: str | int | None
    path: Path | None = None
    query: SpanQuery | None = None
    problem: Problem | None = None
    found: FoundSpan | None = None


def count_spans(path: Path) -> int:
    """Count the lines of a spans file, without blank ones. Raises InputFault if it cannot be read."""
    return sum(1 for _ in read_lines(path, final=True))


def read_spans(path: Path, *, root: Path, file: str = "") -> Iterator[SpanLine]:
    """Read every line of a spans file, with its document resolved inside `root`.

    `file` is its name in problems, by default its path. Raises InputFault if nothing is readable: no line, or
    no JSON among the first `WINDOW` lines.
    """
    resolve = lru_cache(MANY_DOCUMENTS)(partial(resolve_reference, root))
    file = file or str(path)
    lines = (_span_line(raw, file, resolve) for raw in read_lines(path, final=True))
    first = list(islice(lines, WINDOW))
    if not first:
        fix = "write one JSON object per line"
        raise InputFault.of("no_spans", "the file has no line", where=file, fix=fix)
    if all(line.problem is not None and line.problem.code == "not_json" for line in first):
        message, where = "no line of the file is a JSON object", f"{file}:{first[0].line}"
        fix = 'write lines such as {"id": "a", "pdf": "doc.pdf", "cited_page_idx": 0, "quote": "…"}'
        raise InputFault.of("not_jsonl", message, where=where, fix=fix)
    yield from chain(first, lines)


def locate_spans(
    lines: Iterable[SpanLine],
    locator: Locator,
    *,
    workers: int,
    on_done: Callable[[int], None] | None = None,
    in_text: InText = locate_in_text,
) -> Iterator[SpanLine]:
    """Locate every line, in order, `WINDOW` lines at a time; `on_done` receives how many are done.

    `in_text` locates in documents without pages.
    """
    rest, done = iter(lines), 0
    given_up: GivenUp = {}
    while window := list(islice(rest, WINDOW)):
        queries = [ask(line.path, line.query) for line in window if line.path and line.query]

        def of_file(located: int, _: int, before: int = done + len(window) - len(queries)) -> None:
            if on_done is not None:
                on_done(before + located)

        answers = locate_bulk(
            queries, locator, workers=workers, on_done=of_file, given_up=given_up, in_text=in_text
        )
        results = iter(answers)
        for line in window:
            result = line.problem or next(results)
            if isinstance(result, Problem):
                yield replace(line, problem=result)
            else:
                yield replace(line, found=result)
        done += len(window)


def ask(path: Path, query: SpanQuery, *, is_text: bool | None = None) -> Ask:
    """Pair a quote with its document; with `is_text` None the suffix decides."""
    return Ask(path, query, is_text=path.suffix.lower() in TEXT_SUFFIXES if is_text is None else is_text)


def to_json(located: SpanLine) -> bytes:
    """Return one output line, keys sorted, with its line break."""
    found = located.found or FoundSpan("not_found", None, False, 0.0)
    row: dict[str, Json] = {
        "id": located.span_id,
        "status": found.status,
        "page_idx": found.page_idx,
        "page_mismatch": found.page_mismatch,
        "agreement": found.agreement,
        "rects": found.rects,
        "differences": found.differences,
        "alternatives": [place_row(place) for place in found.alternatives],
    }
    # Fields that are usually empty are omitted then.
    if found.ranges:
        row["ranges"] = found.ranges
    if found.continues:
        row["continues"] = [place_row(place) for place in found.continues]
    if found.box_agrees is not None:
        row["box_agrees"] = found.box_agrees
    if found.unverified:
        row["unverified"] = found.unverified
    if found.row:
        row["row"] = found.row
    if found.column:
        row["column"] = found.column
    if found.note:
        row["note"] = found.note
    if (problem := located.problem) is not None:
        row["error"] = {"code": problem.code, "message": problem.message, "fix": problem.fix}
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def place_row(place: Place) -> dict[str, Json]:
    """Return another place, or the rest of a quote on it, as output has it."""
    return {"ranges": place.ranges} if place.ranges else {"page_idx": place.page_idx, "rects": place.rects}


def _span_line(raw: RawLine, file: str, resolve: Callable[[str], Path]) -> SpanLine:
    where = f"{file}:{raw.line}"
    obj: Json = None
    with suppress(orjson.JSONDecodeError):
        obj = orjson.loads(raw.data) if raw.length <= MAX_LINE else None
    if not isinstance(obj, dict):
        message, fix = "the line is not a JSON object", "write one JSON object per line"
        return SpanLine(raw.line, None, problem=Problem("not_json", message, where, fix))
    span_id = obj.get("id")
    span_id = span_id if isinstance(span_id, str | int) else None
    try:
        query = query_of(obj)
        document = resolve(_text(obj, "pdf" if "pdf" in obj or "path" not in obj else "path"))
    except Fault as fault:
        first = replace(fault.problems[0], where=where)
        if isinstance(fault, ManifestFault):
            fix = "check `pdf` (or `path`) and --root: paths are relative to it and stay inside"
            first = replace(first, message=f"the document {first.message}", fix=fix)
        return SpanLine(raw.line, span_id, problem=first)
    return SpanLine(raw.line, span_id, document, query)


def query_of(obj: Mapping[str, Json]) -> SpanQuery:
    """Return the quote of a line, or its claim. Raises InputFault for a field of a wrong type.

    Optional are `cited_page_label` (as printed), `bbox` with `bbox_space`, `offsets`, `before`, `after`.
    """
    cited, space = obj.get("cited_page_idx"), obj.get("bbox_space", "points")
    if cited is not None and not _is_index(cited):
        raise _bad("cited_page_idx", f"a whole number {INDEX_RANGE}, or null")
    if space not in BOX_SPACES:
        raise _bad("bbox_space", f"one of {', '.join(BOX_SPACES)}")
    box: Box | None = None
    if (listed := obj.get("bbox")) is not None:
        is_list = isinstance(listed, list) and len(listed) == COORDINATES
        if not is_list or any(isinstance(n, bool) or not isinstance(n, int | float) for n in listed):
            raise _bad("bbox", f"a list of {COORDINATES} numbers")
        box = (float(listed[0]), float(listed[1]), float(listed[2]), float(listed[3]))
    offsets = None
    if (value := obj.get("offsets")) is not None:
        offsets = offsets_of(value)
        if offsets is None or not (_is_index(offsets.start) and _is_index(offsets.end)):
            form = f"a list of 2 whole numbers {INDEX_RANGE}, or {{start, end, unit}} of such"
            raise _bad("offsets", form)
    given = [name for name in ("quote", "claim") if obj.get(name) is not None]
    if len(given) != 1:
        message = (
            "the line has both `quote` and `claim`" if given else "the line has no `quote` and no `claim`"
        )
        fix = "write `quote` for words of the document, or `claim` for a statement to check, and only one"
        raise InputFault.of("bad_field", message, fix=fix)
    text = _text(obj, given[0])
    if given == ["claim"] and not any(map(str.isalnum, text)):
        raise _bad("claim", "a statement: it has no letter or digit")
    return SpanQuery(
        quote=text if given == ["quote"] else "",
        claim=text if given == ["claim"] else "",
        cited_page_idx=None if cited is None else int(cited),
        offsets=offsets,
        box=box,
        box_space=space,
        before=_text(obj, "before", missing=""),
        after=_text(obj, "after", missing=""),
        cited_label=_text(obj, "cited_page_label", missing="") or None,
    )


def _text(obj: Mapping[str, Json], key: str, *, missing: str | None = None) -> str:
    value = obj.get(key, missing)
    if not isinstance(value, str):
        raise _bad(key, "text")
    return value


def _is_index(value: Json) -> bool:
    """Return whether a value is a whole number from 0 that every JSON reader preserves."""
    index = index_of(value)
    return index is not None and index >= 0


def _bad(key: str, wanted: str) -> Fault:
    return InputFault.of("bad_field", f"`{key}` is not {wanted}", fix=f"write `{key}` as {wanted}")


# Highlights over a page's picture. An annotation in the document would change later renders.

#: Amber for citations: white paper becomes the tint, black ink stays black. The frame needs no colour.
TINT = (255, 214, 102)
FRAME = (178, 106, 0)
FRAME_PIXELS = 1
MARGIN_PIXELS = 1


def with_highlights(image: PageImage, boxes: Sequence[Box]) -> bytes:
    """Return the page's picture as PNG with these boxes (points of the unrotated page) highlighted.

    Each channel is multiplied by the tint, once where boxes overlap, so that ink stays readable.
    """
    pixels = np.frombuffer(decode_rgb(image.data), dtype=np.uint8)
    pixels = pixels.reshape(image.height, image.width, CHANNELS).copy()
    areas = []
    for box in boxes:
        left, top, right, bottom = box_to_pixels(image.to_pixels, box)
        left, right = max(0, int(left) - MARGIN_PIXELS), min(image.width, int(right) + 1 + MARGIN_PIXELS)
        top, bottom = max(0, int(top) - MARGIN_PIXELS), min(image.height, int(bottom) + 1 + MARGIN_PIXELS)
        areas.append((slice(top, bottom), slice(left, right)))
        # A thin line around the area, outside of it unless the picture ends.
        inside = pixels[areas[-1]].copy()
        outer_left, outer_top = max(0, left - FRAME_PIXELS), max(0, top - FRAME_PIXELS)
        pixels[outer_top : bottom + FRAME_PIXELS, outer_left : right + FRAME_PIXELS] = FRAME
        pixels[areas[-1]] = inside
    marked = np.zeros((image.height, image.width), dtype=bool)
    for area in areas:
        marked[area] = True
    pixels[marked] = pixels[marked].astype(np.uint16) * np.array(TINT, dtype=np.uint16) // 255
    return encode_png(pixels.tobytes(), image.width, image.height)
