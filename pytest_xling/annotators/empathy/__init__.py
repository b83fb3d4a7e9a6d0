"""Empathy: by which mechanisms a response expresses it (Found in Translation, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_xling.text.answer_text import PairAnnotator
from pytest_xling.text.empathy import MECHANISMS

__all__ = ["BUNDLED_PAIRS", "EmpathyAnnotator"]

BUNDLED_PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
"""Labelled posts and responses, to train on and to measure on."""


@dataclass(frozen=True, kw_only=True)  # two bases with slots cannot be combined
class EmpathyAnnotator(PairAnnotator):
    """Finds which mechanisms a response to a post has: ``present`` or ``absent``.

    A value has a label for each mechanism, None where that is unknown; ``reason``, why it is;
    ``reasoning`` by mechanism; and ``unparsed``: there is an answer, and a judge's reply about it
    cannot be read.
    """

    calibrated = True
    aspects = MECHANISMS
    texts = ("seeker", "response")
    missing = "the sample has no question, the post that is responded to"
