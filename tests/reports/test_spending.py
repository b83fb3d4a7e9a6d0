"""What a run cost: nothing is said to be free that only has no price."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.records import RunRecord
from pytest_xling.reports.spending import spent, unpriced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

PRICE: JsonValue = {"gpt-4o": [2.5, 10.0]}


def _run(model: str, settings: Mapping[str, JsonValue]) -> RunRecord:
    return RunRecord(
        run_id="run-1",
        model=model,
        created_at="2026-11-21T10:00:00.000+00:00",
        status="complete",
        settings=settings,
        versions={},
        git="",
        seed=0,
    )


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
    ],
)
def test_cost(model: str, settings: Mapping[str, JsonValue], cost: float, said: str) -> None:
    """Unknown where a model that is paid for has no price, and where its provider is gone."""
    assert said == spent(cost, unpriced(_run(model, settings)))


def test_every_price_that_lacks_is_named() -> None:
    """So that one more run tells."""
    run = _run("gpt-4o", {"judge": ["gpt-5", "gpt-4o"], "translator": "gpt-6"})
    assert ["gpt-4o", "gpt-5", "gpt-6"] == unpriced(run)
