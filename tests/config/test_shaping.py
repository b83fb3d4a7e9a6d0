"""Settings of stored runs: what shapes a run, and those that earlier versions kept."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_xling.config.settings import Settings
from pytest_xling.config.shaping import changed_settings, upgraded


def test_what_was_kept_is_read_as_it_is_kept_now() -> None:
    """Options that are parameters or prices of models now; what is new already stays."""
    who: dict[str, Any] = {"model": "m", "judge": ["a", "b"], "translator": "t", "search": None}
    prices = {"price": [2, 8], "judge_price": [[1, 2], [3, 4]], "translator_price": None}
    shared = {"stance": "llm", "empathy": "head", "text_in": "english", "judge_repeats": 1}
    own = {"bertscore.idf": True}
    then: dict[str, Any] = {
        **who,
        **prices,
        "search_price": None,
        **shared,
        "parameters": {"bertscore.idf": True},
    }
    now: dict[str, Any] = {
        **who,
        "parameters": {**own, "stance": "llm", "text_in": "english"},
        "price": {"m": [2, 8], "a": [1, 2], "b": [3, 4]},
    }
    assert now == upgraded(then)
    assert now == upgraded(now)
    assert {} == upgraded({})


@pytest.mark.parametrize(
    ("judge", "price", "expected"),
    [("a", [1, 2], {"a": [1, 2]}), (None, [1, 2], {"m": [1, 2]}), ("a", None, {})],
)
def test_the_price_of_one_judge(
    judge: str | None, price: list[int] | None, expected: object
) -> None:
    """It is the judge's, who is the model under test where none is named."""
    then: dict[str, Any] = {"model": "m", "price": None, "judge": judge, "judge_price": price}
    assert expected == upgraded(then)["price"]


def test_what_shapes_a_run_is_named() -> None:
    """A run goes on only with the same; what changes no answer and no score may differ."""
    then = Settings(model="m", judge=("a",)).as_json()
    now = Settings(model="m", judge=("a",), seed=7, timeout_s=3.0).as_json()
    assert ["--xling-seed was 0 and is 7"] == changed_settings(then, now)
