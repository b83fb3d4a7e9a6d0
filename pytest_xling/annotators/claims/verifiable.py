"""The verifiable claims of an answer, sentence by sentence (VeriScore, §3.1; CaLMQA, §3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_xling.annotators.claims import Claims

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.interfaces.metric import TextIn
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiableClaims(Claims):
    """Has a judge list the claims of an answer that sources could confirm or refute, in English.

    Opinions, advice, guesses and private experience are none. The judge reads one sentence at a
    time, with the question, three sentences before and one after. Nobody is asked about an answer
    with surface issues (``surface_issues``): it has no list, and ``reason`` says so. Values are as
    those of ``claims``; an answer that declines has an empty list.
    """

    name = "verifiable_claims"
    version = "2"
    verifiable = True

    text_in: TextIn = field(default="english", init=False)
    """Claims are English whatever ``text_in`` says: evidence is in one language."""
    window: int = 1
    before: int = 3
    after: int = 1

    @property
    def needs(self) -> tuple[str, ...]:
        """The surface issues, what language answers are in, and the translation."""
        return ("surface_issues", "language_id", "translate")

    def question(self, answer: Answer, /) -> str:
        """Return the question, in English where the sample has that."""
        prompt = answer.sample.prompt
        return (prompt.get("question_english") or prompt.get("question") or "").strip()

    def looks_at(self, answer: Answer, /) -> JsonValue:
        """Return the answer, the text that is read, the question, and the issues."""
        inputs: Any = Claims.looks_at(self, answer)
        return {**inputs, "question": self.question(answer), "issues": _issues(answer)}

    async def annotate(self, answer: Answer, ask: Ask, /) -> JsonValue:
        """Return the claims of *answer*.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        if issues := _issues(answer):
            return {"claims": None, "reason": f"surface issue: {issues[0]}"}
        return await Claims.annotate(self, answer, ask)


def _issues(answer: Answer) -> list[str]:
    value: Any = answer.annotations["surface_issues"].value
    return list(value["issues"])
