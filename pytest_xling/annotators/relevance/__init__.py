"""What a judge says of an answer's relevance to its question (CaLMQA, section 3.1, Figure 15)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.judging.annotator import JudgingAnnotator
from pytest_xling.languages import find
from pytest_xling.text.answer_text import (
    ENGLISH,
    ReadingAnnotator,
    needs_of,
    readable,
    unanswered,
)

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["BUNDLED_PAIRS", "LABELS", "Pair", "RelevanceLlm"]

LABELS: Final = ("relevant", "irrelevant")
BUNDLED_PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
"""Labelled questions and answers, to measure on."""
_SURFACE_ISSUES = "surface_issues"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A question and an answer."""

    question: str
    answer: str
    language: str
    """Code of the language the answer should be in."""

    @property
    def texts(self) -> dict[str, str]:
        """Both texts by name."""
        return {"question": self.question, "answer": self.answer}


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceLlm(ReadingAnnotator, JudgingAnnotator):
    """Has a judge say whether an answer is a genuine attempt at its question.

    A value has ``relevant``, None where that is not known; ``reason``, why it is not;
    ``reasoning``, the judge's; and ``unparsed``: there is an answer, and the judge's reply about it
    cannot be read. Whether what an answer says is true does not count. A bare refusal, a repeated
    or translated question and the answer to another question are not relevant.

    As in the paper nobody is asked about answers with surface issues, such as another language
    than the question's. A base model only continues a few examples: enough to see that everything
    runs, no more.
    """

    name = "relevance_llm"
    version = "1"
    calibrated = True
    labelled = "relevant"

    clean_only: bool = True
    """Leave out answers in which the annotator ``surface_issues`` finds any."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        ReadingAnnotator.__post_init__(self)
        JudgingAnnotator.__post_init__(self)

    @property
    def needs(self) -> tuple[str, ...]:
        """The surface issues, and the translation, where they count."""
        issues = (_SURFACE_ISSUES,) if self.clean_only else ()
        return (*issues, *needs_of(self.text_in))

    @staticmethod
    def label(value: JsonValue, _aspect: str = "", /) -> str | None:
        """Return what *value* says of the answer: one of :data:`LABELS`."""
        read: Any = value
        return {True: "relevant", False: "irrelevant"}.get(read["relevant"])

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return the question and the answer that are read, or why none are."""
        pair = self._pair_or_why(answer)
        return {"reason": pair} if isinstance(pair, str) else asdict(pair)

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return whether a judge finds *answer* relevant, and its reasoning.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        pair = self._pair_or_why(answer)
        if isinstance(pair, str):
            return _value(reason=pair)
        if reason := self.too_long(pair.texts):
            return _value(reason=f"not judged: {reason}")
        # Imported when there is something to judge: where all verdicts are in the store it is not.
        from pytest_xling.annotators.relevance.prompts import relevance_question  # noqa: PLC0415

        language = find(pair.language).english_name
        question = relevance_question(**pair.texts, language=language, labels=LABELS)
        verdict = await self.judge(question, ask)
        return _value(
            relevant={"relevant": True, "irrelevant": False}.get(verdict.label or ""),
            reason=f"not judged: {verdict.wrong}" if verdict.wrong else "",
            reasoning=verdict.reasoning,
            unparsed=verdict.unparsed,
        )

    def _pair_or_why(self, answer: Answer) -> Pair | str:
        """Return what is read of *answer*; where nothing is, the reason in words.

        The question is the sample's prompt field ``question``. With ``text_in="english"`` it is
        ``question_english`` where the sample has that, and the answer its annotation
        ``translate``.
        """
        if self.clean_only and (issues := _issues(answer)):
            return f"not judged: {issues[0]}"
        if wrong := unanswered(answer):
            return wrong
        prompt = answer.sample.prompt
        question = prompt.get("question", "")
        if not question.strip():
            return "the sample has no question"
        if self.text_in == "native" or answer.language == ENGLISH:
            return Pair(question=question, answer=answer.text, language=answer.language)
        translated = readable(answer, text_in=self.text_in)
        if translated.text is None or not translated.text.strip():
            return f"no translation: {translated.reason or 'empty'}"
        english = prompt.get("question_english", "")
        return Pair(question=english or question, answer=translated.text, language=ENGLISH)


def _issues(answer: Answer) -> list[str]:
    read: Any = answer.annotations[_SURFACE_ISSUES].value
    issues: list[str] = read["issues"]
    return issues


def _value(
    *,
    relevant: bool | None = None,
    reason: str = "",
    reasoning: str = "",
    unparsed: bool = False,
) -> JsonValue:
    return {"relevant": relevant, "reason": reason, "reasoning": reasoning, "unparsed": unparsed}
