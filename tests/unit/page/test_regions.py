"""Where an attachment lies on the page that is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofspan.contracts.records.records import Attachment, Box
from proofspan.evidence.attachments import CatalogueIndex
from proofspan.evidence.types import PageImage, PageInfo, SpanQuery
from proofspan.manifest.types import Artifact, Document
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView, attachment_on, region_of

BOX = (50.0, 100.0, 150.0, 120.0)
WARNING = Attachment(
    "w", "warning", "manual", "5.1", 3, render_ref="pdf:manual#page_idx=3&bbox=50,100,150,120"
)


Matrix = tuple[float, float, float, float, float, float]


def image(to_pixels: Matrix = (2, 0, 0, 2, 0, 0)) -> PageImage:
    """A page of 200 × 400 points drawn at two pixels a point."""
    return PageImage(b"", 400, 800, PageInfo(3, 200.0, 400.0, 0, None), to_pixels)


def shown(page_idx: int | None = 3, **changes: object) -> PageView:
    document = Document("manual", Artifact("documents[manual]", "manual.pdf"))
    target = Target("cited", 1, "manual", SpanQuery("q", 3))
    return replace(PageView(target, document, page_idx=page_idx, image=image()), **changes)  # type: ignore[arg-type]


def test_an_attachment_is_found_on_the_shown_page_alone() -> None:
    catalogue = CatalogueIndex.of([WARNING, replace(WARNING, attachment_id="x", page_idx=4)])
    assert attachment_on(shown(), catalogue, "w") == WARNING
    assert attachment_on(shown(), catalogue, "x") is None
    assert attachment_on(shown(4), catalogue, "w") is None
    assert attachment_on(shown(None), catalogue, "w") is None
    assert attachment_on(shown(document=None), catalogue, "w") is None


def test_its_region_is_its_box_in_percent_of_the_picture() -> None:
    assert region_of(WARNING, shown()) == (25.0, 25.0, 50.0, 5.0)


def test_on_a_turned_page_the_region_turns_with_it() -> None:
    turned = image((0, 2, -2, 0, 800, 0))
    view = shown(image=replace(turned, width=800, height=400))
    assert region_of(WARNING, view) == (70.0, 25.0, 5.0, 50.0)


@pytest.mark.parametrize(
    ("changes", "box"),
    [
        ({"render_ref": None}, None),
        ({"render_ref": None, "box": BOX}, BOX),
        ({"render_ref": None, "box": BOX, "box_space": "unit"}, None),
        ({"render_ref": None, "box": BOX, "page_idx": 4}, None),
        ({"render_ref": None, "box": BOX, "doc_id": "other"}, None),
        ({"render_ref": "file:media/w.png", "box": BOX}, BOX),
        ({"render_ref": "pdf:manual#page_idx=4&bbox=50,100,150,120"}, None),
        ({"render_ref": "pdf:manual#page_idx=3&bbox=1e9,x"}, None),
        ({"render_ref": "pdf:manual#page_idx=3&bbox=9000,9000,9100,9100"}, None),
    ],
)
def test_only_a_box_of_this_very_page_is_outlined(changes: dict[str, object], box: Box | None) -> None:
    region = region_of(replace(WARNING, **changes), shown())  # type: ignore[arg-type]
    assert region == ((25.0, 25.0, 50.0, 5.0) if box else None)


def test_without_a_picture_nothing_is_outlined() -> None:
    assert region_of(WARNING, shown(image=None)) is None
