"""Read the figures of a text by value.

A figure has a value in ones, a unit, the scale that it is counted in, and the precision that it is printed
with: a `Decimal` keeps its trailing zeros, so "$41.3 million" is 41,300,000 to within 50,000. A figure that
can be read in several ways (5.500 in a text of unknown language, a table cell that a caption may or may not
count in thousands) has them all, the likelier first, and agrees by any.

Rules that decide what claims no figure are those of `proofspan.diagnosis.numbers`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from functools import cache
from typing import Literal, NamedTuple

from proofspan.diagnosis.claims.figures.around import (
    ORDINAL,
    Bound,
    bound_of,
    scale_and_unit,
    sign_and_currency,
)
from proofspan.diagnosis.claims.figures.captions import CAPTION_WORDS, Scale, scales_of
from proofspan.diagnosis.claims.figures.dates import TRIGGERS, Date, dates_in_words, is_year, numeric_date
from proofspan.diagnosis.claims.figures.number_words import ARTICLES, WORDS, Spelled, spelled_numbers
from proofspan.diagnosis.claims.figures.number_words import SCALES as SCALE_WORDS
from proofspan.diagnosis.claims.figures.units import NO_UNIT, PERCENT, Unit
from proofspan.diagnosis.numbers import NUMBER, is_no_claim

#: The most figures of one text, and digits of one number, that are read.
MOST_FIGURES = 10_000
MOST_DIGITS = 30

#: `year` is four digits that may be a year or a number; `ratio` and `label` compare as written: 3:1, 4.2.1.
FigureKind = Literal["number", "date", "year", "time", "ordinal", "ratio", "label"]


class Figure(NamedTuple):
    """A figure of a text; `text` is `[start:end]` of it, with sign, currency, scale and unit.

    `value` is signed, in ones of `unit`, and as precise as printed. `others` are its other readings. `scale`
    is the power of ten that the value was counted in, by its own words or by a table's caption (`scaled`).
    """

    text: str
    start: int
    end: int
    kind: FigureKind
    value: Decimal
    unit: Unit = NO_UNIT
    scale: int = 0
    scaled: Literal["", "own", "table"] = ""
    others: tuple[Decimal, ...] = ()
    bound: Bound = ""
    dates: tuple[Date, ...] = ()

    @property
    def tolerance(self) -> Decimal:
        """Half of the place value of the last printed digit."""
        return step_of(self.value) / 2

    @property
    def readings(self) -> tuple[Decimal, ...]:
        """The magnitudes that the figure may have, the likelier first."""
        return (abs(self.value), *map(abs, self.others))

    @property
    def digits(self) -> int:
        """The count of significant digits; zeros that end an integer do not count."""
        exponent = exponent_of(self.value)
        written = str(self.value.copy_abs().scaleb(-exponent))
        return max(len(written.rstrip("0") if exponent >= self.scale else written), 1)


# Reading.

_GROUP = "\u00a0\u2009\u202f'’"
_SPACED = re.compile(r"\d{1,3}(?: \d{3})+(?:,\d+)?(?![\d.])")
_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
#: Behind a number these may go on with a date, a fraction, a time or a ratio.
_SPECIAL = frozenset(("/", "-", ":", "h", "⁄", *_VULGAR))
_FRACTION = re.compile(r"(?:(\d{1,4})\s)?(\d{1,4})\s?[/⁄]\s?(\d{1,4})(?![\d/⁄]|[.,]\d)")
_MIXED = re.compile(r"(\d{1,4})\s?([¼-¾⅐-⅞])")
_CLOCK = re.compile(r"(\d{1,3})[:h](\d{1,3})(?::(\d{2}))?(?:\s?([ap])\.?m\b\.?)?(?![:\d])", re.IGNORECASE)
_HOUR = re.compile(r"(\d{1,2})\s?(?:([ap])\.?m\b\.?|Uhr\b)", re.IGNORECASE)
_DEGROUP = str.maketrans("", "", _GROUP + " ,")
#: How a number goes on to the second end of a range, whose unit and scale it shares.
_RANGE = re.compile(r"\s?[-–—]\s?|\s(?:to|bis|à|or|und|and|et|oder|ou)\s")
#: Within a row about these, the caption's scale does not count.
_PER_SHARE = re.compile(
    r"per[ -](?:\w+ ){0,2}(?:share|unit)|je aktie|par action|per cent|percent|%|ratio|margin|rate\b|employees"
    r"|mitarbeiter",
    re.IGNORECASE,
)

_TO_WORDS = bytes(code + 32 if 65 <= code <= 90 else code if 97 <= code <= 122 else 32 for code in range(256))
_ASCII_DIGITS = b"0123456789"
_NO_DIGITS = bytes(code for code in range(256) if code not in _ASCII_DIGITS)
_DIGIT = re.compile(r"[\d¼-¾⅐-⅞]")
_LETTERS = re.compile(r"[^\W\d_]+")


def figures_of(text: str, *, scale: Scale | None = None, language: str = "") -> list[Figure]:
    """Return the figures of a text in order, at most `MOST_FIGURES`.

    `scale` counts for figures without a scale of their own, as in a table's row; captions within the text
    count for the figures behind them. `language` is "en", "de", "fr", or empty where it is not known: then
    5.500 has both readings.
    """
    if text.isascii():
        raw = text.encode()
        has_digits = bool(raw.translate(None, _NO_DIGITS))
        words = raw.translate(_TO_WORDS).decode().split()
    else:
        has_digits = _DIGIT.search(text) is not None
        words = _LETTERS.findall(text.lower())
    spelled = not WORDS.isdisjoint(words) or not (SCALE_WORDS.isdisjoint(words) or ARTICLES.isdisjoint(words))
    if not (has_digits or spelled):
        return []
    found: list[Figure] = []
    if has_digits:
        dated = () if TRIGGERS.isdisjoint(words) else sorted(dates_in_words(text))
        captions = () if CAPTION_WORDS.isdisjoint(words) and "000" not in text else scales_of(text)
        _read_digits(text, language, dated, scale, captions, found)
        del found[MOST_FIGURES:]
    if spelled and len(found) < MOST_FIGURES:
        found = _with_words(text, language, found)
    return found


def _read_digits(
    text: str,
    language: str,
    dated: Sequence[tuple[int, int, tuple[Date, ...]]],
    scale: Scale | None,
    captions: Sequence[Scale],
    found: list[Figure],
) -> None:
    """Append the figures with digits to `found`."""
    covered = next_date = next_caption = 0
    shares = _PER_SHARE.search(text) is not None if scale or captions else False
    has_slash = "/" in text or "⁄" in text
    for match in _spaced_numbers(text) if language == "fr" else NUMBER.finditer(text):
        start, end = match.span()
        while next_date < len(dated) and dated[next_date][0] <= start:
            if dated[next_date][0] >= covered:
                covered = dated[next_date][1]
                found.append(_date(text, *dated[next_date]))
            next_date += 1
        if start < covered:
            continue
        if len(found) >= MOST_FIGURES:
            return
        while next_caption < len(captions) and captions[next_caption].end <= start:
            scale = captions[next_caption]
            next_caption += 1
        written = match[0]
        behind = text[end : end + 1]
        if (
            behind in _SPECIAL
            or written.count(".") == 2
            or (behind == " " and (has_slash or (len(written) < 3 and text[end + 1 : end + 2] in "apAPU")))
        ):
            special = _special(text, start, end, behind)
            if special is not None:
                found.append(special)
                covered = special.end
                continue
        if len(written) == 2 and found and found[-1].end == start - 1 and found[-1].kind == "year":
            year = found[-1].dates[0].year
            if text[start - 1] in "-–/" and not behind.isalnum() and int(written) == (year + 1) % 100:
                found.append(Figure(written, start, end, "year", Decimal(year + 1), dates=(Date(year + 1),)))
                covered = end  # 2018–19
                continue
        if behind == "s" and written[-1] == "0" and (decade := _decade(text, start, end)):
            found.append(decade)
            covered = decade.end
            continue
        if len(written) > MOST_DIGITS or _is_no_figure(text, start, end, written):
            continue
        values = _decimals(written, language)
        if values is None:  # commas list several
            at = start
            for piece in written.split(","):
                if piece.isdecimal():
                    found.append(_bare(text, at, at + len(piece), piece))
                at += len(piece) + 1
            continue
        if not values:
            found.append(Figure(written, start, end, "label", Decimal(0)))
            continue
        figure = _figure(text, start, end, values, scale, shares, covered)
        if figure is None:
            continue
        if found and 0 < figure.start - found[-1].end < 6 and text[found[-1].end : figure.start] != " ":
            figure = _share_range(text, found, figure)
        found.append(figure)
        covered = figure.end
    for begin, end, dates in dated[next_date:]:
        if begin >= covered:
            found.append(_date(text, begin, end, dates))
            covered = end


def _spaced_numbers(text: str) -> Iterator[re.Match[str]]:
    """Yield the runs of digits where a plain space may group thousands, as in French."""
    at = 0
    while match := NUMBER.search(text, at):
        if len(match[0]) < 4 and text[match.end() : match.end() + 1] == " ":
            match = _SPACED.match(text, match.start()) or match
        yield match
        at = match.end()


def _date(text: str, start: int, end: int, dates: tuple[Date, ...]) -> Figure:
    return Figure(text[start:end], start, end, "date", Decimal(dates[0].year), dates=dates)


def _bare(text: str, start: int, end: int, digits: str) -> Figure:
    """A number without sign or unit."""
    if len(digits) == 4 and is_year(digits):
        dates = (Date(int(digits)),)
        return Figure(text[start:end], start, end, "year", Decimal(digits), dates=dates)
    return Figure(text[start:end], start, end, "number", Decimal(digits))


def _special(text: str, start: int, end: int, behind: str) -> Figure | None:
    """A date, a fraction, a time or a ratio that begins with this number."""
    written = text[start:end]
    if behind in ("/", "-") or written.count(".") == 2:
        date = numeric_date(text, start)
        if date is not None:
            return _date(text, *date)
    if text[start - 1 : start].isalnum():
        return None
    if (
        behind == "/"
        or behind == "⁄"
        or (behind == " " and ("/" in text[end : end + 7] or "⁄" in text[end : end + 7]))
    ):
        fraction = _FRACTION.match(text, start)
        if fraction is not None and int(fraction[3]) and text[start - 1 : start] != "/":
            if int(fraction[2]) >= int(fraction[3]):  # a size such as 205/55
                return Figure(fraction[0], start, fraction.end(), "ratio", Decimal(0))
            value = int(fraction[1] or 0) + Decimal(int(fraction[2])) / int(fraction[3])
            return Figure(fraction[0], start, fraction.end(), "number", _shortened(value))
    if behind in _VULGAR and behind:
        mixed = _MIXED.match(text, start)
        if mixed is not None:
            value = int(mixed[1]) + _vulgar(mixed[2])
            return Figure(mixed[0], start, mixed.end(), "number", _shortened(value))
    if behind == ":" or (behind == "h" and text[end + 1 : end + 3].isdecimal()):
        clock = _CLOCK.match(text, start)
        if clock is not None:
            hours, minutes = int(clock[1]), int(clock[2])
            is_time = len(clock[2]) == 2 and hours < 25 and minutes < 60
            if clock[4] and clock[4].lower() == "p" and hours < 12:
                hours += 12
            value = Decimal(60 * hours + minutes) if is_time else Decimal(0)
            return Figure(clock[0], start, clock.end(), "time" if is_time else "ratio", value)
    if behind == " " and len(written) < 3:
        hour = _HOUR.match(text, start)
        if hour is not None:
            hours = int(hour[1]) % 12 + 12 if (hour[2] or "").lower() == "p" else int(hour[1])
            return Figure(hour[0], start, hour.end(), "time", Decimal(60 * hours))
    return None


def _decade(text: str, start: int, end: int) -> Figure | None:
    """A decade or an age: "the 1960s", "the '60s", "in her 60s"; of two digits it may be either."""
    digits = text[start:end]
    if text[end + 1 : end + 2].isalnum() or text[start - 1 : start].isalnum() or not digits.isdecimal():
        return None
    if len(digits) == 4:
        return Figure(text[start : end + 1], start, end + 1, "year", Decimal(digits))
    century = 1900 if int(digits) > 20 else 2000
    others = (Decimal(century + int(digits)),)
    return Figure(text[start : end + 1], start, end + 1, "year", Decimal(digits), others=others)


def _vulgar(sign: str) -> Decimal:
    return Decimal(repr(unicodedata.numeric(sign)))


def _shortened(value: Decimal) -> Decimal:
    """A fraction as all it has, or three significant digits."""
    if len(value.as_tuple().digits) < 8:
        return value
    with localcontext() as context:
        context.prec = 3
        return +value


def _is_no_figure(text: str, start: int, end: int, written: str) -> bool:
    before = text[start - 1 : start] if start else ""
    if "," in written and before.isspace():  # neither a name nor a pointer; 1,000 may be a constant
        return written[0] == "1" and is_no_claim(text, start, end)
    if before == "[" and text[end : end + 1] == "]":
        return True
    if before.isalpha() and len(written) > 4 and "," in written and "." not in written[:4]:
        return False  # a table's label and figure without the space between them: "securities1,145"
    return is_no_claim(text, start, end)


def _decimals(written: str, language: str) -> tuple[Decimal, ...] | None:
    """The readings of a run of digits and separators: none of `4.2.1`, None where commas list several."""
    if written.isdecimal():
        return (Decimal(written),)
    whole, comma, part = written.partition(",")
    if (
        comma
        and len(part) == 3
        and len(whole) < 4
        and whole[0] != "0"
        and part.isdecimal()
        and whole.isdecimal()
    ):
        grouped = Decimal(whole + part)
        if language == "en":
            return (grouped,)
        decimal = Decimal(f"{whole}.{part}")
        return (decimal, grouped) if language in ("de", "fr") else (grouped, decimal)
    if not written.isascii() or "'" in written or " " in written:
        if len(written) == 1:
            return (_shortened(_vulgar(written)),)
        commas = written.count(",")
        digits = written.translate(_DEGROUP) if commas != 1 else written.replace(",", ".").translate(_DEGROUP)
        if digits.count(".") > 1:
            return ()
        return (Decimal(digits),)
    points, commas = written.count("."), written.count(",")
    if not commas:
        if points > 1:
            groups = written.split(".")
            is_grouped = len(groups[0]) < 4 and all(len(group) == 3 for group in groups[1:])
            return (Decimal("".join(groups)),) if is_grouped else ()
        plain = Decimal(written)
        whole, _, part = written.partition(".")
        if len(part) != 3 or not 0 < len(whole) < 4 or whole[0] == "0" or language == "en":
            return (plain,)
        grouped = Decimal(whole + part)
        return (grouped, plain) if language in ("de", "fr") else (plain, grouped)
    if not points:
        groups = written.split(",")
        is_grouped = len(groups[0]) < 4 and len(groups[-1]) == 3 and all(len(g) in (2, 3) for g in groups[1:])
        if is_grouped and (len(groups) > 2 or language == "en"):
            return (Decimal("".join(groups)),)
        if len(groups) > 2:
            return None
        is_decimal = language in ("de", "fr") or groups[0] == "0" or (language != "en" and len(groups[1]) < 3)
        return (Decimal(".".join(groups)),) if is_decimal else None
    mark, group = (".", ",") if written.rfind(".") > written.rfind(",") else (",", ".")
    if written.count(mark) > 1:
        return None if mark == "," else ()
    return (Decimal(written.replace(group, "").replace(mark, ".")),)


def _figure(
    text: str,
    start: int,
    end: int,
    values: tuple[Decimal, ...],
    scale: Scale | None,
    shares: bool,
    covered: int,
) -> Figure | None:
    """The figure around a number, None where the digits are part of a name: 3M, 8-K."""
    is_integer = end - start < 5 and text[start:end].isdecimal()
    at, unit, is_negative, opening = start, NO_UNIT, False, -1
    before = text[start - 1 : start] if start else ""
    if before and not before.isalnum():
        at, unit, is_negative, opening = sign_and_currency(text, start, covered)
    power, tail_unit, stop = scale_and_unit(text, end, is_money=unit is not NO_UNIT, is_integer=is_integer)
    if stop < 0:
        return None
    if tail_unit is not NO_UNIT and (unit is NO_UNIT or unit.dimension != "currency"):
        unit = tail_unit
    if opening >= 0:
        close = stop + (text[stop : stop + 1] == " ")
        if text[close : close + 1] == ")":
            if text[opening - 1 : opening].isalnum() and is_integer and end - start < 3 and unit is NO_UNIT:
                return None  # a footnote mark: "41,287(1)"
            is_sign = unit.dimension in ("", "currency", "share")
            if is_integer and end - start == 4 and is_year(text[start:end]):
                is_sign = False
            if is_sign:
                is_negative, stop = True, close + 1
                if text[stop : stop + 2].lstrip()[:1] == "%":
                    unit, stop = PERCENT, text.index("%", stop) + 1
            else:
                at = start
    others = values[1:]
    value = values[0]
    scaled: Literal["", "own", "table"] = ""
    if power is not None:
        scaled = "own"
        value, others = value.scaleb(power), tuple(other.scaleb(power) for other in others)
    elif is_integer and end - start == 4 and unit is NO_UNIT and is_year(text[start:end]):
        power = scale.power if scale else 0
        others = (value.scaleb(power),) if power else ()
        return Figure(
            text[start:end],
            start,
            end,
            "year",
            value,
            NO_UNIT,
            0,
            "",
            others,
            "",
            (Date(int(text[start:end])),),
        )
    elif scale is not None and (unit is NO_UNIT or unit.dimension == "currency"):
        power, plain = scale.power, values
        counted = tuple(each.scaleb(power) for each in values)
        if shares and _PER_SHARE.search(text, text.rfind("\n", 0, start) + 1, _line_end(text, end)):
            value, others = plain[0], (*plain[1:], *counted)
            power = 0
        else:
            value, others, scaled = counted[0], (*counted[1:], *plain), "table"
            unit = scale.unit if unit is NO_UNIT else unit
    kind: FigureKind = "number"
    if stop == end and text[end : end + 1].isalpha():
        ordinal = ORDINAL.match(text, end)
        if ordinal is not None:
            kind, stop = "ordinal", ordinal.end()
    return Figure(
        text[at:stop],
        at,
        stop,
        kind,
        -value if is_negative else value,
        unit,
        power or 0,
        scaled,
        others,
        bound_of(text, at),
    )


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _share_range(text: str, found: list[Figure], figure: Figure) -> Figure:
    """Give the first end of a range the unit and scale of the second, and the second the first's currency."""
    first = found[-1]
    if (
        first.kind != "number"
        or figure.kind != "number"
        or not _RANGE.fullmatch(text, first.end, figure.start)
    ):
        return figure
    if figure.value < 0 and text[figure.start] in "-–−":
        figure = figure._replace(value=-figure.value)
    if figure.unit is not NO_UNIT and first.unit is NO_UNIT:
        first = first._replace(unit=figure.unit)
    elif first.unit.dimension == "currency" and figure.unit is NO_UNIT:
        figure = figure._replace(unit=first.unit)
    if first.unit.name == figure.unit.name and figure.scaled == "own" and first.scaled != "own":
        counted = first.value.scaleb(figure.scale - first.scale if first.scaled else figure.scale)
        first = first._replace(
            value=counted, others=(first.value, *first.others), scale=figure.scale, scaled="own"
        )
    found[-1] = first
    return figure


