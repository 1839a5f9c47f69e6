"""Pinning records in Markdown: what is understood, and what is named as not understood."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.pinning.markdown import read_markdown

#: The sprint plan's own lines (docs/requirements.md).
SELECTION = """\
**WP-A0 selection (as reported in session check-in)**
- Selected: `cross-encoder/ms-marco-MiniLM-L-6-v2` @ revision `c5ee24c`
- Determinism gate: **PASS**, SHA256 stable across 2 runs (`6a2c50e3e37cb839`)
- Libraries: `torch==2.10.0`, `transformers==5.2.0`, `sentence-transformers==5.2.3`
- Upgrade path if needed: BGE reranker variant (to be pinned if invoked)
"""
TABLE = """\
# WP-A0 Pinning record: cross-encoder

| Key | Value |
|:---|---:|
| Model | `BAAI/bge-reranker-base` |
| Revision | c5ee24c |
| Weights source | hub snapshot |
| Weights SHA256 | 5d3e70fd0c9f |
| CPU | AMD EPYC 7763 |
| `OMP_NUM_THREADS` | 1 |
| Colour | blue |

**Operating system**: Debian 12
- **Threads:** 1
* __Truncation rule__: 512 tokens, longest first
1. Tie-break: score desc, section_id, chunk_id

## Tokenizer
- Name: tokenizer.json
- SHA256: d241a60d5e8f

## Commands
```sh
# as in the README
$ python rerank.py --on
python rerank.py --off
```

## FAISS
- Build: faiss-cpu 1.12.0
- Index type: IndexFlatIP
- Exact: yes

## Fusion
- Method: rrf
- k = 60
- Top 20 of both lists.

```json
{"seeds": [0, 1]}
```
"""


def test_the_lines_of_the_sprint_plan_are_understood() -> None:
    values, unread = read_markdown(SELECTION)
    assert values == {
        "reranker": {"model": "cross-encoder/ms-marco-MiniLM-L-6-v2", "revision": "c5ee24c"},
        "determinism": {"sha256": ["6a2c50e3e37cb839"] * 2},
        "libraries": {"torch": "2.10.0", "transformers": "5.2.0", "sentence-transformers": "5.2.3"},
    }
    assert [line for line, _ in unread] == [5]


def test_tables_lists_headings_and_code_are_understood() -> None:
    values, unread = read_markdown(TABLE)
    assert values == {
        "reranker": {
            "model": "BAAI/bge-reranker-base",
            "revision": "c5ee24c",
            "weights": {"source": "hub snapshot", "sha256": "5d3e70fd0c9f"},
            "tokenizer": {"name": "tokenizer.json", "sha256": "d241a60d5e8f"},
            "truncation": "512 tokens, longest first",
        },
        "runtime": {
            "cpu": "AMD EPYC 7763",
            "os": "Debian 12",
            "threads": 1,
            "environment": {"OMP_NUM_THREADS": "1"},
        },
        "tie_break": "score desc, section_id, chunk_id",
        "commands": ["python rerank.py --on", "python rerank.py --off"],
        "faiss": {"build": "faiss-cpu 1.12.0", "index_type": "IndexFlatIP", "exact": True},
        "fusion": {"method": "rrf", "k": 60},
        "seeds": [0, 1],
    }
    assert [text for _, text in unread] == ["| Colour | blue |", "- Top 20 of both lists."]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("- Selected: `bge-m3` @ `5617a9f` for embedding", {}),
        (
            "# Dense recall\n- Selected: `bge-m3`@5617a9f",
            {"embedding": {"model": "bge-m3", "revision": "5617a9f"}},
        ),
        ("- Embedding model: bge-m3", {"embedding": {"model": "bge-m3"}}),
        ("- Model: bge-m3", {}),  # nothing says what it is for
        (
            "- Cross-encoder: `ms-marco` (rev c5ee24c)",
            {"reranker": {"model": "ms-marco", "revision": "c5ee24c"}},
        ),
        ("- Determinism: FAIL (`6a2c50e3e37cb839`)", {}),
        ("- Determinism: FAIL: 6a2c50e3, 7b3d61f4", {"determinism": {"sha256": ["6a2c50e3", "7b3d61f4"]}}),
        ("- Smoke test: same in 3 runs, 6a2c50e3", {"determinism": {"sha256": ["6a2c50e3"] * 3}}),
        ("Threads: many", {}),
        ("- Tokenizer: none\n- reranker: x", {"reranker": {"model": "x", "tokenizer": "none"}}),
        (
            "# Reranking\n- Tokenizer: `tokenizer.json` (sha256 d241a60d)",
            {"reranker": {"tokenizer": {"name": "tokenizer.json", "sha256": "d241a60d"}}},
        ),
        (
            "- Environment: OMP_NUM_THREADS=1, MKL_NUM_THREADS=1",
            {"runtime": {"environment": {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}}},
        ),
        (
            '```json\n{"model": "x", "reranker": {"model": "y"}}\n```',
            {"model": "x", "reranker": {"model": "y"}},
        ),
        ("```\nopen", {"commands": ["open"]}),
        ("", {}),
    ],
)
def test_forms(text: str, values: dict[str, Any]) -> None:
    found = read_markdown(text)
    assert found.values == values
    if text and not values:
        assert found.unread


def test_each_line_is_a_field_or_named() -> None:
    lines = ["Prose.", "- [ ] a task", "| a | b | c |", "- Colour: blue", "<!-- hidden -->", "---", ""]
    assert [line for line, _ in read_markdown("\n".join(lines)).unread] == [1, 2, 3, 4]


@given(text=st.text(st.sampled_from("#-*|:`=@ \n…1aA<>_()[]{}\"'"), max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    values, unread = read_markdown(text)
    assert isinstance(values, dict) and all(each.text for each in unread)


def test_long_lines_are_quick() -> None:
    for piece in (" ", "| ", "a ", "**", "- ", "a=", "``", "1.", "(a"):
        read_markdown(piece * 50_000 + "x")
