"""Which designs find a difference, what they cost, and what a run at hand can find: in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.analysis.sizing import Expected, Goal, Pilot, least, power, samples
from pytest_xling.reports.sheet import Sheet, plain
from pytest_xling.text.numbers import NONE, Figures, dollars, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What is to be found, and what is known beforehand."""

    goal: Goal
    """For one language: alpha is shared out."""
    alpha: float
    """Of all languages together."""
    share: bool
    metric: str | None
    benchmark: str | None
    run: str | None
    against: str
    """A language, or a baseline."""
    languages: int
    """That are asked."""
    comparisons: int
    """How many of them are compared with another side."""
    repeats: tuple[int, ...]
    expected: Mapping[str, Expected]
    """By language; under "" where nothing is known of any."""
    pilots: tuple[Pilot, ...] = ()
    answers_each: int = 1
    """Answers to a question in one language and repeat."""
    tokens: tuple[float, float] | None = None
    """Of one answer."""
    price: tuple[float, float] | None = None
    assumed: str = field(default="")
    icc_given: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    repeats: int
    questions: int | None
    requests: int | None
    usd: float | None
    power: float | None
    language: str
    """Whose noise asks for the most."""


def plan_json(study: Study) -> dict[str, JsonValue]:
    """Return the plan for programs; amounts of money and of shares are not rounded."""
    goal = study.goal
    return {
        "detect": goal.effect,
        "margin": goal.margin,
        "power": goal.power,
        "min_n": goal.min_n,
        "alpha": study.alpha,
        "alpha_each": goal.alpha,
        "comparisons": study.comparisons,
        "languages": study.languages,
        "against": study.against,
        "run": study.run,
        "benchmark": study.benchmark,
        "metric": study.metric,
        "assumed": study.assumed or None,
        "answers_each": study.answers_each,
        "tokens": study.tokens,
        "price": study.price,
        "designs": [
            {
                "repeats": row.repeats,
                "questions": row.questions,
                "requests": row.requests,
                "usd": row.usd,
                "power": row.power,
                "noisiest": row.language or None,
            }
            for row in _rows(study)
        ],
        "at_hand": [_at_hand(study, pilot) for pilot in study.pilots],
    }


def plan_text(study: Study, *, width: int, color: bool) -> str:
    """Return the plan for people."""
    parts = [plain(_designs(study), width=width, color=color)]
    if study.pilots:
        parts.append(plain(_hand(study), width=width, color=color))
    return "\n".join(parts)


def _rows(study: Study) -> list[_Row]:
    goal, rows = study.goal, []
    for repeats in study.repeats:
        wanted = {
            language: samples(goal, expected, repeats=repeats)
            for language, expected in study.expected.items()
        }
        # What nothing finds is the noisiest.
        language = max(wanted, key=lambda name: wanted[name] or float("inf"))
        questions = wanted[language]
        requests = usd = reached = None
        if questions is not None:
            requests = questions * study.answers_each * repeats * study.languages
            usd = _cost(study, requests)
            reached = power(goal, study.expected[language], questions=questions, repeats=repeats)
        rows.append(
            _Row(
                repeats=repeats,
                questions=questions,
                requests=requests,
                usd=usd,
                power=reached,
                language=language,
            )
        )
    return rows


def _cost(study: Study, requests: int) -> float | None:
    if study.price is None or study.tokens is None:
        return None
    each = sum(rate * count for rate, count in zip(study.price, study.tokens, strict=True))
    return requests * each / _MILLION


def _at_hand(study: Study, pilot: Pilot) -> dict[str, JsonValue]:
    smallest: float | None = None
    reached: float | None = None
    if pilot.expected is not None:
        how = {"questions": pilot.questions, "repeats": pilot.repeats}
        smallest = least(study.goal, pilot.expected, **how)
        reached = power(study.goal, pilot.expected, **how)
    return {
        "language": pilot.language,
        "questions": pilot.questions,
        "repeats": pilot.repeats,
        "seen": pilot.seen,
        "icc": None if pilot.expected is None else pilot.expected.icc,
        "least": smallest,
        "power": reached,
        "underpowered": None if reached is None else reached < study.goal.power,
    }


def _designs(study: Study) -> Sheet:
    rows = _rows(study)
    columns = {
        "repeats": [str(row.repeats) for row in rows],
        "questions": [_whole(row.questions) for row in rows],
        "requests": [_whole(row.requests) for row in rows],
        "price": [dollars(row.usd) for row in rows],
        "found in": [NONE if row.power is None else percent(row.power) for row in rows],
    }
    return Sheet(title=_title(study), columns=columns, left=0, notes=tuple(_notes(study, rows)))