def _with_words(text: str, language: str, found: list[Figure]) -> list[Figure]:
    """Add the figures in words, but those within one with digits ("the third quarter of 2017")."""
    starts = [figure.start for figure in found]
    added = []
    for spelled in spelled_numbers(text, language):
        place = bisect_left(starts, spelled.end)
        if place and found[place - 1].end > spelled.start:
            continue
        figure = _spelled(text, spelled)
        if figure is not None:
            added.append(figure)
        if len(found) + len(added) >= MOST_FIGURES:
            break
    return sorted([*found, *added], key=_start_of) if added else found


#: Between a fraction and its unit: half a kilogram, ein Viertel einer Stunde.
_OF_A = re.compile(r"\s(?:of\s)?(?:an?|eine[rs]?|une?|d['’]une?)(?=\s)")


def _start_of(figure: Figure) -> int:
    return figure.start


def _spelled(text: str, spelled: Spelled) -> Figure | None:
    start, end = spelled.start, spelled.end
    if spelled.kind == "ordinal":
        if text[max(start - 4, 0) : start].lower() == "per ":
            return None
        return Figure(text[start:end], start, end, "ordinal", spelled.value)
    article = _OF_A.match(text, end) if spelled.kind == "fraction" else None
    power, unit, stop = scale_and_unit(
        text, article.end() if article else end, is_money=False, is_integer=True
    )
    if stop < 0 or (article and unit is NO_UNIT):
        power, unit, stop = None, NO_UNIT, end
    if spelled.kind == "article" and (unit is NO_UNIT or text[start:end].lower() in ("a", "an")):
        return None
    value = spelled.value if power is None else spelled.value.scaleb(power)
    exponent = max(exponent_of(value), 0) if value == value.to_integral_value() else 0
    scaled: Literal["", "own"] = "own" if power is not None or exponent > 2 else ""
    return Figure(
        text[start:stop],
        start,
        stop,
        "number",
        value,
        unit,
        power or exponent,
        scaled,
        (),
        bound_of(text, start),
    )


def exponent_of(value: Decimal) -> int:
    written = str(value)
    if "E" not in written:  # two times as fast as the tuple
        point = written.find(".")
        return point + 1 - len(written) if point >= 0 else 0
    exponent = value.as_tuple().exponent
    return exponent if isinstance(exponent, int) else 0


def step_of(value: Decimal) -> Decimal:
    """The place value of the last digit."""
    return _place_value(exponent_of(value))


@cache
def _place_value(exponent: int) -> Decimal:
    return Decimal((0, (1,), exponent))


def rough_step(value: Decimal) -> Decimal:
    """The place value of the last digit that is not a zero."""
    return step_of(value.normalize())
