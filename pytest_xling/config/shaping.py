"""Settings that decide what a run asks and how it is scored, and how those of two runs differ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_xling.config.settings import OPTIONS
from pytest_xling.config.values import SHARED
from pytest_xling.keys import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_xling.keys import JsonValue

ROLES = ("judge", "translator", "search")
"""Who is asked beside the model under test, as settings call them."""


def changed_settings(then: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> list[str]:
    """Say which settings that shape a run differ: ``--xling-seed was 0 and is 7``.

    Where data lie shapes none: what they say is compared by the keys of what is asked.

    Args:
        then: those of a run in a store, which may be by a version without some option.
        now: those of another, as they are kept or about to be.
    """
    now = json.loads(canonical_json(dict(now)))
    return [
        f"{entry.flag} was {_shown(then[key])} and is {_shown(now.get(key))}"
        for entry in OPTIONS
        if entry.shapes and (key := entry.field) in then and then[key] != now.get(key)
    ]


def upgraded(settings: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the settings of a stored run as this version keeps them, whichever version did."""
    kept: dict[str, Any] = dict(settings)
    before = {name: kept.pop(name) for name in SHARED if name in kept}
    said = {name: value for name, value in before.items() if value != SHARED[name].default}
    if before:
        kept["parameters"] = {**kept.get("parameters", {}), **said}
    if not isinstance(price := kept.get("price", {}), dict):
        named = {"model": price, **{role: kept.pop(f"{role}_price", None) for role in ROLES}}
        kept["price"] = {
            model: paid
            for role, paid_by_role in named.items()
            for model, paid in _of_each(kept.get(role) or kept.get("model"), paid_by_role)
        }
    return kept


def _of_each(models: JsonValue, prices: Any) -> Iterator[tuple[str, JsonValue]]:  # noqa: ANN401  JSON
    """Yield who has a role, each with its price, where there is one."""
    if prices is None:
        return
    if isinstance(models, list):
        yield from zip(models, prices, strict=False)
    elif isinstance(models, str):
        yield models, prices


def _shown(value: JsonValue) -> str:
    if value is None:
        return "not given"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else canonical_json(value)
