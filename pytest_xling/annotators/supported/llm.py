"""Whether answers support each other's claims, by a judge (FActScore, section 3.3)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.annotators.supported.pairs import SupportAnnotator, checks_of
from pytest_xling.judging.annotator import JudgingAnnotator

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import AnswerSet

__all__ = ["SupportedLlm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportedLlm(SupportAnnotator, JudgingAnnotator):
    """Has a judge say of every claim whether the other answer supports it: yes or no.

    Equal pairs of a claim and a text are asked once in a run, whatever set they are of.
    """

    name = "supported_llm"
    version = "1"

    async def annotate(self, answers: AnswerSet, ask: Ask, /) -> JsonValue:
        """Return the claims of both sides with the judge's verdicts.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        checks = checks_of(answers, text_in=self.text_in)
        # Imported when there is something to judge: where all verdicts are in the store it is not.
        from pytest_xling.judging.support import support  # noqa: PLC0415

        params = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        outcomes = await asyncio.gather(
            *(support(each.claim, each.text, ask=ask, params=params) for each in checks.all)
        )
        return checks.value(dict(zip(checks.all, outcomes, strict=True)))
