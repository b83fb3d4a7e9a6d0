"""By how much a run has changed against its baseline."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy import stats

from pytest_xling.records import Score
from pytest_xling.reports.html.baseline import Baseline, change

PLACE = ("culture", "m", "hi")


def scores(values: list[float | None], *, signature: str = "m|v1|length:20") -> list[Score]:
    """Return a score for each value, of samples s0, s1 and so on."""
    return [
        Score(
            metric="m",
            benchmark="culture",
            sample_id=f"s{index}",
            language="hi",
            condition="",
            value=value,
            reason="" if value is not None else "no answer",
            signature=signature,
        )
        for index, value in enumerate(values)
    ]


def baseline(values: list[float], *, signature: str = "m|v1|length:20") -> Baseline:
    """Return a baseline with these values of samples s0, s1 and so on."""
    return Baseline(
        name="then",
        values={(*PLACE, f"s{index}", ""): value for index, value in enumerate(values)},
        signatures={("culture", "m"): signature},
    )


def test_change_is_that_of_scipys_paired_t() -> None:
    """Mean and interval of now minus then are those of scipy's test of related samples."""
    rng = random.Random(4)  # noqa: S311  made-up numbers
    now = [rng.gauss(0.8, 0.1) for _ in range(40)]
    then = [value + rng.gauss(0.05, 0.08) for value in now]
    found = change(scores([*now, 0.5]), baseline(then), kind="number", alpha=0.05)
    expected = stats.ttest_rel(np.array(now), np.array(then)).confidence_interval(0.95)
    assert found is not None
    assert pytest.approx((expected.low, expected.high)) == (found.low, found.high)
    assert pytest.approx(np.mean(now) - np.mean(then)) == found.value
    assert (40, 1) == (found.n, found.unscored)


def test_only_shared_values_count() -> None:
    """A case without a value now, or without one then, is left out."""
    found = change(scores([1.0, None, 0.0, 1.0]), baseline([0.0, 1.0, 0.0]), kind="flag", alpha=0.1)
    assert found is not None
    assert (0.5, 2) == (found.value, found.n)


def test_another_signature_is_refused() -> None:
    """Numbers made in another way are not compared, and the fields are named."""
    now, then = scores([1.0]), baseline([0.0], signature="m|v1|length:30|times:4")
    found = change(now, then, kind="flag", alpha=0.05)
    assert found is not None
    assert found.value is None
    said = "made in another way: length 20 (was 30), times missing (was 4)"
    assert said == found.reason


def test_nothing_shared_is_said() -> None:
    """A metric the baseline knows, but of other cases, has no change and a reason."""
    known = Baseline(name="then", values={}, signatures={("culture", "m"): "m|v1|length:20"})
    found = change(scores([1.0]), known, kind="flag", alpha=0.05)
    assert found is not None
    assert (None, "no case has a value in both") == (found.value, found.reason)


def test_an_unknown_metric_has_no_change() -> None:
    """Of a metric the baseline does not know there is nothing to say."""
    assert change(scores([1.0]), Baseline(name="then", values={}), kind="flag", alpha=0.05) is None
