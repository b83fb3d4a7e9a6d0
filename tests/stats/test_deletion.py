"""Listwise deletion."""

from __future__ import annotations

from pytest_xling.stats.clusters import listwise


def test_samples_that_all_have() -> None:
    """What one group lacks counts in none; the order is the first group's."""
    groups = {
        "en": {"q3": 0.3, "q1": 0.1, "q2": 0.2},
        "hi": {"q1": 0.5, "q3": 0.6},
        "zh": {"q1": 0.7, "q2": 0.8, "q3": 0.9},
    }
    expected = {
        "en": {"q3": 0.3, "q1": 0.1},
        "hi": {"q3": 0.6, "q1": 0.5},
        "zh": {"q3": 0.9, "q1": 0.7},
    }
    found = listwise(groups)
    assert expected == found
    assert ["q3", "q1"] == list(found["hi"])


def test_nothing_in_common() -> None:
    """A group without any value leaves none to the others; no groups stay none."""
    assert {"en": {}, "hi": {}} == listwise({"en": {"q1": 1.0}, "hi": {}})
    assert {} == listwise({})
