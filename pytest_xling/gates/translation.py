"""Decide nothing by a distance that translation alone may explain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.gates.wording import Figures
from pytest_xling.registry import load

if TYPE_CHECKING:
    from pytest_xling.records import Verdict
    from pytest_xling.store.measurements import TranslationNoise


def beside_noise(verdict: Verdict, noise: TranslationNoise | None) -> Verdict:
    """Return *verdict*; inconclusive where translation alone may be why it fails.

    So it may where a value misses its floor, or a gap its limit, by no more than translation costs,
    and where translation leaves less than the floor of an answer beside itself.

    Args:
        verdict: of a gate.
        noise: what was measured of its metric in its language; None where nothing was.
    """
    missed = _missed(verdict)
    if missed is None or noise is None or noise.text_in != "english" or noise.cost.value is None:
        return verdict
    cost, left, floor = noise.cost.value, noise.matched.value, verdict.threshold.floor
    gap = bool(verdict.estimate.pivot)
    unreached = (
        not gap
        and load("metric", noise.metric).unit == "pivot"
        and left is not None
        and floor is not None
        and left < floor
    )
    if missed > cost and not unreached:
        return verdict
    share = verdict.estimate.share
    costs = Figures(share=share, difference=True, digits=1 if share else 2).value(cost)
    reason = (
        f"translation alone costs {costs} in {noise.language} (xling calibrate translation): "
        f"nothing is decided; {verdict.reason}"
    )
    return replace(verdict, outcome="inconclusive", reason=reason)


def _missed(verdict: Verdict) -> float | None:
    """Return by how much a verdict that fails misses its floor, or its gap the limit; else None."""
    made, limits = verdict.estimate, verdict.threshold
    if verdict.outcome != "fail" or made.value is None or made.baseline or made.trend:
        return None
    if made.pivot:
        return None if limits.max_gap is None else made.value - limits.max_gap
    return limits.floor - made.value if limits.floor is not None else None
