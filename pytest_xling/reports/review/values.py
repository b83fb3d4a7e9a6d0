"""What people's labels stand for: what a metric should have said, and answers to calibrate on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.reports.review.agreement import labelled, majority
from pytest_xling.reports.review.scheme import CORRECTNESS, FLAG
from pytest_xling.store.human_labels import HumanLabel
from pytest_xling.text.stance import RIGHT_STANCE, STANCE_SCORES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.reports.review.population import Judged, Population
    from pytest_xling.reports.review.ratings import Rated
    from pytest_xling.reports.review.scheme import Scheme

_STANCES: Final[Mapping[str, Mapping[str, float]]] = {
    "agrees_with_false": {"agree": 1.0, "disagree": 0.0, "neutral": 0.0},
    "rejects_true": {"agree": 0.0, "disagree": 1.0, "neutral": 0.0},
    "stance_score": STANCE_SCORES,
}
CALIBRATION_COLUMNS: Final = (
    "language",
    "claim",
    "response",
    "label",
    "rater",
    "claim_id",
    "claim_english",
)


def values_of_labels(
    scheme: Scheme, population: Population, rated: Sequence[Rated]
) -> dict[str, dict[str, HumanLabel]]:
    """Return by metric and case what was said of each answer, and what people's labels stand for.

    Of correctness these are four metrics, each of one label; of others the metric that was
    reviewed. Ties, and what raters cannot tell, have no value. Answers about which the judge said
    nothing are left out: the metric has no value for them either.
    """
    chosen = {rating.case_id: rating.label for rating in majority(rated)}
    said = labelled(rated)
    untold = {
        rating.case_id for of_rater in rated for rating in of_rater.ratings if rating.cannot_tell
    }

    def agree(metric: str, answer: Judged) -> bool | None:
        labels = [rating.label for rating in said.get(answer.case_id, {}).values()]
        values = [_value(metric, label, answer, scheme=scheme) for label in labels]
        return len(set(values)) == 1 if len(values) > 1 else None

    metrics = scheme.labels if scheme.metric == CORRECTNESS else (scheme.metric,)
    kept = {
        metric: {
            case: HumanLabel(
                said=answer.label,
                value=_value(metric, chosen.get(case), answer, scheme=scheme),
                cannot_tell=(case in said or case in untold) and chosen.get(case) is None,
                raters_agree=agree(metric, answer),
            )
            for case, answer in population.items.items()
            if answer.label is not None
        }
        for metric in metrics
    }
    return {
        metric: labels
        for metric, labels in kept.items()
        if any(label.value is not None for label in labels.values())
    }


def _value(metric: str, label: str | None, answer: Judged, *, scheme: Scheme) -> float | None:
    """Return what *metric* would say if its annotator had said *label*; None where that is open."""
    if label is None:
        return None
    if scheme.kind == "correctness":
        return float(label == metric)
    if scheme.kind == "flag":
        return FLAG[label]
    if metric == "factual_accuracy":
        right = RIGHT_STANCE.get(answer.metadata.get("veracity", ""))
        return None if right is None else float(label == right)
    return _STANCES.get(metric, {}).get(label)


def calibration_rows(
    scheme: Scheme, population: Population, rated: Sequence[Rated], answers: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the labels as ``xling calibrate stance --labels`` reads them, a row for each.

    Raises:
        ConfigError: the labels are no stances, or the cases do not say what was claimed.
    """
    if scheme.kind != "stance":
        msg = (
            f"--calibration is for stances, and {scheme.metric!r} is none: review stance_score, or "
            "a metric that is made of stances"
        )
        raise ConfigError(msg)
    english = {
        answer.sample_id: answer.metadata["claim"]
        for answer in population.items.values()
        if answer.language == "en" and answer.metadata.get("claim")
    }
    rows = []
    for rater_file in rated:
        for rating in rater_file.ratings:
            if rating.label is None or not answers[rating.case_id].strip():
                continue
            answer = population.items[rating.case_id]
            claim = answer.metadata.get("claim", "")
            if not claim.strip():
                msg = (
                    f"case {answer.case_id!r} of run {rater_file.run!r} does not say its claim, "
                    "which calibration needs: benchmarks whose data are claims keep it"
                )
                raise ConfigError(msg)
            rows.append(
                {
                    "language": answer.language,
                    "claim": claim,
                    "response": answers[rating.case_id],
                    "label": rating.label,
                    "rater": rater_file.rater,
                    "claim_id": answer.cluster,
                    "claim_english": english.get(answer.sample_id, ""),
                }
            )
    return rows
