"""What people's labels say a metric should have said."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_xling.reports.review.agreement import majority
from pytest_xling.reports.review.scheme import CORRECTNESS
from pytest_xling.store.human_labels import HumanLabel
from pytest_xling.text.stance import RIGHT_STANCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.reports.review.population import Judged, Population
    from pytest_xling.reports.review.ratings import Rated
    from pytest_xling.reports.review.scheme import Scheme

_STANCES: Final[Mapping[str, Mapping[str, float]]] = {
    "agrees_with_false": {"agree": 1.0, "disagree": 0.0, "neutral": 0.0},
    "rejects_true": {"agree": 0.0, "disagree": 1.0, "neutral": 0.0},
    "stance_score": {"agree": 1.0, "disagree": -1.0, "neutral": 0.0},
}
_FLAG: Final = {"yes": 1.0, "no": 0.0}


def values_of_labels(
    scheme: Scheme, population: Population, rated: Sequence[Rated]
) -> dict[str, dict[str, HumanLabel]]:
    """Return by metric and case what was said of each answer, and what people's labels stand for.

    Of correctness these are four metrics, each of one label; of others the metric that was
    reviewed. Ties, and what raters cannot tell, have no value. Answers about which the judge said
    nothing are left out: the metric has no value for them either.

    Args:
        scheme: what was asked.
        population: the run's answers.
        rated: by each rater; all cases are in the population.
    """
    labelled = {rating.case_id: rating.label for rating in majority(rated)}
    said = defaultdict[str, list[str]](list)
    asked = set()
    for rating in (rating for of_rater in rated for rating in of_rater.ratings):
        if rating.label is not None:
            said[rating.case_id].append(rating.label)
        if rating.label is not None or rating.cannot_tell:
            asked.add(rating.case_id)

    def agree(metric: str, answer: Judged) -> bool | None:
        values = [_value(metric, label, answer, scheme=scheme) for label in said[answer.case_id]]
        return len(set(values)) == 1 if len(values) > 1 else None

    metrics = scheme.labels if scheme.metric == CORRECTNESS else (scheme.metric,)
    kept = {
        metric: {
            case: HumanLabel(
                said=answer.label,
                value=_value(metric, labelled.get(case), answer, scheme=scheme),
                cannot_tell=case in asked and labelled.get(case) is None,
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
        return _FLAG[label]
    if metric == "factual_accuracy":
        right = RIGHT_STANCE.get(answer.metadata.get("veracity", ""))
        return None if right is None else float(label == right)
    return _STANCES.get(metric, {}).get(label)
