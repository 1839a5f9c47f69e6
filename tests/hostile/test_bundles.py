"""No input, however broken, gives an empty or unrenderable bundle."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proofspan.evidence.bundles import Bundle, BundleLine, read_bundles, record_of, sealed, sha256_of
from proofspan.evidence.levels import judge
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import line_of, load_catalogue
from proofspan.services.bundles.report import Earlier
from proofspan.services.bundles.validate import validate_bundles
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.document_set import Shelf
from proofspan.services.documents.drawings import draw
from proofspan.store.index.build import build_index
from tests.bundle_room import (
    CATALOGUE,
    CHUNKS,
    JACK,
    QUOTE,
    bundles_from,
    cites,
    sources_of,
    trace,
    write_workspace,
)

pytestmark = pytest.mark.slow

#: What producers, tools and attackers put where something else belongs.
ODD: list[Any] = [
    *(None, True, -1, 0, 1, 3, 3.5, -0.0, 1e308, 2**53, 2**63, 10**18, "3", "", " ", "nan"),
    *([], {}, [[]], [None], {"start": -5, "end": 1}, [3, 1], [0, 0, 0, 0], [1e308] * 4, [9, 9, 1, 1]),
    *("a\u0000b", "\u202egnp.kcaj", "\u2066", "\ufeff", "ﬁ\u00ad", "x" * 5_000, "٣٫٥", "🚗" * 40, "<b>|*_`"),
    *("manual", "notes", "scan", "cut", "gone", "replaced", "nobody", "warning", "symbol", "image"),
    *("file:../../etc/passwd", "file:plan.svg", "file:torn.png", "file:jack.png", "file:gone.png"),
    *("pdf:manual#page_idx=99&bbox=1,2,3,4", "pdf:cut#page_idx=0&bbox=1,2,3,4"),
    *("pdf:notes#page_idx=0&bbox=1,2,3,4", "pdf:manual#page_idx=0&bbox=900,900,901,901"),
    *("Tighten", JACK, "Never reach under the car while it is up.", "not in context"),
]

#: An answer with much evidence, with one citation and nothing else, with lines of a text that reach too far,
#: and with nothing but what was retrieved.
TRACES: list[dict[str, Any]] = [
    trace(
        stages={"retrieved": [{"id": JACK, "page_idx": 1, "section_id": "4.2"}, {"id": "lost"}]},
        citations=[
            {"chunk_id": JACK, "page_idx": 1, "section_id": "4.2", "quote": "Set the jack under"},
            {"doc_id": "notes", "quote": "holds 0.4 litres", "offsets": {"start": 41, "end": 57}},
            {"doc_id": "scan", "page": 1, "bbox": [1, 2, 30, 40], "bbox_space": "points", "quote": "Nowhere"},
        ],
    ),
    cites(doc_id="manual", page_idx=1, section_id="4.2", quote=QUOTE),
    cites(doc_id="notes", section_id="1", span=[3, 2**53]),
    trace(citations=[], chunks=[{"id": JACK, "page_idx": 1}], answer="not in context"),
]
BASES = [{"trace": each, "chunks": CHUNKS, "catalogue": CATALOGUE} for each in TRACES]

odd = st.one_of(st.sampled_from(ODD), st.text(max_size=20), st.integers(-(2**63), 2**64 - 1), st.floats())


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inside in steps:
        yield (*place, step)
        yield from _places(inside, (*place, step))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """One of the bases with some places changed; most of them the trace's."""
    whole = copy.deepcopy(draw(st.sampled_from(BASES)))
    everywhere = list(_places(whole))
    inside = st.sampled_from([place for place in everywhere if place[0] == "trace" and len(place) > 1])
    _mutate_some(draw, whole, st.one_of(inside, inside, st.sampled_from(everywhere)))
    read: dict[str, Any] = orjson.loads(orjson.dumps(whole, option=orjson.OPT_NON_STR_KEYS))
    return read


def _mutate_some(draw: st.DrawFn, whole: Any, places: st.SearchStrategy[tuple[Any, ...]]) -> None:
    """Drop, repeat or replace the values in some places."""
    for place in draw(st.lists(places, max_size=8)):
        value = copy.deepcopy(draw(odd))  # a value may be changed in its turn, or put into itself
        _mutate(whole, place, draw(st.sampled_from(["put", "put", "drop", "repeat"])), value)


