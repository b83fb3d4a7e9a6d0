"""Answers from a script, for tests and documentation: always the same, never a model's."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, cast, get_args

from pytest_xling.config.values import one_of
from pytest_xling.errors import PermanentFault, RateLimited, TransientFault
from pytest_xling.languages import find
from pytest_xling.records import Response, StopReason, Usage
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_xling.config.yaml import Place, YamlFile
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, Request

ScriptedError: TypeAlias = Literal["rate_limited", "transient", "permanent"]

_FAULTS: dict[ScriptedError, type[RateLimited | TransientFault | PermanentFault]] = {
    "rate_limited": RateLimited,
    "transient": TransientFault,
    "permanent": PermanentFault,
}

_VERDICT_KEY = re.compile(r"verdict_[0-9a-f]{16}")

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


class ScriptedProvider:
    r"""Follows the rules of a script, or repeats the question.

    A script is YAML::

        rules:                    # the first that matches answers
          - when: {language: hi, sample_id: "q00*", contains: chess}
            text: "{question} ..."
            times: 20             # the text so many times over
            stop_reason: length
          - when: {contains: water}   # a judge's verdict, under the key its question asks for
            text: '{"reasoning": "So.", "{verdict_key}": "agree"}'
          - error: rate_limited   # or transient, permanent
            delay_s: 0.5
          - json: '"\ud800"'      # a text YAML cannot hold, as a JSON string

    Args:
        spec: the script's path; empty: repeat the question, which is an answer in its language.
        timeout_s: unused.
        device: unused.
    """

    name: ClassVar[str] = "scripted"
    style: ClassVar[PromptStyle] = "chat"
    paid: ClassVar[bool] = False
    max_connections: ClassVar[int] = 64

    def __init__(self, spec: str = "", *, timeout_s: float = 120.0, device: str = "auto") -> None:
        del timeout_s, device
        self._path = Path(spec) if spec else None
        self._rules: tuple[Rule, ...] | None = None if spec else ()
        self._sha256 = ""

    def check(self) -> None:
        """Read the script.

        Raises:
            ConfigError: names the file, the line, the key and the fix.
        """
        self._script()

    def _script(self) -> tuple[Rule, ...]:
        if self._rules is None:
            assert self._path is not None  # noqa: S101  without a path there are rules: none
            self._rules = _read_script(self._path)
            self._sha256 = hashlib.sha256(self._path.read_bytes()).hexdigest()
        return self._rules

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer: the script, the place and the question."""
        self._script()
        return {
            "script": self._sha256,
            "sample_id": request.sample_id,
            "language": request.language,
            "messages": [message.key for message in request.messages],
        }

    async def generate(self, request: Request) -> Response:
        """Answer as the first rule says that matches.

        Raises:
            RateLimited, TransientFault, PermanentFault: the rule says so, or no rule matches.
        """
        question = request.messages[-1].content
        rules = self._script()
        rule = next((rule for rule in rules if rule.matches(request)), None)
        if rule is None:
            if rules:
                msg = (
                    f"{self._path} has no rule for sample {request.sample_id!r} in "
                    f"{request.language!r}; add one without 'when' at its end"
                )
                raise PermanentFault(msg)
            return _response(question, question)
        if rule.delay_s:
            await asyncio.sleep(rule.delay_s)
        if rule.error is not None:
            msg = f"{self._path} says: {rule.error} for sample {request.sample_id!r}"
            raise _FAULTS[rule.error](msg)
        if rule.text is None:
            return Response(text=None, stop_reason=rule.stop_reason, error="scripted")
        return _response(question, _filled(rule.text, question), rule)

    async def aclose(self) -> None:
        """Do nothing: nothing is held."""


def _filled(text: str, question: str) -> str:
    keys = _VERDICT_KEY.findall(question)  # the last is ours: it stands behind all material
    return text.replace("{verdict_key}", keys[-1] if keys else "").replace("{question}", question)


def _response(question: str, text: str, rule: Rule | None = None) -> Response:
    return Response(
        text=clean(text),
        stop_reason="stop" if rule is None else rule.stop_reason,
        usage=Usage(prompt_tokens=len(question.split()), completion_tokens=len(text.split())),
        model_version="scripted",
    )


def _read_script(path: Path) -> tuple[Rule, ...]:
    """Return the rules in the YAML file *path*, first match first.

    Raises:
        ConfigError: names the file, the line, the key and the fix.
    """
    from pytest_xling.config.yaml import read_yaml  # noqa: PLC0415  brings ruamel

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
