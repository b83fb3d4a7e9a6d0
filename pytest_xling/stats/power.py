"""How many samples and repeats find a difference of means, and how small a one so many find.

Paired differences are noise of two kinds: what a sample has in all its repeats, and what is new in
each. Repeats average out the second only, so that past some number of them nothing but more samples
helps: the variance of the mean is sd² (1 + (K - 1) ICC) / (K n) (Kish 1965, the design effect).
Power is that of the t test over samples, by the noncentral t distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.normal import check_alpha
from pytest_xling.stats.paired import POWER
from pytest_xling.stats.student import two_sided_t
from pytest_xling.stats.summary import RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Design",
    "Noise",
    "designs",
    "detectable_mean",
    "noise_of",
    "power_of_mean",
    "repeats_needed",
    "samples_needed",
]

_MOST = 10_000_000
"""More samples than anyone has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """By how much the differences of single answers vary."""

    sd: float
    """Of the difference of one answer and its partner, over samples and repeats."""
    icc: float = 1.0
    """The share of its variance that belongs to the sample, 0 to 1: at 1 a repeat says nothing
    new, at 0 it is as good as another sample."""

    def __post_init__(self) -> None:
        """Refuse what no noise can be."""
        if not 0 < self.sd < math.inf or not 0 <= self.icc <= 1:
            msg = f"no differences have sd={self.sd!r} and ICC={self.icc!r}"
            raise ValueError(msg)

    def error(self, samples: int, repeats: int = 1) -> float:
        """Return the standard error of the mean over *samples* with *repeats* each."""
        if samples < 1 or repeats < 1:
            msg = f"a design has samples and repeats, not {samples!r} and {repeats!r}"
            raise ValueError(msg)
        effect = 1 + (repeats - 1) * self.icc
        return self.sd * math.sqrt(effect / (repeats * samples))


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A number of samples, each with as many repeats, that finds a difference."""

    samples: int
    repeats: int
    answers: int
    """In one language and on one side of the comparison."""
    power: float
    """How often it finds the difference."""


def noise_of(samples: Sequence[Sequence[float]]) -> Noise | None:
    """Return the noise that a pilot shows, by an analysis of variance with samples at random.

    Args:
        samples: of each sample its paired differences, one per repeat; samples without any do not
            count. Where none has two, the ICC is 1, for that repeats would help is not known.

    Returns:
        None with fewer than two samples, or where all differences are equal.

    Raises:
        ValueError: a difference is not finite.
    """
    groups = [group for group in samples if group]
    if not all(math.isfinite(value) for group in groups for value in group):
        msg = "a difference is infinite or not a number"
        raise ValueError(msg)
    many, n = len(groups), sum(map(len, groups))
    if many < 2:  # noqa: PLR2004  spread needs two
        return None
    means = [math.fsum(group) / len(group) for group in groups]
    grand = math.fsum(map(math.fsum, groups)) / n
    between = math.fsum(
        len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True)
    ) / (many - 1)
    within = 0.0
    if n > many:
        within = math.fsum(
            (value - mean) ** 2
            for group, mean in zip(groups, means, strict=True)
            for value in group
        ) / (n - many)
    size = (n - sum(len(group) ** 2 for group in groups) / n) / (many - 1)
    own = max(0.0, (between - within) / size)
    largest = max(abs(value) for group in groups for value in group)
    if math.sqrt(own + within) <= RESOLUTION * largest:
        return None
    return Noise(sd=math.sqrt(own + within), icc=own / (own + within))


def power_of_mean(
    effect: float, noise: Noise, *, samples: int, repeats: int = 1, alpha: float = 0.05
) -> float:
    """Return how often a mean difference of *effect* is found, on its own side.

    What is found is an interval wholly above 0. It serves other limits as well: a gate that allows
    a margin fails where the mean is by *effect* beyond it, and passes where it is by *effect*
    within it, so that showing no difference to be within a margin takes the margin as *effect*.

    Args:
        effect: above 0, in the metric's unit.
        noise: of the differences.
        samples: how many there are; with one nothing is ever found.
        repeats: answers per sample, on both sides of the comparison.
        alpha: of the interval, both sides together; where m gates share it by Holm, the first one
            needs alpha / m.

    Raises:
        ValueError: an argument is out of range.
    """
    from scipy.special import nctdtr  # noqa: PLC0415  not before a plan is wanted

    _check(effect)
    error = noise.error(samples, repeats)
    if samples < 2:  # noqa: PLR2004  spread needs two
        return 0.0
    df = samples - 1
    return 1 - float(nctdtr(df, effect / error, two_sided_t(alpha, df)))


def detectable_mean(
    noise: Noise, *, samples: int, repeats: int = 1, alpha: float = 0.05, power: float = POWER
) -> float | None:
    """Return the smallest mean difference that is found with probability *power*.

    As :func:`pytest_xling.stats.paired.detectable`, but exact for few samples, too.

    Returns:
        None with one sample, which finds nothing.

    Raises:
        ValueError: an argument is out of range.
    """
    error = noise.error(samples, repeats)
    if samples < 2:  # noqa: PLR2004  spread needs two
        return None
    return _noncentrality(samples, alpha, power) * error


def samples_needed(
    effect: float, noise: Noise, *, repeats: int = 1, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return how many samples find a mean difference of *effect* with probability *power*.

    Returns:
        None where ten million are too few.

    Raises:
        ValueError: an argument is out of range.
    """
    _check(effect)

    def enough(samples: int) -> bool:
        return _noncentrality(samples, alpha, power) * noise.error(samples, repeats) <= effect

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def repeats_needed(
    effect: float, noise: Noise, *, samples: int, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return how many repeats of each of *samples* find a mean difference of *effect*.

    Returns:
        None where no number of repeats would do: then it takes more samples.

    Raises:
        ValueError: an argument is out of range.
    """
    _check(effect)
    single = noise.error(samples)
    if samples < 2:  # noqa: PLR2004  spread needs two
        return None
    # (1 + (K - 1) ICC) / K may be at most this.
    share = (effect / (_noncentrality(samples, alpha, power) * single)) ** 2
    if share >= 1:
        return 1
    if share <= noise.icc:
        return None
    return math.ceil((1 - noise.icc) / (share - noise.icc) - 1e-9)


def designs(
    effect: float,
    noise: Noise,
    *,
    repeats: Sequence[int] = (1, 2, 3, 5, 10),
    alpha: float = 0.05,
    power: float = POWER,
) -> list[Design]:
    """Return for each number of repeats the fewest samples that find *effect*.

    Raises:
        ValueError: an argument is out of range.
    """
    made = []
    for times in repeats:
        samples = samples_needed(effect, noise, repeats=times, alpha=alpha, power=power)
        if samples is None:
            continue
        reached = power_of_mean(effect, noise, samples=samples, repeats=times, alpha=alpha)
        answers = samples * times
        made.append(Design(samples=samples, repeats=times, answers=answers, power=reached))
    return made


def _noncentrality(samples: int, alpha: float, power: float) -> float:
    """Return the mean over its standard error that is found with probability *power*."""
    from scipy.special import nctdtrinc  # noqa: PLC0415  not before a plan is wanted

    check_alpha(alpha)
    if not alpha / 2 < power < 1:
        msg = f"power lies between half of alpha and 1, not {power!r}"
        raise ValueError(msg)
    df = samples - 1
    return float(nctdtrinc(df, 1 - power, two_sided_t(alpha, df)))


def _check(effect: float) -> None:
    if not 0 < effect < math.inf:
        msg = f"a difference to be found is above 0, not {effect!r}"
        raise ValueError(msg)
