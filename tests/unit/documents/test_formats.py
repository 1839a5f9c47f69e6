"""The small formats of the room: PNG, printed labels, frames between client and worker."""

from __future__ import annotations

import socket
import struct
import time

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.pdf.page_labels import with_page
from proofspan.evidence.pdf.png import decode_rgb, encode_png
from proofspan.evidence.pdf.protocol import (
    ConnectionEndedError,
    DeadlineError,
    NotSendableError,
    receive_frame,
    send_frame,
)
from proofspan.evidence.pdf.worker import page_labels
from proofspan.evidence.types import SpanQuery


@given(st.integers(1, 40), st.integers(1, 40), st.randoms(use_true_random=False))
def test_a_png_loses_nothing_and_others_read_it(width: int, height: int, random: object) -> None:
    pixels = random.randbytes(width * height * 3)  # type: ignore[attr-defined]
    png = encode_png(pixels, width, height)
    assert decode_rgb(png) == pixels
    other = pymupdf.Pixmap(png)
    assert (other.width, other.height, other.samples) == (width, height, pixels)


def test_a_png_needs_as_many_bytes_as_pixels() -> None:
    for pixels, width, height in ((b"", 0, 0), (b"abc", 1, 2), (b"abcd", 1, 1)):
        with pytest.raises(ValueError, match="picture"):
            encode_png(pixels, width, height)


def test_only_pictures_written_here_are_decoded() -> None:
    grey = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 4, 4))
    for data in (grey.tobytes("png"), b"GIF89a", b""):
        with pytest.raises(ValueError, match="not written here"):
            decode_rgb(data)


@pytest.mark.parametrize(
    ("number", "style", "expected"),
    [
        (1, "D", "1"), (4, "r", "iv"), (1994, "R", "MCMXCIV"), (26, "a", "z"), (27, "A", "AA"),
        (0, "D", ""), (5_000, "r", "5000"), (10_000_000, "D", ""), (300, "a", "300"),
    ],
)  # fmt: skip
def test_numerals(number: int, style: str, expected: str) -> None:
    assert page_labels([{"startpage": 0, "style": style, "firstpagenum": number}], 1) == (expected,)


def test_labels_follow_the_rules_of_the_document() -> None:
    rules = [
        {"startpage": 0, "style": "r", "firstpagenum": 1},
        {"startpage": 2, "style": "D", "prefix": "A-", "firstpagenum": 7},
        {"startpage": 4, "prefix": "Cover", "style": ""},
    ]
    assert page_labels(rules, 5) == ("i", "ii", "A-7", "A-8", "Cover")
    assert page_labels(rules[1:], 3) == ("", "", "A-7")
    assert page_labels([], 3) == ()


LABELS = ("", "i", "ii", "1", "2", "A-1", "1")


@pytest.mark.parametrize(
    ("label", "page_idx", "expected"),
    [
        ("ii", 2, ""),
        (" II ", 2, ""),
        ("a-1", 5, ""),
        ("2", 4, ""),
        ("1", None, "“1” is printed on page_idx 3, 6: all pages were searched"),
        ("41", None, "no page is labelled “41”: all pages were searched"),
        ("", None, "no page is labelled “”: all pages were searched"),
    ],
)
def test_a_printed_label_names_the_one_page_that_bears_it(
    label: str, page_idx: int | None, expected: str
) -> None:
    query, note = with_page(SpanQuery("quote", cited_label=label), LABELS)
    assert (query.cited_page_idx, note) == (page_idx, expected)


def test_a_label_is_never_counted_back_to_an_index() -> None:
    query, note = with_page(SpanQuery("quote", cited_label="3"), ())
    assert query.cited_page_idx is None
    assert note == "the document has no page labels to find “3” by: all pages were searched"


@pytest.mark.parametrize(
    ("cited", "expected"), [(4, ""), (0, "“2” is printed on page_idx 4, not on the cited page_idx")]
)
def test_a_cited_index_counts_before_the_label(cited: int, expected: str) -> None:
    query, note = with_page(SpanQuery("quote", cited, cited_label="2"), LABELS)
    assert (query.cited_page_idx, note) == (cited, expected)


def test_a_label_of_many_pages_is_reported_in_brief() -> None:
    _, note = with_page(SpanQuery("quote", cited_label="1"), ("1",) * 900)
    assert note == "“1” is printed on page_idx 0, 1, 2, 3, 4, …: all pages were searched"


def test_hostile_label_rules_stay_small() -> None:
    rules = [{"startpage": 0, "style": "r", "firstpagenum": 10**12, "prefix": "x\x00\n" * 10_000}]
    (label,) = page_labels(rules, 1)
    assert label == "x" * 14
    assert page_labels([{"startpage": "0"}], 2) == ()


def test_frames_arrive_as_they_were_sent() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send_frame(ours, {"a": [1, "ü"]}, b"\x00" * 1_000)
        send_frame(ours, {})
        assert receive_frame(theirs) == ({"a": [1, "ü"]}, b"\x00" * 1_000)
        assert receive_frame(theirs) == ({}, b"")


@pytest.mark.parametrize("value", ["half of a character: \ud800", 10**23])
def test_what_is_not_sendable_is_reported_before_anything_is_sent(value: object) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(NotSendableError):
            send_frame(ours, {"quote": value})
        send_frame(ours, {"next": 1})
        assert receive_frame(theirs) == ({"next": 1}, b"")


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00\x00", struct.pack("!II", 2, 0) + b"[]", struct.pack("!II", 3, 0) + b"{a}", b"\xff" * 8],
)
def test_what_is_no_frame_ends_the_connection(data: bytes) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.sendall(data)
        ours.close()
        with pytest.raises(ConnectionEndedError):
            receive_frame(theirs)


def test_a_deadline_ends_the_wait() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for deadline in (time.monotonic() + 0.05, time.monotonic() - 1):
            with pytest.raises(DeadlineError):
                receive_frame(theirs, deadline=deadline)
        with pytest.raises(DeadlineError):
            send_frame(ours, {}, b"\x00" * 50_000_000, deadline=time.monotonic() + 0.2)
