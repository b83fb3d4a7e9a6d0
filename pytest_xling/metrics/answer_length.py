"""How long an answer is (CaLMQA, Table 17)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_xling.records import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Bounds, MetricKind
    from pytest_xling.records import Answer

__all__ = ["AnswerLength"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLength:
    """Counts the tokens of an answer, in o200k_base, whatever model wrote it."""

    name: ClassVar[str] = "answer_length"
    version: ClassVar[str] = "1"
    kind: ClassVar[MetricKind] = "number"
    bounds: ClassVar[Bounds] = (0.0, None)
    needs: ClassVar[tuple[str, ...]] = ()
    libraries: ClassVar[tuple[str, ...]] = ("tiktoken",)
    scores_missing: ClassVar[bool] = False

    def load(self) -> None:
        """Load the tokenizer."""
        from pytest_xling.text.tokens import encode  # noqa: PLC0415  see score

        encode([""])

    def score(self, answers: Sequence[Answer]) -> list[Reading]:
        """Return one reading per answer, in order."""
        # Imported when there is something to score: a run that finds all scores kept needs it not.
        from pytest_xling.text.tokens import encode  # noqa: PLC0415

        texts = [answer.text for answer in answers]
        return [
            Reading(value=float(len(tokens)))
            if text.strip()
            else Reading(value=None, reason="no answer")
            for text, tokens in zip(texts, encode(texts), strict=True)
        ]
