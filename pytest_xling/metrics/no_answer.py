"""Whether there is no answer at all, and why."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_xling.interfaces.metric import Flag
from pytest_xling.records import Answer, Reading
from pytest_xling.text.display import printable

_CLEAR = Reading(value=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer(Flag[Answer]):
    """Flags what is no answer: an API error, a content filter, a refusal, an empty text.

    An error, a filter or a refusal that the provider reports is none even where some text came
    with it. White space alone is an empty text; a reply that is all thoughts has no other. A
    refusal in the model's own words, which no provider reports, is an answer here (see
    ``apology``).
    """

    name = "no_answer"
    version = "1"
    scores_missing = True

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        response = answer.response
        match response.stop_reason:
            case "error":
                reason = "API error"
            case "content_filter":
                reason = "content filter"
            case "refusal":
                reason = "refusal"
            case "length" | "stop" if response.tool_calls:
                return _CLEAR
            case "length" if not answer.text.strip():
                reason = f"{_empty(answer)}: the token limit was reached before any text"
            case "stop" if not answer.text.strip():
                reason = _empty(answer)
            case _:
                return _CLEAR
        message = response.error or (answer.text if response.stop_reason == "refusal" else "")
        if message.strip():
            reason += f": {printable(message)}"
        return Reading(value=1.0, reason=reason)


def _empty(answer: Answer) -> str:
    return "the answer is all thoughts" if answer.thoughts else "empty"