def _title(study: Study) -> str:
    goal = study.goal
    of = f" in {study.metric}" if study.metric else ""
    return (
        f"To find that a language is {_goal(study, goal.effect)} worse than {study.against}{of},"
        f" in {percent(goal.power)} of cases"
    )


def _notes(study: Study, rows: list[_Row]) -> list[str]:
    goal = study.goal
    each = "" if study.answers_each == 1 else f" × {study.answers_each} levels or temperatures"
    languages = "1 language" if study.languages == 1 else f"{study.languages} languages"
    notes = [f"requests = questions × repeats × {languages}{each}"]
    if any(row.questions == goal.min_n for row in rows):
        notes.append(
            f"a gate decides nothing by fewer than {goal.min_n} questions: its min_n (--min-n)"
        )
    if goal.margin:
        notes.append(
            f"the gate lets {_goal(study, goal.margin)} pass (--margin): the rest must be shown"
        )
    if study.comparisons > 1:
        notes.append(
            f"{study.comparisons} languages are compared: by Holm the first to fail needs a p below"
            f" {study.alpha:g} / {study.comparisons} = {goal.alpha:.2g}, which this plans with"
        )
    else:
        notes.append(
            f"a p below {study.alpha:g} decides; one language is compared, so nothing is shared"
        )
    notes += _noise(study, rows)
    if study.price is None or study.tokens is None:
        lacks = [
            text
            for text, value in (("--price=2.5,10", study.price), ("--tokens=40,300", study.tokens))
            if value is None
        ]
        notes.append(f"for the cost give {' and '.join(lacks)} or the like: in, out")
    return notes


def _noise(study: Study, rows: list[_Row]) -> list[str]:
    if study.assumed and study.run:
        why = f"run {study.run} has no language that others are compared with"
        return [f"{why}: by its own rates, {study.assumed}"]
    if study.assumed:
        return [f"assumed, for want of a run (--run=latest): {study.assumed}"]
    noisiest = next(iter(dict.fromkeys(row.language for row in rows)))
    expected = study.expected[noisiest]
    varies = (
        f"{percent(expected.differing)} of pairs differ"
        if expected.differing is not None
        else f"standard deviation {expected.sd or 0.0:.3g}"
    )
    noise = f"noise: run {study.run}, {study.benchmark}; by {noisiest}, the noisiest: {varies}"
    notes = [f"{noise}, ICC {expected.icc:.2g}"]
    if not study.icc_given and not any(pilot.repeats_known for pilot in study.pilots):
        notes.append(
            f"run {study.run} has no repeats, so that what they are worth is not known: counted as"
            " nothing; say --icc=P if you know"
        )
    return notes


def _hand(study: Study) -> Sheet:
    powers = [_at_hand(study, pilot) for pilot in study.pilots]
    wanted = _goal(study, study.goal.effect)
    columns = {
        "language": [pilot.language for pilot in study.pilots],
        "questions": [_whole(pilot.questions) for pilot in study.pilots],
        "repeats": [str(pilot.repeats) for pilot in study.pilots],
        "finds from": [_amount(study, power["least"]) for power in powers],
        f"finds {wanted} in": [_percent(power["power"]) for power in powers],
        "": [_enough(power["underpowered"]) for power in powers],
    }
    few = sum(bool(power["underpowered"]) for power in powers)
    missed = (
        f"UNDERPOWERED: in {few} of {len(powers)} languages a run like {study.run} misses {wanted}"
        f" more often than in {percent(1 - study.goal.power)} of cases; ask more questions"
    )
    return Sheet(
        title=f"What run {study.run} can find",
        columns=columns,
        left=1,
        notes=(missed,) if few else (),
    )


def _goal(study: Study, value: float) -> str:
    """Word an amount as it was asked for."""
    return Figures(share=study.share, difference=True, digits=1).limit(value)


def _whole(number: int | None) -> str:
    return "over 10,000,000" if number is None else f"{number:,}"


def _amount(study: Study, value: JsonValue) -> str:
    if not isinstance(value, float):
        return "nothing"
    return Figures.fitting([value], share=study.share, difference=True).value(value)


def _percent(value: JsonValue) -> str:
    return percent(value) if isinstance(value, float) else NONE


def _enough(underpowered: JsonValue) -> str:
    if underpowered is None:
        return "no spread"
    return "underpowered" if underpowered else "enough"
