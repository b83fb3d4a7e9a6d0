"""Batches bounded in tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.models.batches import batches

_LENGTHS = st.lists(st.integers(0, 600), max_size=60)


def test_hand_worked() -> None:
    """The longest come first; equal ones keep their order; each batch fits once padded."""
    assert [[1], [3, 0], [4, 2]] == list(batches([40, 100, 7, 50, 9], budget=100))


@given(_LENGTHS, st.integers(1, 1500))
def test_each_once_and_within_the_budget(lengths: list[int], budget: int) -> None:
    """Every text is in one batch; only a text of its own may exceed the budget."""
    found = list(batches(lengths, budget=budget))
    assert list(range(len(lengths))) == sorted(place for batch in found for place in batch)
    for batch in found:
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget
