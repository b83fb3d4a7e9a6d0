"""Items put into groups, against itertools."""

from __future__ import annotations

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.stats.groups import group_by


def _tens(number: int) -> int:
    return number // 10


@given(st.lists(st.integers(0, 99)))
def test_agrees_with_itertools(numbers: list[int]) -> None:
    """Which groups only what stands together, and so needs the items sorted."""
    groups = group_by(numbers, _tens)
    expected = {key: list(items) for key, items in groupby(sorted(numbers, key=_tens), _tens)}
    assert expected == groups
    assert list(dict.fromkeys(map(_tens, numbers))) == list(groups)
