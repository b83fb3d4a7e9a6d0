"""Jobs, what came of them, and the answers that are scored."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_xling.keys import content_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.errors import XlingError
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, Reading, Request, Response, Sample, Turn


@dataclass(frozen=True)
class Scorable:
    """An answer with its content key, hashed once for all metrics."""

    answer: Answer

    @cached_property
    def key(self) -> bytes:
        """The content key of all that a metric may look at."""
        sample, response = self.answer.sample, self.answer.response
        looked_at: dict[str, JsonValue] = {
            "language": sample.language,
            "prompt": dict(sample.prompt),
            "reference": sample.reference,
            "text": response.text,
            "stop_reason": response.stop_reason,
            "error": response.error,
        }
        if sample.wrong:
            looked_at["wrong"] = list(sample.wrong)
        if response.thoughts:
            looked_at["thoughts"] = response.thoughts
        if sample.messages or sample.turns:
            looked_at["conversation"] = [
                message.key for turn in (sample.messages, *sample.turns) for message in turn
            ]
        if response.tool_calls:
            looked_at["tool_calls"] = [[c.name, c.arguments] for c in response.tool_calls]
        if response.first_token:
            looked_at["first_token"] = [list(pair) for pair in response.first_token]
        return content_key(looked_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One case to be evaluated."""

    case_id: str
    benchmark: str
    sample: Sample
    condition: str
    position: int
    request: Request
    metrics: tuple[str, ...]
    """Those that are about its sample."""
    beside: tuple[str, ...] = ()
    """Other metrics the run is scored with, which have nothing to say of it."""
    temperature: float | None = 0.0
    pivot: str | None = None
    """The language others are compared with, where the benchmark has one."""
    turns: tuple[Turn, ...] = ()
    """What is said after each of the model's replies; the answer is the reply to the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a job: a response and readings, or a fault.

    What metrics say of all repeats of a question stands with the first of them.
    """

    job: Job
    asked: Request | None = None
    """What was asked last: of a conversation with the model's replies in it."""
    response_key: bytes = b""
    """The content key of that; empty where the model is not asked."""
    response: Response | None = None
    scorable: Scorable | None = None
    readings: Mapping[str, Reading] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)
    fault: XlingError | None = None

    @property
    def request(self) -> Request:
        """What was asked last, or is to be asked first."""
        return self.asked or self.job.request


def missing_reason(answer: Answer) -> str:
    """Say why there is no answer, or return "" where there is one."""
    if answer.text.strip() or answer.response.tool_calls:
        return ""
    response = answer.response
    reasons = {
        "content_filter": "content filter",
        "refusal": "refusal",
        "error": "API error",
    }
    empty = "all thoughts" if response.thoughts else "empty text"
    return reasons.get(response.stop_reason, empty)
