"""Looking at a gate before all answers are in, without more false alarms: alpha spending.

A gate that looks five times, each time with its whole alpha, is wrong nearly three times as often
as it says. Lan and DeMets (1983), Discrete sequential boundaries for clinical trials: alpha is
spent bit by bit as answers come in, whenever and however often one looks. The boundaries follow
from it by integrating over all ways to have gone on so far (Armitage, McPherson and Rowe 1969).

What a look may use is an alpha, so that any interval or test with it decides as ever: the
interval of :func:`pytest_xling.stats.paired_means.paired_mean`, and thereby a gate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from pytest_xling.stats.distributions import check_alpha, two_sided_z
from pytest_xling.stats.group_means import RESOLUTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_xling.stats.paired_means import PairedMean

Spending: TypeAlias = Literal["obrien-fleming", "pocock"]
Action: TypeAlias = Literal["worse", "not worse", "go on", "inconclusive"]

_NOTHING = 1e-14
"""Too little alpha for a boundary; it is left for the next look."""
_FAR = 8.0
"""Standard deviations beyond which there is nothing: a chance of 1e-15."""
_NODES = 12
"""Places in a stretch of two standard deviations of a step."""
_DIGITS = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at the answers so far."""

    fraction: float
    """The share of the planned answers that are in, 0 to 1."""
    z: float
    """From here on a standard normal is beyond the boundary; infinite where nothing can be."""
    alpha: float
    """The same as a two-sided level, of an interval at this look. 0 where this look cannot
    decide."""
    spent: float
    """Of alpha, with this look and all before it, both sides together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do after a look."""

    action: Action
    """``go on`` before the last look, ``inconclusive`` at it where neither side is shown."""
    look: Look
    p: float | None
    """Two-sided, of the mean being the margin, not corrected for looking."""
    reason: str = ""
    """Why no more can be said."""


def spent(fraction: float, *, alpha: float = 0.05, spending: Spending = "obrien-fleming") -> float:
    """Return how much of *alpha*, two-sided, may be spent by *fraction*.

    Each side spends half of it: ``obrien-fleming`` hardly any at first, 2 - 2 Φ(z / √t) with z the
    quantile that a quarter of alpha lies beyond; ``pocock`` about evenly, its half of alpha times
    ln(1 + (e - 1) t).

    Raises:
        ValueError: *fraction* or *alpha* is out of range.
    """
    check_alpha(alpha)
    if not 0 < fraction <= 1:
        msg = f"the fraction of all planned answers is above 0 and at most 1, not {fraction!r}"
        raise ValueError(msg)
    if fraction == 1:
        return alpha
    if spending == "pocock":
        return alpha * math.log1p((math.e - 1) * fraction)
    return 2 * math.erfc(two_sided_z(alpha / 2) / math.sqrt(2 * fraction))


def looks(
    fractions: Sequence[float], *, alpha: float = 0.05, spending: Spending = "obrien-fleming"
) -> list[Look]:
    """Return the boundaries at looks after *fractions* of what is planned.

    Neither their number nor their places need be planned: a boundary depends on the looks before it
    only. What one side spends takes no account of stopping on the other, so that it may be ignored
    (the boundary is non-binding); that changes the fourth digit.

    Args:
        fractions: rising, the last one at most 1.
        alpha: of all looks, both sides together.
        spending: how alpha is spent.

    Raises:
        ValueError: *fractions* do not rise from above 0 to at most 1, or *alpha* is out of range.
    """
    _check_rising(fractions)
    return list(_looks(tuple(fractions), alpha, spending))


@cache
def _looks(fractions: tuple[float, ...], alpha: float, spending: Spending) -> tuple[Look, ...]:
    """Find the boundaries once for all gates that look at the same time."""
    used = [0.0]

    def boundary(index: int, beyond: Callable[[float], float]) -> float:
        until = spent(fractions[index], alpha=alpha, spending=spending)
        chance = (until - used[-1]) / 2
        used.append(until if chance > _NOTHING else used[-1])
        return _solve(beyond, chance) if chance > _NOTHING else math.inf

    zs = [z for z, _ in _run(fractions, boundary)]
    return tuple(
        Look(fraction=fraction, z=z, alpha=math.erfc(z / math.sqrt(2)), spent=by)
        for fraction, z, by in zip(fractions, zs, used[1:], strict=True)
    )


