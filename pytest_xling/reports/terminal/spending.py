"""What a run cost, and whether that is known at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling import registry
from pytest_xling.engine.models import provider_of
from pytest_xling.errors import ConfigError
from pytest_xling.store.answers import tokens_of
from pytest_xling.store.runs import total_progress

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord

_PRICES = {
    "model": "--xling-price",
    "judge": "--xling-judge-price",
    "translator": "--xling-translator-price",
    "search": "--xling-search-price",
}


def unpriced(run: RunRecord) -> list[str]:
    """Return the options that would have said what the run's models cost; none of free ones."""
    settings = run.settings
    asked = {
        "model": run.model,
        **{role: settings.get(role) for role in _PRICES if role != "model"},
    }
    return [
        option
        for role, option in _PRICES.items()
        if settings.get("price" if role == "model" else f"{role}_price") is None
        and any(map(_is_paid, _names(asked[role])))
    ]


def _names(asked: JsonValue) -> list[str]:
    """Return the names of who has a role: nobody, one, or several."""
    return [
        name for name in (asked if isinstance(asked, list) else [asked]) if isinstance(name, str)
    ]


def _is_paid(model: str) -> bool:
    """Tell whether asking a model costs money; of one whose provider is gone, that it may."""
    try:
        paid: bool = registry.load("provider", provider_of(model)[0]).paid
    except ConfigError:
        return True
    return paid


def spent(run: RunRecord, cost_usd: float) -> str:
    """Word what a run cost: ``$1.25``, ``cost unknown: no --xling-price``; empty where nothing."""
    known = f"${cost_usd:,.2f} spent" if cost_usd else ""
    lacks = unpriced(run)
    unknown = f"cost unknown: no {' and no '.join(lacks)}" if lacks else ""
    return "; ".join(filter(None, (known, unknown)))


def counted_by_us(connection: Connection, run_id: str) -> str:
    """Say of how many answers that were paid for the tokens are our own count; "" of none."""
    if not total_progress(connection, run_id).cost_usd:
        return ""
    estimated = tokens_of(connection, run_id).estimated
    if not estimated:
        return ""
    answers = "1 answer" if estimated == 1 else f"{estimated:,} answers"
    return f"tokens of {answers} counted by us: the server sent none that can be believed"
