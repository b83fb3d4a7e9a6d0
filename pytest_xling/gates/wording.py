"""How numbers are worded, for the person who has to decide on a release: one way for each kind.

A share is in percent with one decimal, the difference of two shares in percentage points, another
number plain with as many digits as it needs. A limit has the unit of what it limits and is never
rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_xling.records import Estimate
    from pytest_xling.stats.mcnemar import McNemar

NONE = "–"
"""Where there is no number."""

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


def p_value(p: float) -> str:
    """Word a p value with its sign of relation: ``= .024``, ``< .001``."""
    if p < _SMALLEST_P:
        return "< .001"
    return f"= {p:.2g}".replace("0.", ".", 1)


def interval(low: str, high: str, alpha: float) -> str:
    """Word an interval: ``95% interval 2.9% to 17.6%``."""
    return f"{100 * (1 - alpha):.4g}% interval {low} to {high}"


def counted(test: McNemar, other: str) -> str:
    """Word McNemar's test: ``worse only here 9, only in en 2: McNemar p = .065``."""
    alone = test.method in {"binomial", "mid-p"}
    how = "" if alone else f", clustered by question ({test.method})"
    p = "mid-p" if test.method == "mid-p" else "p"
    counts = f"worse only here {test.first}, only in {other} {test.second}"
    return f"{counts}: McNemar {p} {p_value(test.p)}{how}"


def untold(count: int) -> str:
    """Word how many answers people could not tell: ``3 answers nobody could tell``."""
    return f"{count} answer{'' if count == 1 else 's'} nobody could tell"
