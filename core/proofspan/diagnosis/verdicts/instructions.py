"""Recognise instructions: sentences that ask for an action, in English, German or French."""

from __future__ import annotations

import re

#: Verbs that open the instructions of manuals; other sentences hardly open with them.
_VERBS = (
    *("add", "adjust", "aim", "apply", "attach", "attend", "bring", "call", "carry", "change", "charge"),
    *(
        "check",
        "choose",
        "clamp",
        "clean",
        "close",
        "connect",
        "cover",
        "detach",
        "disconnect",
        "do",
        "drain",
    ),
    *("drive", "ease", "empty", "fasten", "fill", "fit", "fold", "get", "give", "go", "hang", "have", "hold"),
    *(
        "insert",
        "install",
        "keep",
        "leave",
        "let",
        "lift",
        "lock",
        "loosen",
        "lower",
        "make",
        "mount",
        "move",
    ),
    *("never", "open", "place", "plug", "pour", "press", "pull", "pump", "push", "put", "raise", "reach"),
    *("read", "reduce", "release", "remove", "replace", "reset", "rotate", "run", "screw", "see", "select"),
    *("set", "shift", "slide", "start", "stop", "store", "switch", "take", "tighten", "top", "touch", "tow"),
    *("transport", "turn", "undo", "unlock", "unplug", "unscrew", "use", "wait", "wash", "wear", "wipe"),
)
#: An opening that does not change who is meant: a list mark, a condition with its comma, an adverb.
_AHEAD = r"(?:[^\w\s]+\s*|\d{1,2}[.)]\s*|(?:then|now|first|next|finally|always|please|also)\s+)*+"
_CONDITION = r"(?:(?:if|when|before|after|while|once|to|as|in|with|until|for)\b[^.,;:]{1,120},\s*)?+"
_ENGLISH = re.compile(
    rf"{_AHEAD}{_CONDITION}{_AHEAD}(?:{'|'.join(_VERBS)}|do not|don['’]t)\b(?!\s+(?:is|are|was|were)\b)",
    re.IGNORECASE,
)
_YOU = re.compile(r"\byou (?:must|should|can|may|have to|need to)\b", re.IGNORECASE)
_GERMAN = re.compile(
    r"\b[A-ZÄÖÜ]?[a-zäöüß]+en Sie\b|\bSie (?:müssen|sollten|können|dürfen)\b|\bist zu \w+en\b"
)
_FRENCH = re.compile(r"^\W*(?:ne )?[A-ZÀ-Ý]?[a-zà-ÿ]{2,}ez\b|\bvous (?:devez|pouvez)\b")
_LONGEST = 2_000


def instructs(sentence: str) -> bool:
    """Return whether a sentence asks its reader to do something."""
    text = sentence[:_LONGEST].strip()
    return bool(_ENGLISH.match(text) or _YOU.search(text) or _GERMAN.search(text) or _FRENCH.search(text))
