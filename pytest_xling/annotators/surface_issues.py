"""What is wrong with an answer before its content is looked at (CaLMQA §3.1 and App. C.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_xling.interfaces.annotator import AnswerAnnotator
from pytest_xling.languages import find
from pytest_xling.text.answer_text import unanswered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

_LENGTH, _TIMES = 20, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceIssues(AnswerAnnotator):
    """Finds what makes an answer not worth judging: none at all, a wrong language, repetition.

    By the paper's rules: the identified language is another, or 20 tokens of o200k_base occur four
    times. A value has ``issues``, none of them for a clean answer, and ``unknown``: why the
    language cannot be told, where it is one of those that cannot be identified; "" elsewhere.
    """

    name = "surface_issues"
    version = "1"
    libraries = ("tiktoken",)

    @property
    def needs(self) -> tuple[str, ...]:
        """The language."""
        return ("language_id",)

    def looks_at(self, answer: Answer, /) -> JsonValue:
        """Return the answer, how it ended, and its language."""
        return {
            "text": answer.text,
            "unanswered": unanswered(answer),
            "language": answer.language,
            "identified": _identified(answer),
        }

    def annotate(self, answers: Sequence[Answer], /) -> list[JsonValue]:
        """Return one value per answer, in order."""
        # Imported when there is something to look at: a run that finds all kept needs neither.
        from pytest_xling.text.repeats import most_repeated  # noqa: PLC0415
        from pytest_xling.text.tokens import encode  # noqa: PLC0415

        tokens = encode([answer.text for answer in answers])
        repeated = most_repeated(tokens, length=_LENGTH, times=_TIMES)
        return [
            _value(answer, times=times)
            for answer, (_, times) in zip(answers, repeated, strict=True)
        ]


def _identified(answer: Answer) -> str | None:
    value: Any = answer.annotations["language_id"].value
    language: str | None = value["language"]
    return language


def _value(answer: Answer, *, times: int) -> JsonValue:
    if none := unanswered(answer):
        return {"issues": [none], "unknown": ""}
    expected, identified = find(answer.language), _identified(answer)
    issues: list[JsonValue] = []
    if expected.identifiable and identified not in {None, expected.identified_as}:
        issues.append(f"wrong language: {identified}, expected {expected.code}")
    if times:
        issues.append(f"repetition: {_LENGTH} tokens occur {times} times")
    return {"issues": issues, "unknown": expected.unidentified}
