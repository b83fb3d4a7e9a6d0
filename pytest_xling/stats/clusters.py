"""What clustered answers are worth."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def design_effect(flags: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return the variance of the flags' rate over that of as many independent answers.

    The linearised variance of a rate p = Σy/Σn over clusters i is Σ(yᵢ - p·nᵢ)² / (Σn)²; that of
    independent answers is p(1 - p)/n. With few flags their quotient is mere noise, and with none it
    is 0/0; so one more flagged cluster is thought added in which all answers are alike. The result
    is then exactly 1 with one answer per cluster, the cluster size where all answers of a cluster
    are alike (or none is flagged, or all), and in between it moves from the second to what the data
    say as flags come in.

    Args:
        flags: 1.0 or 0.0 per answer.
        clusters: what the answers of one cluster share.

    Returns:
        At least 1; 1 for no answers.

    Raises:
        ValueError: the lengths differ, or a flag is neither 0 nor 1.
    """
    if len(flags) != len(clusters):
        msg = f"{len(flags)} flags but {len(clusters)} clusters"
        raise ValueError(msg)
    if any(flag not in (0, 1) for flag in flags):
        msg = "a flag is 0 or 1"
        raise ValueError(msg)
    if not flags:
        return 1.0
    sizes = Counter(clusters)
    if len(sizes) == len(flags):
        return 1.0  # exactly, whatever the sums below would round to
    raised: defaultdict[Hashable, float] = defaultdict(float)
    for flag, cluster in zip(flags, clusters, strict=True):
        raised[cluster] += flag
    n = len(flags)
    rate = sum(flags) / n
    linearised = sum((raised[cluster] - rate * size) ** 2 for cluster, size in sizes.items())
    alike = sum(size * size for size in sizes.values()) / n
    return effect_of_sums(n, rate, linearised=linearised, alike=alike)


def effect_of_sums(n: int, rate: float, *, linearised: float, alike: float) -> float:
    """Return the design effect, as :func:`design_effect` says, of what is summed already.

    Args:
        n: answers.
        rate: of their flags.
        linearised: Σ(yᵢ - rate·nᵢ)² over clusters.
        alike: Σnᵢ² / n, the size of the cluster that an answer is in, on average.
    """
    return max(1.0, (linearised + alike * alike) / (n * rate * (1 - rate) + alike))


def effective_size(flags: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Return how many independent answers the flags are worth: n over the design effect."""
    return len(flags) / design_effect(flags, clusters)
