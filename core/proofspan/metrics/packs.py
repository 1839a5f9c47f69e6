"""The metrics pack: a run's five numbers in one small JSON object, read, written and compared.

The keys are those of the published contract (`data/schemas/metrics-1.0.json`), whose pack is about a gold set
and knows no paraphrases. So all five numbers have one basis, `questions`: of each question the trace in its
own wording with the first seed. They need not count the same ones (recall@50 leaves out shorter lists, the
numbers of ΔS need no gold), so the pack states the base of each under `bases`. A pack may state the basis
`traces`, paraphrases and seeds included, as a whole or for single numbers; it is compared on that basis.

Four numbers are metrics of the catalogue. The fifth, `λ_convergent_rate`, is the share of convergent logged
states. The metric `lambda_convergent` is stricter, since there all traces of a question have to converge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from proofspan.contracts.rules.envelope import refusal
from proofspan.errors import Problem
from proofspan.metrics.values import MetricValue

SCHEMA = "urn:proofspan:schema:metrics-1.0"
DATASET = "dataset"
BASES = "bases"
BASIS = "basis"
#: What a number may count: `questions` one trace each, or all `traces`.
Basis = Literal["questions", "traces"]
QUESTIONS: Basis = "questions"
RATE = "λ_convergent_rate"
#: Key of the pack → the metric that it is.
METRIC_OF: Mapping[str, str] = {
    "recall@50": "recall_at_50",
    "nDCG@10": "ndcg_at_10",
    "ΔS_mean": "delta_s_mean",
    "ΔS_p95": "delta_s_p95",
}
KEYS: tuple[str, ...] = (*METRIC_OF, RATE)
RATE_COUNTED = (
    "The share of questions that log a state in their own wording with the first seed, and log convergent "
    "there; λ convergent counts only questions all of whose traces converge."
)
PACK_SOURCE = "Metrics pack"
#: Other names of the keys, as they are written where Greek letters or `@` are unwelcome.
ALIASES: Mapping[str, str] = {
    "recall_at_50": "recall@50",
    "ndcg@10": "nDCG@10",
    "ndcg_at_10": "nDCG@10",
    "deltaS_mean": "ΔS_mean",
    "delta_s_mean": "ΔS_mean",
    "deltaS_p95": "ΔS_p95",
    "delta_s_p95": "ΔS_p95",
    "lambda_convergent_rate": RATE,
}
#: Digits after the point that are written, and the fewest and most that are compared: a writer drops the last
#: zeros of 0.90, and beyond a millionth only the arithmetic differs.
WRITTEN, FEWEST, MOST = 4, 2, 6
MAX_BYTES = 1 << 20
#: A number beyond these is a slip of the pen, not a measurement.
_LARGEST = Decimal(1_000_000)
_IN_0_1 = ("recall@50", "nDCG@10", RATE)

Numbers = Mapping[str, float | None]
_NO_ENVELOPE: Mapping[str, str] = {}


class Base(NamedTuple):
    """The base of a number: `counted` things called `of`, and those `left_out` by reason."""

    of: str
    counted: int
    left_out: Mapping[str, int]


_NO_BASES: Mapping[str, Base] = {}


class Measured(NamedTuple):
    """The numbers of a run on one basis, and the base of each, by key."""

    numbers: Numbers
    bases: Mapping[str, Base]


class Stated(NamedTuple):
    """The base that a stored pack states of a number: basis, and how many it counts (None: not stated)."""

    basis: Basis = QUESTIONS
    counted: int | None = None


@dataclass(frozen=True, slots=True)
class Pack:
    """A stored pack. `numbers` are those that it has, by key, as printed; None is "not measured".

    `stated` are the bases of these numbers. `others` are its other keys, the envelope and unknown keys
    included.
    """

    dataset: str | None = None
    numbers: Mapping[str, Decimal | None] = field(default_factory=dict)
    others: Mapping[str, object] = field(default_factory=dict)
    stated: Mapping[str, Stated] = field(default_factory=dict)

    @property
    def bases(self) -> frozenset[Basis]:
        """The bases of its numbers."""
        return frozenset(each.basis for each in self.stated.values())


@dataclass(frozen=True, slots=True)
class PackDifference:
    """A number of a stored pack that differs from the current one; None is "not measured".

    `stated` and `base` are what the two count, where that differs.
    """

    key: str
    stored: Decimal | None
    counted: float | None
    stated: Stated | None = None
    base: Base | None = None

    def in_words(self) -> str:
        """Return `recall@50: 0.91 in the pack, 0.8919 counted`."""
        stored = "null" if self.stored is None else str(self.stored)
        counted = "not measured here" if self.counted is None else f"{_digits(self.counted)} counted"
        if self.stated is not None and self.base is not None and self.counted is not None:
            stored += f" of {self.stated.counted:,} {self.stated.basis}"
            counted += f" of {self.base.counted:,}"
        return f"{self.key}: {stored} in the pack, {counted}"


def measured(
    values: Mapping[str, MetricValue], states: Mapping[str | None, int], basis: Basis = QUESTIONS
) -> Measured:
    """Return the numbers and bases of a run's pack from metrics and logged states, both on one basis."""
    return Measured(numbers_of(values, states), bases_of(values, states, basis))


