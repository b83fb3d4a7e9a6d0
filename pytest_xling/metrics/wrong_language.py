"""Whether an answer is in another language than its question (CaLMQA §3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.metrics import MetricKind
    from pytest_xling.records import Answer

__all__ = ["WrongLanguage"]

_CLEAR = Reading(value=0.0)
_NO_LETTERS = Reading(value=None, reason="the answer holds no letters")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongLanguage:
    """Flags answers that are not in the language of the question.

    Languages that cannot be identified reliably get None, never a flag.
    """

    name: ClassVar[str] = "wrong_language"
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
    if not expected.identifiable:
        reason = f"{expected.english_name} cannot be identified reliably (CaLMQA §3.1)"
        return Reading(value=None, reason=reason)
    seen: Any = answer.annotations["language_id"].value
    if seen["language"] is None:
        return _NO_LETTERS
    if seen["language"] == expected.code:
        return _CLEAR
    reason = (
        f"detected {_named(seen['language'])} by {seen['by']},"
        f" expected {expected.english_name} ({expected.code})"
    )
    return Reading(value=1.0, reason=reason)


def _named(code: str) -> str:
    """Return the English name with the code, or the code alone for languages not in our table."""
    try:
        return f"{find(code).english_name} ({code})"
    except ConfigError:
        return repr(code)
