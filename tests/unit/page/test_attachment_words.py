"""The order of attachments, and their sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import cast, get_args

import pytest

from proofspan.contracts.records.records import Attachment, AttachmentKind
from proofspan.errors import Problem
from proofspan.evidence.attachments import Attached, By
from proofspan.ui.wording import safety as words


def item(name: str, kind: AttachmentKind, by: By = "section", away: int | None = 0) -> Attached:
    return Attached(Attachment(name, kind), by, away)


def described(attachment: Attachment, *, is_drawn: bool = False) -> dict[str, str]:
    return words.described(attachment, is_drawn=is_drawn)


def title_and_text(attachment: Attachment) -> tuple[str, str]:
    texts = described(attachment)
    return texts["title"], texts["text"]


def names(items: list[Attached]) -> list[str]:
    return [each.attachment.attachment_id for each in items]


def test_notices_come_by_gravity_and_what_lies_beside_comes_last() -> None:
    notices, media, beside = words.arranged(
        [
            item("table", "table"),
            item("note", "note"),
            item("on-page", "warning", "page", 0),
            item("symbol", "symbol", "page", 1),
            item("next-page", "warning", "page", 1),
            item("far", "caution", "section", 30),
            item("nowhere", "warning", "section", None),
        ]
    )
    assert names(notices) == ["on-page", "nowhere", "far", "note"]
    assert names(media) == ["table"]
    assert names(beside) == ["next-page", "symbol"]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("image",), "Pictures (1)"),
        (("table", "image", "image"), "Pictures and tables (3)"),
        (("symbol", "table", "image"), "Pictures, tables and symbols (3)"),
        (("symbol",) * 1_200, "Symbols (1,200)"),
    ],
)
def test_a_heading_names_what_is_behind_it(kinds: tuple[AttachmentKind, ...], expected: str) -> None:
    assert words.heading_of_media([item(str(n), kind) for n, kind in enumerate(kinds)]) == expected


def test_every_kind_has_its_words() -> None:
    kinds = get_args(AttachmentKind)
    assert {*words.SIGNALS, *words.MEDIA} == set(kinds)
    for kind in kinds:
        assert described(Attachment("x", cast(AttachmentKind, kind), text="Oil"))["alt"].endswith(": Oil")


@pytest.mark.parametrize(
    ("caption", "section", "expected"),
    [
        (None, "5.4.2", ("WARNING", "", "section 5.4.2")),
        ("Warning", " 5.4.2 ", ("WARNING", "", "section 5.4.2")),
        ("WARNUNG", None, ("WARNING", "WARNUNG", "")),
        (None, "", ("WARNING", "", "")),
    ],
)
def test_a_notice_begins_with_its_signal_word(
    caption: str | None, section: str | None, expected: tuple[str, str, str]
) -> None:
    notice = Attachment("x", "warning", section_id=section, caption=caption)
    assert tuple(described(notice)[name] for name in ("signal", "title", "place")) == expected


def test_a_picture_that_is_not_drawn_says_its_text_once() -> None:
    table = Attachment("x", "table", caption="Table 1", text="All that stands in it")
    assert title_and_text(table) == ("Table 1", "All that stands in it")
    assert described(table, is_drawn=True)["text"] == ""
    bare = replace(table, caption=None)
    assert title_and_text(bare) == ("All that stands in it", "")
    silent = replace(bare, text=" ")
    assert title_and_text(silent) == ("Table", "")
    long = replace(bare, text="a" * 1_000)
    title, text = title_and_text(long)
    assert (len(title), text) == (words.ATTACHMENT_EXCERPT, "a" * 1_000)


def test_the_reason_is_reported_with_its_fix() -> None:
    problem = Problem("x", "the `file` is gone", "here", "put it back")
    assert words.not_drawn(problem) == "Not drawn: the file is gone. Put it back."
