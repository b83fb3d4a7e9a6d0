"""The cache of an encoder's arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.encoders.state_cache import StateCache

_BYTES = 4


def _array(numbers: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.zeros(numbers, np.float32)


def test_least_recently_used_goes_first() -> None:
    """What was asked for since stays."""
    cached = StateCache(2 * _BYTES)
    cached.begin()
    cached.put("a", _array(1))
    cached.put("b", _array(1))
    cached.begin()
    assert cached.get("a") is not None
    cached.put("c", _array(1))
    assert [True, False, True] == [cached.get(key) is not None for key in "abc"]


def test_a_pass_does_not_push_out_its_own() -> None:
    """Of more than fits, the first stay, so that the same pass again finds them."""
    cached = StateCache(2 * _BYTES)
    cached.begin()
    for key in "abcd":
        cached.put(key, _array(1))
    cached.begin()
    assert [True, True, False, False] == [cached.get(key) is not None for key in "abcd"]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 8), st.booleans()), max_size=60))
def test_never_more_than_the_bound(steps: list[tuple[int, int, bool]]) -> None:
    """Whatever is put, the arrays take no more than they may, and the size is theirs."""
    cached = StateCache(16 * _BYTES)
    for key, numbers, begin in steps:
        if begin:
            cached.begin()
        cached.put(key, _array(numbers))
        assert cached._bytes <= 16 * _BYTES
    there = [array for key in range(10) if (array := cached.get(key)) is not None]
    assert cached._bytes == sum(array.nbytes for array in there)
