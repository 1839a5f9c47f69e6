"""Chunk ids: one format, taken apart and put together again."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.chunk_id import (
    Alias,
    ChunkId,
    Passage,
    alias_of,
    canonical_url,
    clean_part,
    doc_uid_of_url,
    mint,
    mint_passages,
    named_by,
    parse,
    parse_alias,
    sha1_8,
)

clean = st.text(min_size=1, max_size=12).filter(lambda text: clean_part(text) == text)
ids = st.builds(
    ChunkId,
    doc_uid=clean,
    rev=st.from_regex(r"\A[0-9a-f]{8}([0-9a-f]{4})?\Z"),
    sect_path=clean,
    page=st.integers(0, 99_999),
    block=st.integers(0, 99_999),
)


@given(ids)
def test_parsing_gives_back_what_was_minted(parts: ChunkId) -> None:
    assert parse(mint(parts)) == parts


@given(st.text() | ids.map(mint))
def test_whatever_parses_is_minted_the_same_again(text: str) -> None:
    if (parts := parse(text)) is not None:
        assert mint(parts) == text


@given(st.text(min_size=1))
def test_a_cleaned_part_fits_in_an_id_and_in_a_list_of_citations(text: str) -> None:
    part = clean_part(text)
    assert parse(mint(ChunkId(part, "0" * 8, part, 1, 1))) is not None
    assert clean_part(part) == part


def test_the_published_examples() -> None:
    assert parse("whitepaperX|r=8c1e9a02|s=3.2|p=014|b=006") == ChunkId(
        "whitepaperX", "8c1e9a02", "3.2", 14, 6
    )
    article = parse("b17a2c55|r=e1d0aa91|s=p005|p=005|b=004")
    assert article is not None
    assert article.page_idx == 4
    notebook = parse("nb_231107|r=9af03bcd|s=2.1|p=000|b=012")
    assert notebook is not None
    assert notebook.page_idx is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "c_00123",
        "a b|r=8c1e9a02|s=1|p=001|b=001",
        "a,b|r=8c1e9a02|s=1|p=001|b=001",
        "a]|r=8c1e9a02|s=1|p=001|b=001",
        "a|b|r=8c1e9a02|s=1|p=001|b=001",
        "a|r=8C1E9A02|s=1|p=001|b=001",
        "a|r=8c1e9a0|s=1|p=001|b=001",
        "a|r=8c1e9a02|s=|p=001|b=001",
        "a|r=8c1e9a02|s=1|p=1|b=001",
        "a|r=8c1e9a02|s=1|p=0001|b=001",
        "a|r=8c1e9a02|s=1|p=001|b=٠٠١",
        "a|r=8c1e9a02|s=1|p=001|b=001\n",
    ],
)
def test_what_is_no_chunk_id(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    "parts",
    [
        ChunkId("a b", "00000000", "1", 1, 1),
        ChunkId("", "00000000", "1", 1, 1),
        ChunkId("a", "00000000", "1,2", 1, 1),
        ChunkId("a", "xyz", "1", 1, 1),
        ChunkId("a", "00000000", "1", -1, 1),
    ],
)
def test_what_cannot_be_minted(parts: ChunkId) -> None:
    with pytest.raises(ValueError, match=r"doc_uid|sect_path|rev|page"):
        mint(parts)


def test_different_names_never_become_one() -> None:
    names = ["annual report", "annual,report", "annual_report", "annual]report", " annual report", ",", "]"]
    assert len({clean_part(name) for name in names}) == len(names)


def test_passages_are_numbered_by_the_sha1_of_their_text_whatever_their_order() -> None:
    passages = [Passage("doc", 41, f"text {number}") for number in range(5)]
    passages += [
        Passage("doc", None, "no page"),
        Passage("doc 2", 41, "text 0", "4.2"),
        Passage("doc", 41, "text 0"),
    ]
    minted = mint_passages(passages)
    shuffled = passages[:]
    random.Random(3).shuffle(shuffled)
    assert mint_passages(shuffled) == minted
    assert len(set(minted.values())) == len(minted) == 7
    in_order = sorted(passages[:5], key=lambda passage: minted[passage])
    digests = [sha1_8(passage.text) for passage in in_order]
    assert digests == sorted(digests)
    assert minted[in_order[0]] == "doc|r=00000000|s=p042|p=042|b=001"
    assert minted[Passage("doc", None, "no page")] == "doc|r=00000000|s=p000|p=000|b=001"
    assert minted[Passage("doc 2", 41, "text 0", "4.2")].endswith("|r=00000000|s=4.2|p=042|b=001")


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTPS://Example.COM:443/Guide.pdf", "https://example.com/Guide.pdf"),
        ("http://example.com", "https://example.com/"),
        ("https://user:secret@example.com/a#part", "https://example.com/a"),
        ("https://example.com/a?utm_source=x&v=2", "https://example.com/a?v=2"),
        ("https://example.com/a?version=2&ref=main", "https://example.com/a?ref=main&version=2"),
        ("https://example.com:8443/a", "https://example.com:8443/a"),
        ("https://[2001:DB8::1]/a", "https://[2001:db8::1]/a"),
    ],
)
def test_an_address_has_one_spelling(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical
    assert canonical_url(canonical) == canonical
    assert doc_uid_of_url(url) == sha1_8(canonical)


paths = clean | st.lists(st.integers(0, 120).map(str) | clean, min_size=1, max_size=4).map(".".join)


@given(ids, ids, paths)
def test_an_alias_names_the_ids_that_it_is_made_of_and_no_others(
    parts: ChunkId, other: ChunkId, path: str
) -> None:
    chunk_id = mint(ChunkId(parts.doc_uid, parts.rev, path, parts.page, parts.block))
    text = alias_of(chunk_id)
    alias = parse_alias(text)
    assert alias is not None and alias.names(chunk_id)
    elsewhere = mint(ChunkId(other.doc_uid, other.rev, path, parts.page, parts.block))
    assert named_by(f" {text} ", [chunk_id, elsewhere, "c1"]) == sorted([chunk_id, elsewhere])
    for each in (chunk_id, mint(other)):
        is_found = re.search(f"{alias.pattern}$", each) is not None
        assert alias.names(each) is is_found is (alias_of(each) == text)


@given(st.text() | st.from_regex(r"#s[0-9.-]{1,9}#p[0-9]{1,4}-b[0-9]{1,4}", fullmatch=True))
def test_reading_an_alias_never_fails_and_settles(text: str) -> None:
    if (alias := parse_alias(text)) is not None:
        path = ".".join(alias.steps)
        again = parse_alias(alias_of(mint(ChunkId("d", "0" * 8, path, alias.page, alias.block))))
        assert again == alias


@pytest.mark.parametrize(
    ("chunk_id", "alias"),
    [
        ("manual|r=8c1e9a02|s=2.4.1|p=002|b=007", "#s02-04-01#p002-b007"),
        ("nb|r=9af03bcd|s=p005|p=000|b=1200", "#sp005#p000-b1200"),
        ("hb|r=9af03bcd|s=policies/keys-2|p=014|b=006", "#spolicies/keys-02#p014-b006"),
        ("c_00123", ""),
    ],
)
def test_an_alias_as_it_is_written(chunk_id: str, alias: str) -> None:
    assert alias_of(chunk_id) == alias


def test_an_alias_may_be_typed_without_leading_zeros() -> None:
    assert parse_alias("#s2.4.1#p2-b7") == parse_alias("#s02-04-01#p002-b007") == Alias(("2", "4", "1"), 2, 7)


@pytest.mark.parametrize(
    "text", ["", "#", "#s02-04-01", "s02#p002-b007", "#s02#p002", "#s0 2#p2-b7", "#s#p1-b1", "#s2#p1-b1x"]
)
def test_what_is_no_alias(text: str) -> None:
    assert parse_alias(text) is None
    assert named_by(text, ["manual|r=8c1e9a02|s=2.4.1|p=002|b=007"]) == []
