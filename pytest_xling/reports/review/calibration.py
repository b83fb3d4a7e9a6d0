"""What raters said of stances, as ``xling calibrate stance --labels`` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.reports.review.document import english_claims

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.reports.review.population import Population
    from pytest_xling.reports.review.ratings import Rated
    from pytest_xling.reports.review.scheme import Scheme

CALIBRATION_COLUMNS: Final = (
    "language",
    "claim",
    "response",
    "label",
    "rater",
    "claim_id",
    "claim_english",
)


def check_calibrates(scheme: Scheme) -> None:
    """Check that the labels are stances.

    Raises:
        ConfigError: they are not.
    """
    if scheme.kind != "stance":
        msg = (
            f"--calibration is for stances, and {scheme.metric!r} is none: review stance_score, or "
            "a metric that is made of stances"
        )
        raise ConfigError(msg)


def calibration_rows(
    population: Population, rated: Sequence[Rated], answers: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return one row for each label a rater gave; a rater who cannot tell gave none.

    Args:
        population: what the labels are of.
        rated: by each rater.
        answers: the texts, by case.

    Raises:
        ConfigError: the cases do not say what was claimed.
    """
    english = english_claims(population.items.values())
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
