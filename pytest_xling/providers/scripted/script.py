"""Read and check the rules of a script for the scripted provider."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, cast, get_args

from pytest_xling.config.yaml import read_yaml
from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.languages import find
from pytest_xling.records import StopReason

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.config.yaml import YamlFile
    from pytest_xling.records import Request

ScriptedError: TypeAlias = Literal["rate_limited", "transient", "permanent"]

_KEYS = ("when", "text", "json", "times", "stop_reason", "error", "delay_s")
_WHEN = ("language", "sample_id", "contains")
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
    for key in file.data:
        if key != "rules":
            what = f"unknown key.{did_you_mean(key, ['rules'])} Known: rules"
            raise file.error(key, what=what)
    rules = file.data.get("rules")
    if not isinstance(rules, list) or not rules:
        mistake = file.error("rules", what="must be a list of rules")
        raise mistake
    return tuple(_Reader(file, index).rule(rule) for index, rule in enumerate(rules))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the rule at one index."""

    file: YamlFile
    index: int

    def fail(self, *keys: str, what: str) -> NoReturn:
        mistake = self.file.error("rules", self.index, *keys, what=what)
        raise mistake

    def known(self, mapping: Any, keys: tuple[str, ...], *at: str) -> dict[str, Any]:  # noqa: ANN401
        if not isinstance(mapping, dict):
            self.fail(*at, what=f"must be a mapping with {', '.join(keys)}")
        for key in mapping:
            if key not in keys:
                what = f"unknown key.{did_you_mean(key, keys)} Known: {', '.join(keys)}"
                self.fail(*at, key, what=what)
        return mapping

    def choice(self, rule: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str | None:
        value = rule.get(key)
        if value is not None and value not in allowed:
            suggestion = did_you_mean(str(value), allowed)
            self.fail(key, what=f"{value!r} is unknown.{suggestion} Known: {', '.join(allowed)}")
        return cast("str | None", value)

    def number(self, rule: dict[str, Any], key: str, default: float, most: float) -> float:
        value = rule.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            self.fail(key, what=f"must be a number from 0 to {most}, not {value!r}")
        return value

    def rule(self, read: object) -> Rule:
        rule = self.known(read, _KEYS)
        when = self.known(rule.get("when", {}), _WHEN, "when")
        for key, value in when.items():
            if not isinstance(value, str):
                self.fail("when", key, what=f"must be text, not {value!r}")
        language = when.get("language")
        if language is not None:
            try:
                language = find(language).code
            except ConfigError as unknown:
                self.fail("when", "language", what=str(unknown))
        times = self.number(rule, "times", 1, _MAX_TIMES)
        if times != int(times):
            self.fail("times", what=f"must be a whole number, not {times!r}")
        text = self.text(rule)
        error = cast("ScriptedError | None", self.choice(rule, "error", get_args(ScriptedError)))
        stop_reason = cast(
            "StopReason | None", self.choice(rule, "stop_reason", get_args(StopReason))
        )
        if text is None and error is None and stop_reason in {None, "stop", "length"}:
            self.fail(what="says nothing: give it a text, a stop_reason without text, or an error")
        return Rule(
            language=language,
            sample_id=when.get("sample_id"),
            contains=when.get("contains"),
            text=None if text is None else text * int(times),
            stop_reason=stop_reason or "stop",
            error=error,
            delay_s=float(self.number(rule, "delay_s", 0.0, _MAX_DELAY_S)),
        )

    def text(self, rule: dict[str, Any]) -> str | None:
        text = rule.get("text")
        if "json" in rule:
            if text is not None:
                self.fail("json", what="give text or json, not both")
            try:
                text = json.loads(str(rule["json"]))
            except ValueError as error:
                self.fail("json", what=f"not a JSON string: {error}")
        if not isinstance(text, str | None):
            self.fail("json" if "json" in rule else "text", what=f"must be text, not {text!r}")
        return text
