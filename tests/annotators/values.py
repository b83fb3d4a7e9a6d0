"""Values as annotators of stance and empathy give them, and answers about a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.annotators.empathy import EmpathyAnnotator
from pytest_xling.annotators.stance import StanceAnnotator
from tests.answers import annotated_answer
from tests.answers import translation as translated

if TYPE_CHECKING:
    from pytest_xling.records import Answer, StopReason

__all__ = ["CLAIM", "claim_answer", "empathy_value", "stance_value"]

CLAIM = "hot water cures influenza"

stance_value = StanceAnnotator.labelled_value
empathy_value = EmpathyAnnotator.labelled_value


def claim_answer(
    text: str | None,
    claim: str | None = CLAIM,
    language: str = "en",
    *,
    english: str | None = None,
    translation: str | None = None,
    stop_reason: StopReason = "stop",
) -> Answer:
    """Return the response to a query about a claim, each maybe with its English version."""
    prompt = {"question": "Does it?", "claim": claim, "claim_english": english}
    return annotated_answer(
        text,
        language,
        {"translate": translated(translation, "too odd")},
        stop_reason=stop_reason,
        id="c01-l0",
        prompt={name: value for name, value in prompt.items() if value is not None},
        reference="false",
    )