def numbers_of(
    values: Mapping[str, MetricValue], states: Mapping[str | None, int]
) -> dict[str, float | None]:
    """Return the numbers of a run's pack from its metrics and its questions by logged state.

    `λ_convergent_rate` counts those that log a state (None: not logged); it is None if none logs one.
    """
    numbers = {key: values[name].value if name in values else None for key, name in METRIC_OF.items()}
    logged = sum(count for state, count in states.items() if state is not None)
    return {**numbers, RATE: states.get("convergent", 0) / logged if logged else None}


def bases_of(
    values: Mapping[str, MetricValue], states: Mapping[str | None, int], basis: Basis = QUESTIONS
) -> dict[str, Base]:
    """Return what each number of `numbers_of` counts, by key."""
    bases: dict[str, Base] = {}
    for key, name in METRIC_OF.items():
        if name in values:
            value = values[name]
            left_out = {reason: count for reason, count in value.left_out.items() if count}
            bases[key] = Base(basis, value.denominator, left_out)
    unlogged = states.get(None, 0)
    logged = sum(states.values()) - unlogged
    return {**bases, RATE: Base(basis, logged, {"not_logged": unlogged} if unlogged else {})}


def pack_text(
    numbers: Numbers,
    *,
    dataset: str | None,
    bases: Mapping[str, Base] = _NO_BASES,
    envelope: Mapping[str, str] = _NO_ENVELOPE,
) -> str:
    """Return the pack as JSON: sorted keys, four digits after the point, null if not measured."""
    strings = {**envelope, "$schema": SCHEMA, BASIS: QUESTIONS, DATASET: dataset}
    texts = {name: json.dumps(value, ensure_ascii=False) for name, value in strings.items()}
    texts |= {key: _digits(numbers[key]) for key in KEYS}
    if bases:
        known = {key: json.dumps(bases[key]._asdict(), sort_keys=True) for key in sorted(bases)}
        lines = (f"    {json.dumps(key, ensure_ascii=False)}: {text}" for key, text in known.items())
        texts[BASES] = "{\n" + ",\n".join(lines) + "\n  }"
    body = ",\n".join(f"  {json.dumps(key, ensure_ascii=False)}: {texts[key]}" for key in sorted(texts))
    return f"{{\n{body}\n}}\n"


