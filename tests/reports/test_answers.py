"""What a run cost: nothing is said to be free that only has no price."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.reports.answers import spent, unpriced
from tests.runs import RUN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord

PRICE: JsonValue = {"gpt-4o": [2.5, 10.0]}


def _run(model: str, settings: Mapping[str, JsonValue]) -> RunRecord:
    return replace(RUN, model=model, settings=settings, status="complete")


@pytest.mark.parametrize(
    ("model", "settings", "cost", "said"),
    [
        ("gpt-4o", {"price": PRICE}, 1.25, "$1.25 spent"),
        ("gpt-4o", {"price": {}}, 0.0, "cost unknown: no --xling-price of gpt-4o"),
        ("gpt-4o", {"price": PRICE}, 0.0, ""),
        ("embedded", {}, 0.0, ""),
        ("embedded", {"judge": "gpt-5"}, 0.0, "cost unknown: no --xling-price of gpt-5"),
        (
            "gpt-4o",
            {"price": PRICE, "translator": "gpt-5"},
            1.25,
            "$1.25 spent; cost unknown: no --xling-price of gpt-5",
        ),
        ("gone:m", {"price": {}}, 0.0, "cost unknown: no --xling-price of gone:m"),
        ("gpt-4o", {"model": "transcript:answers.jsonl"}, 0.0, ""),
    ],
)
def test_cost(model: str, settings: Mapping[str, JsonValue], cost: float, said: str) -> None:
    """Unknown where a model that is paid for has no price, and where its provider is gone.

    Stored answers cost nothing, whoever gave them.
    """
    assert said == spent(cost, unpriced(_run(model, settings)))


def test_every_price_that_lacks_is_named() -> None:
    """So that one more run tells."""
    run = _run("gpt-4o", {"judge": ["gpt-5", "gpt-4o"], "translator": "gpt-6"})
    assert ["gpt-4o", "gpt-5", "gpt-6"] == unpriced(run)
