"""Print the size of the code and of its prose, before the reorganization and now.

    python tools/figures.py

"Before" is commit 6cb2d55, counted there by this script or, where a row says so, by reading.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from plain_english import CHECKOUT, WORDS

CORE = CHECKOUT / "core"
#: Fields that hold the message of a problem, and fields of which it has at least one more.
MESSAGES = {"message", "said", "reason"}
BESIDES = {"code", "severity", "fix", "remedy", "next_step"}
BEFORE = {
    "Python lines in core": "59,340",
    "Python files in core": "449",
    "most Python files in one folder": "105",
    "types for something that is wrong, without exceptions": "14, by reading",
    "docstrings and sentences in core, of these with a banned word": "6,954, 783",
}


def main() -> None:
    """Print a Markdown table."""
    files = sorted(CORE.rglob("*.py"))
    folders = Counter(file.parent for file in files)
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    sentences = [text for tree in trees for text in _sentences(tree)]
    problems = sorted(name for tree in trees for name in _problem_types(tree))
    banned = sum(bool(WORDS.search(" ".join(text.split()))) for text in sentences)
    now = {
        "Python lines in core": f"{sum(file.read_text('utf-8').count(chr(10)) for file in files):,}",
        "Python files in core": f"{len(files):,}",
        "most Python files in one folder": f"{max(folders.values()):,}",
        "types for something that is wrong, without exceptions": f"{len(problems)}: {', '.join(problems)}",
        "docstrings and sentences in core, of these with a banned word": f"{len(sentences):,}, {banned:,}",
    }
    print("| figure | before | now |\n|---|---|---|")
    for name, value in now.items():
        print(f"| {name} | {BEFORE[name]} | {value} |")


def _sentences(tree: ast.Module) -> Iterator[str]:
    """Yield docstrings, and other strings of at least three words."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") >= 2:
            yield node.value


def _problem_types(tree: ast.Module) -> Iterator[str]:
    """Yield the classes that have a message and a code, severity or fix of their own, without exceptions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            fields = {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
            if fields & MESSAGES and fields & BESIDES:
                yield node.name


if __name__ == "__main__":
    main()
