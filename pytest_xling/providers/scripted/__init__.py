"""Answers from a script, for tests and documentation: always the same, never a model's."""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import PermanentFault, RateLimited, TransientFault
from pytest_xling.records import Response, Usage
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from pytest_xling.keys import JsonValue
    from pytest_xling.providers.scripted.script import Rule, ScriptedError
    from pytest_xling.records import PromptStyle, Request

__all__ = ["ScriptedProvider"]

_FAULTS: dict[ScriptedError, type[RateLimited | TransientFault | PermanentFault]] = {
    "rate_limited": RateLimited,
    "transient": TransientFault,
    "permanent": PermanentFault,
}

_VERDICT_KEY = re.compile(r"verdict_[0-9a-f]{16}")


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
            from pytest_xling.providers.scripted.script import read_script  # noqa: PLC0415  brings ruamel

            assert self._path is not None  # noqa: S101  without a path there are rules: none
            self._rules = read_script(self._path)
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
