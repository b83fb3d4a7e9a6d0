"""Whether a text supports a claim (FActScore, section 3.3; Found in Translation, Eq. 2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from pytest_xling.interfaces.annotator import Annotator
from pytest_xling.text.answer_text import Pair

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["BUNDLED_PAIRS", "LABELS", "SupportAnnotator", "pair_of", "support_value"]

LABELS: Final = ("supported", "unsupported")
BUNDLED_PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
"""Labelled claims and texts, to measure on."""


@dataclass(frozen=True, kw_only=True)  # two bases with slots cannot be combined
class SupportAnnotator(Annotator):
    """Says of a text whether it supports a claim: the sample's prompt field ``claim``."""

    display_name = "the judge of claims"
    calibrated = True
    of_texts = True
    labelled = "supported"
    stored_as: ClassVar[Mapping[str, JsonValue]] = {"supported": True, "unsupported": False}

    def looks_at(self, answer: Answer, /) -> JsonValue:
        """Return the claim, the text and its language."""
        pair = pair_of(answer)
        return {"claim": pair.about, "text": pair.response, "language": pair.language}


def pair_of(answer: Answer) -> Pair:
    """Return the claim and the text that *answer* stands for."""
    claim = answer.sample.prompt["claim"]
    return Pair(about=claim, response=answer.text, language=answer.language)


def support_value(
    *, supported: bool | None = None, p: float | None = None, reason: str = ""
) -> JsonValue:
    """Return the annotation every annotator of support gives.

    Args:
        supported: None where that is not known.
        p: the probability of it, 0 to 1, where the annotator has one.
        reason: why it is not known.
    """
    return {"supported": supported, "p": p, "reason": reason}
