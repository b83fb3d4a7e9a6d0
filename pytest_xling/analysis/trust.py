"""Whether what a gate rests on has been measured, and does well enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_xling.gates.trust import distrusted, doubt
from pytest_xling.registry import load, names
from pytest_xling.store.queries import step_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pytest_xling.analysis.calibration import Calibration
    from pytest_xling.records import Threshold, Verdict

__all__ = ["Doubt", "doubts", "languages_judged", "trusted", "unmeasured"]


def languages_judged(threshold: Threshold, *, pivot: str | None, gap: bool) -> list[str]:
    """Return the languages whose answers a gate rests on: its own, and where it compares the pivot.

    Args:
        threshold: the gate's.
        pivot: the language others are compared with, where the benchmark has one.
        gap: whether the gate is one of the gap to it.
    """
    compares = gap or load("metric", threshold.metric).unit == "pivot"
    if not compares or pivot is None or pivot == threshold.language:
        return [threshold.language]
    return [threshold.language, pivot]


def unmeasured(
    connection: Connection, run_id: str, threshold: Threshold, *, languages: Sequence[str]
) -> dict[str, list[str]]:
    """Return by annotator behind a gate the languages in which nobody has measured it."""
    from pytest_xling.analysis.calibration import calibration_of  # noqa: PLC0415  imports numpy

    found: dict[str, list[str]] = {}
    for annotator, signature in _behind(connection, run_id, threshold):
        for language in languages:
            if calibration_of(connection, signature=signature, language=language) is None:
                found.setdefault(annotator, []).append(language)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """What is known of an annotator in a language, and why that is too little to trust it."""

    told: str
    """Such as "stance_llm has F1 0.82 in hi on 93 labelled answers"."""
    reason: str
    """Empty where there is no doubt."""


def doubts(
    connection: Connection, run_id: str, threshold: Threshold, *, languages: Sequence[str]
) -> list[Doubt]:
    """Return what is known of each annotator behind a gate in each of *languages*.

    One is doubted where nobody has measured it, and for what :func:`pytest_xling.gates.trust.doubt`
    says.
    """
    from pytest_xling.analysis.calibration import calibration_of  # noqa: PLC0415  imports numpy

    return [
        _doubt(
            annotator,
            language,
            calibration_of(connection, signature=signature, language=language),
            threshold,
        )
        for annotator, signature in _behind(connection, run_id, threshold)
        for language in languages
    ]


def trusted(connection: Connection, run_id: str, verdict: Verdict, *, pivot: str | None) -> Verdict:
    """Return *verdict*; inconclusive where an annotator behind it is unknown or too bad.

    Else its reason says what it rests on.

    Args:
        connection: to the store.
        run_id: the run that was judged.
        verdict: what its scores say.
        pivot: the language others are compared with, where the benchmark has one.
    """
    threshold = verdict.threshold
    if threshold.min_judge_f1 is None:
        return verdict
    languages = languages_judged(threshold, pivot=pivot, gap=bool(verdict.estimate.pivot))
    found = doubts(connection, run_id, threshold, languages=languages)
    for one in found:
        if one.reason:
            return distrusted(verdict, one.reason)
    rests = "; ".join(one.told for one in found)
    return replace(verdict, reason=f"{verdict.reason}; {rests}") if rests else verdict


def _doubt(annotator: str, language: str, found: Calibration | None, threshold: Threshold) -> Doubt:
    if found is None:
        how = f"(xling calibrate stance --langs={language} --labels=labels-{language}.csv)"
        told = f"{annotator} has not been measured in {language} {how}"
        return Doubt(told=told, reason=f"{told}, needs F1 {threshold.min_judge_f1:g}")
    quality = found.quality
    f1, low, high = quality.macro_f1.value, quality.macro_f1.low, quality.macro_f1.high
    reached = "no F1" if f1 is None else f"F1 {f1:.2f}"
    plural = "" if quality.n == 1 else "s"
    ends = "" if low is None or high is None else f"; interval {low:.2f} to {high:.2f}"
    told = (
        f"{annotator} has {reached} in {language} on {quality.n} labelled answer{plural}"
        f" ({found.source}{ends})"
    )
    lacks = doubt(quality, threshold)
    return Doubt(told=told, reason=lacks and f"{told}, {lacks}")


def _behind(connection: Connection, run_id: str, threshold: Threshold) -> list[tuple[str, str]]:
    """Return name and signature of the annotators whose labels a gate's scores are made of."""
    made = step_parameters(
        connection, run_id, benchmark=threshold.benchmark, metric=threshold.metric
    )
    annotators = names("annotator")
    return sorted(
        {
            (name, value)
            for parameters in made
            for name, value in parameters.items()
            if name in annotators and isinstance(value, str) and load("annotator", name).calibrated
        }
    )
