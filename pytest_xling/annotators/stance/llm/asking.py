"""Ask a judge for a stance, and once more where its reply does not name one plainly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.annotators.stance.llm.prompts import (
    INSTRUCTIONS,
    completion_prompt,
    repair_prompt,
    stance_prompt,
)
from pytest_xling.annotators.stance.llm.reply import Judgement, continued, judgement
from pytest_xling.errors import ConfigError
from pytest_xling.records import Message
from pytest_xling.text.display import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.annotators.stance.pair import Pair
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Response
    from pytest_xling.text.stance import Stance

__all__ = ["Asked", "asked"]

_CONTINUED_TOKENS = 8
_LONGEST_SHOWN = 4_000
_QUOTED = 80
_NO_REPLY = {"content_filter", "refusal", "error"}
_NOT_IN_FORM = "it is not the JSON object that was asked for"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What asking a judge led to."""

    stance: Stance | None = None
    reasoning: str = ""
    reason: str = ""
    """Why there is no stance, quoting the reply."""
    unparsed: bool = False
    """There is a reply and no stance in it."""


async def asked(pair: Pair, *, language: str, ask: Ask, params: Mapping[str, JsonValue]) -> Asked:
    """Return the stance a judge finds, or why there is none.

    A chat model whose reply cannot be read, or only be guessed at, is asked once more. What was
    guessed counts where its second reply is worse.

    Args:
        pair: the claim and the response.
        language: English name of the language both should be in.
        ask: puts the question to the judge.
        params: of a chat model.

    Raises:
        ConfigError: that model can only translate.
        ProviderFault, BudgetExceeded: nothing was answered.
    """
    if ask.style == "completion":
        # A base model says the same again, so there is no repair.
        response = await ask(
            (Message(role="user", content=completion_prompt(pair)),),
            params={"temperature": 0.0, "max_tokens": _CONTINUED_TOKENS, "stop": ["\n"]},
        )
        return _outcome(continued(response.text or ""), response)
    if ask.style == "translation":
        msg = "the model named by --xling-judge only translates; name one that answers prompts"
        raise ConfigError(msg)
    prompt = stance_prompt(pair, language=language)
    response = await ask((Message(role="user", content=prompt),), params=params)
    first = _judged(response, pair)
    if first.sure or response.stop_reason in _NO_REPLY:
        return _outcome(first, response)
    prompt = repair_prompt(
        pair,
        language=language,
        reply=shorten(response.text or "", limit=_LONGEST_SHOWN),
        wrong=first.wrong or _NOT_IN_FORM,
    )
    again = await ask((Message(role="user", content=prompt),), params=params)
    second = _judged(again, pair)
    if second.stance is None and (first.stance or again.stop_reason in _NO_REPLY):
        return _outcome(first, response)
    return _outcome(second, again)


def _judged(response: Response, pair: Pair) -> Judgement:
    return judgement(
        response.text or "",
        given=(INSTRUCTIONS, pair.claim, pair.response),
        cut=response.stop_reason == "length",
    )


def _outcome(found: Judgement, response: Response) -> Asked:
    """Return *found*; what is wrong now quotes the reply, or says why there is none."""
    if response.stop_reason in _NO_REPLY:
        # Also with a stance in what a filter let through: it need not be the judge's last word.
        wrong = f"the judge did not reply ({response.stop_reason.replace('_', ' ')})"
    elif found.stance:
        return Asked(stance=found.stance, reasoning=found.reasoning)
    elif response.stop_reason == "length":
        wrong = f"the judge's reply was cut off at the token limit, and {found.wrong}"
    else:
        wrong = f"the judge's reply cannot be read, {found.wrong}"
    said = printable(response.text or response.error or "", limit=_QUOTED)
    return Asked(
        reason=f"no stance: {wrong}: {said!r}" if said else f"no stance: {wrong}",
        unparsed=response.stop_reason not in _NO_REPLY,
    )