def read_pack(path: Path, *, file: str) -> tuple[Pack | None, tuple[Problem, ...]]:
    """Read the pack in a file, and its problems; None if nothing can be used.

    A key whose value is not a number is a problem and left out of the pack.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            return None, (_problem("pack_too_large", f"is larger than {MAX_BYTES:,} bytes", file),)
        return _pack_from(
            json.loads(
                data.decode("utf-8-sig"),
                parse_float=_number,
                parse_int=_number,
                parse_constant=_number,
                object_pairs_hook=_once,
            ),
            file,
        )
    except OSError as error:
        return None, (_problem("pack_unreadable", f"cannot be read: {error.strerror}", file),)
    except RecursionError:
        return None, (_problem("pack_too_deep", "is nested too deep", file),)
    except ValueError as error:
        return None, (_problem("pack_not_json", f"is no JSON: {error}", file),)


def others_in_words(pack: Pack) -> Iterator[tuple[str, str]]:
    """Yield the other keys of a pack as texts: `("run_by", "ci")`."""
    for name, value in pack.others.items():
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def differences(pack: Pack, counted: Mapping[Basis, Measured]) -> tuple[PackDifference, ...]:
    """Return the stored numbers that differ from the current ones, or count another number of things.

    Numbers differ if the current one does not round to the printed digits. `counted` has the current ones on
    each basis of the pack.
    """
    return tuple(_differences(pack, counted))


def _differences(pack: Pack, counted: Mapping[Basis, Measured]) -> Iterator[PackDifference]:
    for key in KEYS:
        if key not in pack.numbers:
            continue
        stated, stored = pack.stated.get(key, Stated()), pack.numbers[key]
        numbers, bases = counted[stated.basis]
        base = bases.get(key)
        if base is not None and stated.counted not in (None, base.counted):
            yield PackDifference(key, stored, numbers[key], stated, base)
        elif not _agree(stored, numbers[key]):
            yield PackDifference(key, stored, numbers[key])


def _agree(stored: Decimal | None, counted: float | None) -> bool:
    if stored is None or counted is None:
        return stored is None and counted is None
    exponent = stored.as_tuple().exponent
    digits = min(max(-exponent if isinstance(exponent, int) else 0, FEWEST), MOST)
    half = Decimal(5).scaleb(-digits - 1)
    return abs(Decimal(repr(counted)) - stored) <= half + Decimal("1e-9")


def _number(text: str) -> Decimal | str:
    """Parse a number; one that is too large or not finite, as Python's reader takes NaN, stays a text."""
    with suppress(InvalidOperation):
        number = Decimal(text)
        if number.is_finite() and abs(number) <= _LARGEST:
            return number
    return text[:40]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    seen: dict[str, object] = {}
    for name, value in pairs:
        if name in seen:
            raise ValueError(f"the key {name[:80]!r} is repeated")
        seen[name] = value
    return seen


def _pack_from(value: object, file: str) -> tuple[Pack | None, tuple[Problem, ...]]:
    if not isinstance(value, dict):
        return None, (_problem("pack_not_an_object", "is no JSON object", file),)
    if (why := refusal("metrics", value)) is not None:
        return None, (_problem(why.code, f"is not read: {why.message}", file),)
    named = {name: ALIASES.get(name, name) for name in value}
    problems: list[Problem] = []
    numbers: dict[str, Decimal | None] = {}
    for name, key in named.items():
        number = value[name]
        if key not in KEYS:
            continue
        if key in numbers:
            code, detail = "pack_key_twice", ", another name of a key before it"
        elif not isinstance(number, Decimal | None):
            code, detail = "pack_not_a_number", f": {str(number)[:40]!r} is no number"
        elif number is not None and key in _IN_0_1 and not 0 <= number <= 1:
            code, detail = "pack_not_a_number", f": {number} does not lie in 0–1"
        else:
            numbers[key] = number
            continue
        problems.append(_problem(code, f"has `{name}`{detail}", file))
    dataset = value.get(DATASET)
    if not isinstance(dataset, str | None):
        problems.append(_problem("pack_not_text", f"has a `{DATASET}` that is no text", file))
    stated = {key: _stated(key, value) for key in numbers}
    for key in [key for key, each in stated.items() if each is None]:
        del numbers[key]
        message = f"states a basis of `{key}` that is neither questions nor traces, so it is not compared"
        problems.append(_problem("pack_basis_unknown", message, file))
    known = {key: each for key, each in stated.items() if each is not None}
    others = {name: _shown(value[name]) for name, key in named.items() if key not in _READ}
    return Pack(dataset if isinstance(dataset, str) else None, numbers, others, known), tuple(problems)


_READ = frozenset({*KEYS, DATASET, BASIS, BASES})


def _stated(key: str, pack: Mapping[str, object]) -> Stated | None:
    """Return the base of a number: its own, else the pack's, else questions. None for an unknown basis."""
    bases = pack.get(BASES)
    own = bases.get(key) if isinstance(bases, dict) else None
    own = own if isinstance(own, dict) else {}
    basis = own.get("of") or pack.get(BASIS) or QUESTIONS
    if basis not in get_args(Basis):
        return None
    counted = own.get("counted")
    is_count = isinstance(counted, Decimal) and counted >= 0 and counted == counted.to_integral_value()
    return Stated(cast(Basis, basis), int(cast(Decimal, counted)) if is_count else None)


def _shown(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value) if value != value.to_integral_value() else int(value)
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if isinstance(value, dict):
        return {name: _shown(item) for name, item in value.items()}
    return value


def _digits(number: float | None) -> str:
    return "null" if number is None else f"{number + 0.0:.{WRITTEN}f}"


def _problem(code: str, message: str, file: str) -> Problem:
    fix = "write it again: proofspan metrics WORKSPACE --run RUN --pack -o FILE"
    return Problem(code, f"the metrics pack {message}", file, fix, severity="warning")
