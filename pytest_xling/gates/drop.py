"""Judge by how much a model is worse than the baseline in a language, on the same questions.

It is a gap, but for what is compared: not two languages of a run, but two runs in a language.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.gates.gap import decide, gap_estimate
from pytest_xling.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Better, MetricKind
    from pytest_xling.records import Estimate, Score, Threshold

__all__ = ["differing", "drop_estimate", "judge_drop"]

_SHOWN = 3


def drop_estimate(
    scores: Sequence[Score],
    baseline_scores: Sequence[Score],
    *,
    metric: str,
    language: str,
    baseline: str,
    better: Better,
    alpha: float,
    kind: MetricKind = "number",
    margin: float = 0.0,
    widest: float | None = None,
) -> Estimate:
    """Estimate by how much the run is worse than *baseline*: the mean over paired questions.

    Args:
        scores: of the run in *language*, in any order.
        baseline_scores: of the same metric in the same language; of the same questions.
        metric: the metric all of them are of.
        language: the language all of them are in.
        baseline: its name.
        better: which end of the metric is good.
        alpha: the interval misses with this probability, both sides together.
        kind: as for :func:`pytest_xling.gates.gap.gap_estimate`, as everything else.
        margin: the drop that is allowed.
        widest: how far apart two numbers can be; None where that is not known.

    Raises:
        EvaluationError: as :func:`pytest_xling.gates.gap.gap_estimate`.
    """
    made = gap_estimate(
        scores,
        [replace(score, language=baseline) for score in baseline_scores],
        metric=metric,
        language=language,
        pivot=baseline,
        better=better,
        alpha=alpha,
        kind=kind,
        margin=margin,
        widest=widest,
    )
    return replace(made, pivot="", baseline=baseline)


def judge_drop(estimate: Estimate, threshold: Threshold, *, case: str) -> Verdict:
    """Judge a drop by ``max_drop``, as :func:`pytest_xling.gates.gap.judge_gap` judges a gap.

    Args:
        estimate: made by :func:`drop_estimate` with the threshold's alpha and margin.
        threshold: with a ``max_drop``.
        case: name of the gate's case.

    Raises:
        ValueError: the threshold has no ``max_drop``.
    """
    if threshold.max_drop is None:
        msg = f"{threshold.origin}: the threshold of {threshold.metric!r} has no max_drop"
        raise ValueError(msg)
    outcome, reason = decide(estimate, threshold, threshold.max_drop)
    return Verdict(
        case=case, outcome=outcome, estimate=estimate, threshold=threshold, reason=reason
    )


def differing(here: str, there: str) -> str:
    """Say in which fields two signatures differ: ``text_in: english there, native here``.

    Args:
        here: the signature of the run, such as ``sim_sent|v1|encoder:e5|text_in:native``.
        there: that of the baseline.
    """
    ours, theirs = _fields(here), _fields(there)
    told = [
        f"{name}: {theirs.get(name, 'nothing')} there, {ours.get(name, 'nothing')} here"
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    ]
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return "; ".join(told[:_SHOWN]) + more


def _fields(signature: str) -> dict[str, str]:
    """Return the fields of a signature; its name and version are fields, too."""
    name, *parts = signature.split("|")
    found = {"metric": name}
    for part in parts:
        key, colon, value = part.partition(":")
        found[key if colon else "version"] = value if colon else part
    return found
