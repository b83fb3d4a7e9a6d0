"""Overlapping windows over a long text."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.encoders.reading import merged, windows


def test_hand_worked() -> None:
    """Windows of 10 every 5 over 23 tokens; the last one ends where the text does."""
    assert [(0, 10), (5, 15), (10, 20), (13, 23)] == windows(23, size=10, stride=5)


def test_short_text_has_one_window() -> None:
    """A text that fits is not cut, however short."""
    assert [(0, 0)] == windows(0, size=4, stride=2)
    assert [(0, 4)] == windows(4, size=4, stride=2)


@given(st.integers(1, 300), st.integers(2, 40))
def test_windows_cover_the_text(length: int, size: int) -> None:
    """Every token is in a window, no window is longer than it may be, and each goes further."""
    spans = windows(length, size=size, stride=max(1, size // 2))
    covered = {token for start, end in spans for token in range(start, end)}
    assert set(range(length)) == covered
    assert all(0 < end - start <= size for start, end in spans)
    assert spans == sorted(set(spans))


@given(st.integers(1, 120), st.integers(4, 20))
def test_merged_takes_each_token_where_it_is_least_at_the_edge(length: int, size: int) -> None:
    """A token's window is one with the most tokens on its shorter side, the text's ends aside."""
    head, tail, stride = 1, 1, size // 2
    spans = windows(length, size=size, stride=stride)
    # The state says which window and token it is of.
    parts = [
        np.array([[n, -1], *([n, token] for token in range(*span)), [n, -2]], np.float32)
        for n, span in enumerate(spans)
    ]
    states = merged(spans, parts, head=head, tail=tail)
    assert list(range(length)) == states[1:-1, 1].astype(int).tolist()
    for token, window in enumerate(states[1:-1, 0].astype(int).tolist()):

        def room(number: int, token: int = token) -> float:
            start, end = spans[number]
            left = token - start if start else np.inf
            right = end - 1 - token if end < length else np.inf
            return float(min(left, right))

        holding = [n for n, (start, end) in enumerate(spans) if start <= token < end]
        assert max(map(room, holding)) <= room(window) + 1


def test_special_tokens_get_the_mean() -> None:
    """Those at the ends stand there once, with the mean of what the windows have for them."""
    spans = [(0, 2), (1, 3)]
    parts = [np.array([[0], [5], [6], [2]], np.float32), np.array([[4], [7], [8], [6]], np.float32)]
    assert [[2], [5], [7], [8], [4]] == merged(spans, parts, head=1, tail=1).tolist()
