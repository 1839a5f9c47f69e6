"""The check of words that make prose read like a translation."""

from __future__ import annotations

import pytest

from tools.plain_english import findings_of


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("core/a.py", '"""Return what was told."""\n', ["told"]),
        ("core/a.py", 'def f() -> None:\n    """What a line holds."""\n', ["what"]),
        ("core/a.py", "x = 1  # stands for\n#  a mark\n", ["stands"]),
        ("core/a.py", "is_told = ToldOf(_SAID_BY)\n", ["said", "told", "told"]),
        ("core/a.py", 'f"this is {x} that speaks\\n against it"\n', ["speaks against"]),
        ("core/a.py", 'unfold("told")\ntolderated = 1\n', []),
        ("tests/a.py", 'told = "what was said"  # anew\n', ["anew", "told"]),
        ("tests/a.py", "def test_it_stands_by_now(told) -> None: ...\n", ["by now", "stands", "told"]),
        ("core/a.py", "def is_told() -> bool: ...\n", ["told"]),
        ("docs/a.md", "One line\nis none by now.\n", ["is none", "by now"]),
        ("docs/a.md", "The key `said` is named `message`.\n", []),
        ("docs/a.md", "A standard that nobody understands; it is None.\n", []),
    ],
)
def test_banned_words_are_found(file: str, text: str, words: list[str]) -> None:
    assert sorted(each.word for each in findings_of(file, text)) == sorted(words)


def test_a_finding_names_its_line() -> None:
    assert [str(each) for each in findings_of("docs/a.md", "\n\nanew\n")] == ["docs/a.md:3: anew: anew"]
