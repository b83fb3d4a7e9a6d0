"""Whether what a gate rests on has been measured, and does well enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.annotators import is_calibrated
from pytest_xling.gates.trust import distrusted
from pytest_xling.metrics import unit_of
from pytest_xling.registry import load
from pytest_xling.store.queries import step_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pytest_xling.cases.calibration import Calibration
    from pytest_xling.records import Threshold, Verdict

__all__ = ["languages_judged", "trusted", "unmeasured"]


def languages_judged(threshold: Threshold, *, pivot: str | None, gap: bool) -> list[str]:
    """Return the languages whose answers a gate rests on: its own, and where it compares the pivot.

    Args:
        threshold: the gate's.
        pivot: the language others are compared with, where the benchmark has one.
        gap: whether the gate is one of the gap to it.
    """
    compares = gap or unit_of(load("metric", threshold.metric)) == "pivot"
    if not compares or pivot is None or pivot == threshold.language:
        return [threshold.language]
    return [threshold.language, pivot]


def unmeasured(
    connection: Connection, run_id: str, threshold: Threshold, *, languages: Sequence[str]
) -> dict[str, list[str]]:
    """Return by annotator behind a gate the languages in which nobody has measured it."""
    from pytest_xling.cases.calibration import calibration_of  # noqa: PLC0415  imports numpy

    found: dict[str, list[str]] = {}
    for annotator, signature in _behind(connection, run_id, threshold):
        for language in languages:
            if calibration_of(connection, signature=signature, language=language) is None:
                found.setdefault(annotator, []).append(language)
    return found


def trusted(connection: Connection, run_id: str, verdict: Verdict, *, pivot: str | None) -> Verdict:
    """Return *verdict*; inconclusive where an annotator behind it is unknown or too bad.

    Args:
        connection: to the store.
        run_id: the run that was judged.
        verdict: what its scores say.
        pivot: the language others are compared with, where the benchmark has one.
    """
    threshold = verdict.threshold
    if threshold.min_judge_f1 is None:
        return verdict
    from pytest_xling.cases.calibration import calibration_of  # noqa: PLC0415  imports numpy

    languages = languages_judged(threshold, pivot=pivot, gap=bool(verdict.estimate.pivot))
    for annotator, signature in _behind(connection, run_id, threshold):
        for language in languages:
            found = calibration_of(connection, signature=signature, language=language)
            value = None if found is None else found.quality.macro_f1.value
            if found is not None and found.quality.n < threshold.min_n:
                reason = f"{_reason(annotator, language, found)}, too few to say"
                return distrusted(verdict, f1=None, reason=reason)
            if value is None or value < threshold.min_judge_f1:
                reason = _reason(annotator, language, found)
                return distrusted(verdict, f1=value, reason=reason)
    return verdict


def _behind(connection: Connection, run_id: str, threshold: Threshold) -> list[tuple[str, str]]:
    """Return name and signature of the annotators whose labels a gate's scores are made of."""
    made = step_parameters(
        connection, run_id, benchmark=threshold.benchmark, metric=threshold.metric
    )
    return sorted(
        {
            (name, value)
            for parameters in made
            for name, value in parameters.items()
            if is_calibrated(name) and isinstance(value, str)
        }
    )


def _reason(annotator: str, language: str, found: Calibration | None) -> str:
    if found is None:
        return f"{annotator} has not been measured in {language} (xling calibrate stance --labels)"
    quality = found.quality
    n = f"on {quality.n} labelled answers"
    if quality.macro_f1.value is None:
        return f"{annotator} has no F1 in {language} {n}"
    return f"{annotator} has F1 {quality.macro_f1.value:.2f} in {language} {n}"
