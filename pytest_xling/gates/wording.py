"""How numbers are worded, for the person who has to decide on a release: one way for each kind.

A share is in percent with one decimal, the difference of two shares in percentage points, another
number plain with as many digits as it needs. A limit has the unit of what it limits and is never
rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.records import Estimate, Threshold, Verdict

NONE = "–"
"""Where there is no number."""

UNDECIDABLE = 100
"""Needing this many times the answers there are is as good as never, ..."""
_FEW = 100
"""... but few answers may need as many times these."""


_SMALLEST_P = 0.001


def percent(share: float) -> str:
    """Word a share: ``7.4%``."""
    return f"{_fixed(100 * share, 1)}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Words numbers that stand beside each other alike, so that they can be compared."""

    share: bool
    """Whether they are shares, or differences of shares."""
    difference: bool = False
    digits: int

    @classmethod
    def fitting(
        cls, values: Iterable[float | None], *, share: bool, difference: bool = False
    ) -> Figures:
        """Return figures with one decimal for shares, and about three digits for other numbers."""
        if share:
            return cls(share=True, difference=difference, digits=1)
        largest = max((abs(value) for value in values if value is not None), default=0.0)
        digits = next((d for d, below in ((3, 1.0005), (2, 10), (1, 100)) if largest < below), 0)
        return cls(share=False, difference=difference, digits=digits)

    @classmethod
    def of(cls, *made: Estimate, limit: float | None = None) -> Figures:
        """Return figures for estimates that are all of one metric.

        Args:
            made: the estimates.
            limit: stands beside them; they get no fewer digits than it has.
        """
        figures = cls.fitting(
            [end for estimate in made for end in (estimate.value, estimate.high)],
            share=any(estimate.share for estimate in made),
            difference=any(
                (estimate.pivot or estimate.baseline or estimate.trend) and not estimate.relative
                for estimate in made
            ),
        )
        if figures.share or limit is None:
            return figures
        decimals = len(f"{limit:.10g}".partition(".")[2])
        return cls(share=False, difference=figures.difference, digits=max(figures.digits, decimals))

    @property
    def unit(self) -> str:
        """What stands behind a number."""
        return (" pp" if self.difference else "%") if self.share else ""

    def value(self, value: float | None) -> str:
        """Word a value: ``5.6%``, ``4.2 pp``, ``0.914``, ``512``."""
        return NONE if value is None else f"{self._plain(value)}{self.unit}"

    def signed(self, value: float) -> str:
        """Word a value with its sign: ``+4.2 pp``, ``-0.031``, ``0.0 pp``."""
        text = self.value(value)
        return f"+{text}" if value > 0 and float(self._plain(value)) else text

    def limit(self, value: float) -> str:
        """Word a limit, which is never rounded: ``5.0%``, ``2.25 pp``, ``0.9``, ``1024``."""
        if not self.share:
            return f"{value:.10g}"
        exact = f"{100 * value:.10g}"
        return f"{exact if '.' in exact else f'{exact}.0'}{self.unit}"

    def interval(self, low: float | None, high: float | None) -> str:
        """Word an interval beside its value: ``1.0–25.8``; empty where there is none."""
        if low is None or high is None:
            return ""
        between = " to " if low < 0 else "–"  # a dash would be taken for a minus
        return f"{self._plain(low)}{between}{self._plain(high)}"

    def ends(self, low: float, high: float) -> tuple[str, str]:
        """Word the ends of an interval for a sentence: ``1.0%`` and ``25.8%``."""
        return (self._plain(low) if self.difference else self.value(low)), self.value(high)

    def change(self, amount: float, *, noise: float) -> str:
        """Word by how much something is worse: ``2.3 pp worse``, ``0.01 better``, ``no worse``."""
        if abs(amount) < noise:
            return "no worse"
        size = self.value(abs(amount))
        if not float(self._plain(amount)):
            least = 10**-self.digits
            size = f"less than {least:.{self.digits}f}{self.unit}"
        return f"{size} {'worse' if amount > 0 else 'better'}"

    def _plain(self, value: float) -> str:
        return _fixed(100 * value if self.share else value, self.digits)


def _fixed(value: float, digits: int) -> str:
    """Return *value* with so many decimals; what is rounded to 0 has no sign."""
    text = f"{value:.{digits}f}"
    return text if float(text) else text.removeprefix("-")


