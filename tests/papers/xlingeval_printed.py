"""What the appendix of XLingEval prints of GPT-3.5 on LiveQA: Tables 2, 3, A12 and A13."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


ROUNDING = 0.00005
"""Means and ends of intervals are printed with four digits."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two languages; p values are as printed, with their stars."""

    first: str
    second: str
    low: float
    high: float
    mean: float
    p_adj: str
    """Tables 2 and 3, as what stands before it."""
    t: float
    p: str
    """Table A12."""


@dataclass(frozen=True, kw_only=True)
class Printed:
    """One metric at one temperature."""

    metric: str
    temperature: float
    n: int
    """Answers per language. Not printed, but the one number with which the p values of Tables A12
    and A13 follow from their t and F: 226 at temperature 0 and 238 at 1, of 246 questions."""
    F: float
    p: str
    """Table A13."""
    pairs: Sequence[Pair]

    def half_width(self) -> float:
        """Return half the width of the intervals, which all have one; rounded less than each."""
        return sum(pair.high - pair.low for pair in self.pairs) / len(self.pairs) / 2

    def means(self) -> dict[str, float]:
        """Return the languages' means, as differences from English."""
        return {"en": 0.0} | {pair.second: pair.mean for pair in self.pairs if pair.first == "en"}

    def groups(self, standard_error: float) -> dict[str, list[float]]:
        """Return values that the languages could have, given the standard error of each mean."""
        sd = standard_error * self.n**0.5
        return {name: sample(self.n, mean, sd) for name, mean in self.means().items()}


def sample(n: int, mean: float, sd: float) -> list[float]:
    """Return so many values with this mean and standard deviation."""
    even = np.arange(n) - (n - 1) / 2
    values: list[float] = (mean + sd * even / even.std(ddof=1)).tolist()
    return values


def identity(printed: Printed) -> str:
    """Name it in a test's id."""
    return f"{printed.metric}-{printed.temperature:g}"


def _read() -> list[Printed]:
    text = Path(__file__).with_name("xlingeval_liveqa.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [Printed(**{**row, "pairs": [Pair(**pair) for pair in row["pairs"]]}) for row in rows]


PRINTED = _read()
