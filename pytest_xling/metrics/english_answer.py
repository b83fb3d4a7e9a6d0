"""Whether a question in another language is answered in English (CaLMQA, App. C.2, Figure 16)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.languages import find
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.records import Answer

__all__ = ["EnglishAnswer"]

_CLEAR = Reading(value=0.0)
_ENGLISH = Reading(value=None, reason="the question is in English")
_NO_LETTERS = Reading(value=None, reason="the answer holds no letters")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnglishAnswer:
    """Flags answers that langid finds to be English where the question is not.

    English can be told from any language, so those that cannot be identified themselves are
    scored as well. Answers to English questions get None.
    """

    name: ClassVar[str] = "english_answer"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "flag"
    needs: ClassVar[tuple[str, ...]] = ("language_id",)
    libraries: ClassVar[tuple[str, ...]] = ()
    scores_missing: ClassVar[bool] = False

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        return [_read(answer) for answer in answers]


def _read(answer: Answer) -> Reading:
    expected = find(answer.language)
    if expected.code == "en":
        return _ENGLISH
    seen: Any = answer.annotations["language_id"].value
    if seen["language"] is None:
        return _NO_LETTERS
    if seen["langid"] != "en":
        return _CLEAR
    reason = f"answered in English, expected {expected.english_name} ({expected.code})"
    return Reading(value=1.0, reason=reason)
