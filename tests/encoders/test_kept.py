"""What the last passes gave, within a bound."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.encoders.state_cache import Kept

_BYTES = 4


def _array(numbers: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.zeros(numbers, np.float32)


def test_least_recently_used_goes_first() -> None:
    """What was asked for since stays."""
    kept = Kept(2 * _BYTES)
    kept.begin()
    kept.put("a", _array(1))
    kept.put("b", _array(1))
    kept.begin()
    assert kept.get("a") is not None
    kept.put("c", _array(1))
    assert [True, False, True] == [kept.get(key) is not None for key in "abc"]


def test_a_pass_does_not_push_out_its_own() -> None:
    """Of more than fits, the first stay, so that the same pass again finds them."""
    kept = Kept(2 * _BYTES)
    kept.begin()
    for key in "abcd":
        kept.put(key, _array(1))
    kept.begin()
    assert [True, True, False, False] == [kept.get(key) is not None for key in "abcd"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 8), st.booleans()), max_size=60))
def test_never_more_than_the_bound(steps: list[tuple[int, int, bool]]) -> None:
    """Whatever is put, the arrays take no more than they may, and the size is theirs."""
    kept = Kept(16 * _BYTES)
    for key, numbers, begin in steps:
        if begin:
            kept.begin()
        kept.put(key, _array(numbers))
        assert kept.size_bytes <= 16 * _BYTES
    there = [array for key in range(10) if (array := kept.get(key)) is not None]
    assert kept.size_bytes == sum(array.nbytes for array in there)
