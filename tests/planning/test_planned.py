"""How many scores there should be: as many as the engine makes."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.interfaces.metric import Number
from pytest_xling.planning.plan import Case, planned_scores
from pytest_xling.records import Condition, Sample

if TYPE_CHECKING:
    from collections.abc import Iterable


class _Metric(Number[Any]):
    """Of what its unit says, and about all."""


class _Choosy(_Metric):
    @staticmethod
    def applies(sample: Sample) -> bool:
        """Tell whether the claim is false."""
        return sample.reference == "false"


def _cases(levels: Iterable[int | None]) -> list[Case]:
    """Return two claims, one of them false, in two languages, twice at two temperatures."""
    made: list[Case] = []
    for claim, language, level, temperature, repeat in product(
        ("c1", "c2"), ("en", "hi"), levels, (0.0, 1.0), (0, 1)
    ):
        sample = Sample(
            id=claim if level is None else f"{claim}-l{level}",
            benchmark="b",
            language=language,
            prompt={} if level is None else {"level": str(level)},
            reference={"c1": "true", "c2": "false"}[claim],
            parallel_id=claim,
        )
        at = Condition(temperature=temperature, repeat=repeat)
        name = f"{sample.id}-{language}-{at.id}"
        made.append(Case(id=name, sample=sample, condition=at, position=len(made)))
    return made


NO_LEVELS = (None,)


def _each(
    count: int, languages: Iterable[str], levels: Iterable[int | None]
) -> dict[tuple[str, int | None], int]:
    return dict.fromkeys(product(languages, levels), count)


@pytest.mark.parametrize(
    ("levels", "unit", "pivot", "expected"),
    [
        # 2 claims x 2 temperatures x 2 repeats at each level
        ((0, 1, 4), "answer", "en", _each(8, ("en", "hi"), (0, 1, 4))),
        ((0, 1, 4), "repeats", "en", _each(4, ("en", "hi"), (0, 1, 4))),
        ((0, 1, 4), "pivot", "en", _each(4, ("hi",), (0, 1, 4))),
        ((0, 1, 4), "levels", "en", _each(8, ("en", "hi"), NO_LEVELS)),
        ((0, 1, 4), "neutral", "en", _each(8, ("en", "hi"), (1, 4))),
        (NO_LEVELS, "answer", "en", _each(8, ("en", "hi"), NO_LEVELS)),
        (NO_LEVELS, "repeats", None, _each(4, ("en", "hi"), NO_LEVELS)),
        (NO_LEVELS, "pivot", "en", _each(4, ("hi",), NO_LEVELS)),
        (NO_LEVELS, "pivot", None, {}),
        (NO_LEVELS, "levels", "en", {}),
        (NO_LEVELS, "neutral", "en", {}),
    ],
)
def test_by_unit(
    levels: tuple[int | None, ...],
    unit: str,
    pivot: str | None,
    expected: dict[tuple[str, int | None], int],
) -> None:
    """One per answer, set of repeats, claim over its levels, or answer beside the neutral one."""
    for base, part in ((_Metric, 1), (_Choosy, 2)):  # half of the claims are false
        metric = type("M", (base,), {"unit": unit})
        halved = {place: count // part for place, count in expected.items()}
        assert halved == planned_scores(_cases(levels), metric, pivot=pivot)
