"""Read and check the rules of a script for the scripted provider."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from pytest_xling.config.values import one_of
from pytest_xling.config.yaml import read_yaml
from pytest_xling.languages import find
from pytest_xling.records import StopReason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_xling.config.yaml import Place, YamlFile
    from pytest_xling.records import Request

ScriptedError: TypeAlias = Literal["rate_limited", "transient", "permanent"]

_KEYS = ("when", "text", "json", "times", "stop_reason", "error", "delay_s")
_MAX_TIMES = 100_000_000
_MAX_DELAY_S = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is answered to the requests it matches."""

    language: str | None = None
    sample_id: str | None = None
    """A shell pattern such as ``q00*``."""
    contains: str | None = None
    """Part of the last message."""
    text: str | None = None
    stop_reason: StopReason = "stop"
    error: ScriptedError | None = None
    """Raise this fault instead of answering."""
    delay_s: float = 0.0

    def matches(self, request: Request) -> bool:
        """Tell whether this rule is for *request*."""
        return (
            (self.language is None or self.language == request.language)
            and (self.sample_id is None or fnmatchcase(request.sample_id, self.sample_id))
            and (self.contains is None or self.contains in request.messages[-1].content)
        )


def read_script(path: Path) -> tuple[Rule, ...]:
    """Return the rules in the YAML file *path*, first match first.

    Raises:
        ConfigError: names the file, the line, the key and the fix.
    """
    file = read_yaml(path)
    file.entries(what="must have `rules:`", known=("rules",))
    rules = file.get("rules")
    if not isinstance(rules, list) or not rules:
        mistake = file.error("rules", what="must be a list of rules")
        raise mistake
    return tuple(_rule(file, ("rules", number)) for number in range(len(rules)))


def _rule(file: YamlFile, at: Place) -> Rule:
    rule = file.entries(*at, what=f"must be a mapping with {', '.join(_KEYS)}", known=_KEYS)
    when: dict[str, str] = {}
    if rule.get("when", {}) != {}:
        what = f"must be a mapping with {', '.join(_WHEN)}"
        named = file.entries(*at, "when", what=what, known=_WHEN)
        when = {key: file.read(*at, "when", key, by=_WHEN[key]) for key in named}
    text = file.optional(*at, "text", by=_text)
    if "json" in rule:
        if text is not None:
            raise file.error(*at, "json", what="give text or json, not both")
        text = file.read(*at, "json", by=_json)
    times = file.optional(*at, "times", by=_at_most(_MAX_TIMES))
    if times is not None and times != int(times):
        raise file.error(*at, "times", what=f"must be a whole number, not {times!r}")
    error = file.optional(*at, "error", by=one_of(*get_args(ScriptedError)))
    stop_reason = file.optional(*at, "stop_reason", by=one_of(*get_args(StopReason)))
    if text is None and error is None and stop_reason in {None, "stop", "length"}:
        what = "says nothing: give it a text, a stop_reason without text, or an error"
        raise file.error(*at, what=what)
    return Rule(
        **when,
        text=None if text is None else text * (1 if times is None else int(times)),
        stop_reason=cast("StopReason", stop_reason or "stop"),
        error=cast("ScriptedError | None", error),
        delay_s=file.optional(*at, "delay_s", by=_at_most(_MAX_DELAY_S)) or 0.0,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        msg = f"must be text, not {value!r}"
        raise ValueError(msg)  # noqa: TRY004  every wrong value is a ValueError here
    return value


def _json(value: object) -> str:
    try:
        read = json.loads(str(value))
    except ValueError as error:
        msg = f"not a JSON string: {error}"
        raise ValueError(msg) from error
    return _text(read)


def _at_most(most: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            msg = f"must be a number from 0 to {most}, not {value!r}"
            raise ValueError(msg)
        return value

    return read


_WHEN: Mapping[str, Callable[[object], str]] = {
    "language": lambda name: find(_text(name)).code,
    "sample_id": _text,
    "contains": _text,
}
