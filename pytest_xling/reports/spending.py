"""What a run cost, and whether that is known at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling import registry
from pytest_xling.config.settings import price_of
from pytest_xling.config.shaping import ROLES
from pytest_xling.errors import ConfigError
from pytest_xling.text.numbers import dollars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord


def unpriced(run: RunRecord) -> list[str]:
    """Return the models of a run whose price nobody said; none that are free."""
    prices: Any = run.settings.get("price") or {}
    asked = [run.model, *(name for role in ROLES for name in _names(run.settings.get(role)))]
    return [
        name for name in dict.fromkeys(asked) if price_of(name, prices) is None and _is_paid(name)
    ]


def _names(asked: JsonValue) -> list[str]:
    """Return the names of who has a role: nobody, one, or several."""
    return [
        name for name in (asked if isinstance(asked, list) else [asked]) if isinstance(name, str)
    ]


def _is_paid(model: str) -> bool:
    """Tell whether asking a model costs money; of one whose provider is gone, that it may."""
    from pytest_xling.engine.models import provider_of  # noqa: PLC0415  imports all that asks

    try:
        paid: bool = registry.load("provider", provider_of(model)[0]).paid
    except ConfigError:
        return True
    return paid


def spent(cost_usd: float, lacks: Sequence[str]) -> str:
    """Word what a run cost, ``$1.25 spent``, or whose price is not known; "" where nothing."""
    known = f"{dollars(cost_usd)} spent" if cost_usd else ""
    unknown = f"cost unknown: no --xling-price of {', '.join(lacks)}" if lacks else ""
    return "; ".join(filter(None, (known, unknown)))
