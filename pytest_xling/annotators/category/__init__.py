"""What a question is about, by a judge, in the categories of CaLMQA (appendix B, Table 12)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.judging.annotator import JudgingAnnotator
from pytest_xling.languages import find
from pytest_xling.text.categories import CATEGORIES

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, Sample

__all__ = ["BUNDLED_QUESTIONS", "CategoryLlm"]

BUNDLED_QUESTIONS: Final = Path(__file__).with_name("questions.jsonl")
"""Labelled questions, to measure on."""
_ENGLISH = "en"
_CALLED = {"question": "question", "english": "English version"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryLlm(JudgingAnnotator):
    """Has a judge put a question into one category; the answer to it does not matter.

    A value has ``category``, its name in CaLMQA's data, or None; ``reasoning``, the judge's;
    ``reason``, why there is no category; and ``unparsed``, whether there is a reply in which none
    can be read. The judge is given the English version as well, where the sample has one, as
    CaLMQA's was: under ``question_english`` in the prompt, or ``english`` in the metadata.

    A chat model gives its reasoning, then the category under a key that no question can know; where
    its reply has none of ours it is asked once more. A base model only continues a few examples:
    enough to see that everything runs, no more.
    """

    name = "category_llm"
    version = "1"
    calibrated = True
    labelled = "category"

    @staticmethod
    def label(value: JsonValue, _aspect: str = "", /) -> str | None:
        """Return the category."""
        read: Any = value
        category: str | None = read["category"]
        return category

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return the question, its English version and its language; not the answer."""
        return {**_texts(answer.sample), "language": answer.sample.asked_in}

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return the category a judge finds, and its reasoning.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        texts = _texts(answer.sample)
        if not texts["question"].strip():
            return _value(reason="the sample has no question")
        if wrong := self.too_long({_CALLED[name]: text for name, text in texts.items()}):
            return _value(reason=wrong)
        # Imported when there is something to judge: where all is in the store it is not.
        from pytest_xling.annotators.category.prompts import category_question  # noqa: PLC0415

        language = find(answer.sample.asked_in).english_name
        verdict = await self.judge(category_question(**texts, language=language), ask)
        return _value(
            CATEGORIES.get(verdict.label or ""),
            reason=verdict.wrong,
            reasoning=verdict.reasoning,
            unparsed=verdict.unparsed,
        )


def _texts(sample: Sample) -> dict[str, str]:
    """Return the question and, where it is in another language and there is one, its English."""
    texts = {"question": sample.prompt.get("question", "")}
    english = sample.prompt.get("question_english") or sample.metadata.get("english") or ""
    if english.strip() and sample.asked_in != _ENGLISH:
        texts["english"] = english
    return texts


def _value(
    category: str | None = None, *, reason: str = "", reasoning: str = "", unparsed: bool = False
) -> JsonValue:
    return {"category": category, "reasoning": reasoning, "reason": reason, "unparsed": unparsed}
