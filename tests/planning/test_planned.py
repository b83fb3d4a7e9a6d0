"""How many scores there should be: as many as the engine makes."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from pytest_xling.interfaces.metric import Metric, Number
from pytest_xling.planning.plan import Case, planned_scores
from pytest_xling.records import Condition, Sample


class _Metric(Number[Any]):
    """Of what its unit says, and about all."""


class _Choosy(_Metric):
    @staticmethod
    def applies(sample: Sample) -> bool:
        """Tell whether the claim is false."""
        return sample.reference == "false"


def _cases(*, leveled: bool = True) -> list[Case]:
    """Return two claims, one of them false, in two languages, twice at two temperatures."""
    made: list[Case] = []
    for claim, veracity in (("c1", "true"), ("c2", "false")):
        for language in ("en", "hi"):
            for level in (0, 1, 4) if leveled else (None,):
                sample = Sample(
                    id=claim if level is None else f"{claim}-l{level}",
                    benchmark="b",
                    language=language,
                    prompt={} if level is None else {"level": str(level)},
                    reference=veracity,
                    parallel_id=claim,
                )
                for temperature in (0.0, 1.0):
                    for repeat in (0, 1):
                        at = Condition(temperature=temperature, repeat=repeat)
                        name = f"{sample.id}-{language}-{at.id}"
                        case = Case(id=name, sample=sample, condition=at, position=len(made))
                        made.append(case)
    return made


def _of(unit: str, *, choosy: bool = False) -> type[Metric[Any]]:
    return type("M", (_Choosy if choosy else _Metric,), {"unit": unit})


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        # 2 claims x 2 temperatures x 2 repeats at each level
        (
            "answer",
            {("en", 0): 8, ("en", 1): 8, ("en", 4): 8, ("hi", 0): 8, ("hi", 1): 8, ("hi", 4): 8},
        ),
        (
            "repeats",
            {("en", 0): 4, ("en", 1): 4, ("en", 4): 4, ("hi", 0): 4, ("hi", 1): 4, ("hi", 4): 4},
        ),
        ("pivot", {("hi", 0): 4, ("hi", 1): 4, ("hi", 4): 4}),
        ("levels", {("en", None): 8, ("hi", None): 8}),
        ("neutral", {("en", 1): 8, ("en", 4): 8, ("hi", 1): 8, ("hi", 4): 8}),
    ],
)
def test_by_unit(unit: str, expected: dict[tuple[str, int | None], int]) -> None:
    """One per answer, set of repeats, claim over its levels, or answer beside the neutral one."""
    assert expected == planned_scores(_cases(), _of(unit), pivot="en")
    # Half of the claims are false.
    halved = {place: count // 2 for place, count in expected.items()}
    assert halved == planned_scores(_cases(), _of(unit, choosy=True), pivot="en")


@pytest.mark.parametrize(
    ("unit", "pivot", "expected"),
    [
        ("answer", "en", {("en", None): 8, ("hi", None): 8}),
        ("repeats", None, {("en", None): 4, ("hi", None): 4}),
        ("pivot", "en", {("hi", None): 4}),
        ("pivot", None, {}),
        ("levels", "en", {}),
        ("neutral", "en", {}),
    ],
)
def test_without_levels(
    unit: Literal["answer", "repeats", "pivot", "levels", "neutral"],
    pivot: str | None,
    expected: dict[tuple[str, int | None], int],
) -> None:
    """Where queries have none; where no language is compared with."""
    assert expected == planned_scores(_cases(leveled=False), _of(unit), pivot=pivot)
