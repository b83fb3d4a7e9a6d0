"""Answers about a claim, annotated by hand with stances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.records import Answer, AnswerSet, Reading
from pytest_xling.registry import load
from tests.annotators.values import stance_value
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STANCES", "VERACITIES", "answer", "beside", "one", "over_levels"]

STANCES = ("agree", "disagree", "neutral")
VERACITIES = ("true", "false", "mixture", "fabricated", None)
TEXT = "Hot water does not cure influenza."


def answer(
    value: Any,  # noqa: ANN401  a stance, or all that an annotator may say
    *,
    language: str = "hi",
    reference: str | None = "false",
    level: int | str | None = 0,
    by: str = "reader",
) -> Answer:
    """Return an answer about a claim, with the stance an annotator found in it."""
    prompt = {"question": "?", "claim": "hot water cures influenza"}
    if level is not None:
        prompt["level"] = str(level)
    said = value if isinstance(value, dict) else stance_value(value, reason="no answer: empty")
    place = {"id": f"c01-l{level}", "parallel_id": "c01"}
    claim: dict[str, Any] = {**place, "prompt": prompt, "reference": reference}
    return annotated_answer(TEXT, language, {f"stance_{by}": said}, **claim)


def one(name: str, value: Any, **fields: Any) -> Reading:  # noqa: ANN401  as above
    """Return the reading of one answer."""
    found: list[Reading] = load("metric", name)().score([answer(value, **fields)])
    return found[0]


def beside(
    name: str, own: Sequence[str | None], pivot: Sequence[str | None], **fields: Any
) -> Reading:
    """Return the reading of repeats in Hindi beside those in English."""
    each = AnswerSet(
        answers=tuple(answer(stance, **fields) for stance in own),
        pivot=tuple(answer(stance, language="en", **fields) for stance in pivot),
    )
    found: list[Reading] = load("metric", name)().score([each])
    return found[0]


def over_levels(stances: Sequence[str | None], *, missing: int = 0) -> Reading:
    """Return the consistency of answers at the levels 0, 1, …."""
    answers = tuple(answer(stance, level=level) for level, stance in enumerate(stances))
    each = AnswerSet(answers=answers, missing=missing)
    found: list[Reading] = load("metric", "stance_consistency")().score([each])
    return found[0]
