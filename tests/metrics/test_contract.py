"""What all surface metrics keep to."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_xling.keys import canonical_json
from pytest_xling.registry import load, names

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.records import Answer

SURFACE = (
    "abstains",
    "answer_length",
    "apology",
    "disclaimer",
    "emoji",
    "english_answer",
    "language_consistency",
    "names_language",
    "no_answer",
    "offers_translation",
    "repetition",
    "wrong_language",
)
ANY_TEXT = st.text(st.characters(exclude_categories=()))
LANGUAGES = st.sampled_from(["aa", "bal", "en", "de", "hi", "wo"])


@pytest.fixture(params=SURFACE)
def metric(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401  any of the classes
    """Give each surface metric in turn."""
    return load("metric", request.param)()


def test_all_are_registered() -> None:
    """Each metric is found by the name it has in thresholds.yaml."""
    assert set(SURFACE) <= set(names("metric"))
    assert list(SURFACE) == [load("metric", name).name for name in SURFACE]


def test_is_a_frozen_dataclass(metric: Any) -> None:  # noqa: ANN401
    """Its fields are its parameters, and plain JSON for its signature."""
    parameters = dataclasses.asdict(metric)
    canonical_json(parameters)
    assert metric == type(metric)(**parameters)
    assert type(metric).__dataclass_params__.frozen
    assert not hasattr(metric, "__dict__")


@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pairs=st.lists(st.tuples(ANY_TEXT, LANGUAGES), max_size=5))
def test_batch_is_as_one_by_one(
    metric: Any,  # noqa: ANN401
    make_answer: Callable[..., Answer],
    pairs: list[tuple[str, str]],
) -> None:
    """Any text is scored, with a finite value or a reason, and the same in any batch."""
    answers = [make_answer(text, language=code, needs=metric.needs) for text, code in pairs]
    lowest, highest = metric.bounds
    batch = metric.score(answers)
    assert [metric.score([answer])[0] for answer in answers] == batch
    for reading in batch:
        if reading.value is None:
            assert reading.reason
        else:
            assert math.isfinite(reading.value)
            assert type(reading.value) is float
            assert metric.kind == "number" or reading.value in {0.0, 1.0}
            assert lowest is None or lowest <= reading.value
            assert highest is None or reading.value <= highest
            assert metric.kind == "number" or reading.value == 0.0 or reading.reason
        reading.reason.encode()


def test_nothing_to_score(metric: Any) -> None:  # noqa: ANN401
    """An empty batch gives no readings."""
    assert [] == metric.score([])


def test_bounds_are_those_of_numbers(metric: Any) -> None:  # noqa: ANN401
    """A share is from 0 to 1 and a length not negative; flags have no need to say so."""
    bounds = {
        "abstains": (0.0, 1.0),
        "answer_length": (0.0, None),
        "disclaimer": (0.0, 1.0),
        "language_consistency": (0.0, 1.0),
    }
    assert bounds.get(metric.name, (None, None)) == metric.bounds
    assert metric.kind == "number" or metric.bounds == (None, None)
