"""Cohen's κ: how far two raters agree beyond what their habits alone would make them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.cluster import effective_size
from pytest_xling.stats.normal import check_alpha, two_sided_z
from pytest_xling.stats.student import two_sided_t
from pytest_xling.stats.wilson import wilson_interval

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = ["Kappa", "cohen_kappa"]

_NOTHING = 1e-12
"""A standard error that is 0 but for rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kappa:
    """Cohen's κ with its interval; what is not defined is None with the reason."""

    value: float | None
    """1 for full agreement, 0 for what chance would give, below 0 for less."""
    low: float | None
    high: float | None
    n: int
    """Pairs of labels."""
    agreement: float | None
    """The share of pairs with equal labels; None where there are no pairs."""
    reason: str = ""
    """Why there is no value, or no interval."""


def cohen_kappa(
    first: Sequence[str],
    second: Sequence[str],
    *,
    alpha: float = 0.05,
    clusters: Sequence[Hashable] | None = None,
) -> Kappa:
    """Return κ (Cohen, 1960) of two raters' labels, with its two-sided 1 - *alpha* interval.

    The interval is κ ± z·SE with the large-sample standard error of Fleiss, Cohen and Everitt
    (1969). Of clustered pairs, whose labels resemble each other, the same linear terms are summed
    within clusters first, and Student's t with one degree of freedom less than there are clusters
    stands for z. Where that error is 0, as where all labels agree, it would be an interval without
    width: there the ends are those of Wilson's interval of the agreement, the raters' habits taken
    as known. No end lies outside -1 to 1.

    Args:
        first: one rater's labels.
        second: the other's, of the same things.
        alpha: probability that the interval misses, both sides together.
        clusters: what pairs that are not independent share, such as their claim.

    Raises:
        ValueError: the lengths differ, or *alpha* is out of range.
    """
    check_alpha(alpha)
    n = len(first)
    if len(second) != n or (clusters is not None and len(clusters) != n):
        named = f" in {len(clusters)} clusters" if clusters is not None else ""
        msg = f"{n} labels of one rater, {len(second)} of the other{named}"
        raise ValueError(msg)
    if not n:
        return Kappa(value=None, low=None, high=None, n=0, agreement=None, reason="no pairs")
    pairs = Counter(zip(first, second, strict=True))
    agreed = sum(count for (one, other), count in pairs.items() if one == other) / n
    if len(set(first) | set(second)) == 1:
        reason = f"both raters give all the same label, {first[0]!r}: κ is not defined"
        return Kappa(value=None, low=None, high=None, n=n, agreement=agreed, reason=reason)
    ones, others = Counter(first), Counter(second)
    chance = sum(count * others[label] for label, count in ones.items()) / n**2
    value = (agreed - chance) / (1 - chance)
    # How much each pair moves κ: the first term of its Taylor series in the shares of the cells.
    moves = {
        (one, other): (
            (1 - chance) * ((one == other) - agreed)
            - (1 - agreed) * ((ones[other] + others[one]) / n - 2 * chance)
        )
        / (1 - chance) ** 2
        for one, other in pairs
    }
    terms = [moves[pair] for pair in zip(first, second, strict=True)]
    half = _half_width(terms, clusters, alpha=alpha)
    if half is None:
        reason = "one cluster has no spread"
        return Kappa(value=value, low=None, high=None, n=n, agreement=agreed, reason=reason)
    low, high = value - half, value + half
    if half <= _NOTHING:
        equal = [float(one == other) for one, other in zip(first, second, strict=True)]
        size = n if clusters is None else effective_size(equal, clusters)
        ends = wilson_interval(agreed, size, alpha=alpha) or (0.0, 1.0)
        low, high = ((end - chance) / (1 - chance) for end in ends)
    return Kappa(value=value, low=max(low, -1.0), high=min(high, 1.0), n=n, agreement=agreed)


def _half_width(
    terms: Sequence[float], clusters: Sequence[Hashable] | None, *, alpha: float
) -> float | None:
    """Return half the interval's width; None with one cluster only."""
    n = len(terms)
    if clusters is None:
        return two_sided_z(alpha) * math.sqrt(math.fsum(term * term for term in terms)) / n
    grouped: defaultdict[Hashable, list[float]] = defaultdict(list)
    for term, cluster in zip(terms, clusters, strict=True):
        grouped[cluster].append(term)
    m = len(grouped)
    if m < 2:  # noqa: PLR2004  spread needs two
        return None
    squares = math.fsum(math.fsum(of) ** 2 for of in grouped.values())
    return two_sided_t(alpha, m - 1) * math.sqrt(m / (m - 1) * squares) / n
