"""Words as triage counts them: the reference's tokens, and the content words among them."""

from __future__ import annotations

import re

_NON_WORD = re.compile(r"\W+")

#: ASCII letters to lower case, digits and the underscore as they are, everything else to a space: for ASCII
#: text the same tokens as splitting the lower-cased text at `\W+`, several times as fast.
_ASCII_WORDS = bytes(
    ord(chr(code).lower()) if _NON_WORD.match(chr(code)) is None else 32 for code in range(128)
)
_ASCII_WORDS += bytes([32]) * 128

#: Tokens shorter than this are ignored, as the reference does.
SHORTEST = 3

#: English words of three letters or more that say nothing about a subject, and the words that questions open
#: with. The reference lets them count as alignment; coverage and `query_terms_too_few` do not.
STOPWORDS = frozenset(
    """
    about above across after again against all almost along already also although always among and
    another any anyone anything are aren around because been before being below between both but
    came can cannot come could couldn did didn does doesn doing don done down during each either
    else enough etc even ever every everyone everything far few first for from further gave get gets
    give given gives giving goes going got had hadn has hasn have haven having hence her here hers
    herself him himself his how however indeed instead into isn its itself just keep kept last least
    less let like likely made mainly make makes making many may maybe might mine more most mostly
    much must mustn myself near need needs neither never next nobody none nor not nothing now off
    often once one only onto other others otherwise our ours ourselves out over own per perhaps
    please quite rather really regarding same say says see seem seems several shall she should
    shouldn since some someone something somewhat still such take takes tell than that the their
    theirs them themselves then there thereby therefore these they thing things this those though
    through throughout thus together too toward towards under unless until upon use used uses using
    usually various very via was wasn way well were weren what whatever when whenever where whereas
    wherever whether which whichever while who whoever whole whom whose why will with within without
    won would wouldn yes yet you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def tokens(text: str) -> list[str]:
    """The non-empty pieces of the lower-cased text between runs of non-word characters, in order."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return [word for word in _NON_WORD.split(text.lower()) if word]


def query_tokens(question: str) -> tuple[str, ...]:
    """The distinct tokens of three letters or more that the reference aligns by, in order of appearance."""
    return tuple(dict.fromkeys([word for word in tokens(question) if len(word) >= SHORTEST]))


def is_content(token: str) -> bool:
    """Whether a token carries a subject: three letters or more, no stopword, not digits alone."""
    return len(token) >= SHORTEST and token not in STOPWORDS and not token.isdecimal()
