"""What a run cost: nothing is said to be free that only has no price."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.records import RunRecord
from pytest_xling.reports.terminal.spending import spent, unpriced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

PRICE = [2.5, 10.0]


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
        ("gpt-4o", {"price": None}, 0.0, "cost unknown: no --xling-price"),
        ("gpt-4o", {"price": PRICE}, 0.0, ""),
        ("embedded", {"price": None}, 0.0, ""),
        ("embedded", {"judge": "gpt-4o"}, 0.0, "cost unknown: no --xling-judge-price"),
        (
            "gpt-4o",
            {"price": PRICE, "translator": "gpt-4o", "translator_price": None},
            1.25,
            "$1.25 spent; cost unknown: no --xling-translator-price",
        ),
        ("gone:m", {"price": None}, 0.0, "cost unknown: no --xling-price"),
    ],
)
def test_cost(model: str, settings: Mapping[str, JsonValue], cost: float, said: str) -> None:
    """Unknown where a model that is paid for has no price, and where its provider is gone."""
    assert said == spent(_run(model, settings), cost)


def test_every_price_that_lacks_is_named() -> None:
    """So that one more run tells."""
    run = _run("gpt-4o", {"judge": "gpt-4o", "translator": "gpt-4o"})
    expected = ["--xling-price", "--xling-judge-price", "--xling-translator-price"]
    assert expected == unpriced(run)
