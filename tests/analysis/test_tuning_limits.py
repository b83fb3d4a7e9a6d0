"""Limits in round numbers, shared where languages are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.analysis.tuning import BenchmarkTuned, Proposal, common, rounded
from pytest_xling.analysis.tuning.changes import proposed_text
from pytest_xling.analysis.tuning.tables import Limit
from pytest_xling.gates.spec import GateSpec
from pytest_xling.records import Threshold

if TYPE_CHECKING:
    from pytest_xling.analysis.tuning.tables import LimitKey


@pytest.mark.parametrize(
    ("limit", "estimate", "up", "expected"),
    [
        (0.39214, 0.0, True, 0.4),
        (0.8123, 0.85, False, 0.812),
        (733.4, 512.0, True, 740.0),
        (0.176, 0.0, True, 0.18),
        (0.5, 0.5, True, 0.5),
        (0.0, 0.0, True, 0.0),
        (-0.0123, 0.01, False, -0.013),
    ],
)
def test_two_digits_of_the_distance(
    *, limit: float, estimate: float, up: bool, expected: float
) -> None:
    """Rounded away from what it is a limit of."""
    assert expected == rounded(limit, estimate, up=up)


@given(estimate=st.floats(-5, 5), distance=st.floats(0.001, 5), up=st.booleans())
def test_rounding_is_outward_and_once(*, estimate: float, distance: float, up: bool) -> None:
    """Never tighter, by a tenth of the distance at most, and stable."""
    limit = estimate + distance if up else estimate - distance
    found = rounded(limit, estimate, up=up)
    away = found - limit if up else limit - found
    assert -1e-9 < away <= 0.1 * distance + 1e-9
    assert rounded(found, found - (distance if up else -distance), up=up) == pytest.approx(
        found, abs=0.1 * distance
    )


def test_one_for_all_that_are_alike() -> None:
    """The loosest of those whose own is not a third of it; others have their own."""
    assert [0.2, 0.2, 0.2] == common([0.0, 0.01, 0.02], [0.15, 0.2, 0.18])
    assert [0.2, 0.2, 0.9] == common([0.0, 0.01, 0.4], [0.15, 0.2, 0.9])
    assert [0.02, 0.2, 0.2] == common([0.0, 0.01, 0.02], [0.02, 0.2, 0.18])
    assert [] == common([], [])


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_no_language_gets_a_tighter_limit_than_its_own(pairs: list[tuple[float, float]]) -> None:
    """Sharing only loosens."""
    estimates = [estimate for estimate, _ in pairs]
    limits = [estimate + distance for estimate, distance in pairs]
    assert all(a >= b for a, b in zip(common(estimates, limits), limits, strict=True))


@pytest.mark.parametrize(
    ("floors", "ceilings"),
    [
        ({"de": 300, "en": 300, "es": 10, "hi": 20}, {"de": 900, "en": 950, "es": 90, "hi": 90}),
        ({"de": 300, "en": 300, "es": 10, "hi": 20}, {"de": 900, "en": 900, "es": 90, "hi": 95}),
    ],
)
def test_what_most_languages_share_does_not_contradict_itself(
    floors: dict[str, float], ceilings: dict[str, float]
) -> None:
    """A floor that most share may lie above the ceiling that most share: each has its own then."""
    by_key: dict[LimitKey, dict[str, float]] = {"floor": floors, "ceiling": ceilings}
    proposals = tuple(
        Proposal(
            limit=Limit(
                spec=GateSpec(
                    threshold=Threshold(benchmark="b", metric="answer_length", language=language)
                ),
                key=key,
            ),
            n=40,
            estimate=None,
            proposed=limits[language],
        )
        for key, limits in by_key.items()
        for language in limits
    )
    tuned = BenchmarkTuned(
        benchmark="b",
        questions=40,
        proposals=proposals,
        blocked=None,
        blocked_held_out=None,
        all_languages=True,
    )
    text = proposed_text("", [tuned], None, "m")
    assert ("{ceiling: 95, floor: 20}" in text) == (ceilings["hi"] == 95)
    assert ("      floor: 300\n" in text) == (ceilings["en"] == 900)
