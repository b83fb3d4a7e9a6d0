"""One-way analysis of variance: whether the means of several groups differ at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.stats.summary import pooled_variance, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.stats.summary import Summary

__all__ = ["Anova", "anova", "anova_from_summaries"]

_LEAST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Anova:
    """Fisher's F with its p value."""

    f: float | None
    p: float | None
    df_between: int
    df_within: int
    reason: str = ""
    """Why there is no F."""


def anova(groups: Sequence[Sequence[float]]) -> Anova:
    """Return the one-way analysis of variance of *groups*, whose sizes may differ.

    Raises:
        ValueError: a group is empty, or a value is not finite.
    """
    return anova_from_summaries([summarise(group) for group in groups])


def anova_from_summaries(groups: Sequence[Summary]) -> Anova:
    """Return the one-way analysis of variance of groups of which only this is known.

    F = [Σnᵢ(meanᵢ - mean)² / (k - 1)] / [Σ(nᵢ - 1)sdᵢ² / Σ(nᵢ - 1)] for k groups, and p the chance
    of as large an F where all means are equal.
    """
    between = max(len(groups) - 1, 0)
    within = sum(group.n - 1 for group in groups)
    if len(groups) < _LEAST:
        return _without(between, within, "needs two groups")
    if not within:
        return _without(between, within, "no group has two values")
    pooled = pooled_variance(groups)
    if pooled is None:
        return _without(between, within, "the values within each group are equal")
    n = sum(group.n for group in groups)
    mean = math.fsum(group.n * group.mean for group in groups) / n
    explained = math.fsum(group.n * (group.mean - mean) ** 2 for group in groups) / between
    f = explained / pooled[0]

    from scipy.special import fdtrc  # noqa: PLC0415  not before a table is wanted

    return Anova(f=f, p=float(fdtrc(between, within, f)), df_between=between, df_within=within)


def _without(between: int, within: int, reason: str) -> Anova:
    return Anova(f=None, p=None, df_between=between, df_within=within, reason=reason)
