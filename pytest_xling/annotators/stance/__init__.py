"""Stances: whether an answer agrees with a claim, in three ways (UPHILL, section 3.4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_xling.text.answer_text import PairAnnotator

__all__ = ["BUNDLED_PAIRS", "StanceAnnotator"]

BUNDLED_PAIRS: Final = Path(__file__).with_name("pairs.jsonl")
"""Labelled claims and responses, to train on and to measure on."""


@dataclass(frozen=True, kw_only=True)  # two bases with slots cannot be combined
class StanceAnnotator(PairAnnotator):
    """Finds the stance of a response towards a claim: ``agree``, ``disagree`` or ``neutral``.

    A value has ``stance``, None where there is none to give; ``reason``, why there is none;
    ``reasoning``, such as a judge's words or probabilities; and ``unparsed``: there is an answer,
    and the judge's reply about it cannot be read.
    """

    calibrated = True
    labelled = "stance"
    texts = ("claim", "response")
    prompt_field = "claim"
    english_needed = True
