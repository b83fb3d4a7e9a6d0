"""What a judge says of an answer beside the expert's (XLingEval, section 3.1 and Table 1)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pytest_xling.judging.annotator import JudgingAnnotator
from pytest_xling.languages import find

if TYPE_CHECKING:
    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.judging.verdict import Verdict
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["BUNDLED_PAIRS", "LABELS", "CorrectnessLabel"]

LABELS: Final = ("contradictory", "dissimilar", "more_comprehensive", "less_comprehensive")
BUNDLED_PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
"""Labelled answers beside references, to measure on."""
_MIRRORED = {
    "more_comprehensive": "less_comprehensive",
    "less_comprehensive": "more_comprehensive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectnessLabel(JudgingAnnotator):
    """Has a judge compare an answer with the sample's reference.

    A value has ``label``: ``contradictory``, ``dissimilar`` (neither contradictory nor similar),
    ``more_comprehensive`` or ``less_comprehensive`` (and appropriate), or None; ``reasoning``, the
    judge's; ``reason``, why there is no label; and ``swapped``, the label found with the positions
    of the two answers exchanged, or None.

    The judge does not learn which answer is whose. A chat model gives its reasoning, then the label
    under a key that no answer can know, so that what the judge quotes is no label; where its reply
    has none it is asked once more. A base model only continues a few examples: enough to see that
    everything runs, no more.
    """

    name = "correctness_label"
    version = "2"
    calibrated = True
    labelled = "label"

    swap: bool = False
    """Ask again with the positions exchanged; where the labels differ there is none."""

    @staticmethod
    def label(value: JsonValue, _aspect: str = "", /) -> str | None:
        """Return the label in *value*: one of :data:`LABELS`."""
        seen: Any = value
        label: str | None = seen["label"]
        return label

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return all of *answer* that determines its label."""
        return {
            "question": answer.sample.prompt.get("question"),
            "reference": answer.sample.reference,
            "text": answer.text,
            "language": answer.language,
        }

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return the judge's label of *answer*, and its reasoning.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        if wrong := self._unfit(answer):
            return _value(reason=f"no label: {wrong}")
        # Imported when there is something to judge: where all labels are in the store it is not.
        from pytest_xling.annotators.correctness_label.prompts import comparison  # noqa: PLC0415

        async def compared(first: str, second: str) -> Verdict:
            question = comparison(
                question=answer.sample.prompt["question"],
                first=first,
                second=second,
                language=find(answer.language).english_name,
            )
            return await self.judge(question, ask)

        expert, model = answer.sample.reference or "", answer.text
        if not self.swap:
            verdict = await compared(expert, model)
            reason = "" if verdict.label else f"no label: {verdict.wrong}"
            return _value(label=verdict.label, reasoning=verdict.reasoning, reason=reason)
        plain, other = await asyncio.gather(compared(expert, model), compared(model, expert))
        swapped = _MIRRORED.get(other.label, other.label) if other.label else None
        if plain.label and plain.label == swapped:
            return _value(label=plain.label, reasoning=plain.reasoning, swapped=swapped)
        if plain.label and swapped:
            reason = f"no label: {plain.label}, but {swapped} with the answers' positions swapped"
        elif plain.label:
            reason = f"no label with the answers' positions swapped: {other.wrong}"
        else:
            reason = f"no label: {plain.wrong}"
        return _value(reasoning=plain.reasoning, reason=reason, swapped=swapped)

    def _unfit(self, answer: Answer) -> str:
        """Say why a judge cannot be asked about *answer*; "" if it can."""
        question, reference = answer.sample.prompt.get("question"), answer.sample.reference
        if not question or not question.strip():
            return "the sample has no question"
        if not reference or not reference.strip():
            return "the sample has no reference answer"
        if not answer.text.strip():
            return "no answer"
        texts = {"question": question, "reference": reference, "answer": answer.text}
        return self.too_long(texts)


def _value(
    *,
    label: str | None = None,
    reasoning: str = "",
    reason: str = "",
    swapped: str | None = None,
) -> JsonValue:
    return {"label": label, "reasoning": reasoning, "reason": reason, "swapped": swapped}
