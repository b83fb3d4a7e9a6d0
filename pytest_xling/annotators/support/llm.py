"""Whether a text supports a claim, by a judge (FActScore, section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.annotators.support import SupportAnnotator, pair_of, support_value
from pytest_xling.judging.annotator import JudgingAnnotator

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportLlm(SupportAnnotator, JudgingAnnotator):
    """Has a judge say whether a text supports a claim: yes or no.

    A value has ``supported`` (None where that is not known; ``reason`` then says why) and ``p``,
    the probability of yes against no as the reply's first word, where the judge's server gives
    log-probabilities. A reply that is not one word is asked for once more. A base model only
    continues a few examples: enough to see that everything runs, no more.
    """

    name = "support_llm"
    version = "2"

    async def annotate(self, answer: Answer, ask: Ask, /) -> JsonValue:
        """Return whether the text of *answer* supports the claim it came with.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        pair = pair_of(answer)
        if reason := self.too_long({"claim": pair.claim, "text": pair.text}):
            return support_value(reason=reason)
        # Imported when there is something to judge: where all verdicts are in the store it is not.
        from pytest_xling.annotators.support.asking import support  # noqa: PLC0415

        return await support(pair, ask=ask, params=self.params)
