"""What a judge says of the empathy a response expresses (Found in Translation, section 3.2)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.annotators.empathy.pair import PairAnnotator, empathy_value, pair_of
from pytest_xling.judging.annotator import JudgingAnnotator
from pytest_xling.languages import find
from pytest_xling.text.empathy import MECHANISMS, PRESENCES

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["EmpathyLlm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmpathyLlm(PairAnnotator, JudgingAnnotator):
    """Has a judge say of each mechanism whether a response has it.

    Each mechanism is a question of its own, all three asked side by side: a judge that finds one
    mechanism is not led to find the next, and a verdict that cannot be read costs one label, not
    three. How a verdict is given, and what cannot be read, is as for ``stance_llm``.

    A base model only continues a few examples: enough to see that everything runs, no more.
    """

    name = "empathy_llm"
    version = "1"
    calibrated = True

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        PairAnnotator.__post_init__(self)
        JudgingAnnotator.__post_init__(self)

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return the mechanisms a judge finds in *answer*, with its reasoning.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        pair = pair_of(answer, text_in=self.text_in)
        if isinstance(pair, str):
            return empathy_value({}, reason=pair)
        if reason := self.too_long(pair.texts):
            return empathy_value({}, reason=f"not judged: {reason}")
        # Imported when there is something to judge: where all is in the store it is not.
        from pytest_xling.annotators.empathy.llm.prompts import empathy_question  # noqa: PLC0415

        language = find(pair.language).english_name
        verdicts = await asyncio.gather(
            *(
                self.judge(empathy_question(pair, mechanism, language=language), ask)
                for mechanism in MECHANISMS
            )
        )
        judged = dict(zip(MECHANISMS, verdicts, strict=True))
        return empathy_value(
            {
                mechanism: next((each for each in PRESENCES if each == verdict.label), None)
                for mechanism, verdict in judged.items()
            },
            reason="; ".join(
                f"{mechanism} not judged: {verdict.wrong}"
                for mechanism, verdict in judged.items()
                if verdict.wrong
            ),
            reasoning={mechanism: verdict.reasoning for mechanism, verdict in judged.items()},
            unparsed=any(verdict.unparsed for verdict in verdicts),
        )