def limit_of(verdict: Verdict) -> str:
    """Word what a gate demands: ``max 5.0%``, ``min 0.9``, ``0.2 to 0.9``, ``max 2.0 pp worse``.

    Of cases it is ``max 5.0% over 1 of 5``: with more than 1 of 5 repeats flagged.
    """
    limits, made = verdict.threshold, verdict.estimate
    word = Figures.of(made).limit
    if made.trend:
        return f"max {word(limits.max_trend or 0.0)} worse per level"
    if made.per_case:
        return f"max {word(limits.max_cases or 0.0)} over {limits.max_flagged} of {limits.repeats}"
    if made.baseline or made.pivot:
        return f"max {word((limits.max_drop if made.baseline else limits.max_gap) or 0.0)} worse"
    most = limits.ceiling if limits.max_rate is None else limits.max_rate
    if limits.floor is None:
        return f"max {word(most or 0.0)}"
    return f"min {word(limits.floor)}" if most is None else f"{word(limits.floor)} to {word(most)}"


def demand_of(verdicts: Sequence[Verdict], *, joined: str = ", ") -> str:
    """Word what gates of one kind demand: ``max 10.0%``, ``max 10.0%, all 5.0%``.

    Args:
        verdicts: of single languages, and of all together.
        joined: stands between the two.
    """
    single = dict.fromkeys(limit_of(v) for v in verdicts if not v.threshold.weights)
    together = dict.fromkeys(limit_of(v) for v in verdicts if v.threshold.weights)
    if not single:
        return joined.join(together)
    said = next(iter(single)) if len(single) == 1 else "limits vary"
    return joined.join([said, *(f"all {limit.removeprefix('max ')}" for limit in together)])


def p_value(p: float) -> str:
    """Word a p value with its sign of relation: ``= .024``, ``< .001``."""
    if p < _SMALLEST_P:
        return "< .001"
    return f"= {p:.2g}".replace("0.", ".", 1)


def interval(low: str, high: str, alpha: float) -> str:
    """Word an interval: ``95% interval 2.9% to 17.6%``."""
    return f"{100 * (1 - alpha):.4g}% interval {low} to {high}"


def unscored(estimate: Estimate) -> str:
    """Word how many answers have no score, and how many labels correct it; empty without either."""
    lacks = f", {estimate.unscored} unscored" if estimate.unscored else ""
    return lacks + by_labels(estimate)


def by_labels(estimate: Estimate) -> str:
    """Word how many of people's labels correct an estimate; empty where none do."""
    if not estimate.labelled:
        return ""
    said = f", corrected by {estimate.labelled} labels of people"
    return f"{said} ({untold(estimate.cannot_tell)})" if estimate.cannot_tell else said


def untold(count: int) -> str:
    """Word how many answers people could not tell: ``3 answers nobody could tell``."""
    return f"{count} answer{'' if count == 1 else 's'} nobody could tell"


def labels_needed(estimate: Estimate, *limits: float) -> str:
    """Say how many labels would decide whether an estimate that they correct is beyond a limit."""
    value, low, high, has = estimate.value, estimate.low, estimate.high, estimate.labelled
    if value is None or low is None or high is None:
        return ""
    half, distance = (high - low) / 2, min(abs(value - limit) for limit in limits)
    size = has * (half / distance) ** 2 if distance > half / UNDECIDABLE else math.inf
    compares = estimate.pivot or estimate.baseline or estimate.trend
    if not compares and estimate.n < size <= UNDECIDABLE * max(has, _FEW):
        return f"{needed(size, has, of='labels')}, of more answers than the {estimate.n} there are"
    draw = f"--metric {estimate.metric}" if compares else "--decide"
    return f"{needed(size, has, of='labels')} (xling review {draw})"


def too_few(estimate: Estimate, threshold: Threshold, *, of: str = "answers") -> str | None:
    """Say that there are fewer than ``min_n``; None where there are enough."""
    if estimate.n == 0 or estimate.value is None:
        return estimate.reason or "no answer was scored"
    if estimate.n < threshold.min_n:
        return f"too few {of}: needs {threshold.min_n}, has {estimate.n}"
    return None


def needed(size: float, has: int, *, of: str = "answers") -> str:
    """Say how many answers, or what else there are more of, would decide, or that none would."""
    if size > UNDECIDABLE * max(has, _FEW):
        return "cannot be decided so near the limit"
    # At least one more than there are: rounding must not promise what has just been shown wrong.
    return f"needs about {max(math.ceil(size), has + 1)} {of} at this value; has {has}"
