"""What a judge says of a response's stance towards a claim (UPHILL, section 3.4, appendix A.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.annotators.stance.pair import PairAnnotator, pair_of, stance_value
from pytest_xling.judging.annotator import JudgingAnnotator
from pytest_xling.languages import find
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["StanceLlm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceLlm(PairAnnotator, JudgingAnnotator):
    """Has a judge say whether a response agrees with a claim, disagrees, or neither.

    A chat model gives its reasoning, then the stance under a key that no response can know, so
    that what the judge quotes is no stance. Where its reply has none it is asked once more, and
    what cannot be read then is ``unparsed``. A judge that declines, or is filtered, gives no
    stance and is not ``unparsed``.

    A base model only continues a few examples: enough to see that everything runs, no more.
    """

    name = "stance_llm"
    version = "2"
    calibrated = True

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        PairAnnotator.__post_init__(self)
        JudgingAnnotator.__post_init__(self)

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return the stance a judge finds in *answer*, and its reasoning.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        pair = pair_of(answer, text_in=self.text_in)
        if isinstance(pair, str):
            return stance_value(None, reason=pair)
        if reason := self.too_long(pair.texts):
            return stance_value(None, reason=f"no stance: {reason}")
        # Imported when there is something to judge: where all stances are in the store it is not.
        from pytest_xling.annotators.stance.llm.prompts import stance_question  # noqa: PLC0415

        question = stance_question(pair, language=find(pair.language).english_name)
        verdict = await self.judge(question, ask)
        return stance_value(
            next((stance for stance in STANCES if stance == verdict.label), None),
            reason=f"no stance: {verdict.wrong}" if verdict.wrong else "",
            reasoning=verdict.reasoning,
            unparsed=verdict.unparsed,
        )
