"""Temperatures are read back from the ids that conditions have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.pairing import temperature_of
from pytest_xling.records import Condition


@given(st.none() | st.floats(0, 2) | st.sampled_from([0.25, 1.0, 1e-7, 2.0]), st.integers(0, 20))
def test_what_a_condition_says_is_read_back(temperature: float | None, repeat: int) -> None:
    """Whatever the temperature and the repeat; None reads as 0, since the id has neither."""
    condition = Condition(temperature=temperature, repeat=repeat)
    assert (temperature or 0.0) == temperature_of(condition.id)


@pytest.mark.parametrize("text", ["0.7", "tr1", "t", "r", "t1r2", "-r2", "t1-", "t1-r2-r3", "q1"])
def test_other_texts_are_refused(text: str) -> None:
    """Whatever is no condition is an error, not a temperature of 0."""
    with pytest.raises(EvaluationError, match="is no condition"):
        temperature_of(text)
