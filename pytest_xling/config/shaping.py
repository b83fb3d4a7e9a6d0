"""Settings that decide what a run asks and how it is scored, and how those of two runs differ."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from pytest_xling.config.options import option
from pytest_xling.keys import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

SHAPING: Final = {
    "model": "model",
    "languages": "langs",
    "samples": "samples",
    "temperatures": "temperatures",
    "limit": "limit",
    "seed": "seed",
    "model_version": "model-version",
    "max_tokens": "max-tokens",
    "request": "request",
    "judge": "judge",
    "judge_repeats": "judge-repeats",
    "translator": "translator",
    "search": "search",
    "text_in": "text-in",
    "encoder": "encoder",
    "stance": "stance",
    "empathy": "empathy",
    "support": "support",
    "parameters": "param",
    "stop_early": "stop-early",
    "shard": "shard",
}
"""Settings that decide what is asked and how it is scored, and the options that say them.

Not where data lie: what they say is compared by the keys of what is asked."""


def changed_settings(then: Mapping[str, JsonValue], now: Mapping[str, JsonValue]) -> list[str]:
    """Say which settings that shape a run differ: ``--xling-seed was 0 and is 7``.

    Args:
        then: those of a run in a store, which may be by a version without some option.
        now: those of another, as they are kept or about to be.
    """
    now = json.loads(canonical_json(dict(now)))
    return [
        f"{option(name).flag} was {_shown(then[key])} and is {_shown(now.get(key))}"
        for key, name in SHAPING.items()
        if key in then and then[key] != now.get(key)
    ]


def _shown(value: JsonValue) -> str:
    if value is None:
        return "not given"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else canonical_json(value)
