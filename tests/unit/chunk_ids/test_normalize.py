"""The normal form of a document's text: every rule, and that twice is once."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.names import normalize_text, revision


def pages(*bodies: str, header: str = "ACME Manual", footer: str = "Page {} of 9") -> str:
    return "\f".join(
        f"{header}\n{body}\n{footer.format(number)}" for number, body in enumerate(bodies, start=1)
    )


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("", ""),
        (" a \t b\r\nc\u00a0d ", "a b c d"),
        ("the engi-\nne starts", "the engine starts"),
        ("the engi-\r\n   ne starts", "the engine starts"),
        ("Anglo-\nSaxon", "Anglo- Saxon"),
        ("pages 3-\n4", "pages 3- 4"),
        ("well-known", "well-known"),
        ("soft\u00adhyphen", "softhyphen"),
        ("\ufeffCafe\u0301", "Café"),
        ("a sentence -\nthen more", "a sentence - then more"),
    ],
)
def test_white_space_and_broken_words(text: str, normal: str) -> None:
    assert normalize_text(text) == normal


def test_repeated_headers_and_footers_go_numbers_aside() -> None:
    assert normalize_text(pages("one", "two", "three", "four")) == "one two three four"


def test_a_header_on_half_of_the_pages_goes() -> None:
    book = "\f".join(["Left\none", "one more", "Left\ntwo", "two more", "Left\nthree", "three more"])
    assert normalize_text(book) == "one one more two two more three three more"


def test_two_pages_do_not_make_a_header() -> None:
    assert normalize_text(pages("one", "two")) == "ACME Manual one Page 1 of 9 ACME Manual two Page 2 of 9"


def test_a_repeated_line_in_the_middle_of_a_page_stays() -> None:
    body = "\n".join(["a{0}", "b{0}", "c{0}", "WARNING", "d{0}", "e{0}", "f{0}"])
    names = ["alpha", "beta", "gamma"]
    text = "\f".join(body.format(name) for name in names)
    assert normalize_text(text).count("WARNING") == 3


def test_a_word_broken_across_a_page_is_joined_under_its_footer() -> None:
    assert normalize_text(pages("the begin-", "ning of", "the end")) == "the beginning of the end"


def test_the_revision_changes_with_the_words_only() -> None:
    assert revision(pages("one", "two", "three")) == revision(
        pages("one", "  two", "three", header="Other head")
    )
    assert revision("one two") != revision("one three")
    assert revision("") == "da39a3ee"


@pytest.mark.parametrize("text", ["a-" + "\n " * 200_000, "a-" + " " * 400_000, "a-\n" * 100_000 + "b"])
def test_endless_line_breaks_take_no_time(text: str) -> None:
    started = time.process_time()
    normalize_text(text)
    assert time.process_time() - started < 5


@given(st.text(alphabet=st.sampled_from("ab-A1 \n\f\r\t\u00ad\u2010\u0301"), max_size=60) | st.text())
def test_normalizing_twice_changes_nothing(text: str) -> None:
    once = normalize_text(text)
    assert normalize_text(once) == once
