"""How numbers are worded wherever people read them: one way for each kind.

A share is in percent with one decimal, the difference of two shares in percentage points, another
number plain with as many digits as it needs. A limit has the unit of what it limits and is never
rounded. Pages get texts made here: JavaScript rounds halves otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_xling.records import Estimate

NONE = "–"
"""Where there is no number."""

_SMALLEST_P = 0.001
_SHORT_S = 9.95
"""From here on seconds are whole."""


def number(value: float | None, digits: int) -> str:
    """Word a number with so many decimals; what is rounded to 0 has no sign."""
    if value is None:
        return NONE
    text = f"{value:.{digits}f}"
    return text if float(text) else text.removeprefix("-")


def percent(share: float) -> str:
    """Word a share: ``7.4%``."""
    return f"{number(100 * share, 1)}%"


def share(value: float | None) -> str:
    """Word a share that may not be known."""
    return NONE if value is None else percent(value)


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
    def of(cls, *estimates: Estimate, limit: float | None = None) -> Figures:
        """Return figures for estimates that are all of one metric.

        Args:
            *estimates: to be shown beside each other.
            limit: stands beside them; they get no fewer digits than it has.
        """
        figures = cls.fitting(
            [end for estimate in estimates for end in (estimate.value, estimate.high)],
            share=any(estimate.share for estimate in estimates),
            difference=any(
                (estimate.pivot or estimate.baseline or estimate.trend) and not estimate.relative
                for estimate in estimates
            ),
        )
        if figures.share or limit is None:
            return figures
        decimals = len(f"{limit:.10g}".partition(".")[2])
        return cls(share=False, difference=figures.difference, digits=max(figures.digits, decimals))

    @property
    def unit(self) -> str:
        """What follows a number."""
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
        return number(100 * value if self.share else value, self.digits)


class Measured(Protocol):
    """What has a value and, where that is known, an interval."""

    @property
    def value(self) -> float | None:
        """The value."""

    @property
    def low(self) -> float | None:
        """The lower end."""

    @property
    def high(self) -> float | None:
        """The upper end."""


def measured(measure: Measured | None, *, interval: bool = True) -> str:
    """Word a measure of agreement, with its interval: ``0.75 (0.70–0.80)``; empty for none."""
    if measure is None:
        return ""
    figures = Figures(share=False, digits=2)
    shown = interval and measure.value is not None
    ends = figures.interval(measure.low, measure.high) if shown else ""
    return f"{figures.value(measure.value)} ({ends})" if ends else figures.value(measure.value)


def with_ends(name: str, measure: Measured | None) -> dict[str, float | None]:
    """Return a measure for programs: under *name*, ``…_low`` and ``…_high``."""
    ends = (None, None, None) if measure is None else (measure.value, measure.low, measure.high)
    return dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))


def p_value(p: float) -> str:
    """Word a p value with its sign of relation: ``= .024``, ``< .001``."""
    if p < _SMALLEST_P:
        return "< .001"
    return f"= {p:.2g}".replace("0.", ".", 1)


def p_cell(p: float | None) -> str:
    """Word a p value that stands below its head: ``.024``, ``< .001``."""
    return NONE if p is None else p_value(p).removeprefix("= ")


def level(alpha: float) -> str:
    """Word how sure an interval is: ``95%``."""
    return f"{100 * (1 - alpha):.4g}%"


def interval(low: str, high: str, alpha: float) -> str:
    """Word an interval: ``95% interval 2.9% to 17.6%``."""
    return f"{level(alpha)} interval {low} to {high}"


def dollars(usd: float | None) -> str:
    """Word a price: ``$1,204.50``, ``$0.0004``; of one that nobody knows, ``unknown``."""
    if usd is None:
        return "unknown"
    if not usd:
        return "$0"
    # Two digits of what is less than ten cents.
    digits = max(2, 1 - math.floor(math.log10(abs(usd))))
    text = f"{usd:,.{digits}f}"
    return f"${text.rstrip('0')}" if digits > 2 else f"${text}"  # noqa: PLR2004  cents


def amount(count: int, noun: str) -> str:
    """Word how many there are of what *noun* names, in the singular: ``1,204 answers``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def minute(moment: str) -> str:
    """Word a moment, UTC and ISO 8601, to the minute: ``2026-11-21 10:00``."""
    return moment[:16].replace("T", " ")


def age_text(seconds: float) -> str:
    """Word how old something is, rounded down: ``40 minutes``, ``3 weeks``."""
    units = (("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60))
    for unit, length in units:
        if (count := int(seconds // length)) >= (2 if unit == "week" else 1):
            return amount(count, unit)
    return "less than a minute"


def duration(seconds: float) -> str:
    """Word how long something took: ``0.4 s``, ``12 s``, ``3 min 5 s``, ``2 h 10 min``."""
    if 0 < seconds < _SHORT_S:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(max(round(seconds), 0), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"
