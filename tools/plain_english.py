"""Reject words that make Proofspan's prose read like a translation.

Checks docstrings, comments, messages and names in Python files (in tests and benchmarks no messages), and the
whole text of scripts, styles, queries, schemas and documents. CONTRIBUTING.md states the rule. Prints a line
for each finding and exits with 1 if there is one.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]

WORDS = re.compile(
    r"\b(stands?|told|tells?|said|mend(?:s|ed|ing)?|anew|held to|what became of|so many|so far as"
    r"|(?-i:is none)|speaks? against|by now)\b|\bthe same, but\b",
    re.IGNORECASE,
)
#: In a name, as in `is_told`, `ToldOf` and `_SAID_BY`.
NAMES = re.compile(r"(?<![A-Za-z])(told|said|mend|anew|TOLD|SAID)(?![a-z])|(Told|Said|Mend)(?![a-z])")
#: A docstring opens with an imperative, not with a question word.
OPENING = re.compile(r"^What\b")
#: A sentence of the demo's manual, which schemas quote as an example.
QUOTED = "stands on the jack"
#: Names and commands in documents: they may be those of older versions.
CODE = re.compile(r"`[^`]*`")
#: A list of words, such as stop words.
WORD_LIST = re.compile(r"[a-z\s]{300,}")

#: Text that is data: the demo and its sources, the tests' documents and goldens.
DATA = re.compile(
    r"data/demo/|tools/demo/(manual|questions)/|tools/demo/.*\.(md|yaml|json)$|tests/(golden|handbook)/"
)
#: Files that have to name the words that they reject.
EXEMPT = {"CONTRIBUTING.md", "tools/plain_english.py", "tests/unit/project/test_plain_english.py"}
TEXTS = {".md", ".js", ".css", ".sql", ".html", ".yaml", ".yml", ".toml", ".json", ".sh"}


@dataclass(frozen=True, slots=True)
class Finding:
    """A banned word in a file; `line` counts from 1."""

    file: str
    line: int
    word: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.word}: {self.text[:100]}"


def findings_of(file: str, text: str) -> list[Finding]:
    """Return the banned words of one file in the order of its lines."""
    passages = _python(file, text) if file.endswith(".py") else _lines(text)
    results = []
    for line, pattern, passage in passages:
        words = " ".join(passage.split())
        results += [
            Finding(file, line, match[0].lower(), words)
            for match in pattern.finditer(words)
            if not words.startswith(QUOTED, match.start())
        ]
    return sorted(results, key=lambda each: each.line)


def _lines(text: str) -> Iterator[tuple[int, re.Pattern[str], str]]:
    for line, passage in enumerate(text.splitlines(), 1):
        yield line, WORDS, CODE.sub("", passage)


def _python(file: str, text: str) -> Iterator[tuple[int, re.Pattern[str], str]]:
    """Yield docstrings, messages, comments and names: line, rejected pattern, text."""
    is_test = file.startswith(("tests/", "bench/"))
    tree = ast.parse(text)
    docstrings = set(_docstrings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node in docstrings:
                yield node.lineno, OPENING, node.value
            is_prose = " " in node.value and not is_test and not WORD_LIST.fullmatch(node.value)
            if node in docstrings or is_prose:
                yield node.lineno, WORDS, node.value
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not NAMES.search(node.name):
            yield node.lineno, WORDS, node.name.replace("_", " ")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], WORDS, token.string
        elif token.type == tokenize.NAME:
            yield token.start[0], NAMES, token.string


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                yield first.value


def checked_files() -> list[str]:
    """Return the tracked files whose prose is ours, relative to the checkout."""
    listed = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True)  # noqa: S607
    return [
        name
        for name in listed.stdout.splitlines()
        if Path(name).suffix in {".py", *TEXTS} and not DATA.match(name) and name not in EXEMPT
    ]


def main() -> int:
    """Print the findings of all files; return 1 if there is one."""
    findings = [
        each for name in checked_files() for each in findings_of(name, (CHECKOUT / name).read_text("utf-8"))
    ]
    if findings:
        print(*findings, sep="\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
