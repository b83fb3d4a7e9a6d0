"""Have one sentence translated, and again while what comes is degenerate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.annotators.translate.faults import fault, translation
from pytest_xling.annotators.translate.prompts import limits, prompt
from pytest_xling.records import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue

__all__ = ["Translated", "translated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Translated:
    """What became of one sentence."""

    text: str
    fault: str
    """What is wrong with the last try; "" where nothing is."""
    tries: int


async def translated(
    sentence: str,
    *,
    source: str,
    target: str,
    ask: Ask,
    how: Mapping[str, JsonValue],
    anew: Mapping[str, JsonValue],
    tries: int,
) -> Translated:
    """Return a translation of *sentence*.

    Args:
        sentence: one line.
        source: code of the language it should be in.
        target: code of the language it is wanted in.
        ask: puts the question to the translator.
        how: parameters of the first try.
        anew: parameters of all others, which have a seed each.
        tries: how many others there may be.

    Raises:
        ProviderFault, BudgetExceeded: nothing was answered.
    """
    messages = (
        Message(
            role="user", content=prompt(sentence, source=source, target=target, style=ask.style)
        ),
    )
    given = limits(sentence, source=source, target=target, style=ask.style)
    again = 0
    while True:
        sampling = {**anew, "seed": again} if again else how
        response = await ask(messages, params={**given, **sampling}, repeat=again)
        wrong = fault(response, sentence=sentence, source=source, target=target)
        if not wrong or again == tries:
            return Translated(text=translation(response), fault=wrong, tries=again + 1)
        again += 1
