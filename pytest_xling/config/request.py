"""Parameters that a user adds to each request, by the names of the provider's own interface."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue

_OWN_OPTIONS = {
    "max_completion_tokens": "--xling-max-tokens",
    "max_tokens": "--xling-max-tokens",
    "messages": "system, messages and turns in prompts.yaml or in rows",
    "model": "--model",
    "n": "--xling-samples",
    "seed": "--xling-seed",
    "temperature": "--xling-temperatures",
    "top_logprobs": "top_logprobs in prompts.yaml",
}
"""Parameters with an option or a key of their own, which runs and gates depend on."""
_NEVER = {"stream": "answers are read whole", "stop": "it would cut answers"}


def request_item(text: str) -> tuple[str, JsonValue]:
    """Parse a parameter of each request: ``top_p=0.9`` or ``a.b=true``, JSON or a text."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not all(name.split(".")):
        msg = f"{text!r} is not NAME=VALUE; write such as top_p=0.9, or reasoning.effort=low"
        raise ValueError(msg)
    try:
        parsed: JsonValue = json.loads(value, parse_constant=_no_number)
    except ValueError:
        if value.lstrip()[:1] in {"{", "["}:
            msg = f"{name}: {value!r} is no JSON"
            raise ValueError(msg) from None
        parsed = value
    request({name.split(".")[0]: None})
    return name, parsed


def request(value: object) -> dict[str, JsonValue]:
    """Check the parameters that prompts.yaml adds to each request."""
    if not isinstance(value, dict) or not value:
        msg = "needs parameters by name, such as {top_p: 0.9}"
        raise ValueError(msg)
    for name in value:
        if name in _OWN_OPTIONS:
            msg = f"{name} is not for here: say {_OWN_OPTIONS[name]}"
            raise ValueError(msg)
        if name in _NEVER:
            msg = f"{name} is not for here: {_NEVER[name]}"
            raise ValueError(msg)
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        msg = f"needs what JSON can hold: {error}"
        raise ValueError(msg) from error
    return value


def nested(flat: Mapping[str, JsonValue], base: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return *base* with each value of *flat* at the place that its dotted name says.

    Raises:
        ValueError: a dotted name leads through a value that is no mapping.
    """
    merged = json.loads(json.dumps(dict(base)))
    for name, value in flat.items():
        *path, last = name.split(".")
        inner = merged
        for part in path:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                msg = f"{name}: {part} is {inner!r}, which has no names below it"
                raise ValueError(msg)  # noqa: TRY004  every wrong value is a ValueError here
        inner[last] = value
    return dict(merged)


def _no_number(text: str) -> float:
    raise ValueError(text)
