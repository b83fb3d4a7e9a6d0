"""Have two answers compared once, and once more where the judge's reply cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.annotators.correctness_label.prompts import (
    completion_prompt,
    judge_prompt,
    repair_prompt,
)
from pytest_xling.annotators.correctness_label.reply import Verdict, continued, structured
from pytest_xling.errors import ConfigError
from pytest_xling.records import Message
from pytest_xling.text.display import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Response

__all__ = ["compared"]

_CONTINUED_TOKENS = 8
_LONGEST_SHOWN = 4_000
_QUOTED = 80


async def compared(
    *,
    question: str,
    first: str,
    second: str,
    language: str,
    ask: Ask,
    params: Mapping[str, JsonValue],
) -> Verdict:
    """Return the judge's label for *second* beside *first*; without one, what is wrong.

    Args:
        question: what both answer.
        first: the answer that is the measure.
        second: the answer that is judged.
        language: English name of the language they should be in.
        ask: puts the question to the judge.
        params: of a chat model.

    Raises:
        ConfigError: that model can only translate.
        ProviderFault, BudgetExceeded: nothing was answered.
    """
    if ask.style == "completion":
        prompt = completion_prompt(question=question, first=first, second=second)
        # A base model says the same again, so there is no repair.
        response = await ask(
            (Message(role="user", content=prompt),),
            params={"temperature": 0.0, "max_tokens": _CONTINUED_TOKENS, "stop": ["\n"]},
        )
        return _quoting(continued(response.text or ""), response)
    if ask.style == "translation":
        msg = "the model named by --xling-judge only translates; name one that answers prompts"
        raise ConfigError(msg)
    prompt = judge_prompt(question=question, first=first, second=second, language=language)
    response = await ask((Message(role="user", content=prompt),), params=params)
    verdict = structured(response.text or "")
    if verdict.label or response.stop_reason in {"content_filter", "refusal", "error"}:
        return _quoting(verdict, response)
    prompt = repair_prompt(
        question=question,
        first=first,
        second=second,
        language=language,
        reply=shorten(response.text or "", limit=_LONGEST_SHOWN),
        wrong=verdict.wrong,
    )
    response = await ask((Message(role="user", content=prompt),), params=params)
    return _quoting(structured(response.text or ""), response)


def _quoting(verdict: Verdict, response: Response) -> Verdict:
    """Return *verdict*; what is wrong now quotes the reply, or says why there is none."""
    if verdict.label:
        return verdict
    match response.stop_reason:
        case "content_filter" | "refusal" | "error":
            wrong = f"the judge did not reply ({response.stop_reason.replace('_', ' ')})"
        case "length":
            wrong = f"the judge's reply was cut off at the token limit, and {verdict.wrong}"
        case "stop":
            wrong = f"the judge's reply cannot be read, {verdict.wrong}"
    said = printable(response.text or response.error or "", limit=_QUOTED)
    return Verdict(wrong=f"{wrong}: {said!r}" if said else wrong)