def decide(
    difference: PairedMean,
    fractions: Sequence[float],
    *,
    margin: float = 0.0,
    alpha: float = 0.05,
    spending: Spending = "obrien-fleming",
) -> Decision:
    """Decide at the last of *fractions* whether to stop.

    The p of Student's t is compared with the look's alpha, which carries the boundary over to few
    samples (Jennison and Turnbull 2000, section 3.8).

    Args:
        difference: the mean of the paired differences so far, above 0 where it is worse.
        fractions: the looks so far, this one the last: samples over samples planned.
        margin: by how much it may be worse.
        alpha: of all looks, both sides together.
        spending: how alpha is spent; the same at all looks.

    Returns:
        ``worse`` where the mean is shown to be above the margin, and ``not worse`` where it is
        shown to be below. Differences that are all equal show nothing yet, however few they are.

    Raises:
        ValueError: as :func:`looks`, or there is no look.
    """
    if not fractions:
        msg = "a decision needs a look"
        raise ValueError(msg)
    look = looks(fractions, alpha=alpha, spending=spending)[-1]
    # A spread that is rounding would make any difference certain.
    known = difference.error is not None and difference.error > RESOLUTION * abs(difference.mean)
    p = difference.p(margin) if known else None
    if p is not None and p < look.alpha:
        action: Action = "worse" if difference.centre > margin else "not worse"
        return Decision(action=action, look=look, p=p)
    action = "go on" if look.fraction < 1 else "inconclusive"
    reason = "" if known else "no spread is known"
    return Decision(action=action, look=look, p=p, reason=reason)


def _check_rising(fractions: Sequence[float]) -> None:
    steps = zip((0.0, *fractions), fractions, strict=False)
    if any(not before < after <= 1 for before, after in steps):
        msg = f"looks come at rising fractions above 0 and at most 1, not {list(fractions)!r}"
        raise ValueError(msg)


def _run(
    fractions: Sequence[float],
    boundary: Callable[[int, Callable[[float], float]], float],
) -> Iterator[tuple[float, float]]:
    """Yield for each look its boundary and the probability of being the first beyond it.

    Followed is the sum of what came in, z·√fraction, to which each look adds a normal step of its
    own: where it can be if no boundary was crossed, as places with their chances.

    Args:
        fractions: of the looks, rising.
        boundary: gives that of a look by its index and by the probability to be beyond any z.
    """
    from scipy.special import ndtr  # noqa: PLC0415  only looks need it

    places, chances = np.zeros(1), np.ones(1)
    before = 0.0
    for index, fraction in enumerate(fractions):
        sd, step = math.sqrt(fraction), fraction - before
        kernel = math.sqrt(step)

        def beyond(
            z: float,
            *,
            sd: float = sd,
            kernel: float = kernel,
            places: NDArray[np.float64] = places,
            chances: NDArray[np.float64] = chances,
        ) -> float:
            return float(chances @ ndtr((places - z * sd) / kernel))

        z = boundary(index, beyond)
        yield z, beyond(z)
        if index + 1 == len(fractions):
            return
        # Fine enough for the step that led here and for the one to come.
        width = math.sqrt(min(step, fractions[index + 1] - fraction))
        nodes, weights = _grid(-_FAR * sd, min(_FAR * sd, z * sd), width)
        apart = (nodes[:, None] - places) / kernel
        density = np.exp(-(apart**2) / 2) @ chances / (kernel * math.sqrt(2 * math.pi))
        places, chances, before = nodes, weights * density, fraction


def _grid(low: float, high: float, width: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return places from *low* to *high* and the weights of an integral over them."""
    stretches = max(0, math.ceil((high - low) / (2 * width)))
    edges = np.linspace(low, high, stretches + 1)
    half = np.diff(edges)[:, None] / 2
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    middles = (edges[:-1, None] + edges[1:, None]) / 2
    return (middles + half * nodes).ravel(), (half * weights).ravel()


def _solve(beyond: Callable[[float], float], chance: float) -> float:
    """Return the z that is passed with probability *chance*."""
    low, high = -_FAR, _FAR
    while high - low > _DIGITS:
        middle = (low + high) / 2
        if beyond(middle) > chance:
            low = middle
        else:
            high = middle
    return (low + high) / 2