def _mutate(whole: Any, place: tuple[Any, ...], what: str, value: Any) -> None:
    """Changes one place; where an earlier change took it away, nothing happens."""
    try:
        for step in place[:-1]:
            whole = whole[step]
        if what == "drop":
            del whole[place[-1]]
        elif what == "repeat" and isinstance(whole, list):
            whole.extend([whole[place[-1]]] * 70)
        else:
            whole[place[-1]] = value
    except (KeyError, IndexError, TypeError):
        return


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Manifest, PdfPool]]:
    manifest = write_workspace(tmp_path_factory.mktemp("room"))
    build_index(manifest, cache_dir=manifest.folder / "cache")
    with PdfPool(workers=1) as pool:
        yield manifest, pool


@pytest.fixture(scope="module")
def built(room: tuple[Manifest, PdfPool]) -> dict[str, Any]:
    """Return a bundle with everything, as it is in its file."""
    manifest, pool = room
    (made,) = bundles_from([TRACES[0]], sources_of(manifest, pool))
    read: dict[str, Any] = orjson.loads(line_of(made, Earlier())[1])
    return read


@given(records=mutated())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_whatever_the_records_hold_a_bundle_can_be_shown(
    room: tuple[Manifest, PdfPool], tmp_path: Path, records: dict[str, Any]
) -> None:
    manifest, pool = room
    lists = {name: _list(records.get(name)) for name in ("chunks", "catalogue")}
    for bundle in bundles_from([records.get("trace") or {}], sources_of(manifest, pool, **lists)):
        (tmp_path / "b.jsonl").write_bytes(line_of(bundle, Earlier())[1])
        _holds(tmp_path / "b.jsonl", manifest, Placer(pool))


@given(data=st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_whatever_a_file_of_bundles_holds_it_is_read_or_refused(
    room: tuple[Manifest, PdfPool], built: dict[str, Any], tmp_path: Path, data: st.DataObject
) -> None:
    manifest, pool = room
    record = copy.deepcopy(built)
    _mutate_some(data.draw, record, st.sampled_from(list(_places(record))))
    record = orjson.loads(orjson.dumps(record))
    if data.draw(st.booleans()):
        record = sealed(record)
    (tmp_path / "b.jsonl").write_bytes(orjson.dumps(record) + b"\n")
    catalogue, _ = load_catalogue(manifest)
    found = validate_bundles(
        manifest,
        "R1",
        path=tmp_path / "b.jsonl",
        file="b.jsonl",
        shelf=Shelf(manifest, pool),
        catalogue=catalogue,
        cache_dir=manifest.folder / "cache",
    )
    assert all(each.problem.message and each.in_words("b").isprintable() for each in found.findings)
    for item in read_bundles(tmp_path / "b.jsonl", file="b.jsonl"):
        if isinstance(item, BundleLine) and item.bundle is not None:
            assert record_of(item.bundle).items() >= {name: record[name] for name in ("q", "level")}.items()


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _holds(file: Path, manifest: Manifest, placer: Placer) -> None:
    """The one bundle of a file follows the schema, and shows what its level promises."""
    (item,) = read_bundles(file, file="b.jsonl")
    assert isinstance(item, BundleLine)
    assert item.errors == ()
    assert item.record["sha256"] == sha256_of(item.record)
    bundle = item.bundle
    assert bundle is not None
    assert bundle.level_reason.strip()
    assert judge(bundle) == (bundle.level, bundle.level_reason)
    for each in bundle.attachments:
        assert each.drawable is (_draws(each.attachment.render_ref, manifest, placer))
        assert each.drawable or (each.problem and each.problem.message)
    _keeps_its_promise(bundle, manifest, placer)


def _keeps_its_promise(bundle: Bundle, manifest: Manifest, placer: Placer) -> None:
    cited = bundle.citation
    if cited is None:
        assert (bundle.level, bundle.citation_origin, bundle.attachments) == ("text_only", "none", ())
        return
    assert bundle.level != "text_only"
    document = manifest.document(cited.doc_id or "")
    assert document is not None
    assert cited.shown_page_idx is not None
    path = manifest.folder / document.artifact.path
    if document.paged:
        assert placer.page(path, cited.shown_page_idx).data
    else:
        assert cited.shown_page_idx == 0
        assert placer.text(path).text
    if bundle.level == "full":
        assert cited.found is not None
        assert cited.found.rects or cited.found.ranges
        assert all(each.drawable for each in bundle.attachments)
    if bundle.level == "safety_citation":
        assert bundle.safety_attachments
        assert all(each.drawable for each in bundle.safety_attachments)


def _draws(render_ref: str | None, manifest: Manifest, placer: Placer) -> bool:
    return draw(render_ref, manifest=manifest, placer=placer).png is not None
