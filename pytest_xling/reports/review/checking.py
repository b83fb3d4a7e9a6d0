"""Check that what raters said is of one review, and of answers that are in the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.reports.review.population import Population
    from pytest_xling.reports.review.ratings import Rated, Rating
    from pytest_xling.reports.review.scheme import Scheme

__all__ = ["check_ratings", "check_together"]


def check_together(rated: Sequence[Rated]) -> None:
    """Check that all is of one run, benchmark and metric, and each rater's in one file.

    Raises:
        DataError: names both files and the fix.
    """
    first = rated[0]
    raters: dict[str, Rated] = {}
    for one in rated:
        for key in ("run", "benchmark", "metric"):
            mine, theirs = getattr(first, key), getattr(one, key)
            if mine != theirs:
                msg = (
                    f"{one.source}: is of the {key} {theirs!r}, and {first.source} of {mine!r}; "
                    "compare labels of one review"
                )
                raise DataError(msg)
        same = raters.setdefault(one.rater.casefold(), one)
        if same is not one:
            msg = (
                f"{one.source}: is of the rater {one.rater!r}, and so is {same.source}; leave one "
                "out, or if they are two people, write another 'rater' into one"
            )
            raise DataError(msg)


def check_ratings(rated: Sequence[Rated], population: Population, scheme: Scheme) -> None:
    """Check that each rating is of an answer of the run, judged as the file says, with a label.

    Raises:
        DataError: names file, place and fix.
    """
    for one in rated:
        for rating in one.ratings:
            _check(rating, one, population, scheme)
        if not any(rating.label is not None for rating in one.ratings):
            msg = f"{one.source}: {one.rater} has labelled nothing; label some answers first"
            raise DataError(msg)


def _check(rating: Rating, of: Rated, population: Population, scheme: Scheme) -> None:
    judged = population.items.get(rating.case_id)
    if judged is None:
        msg = (
            f"{rating.where}: case {rating.case_id!r} is not among the answers of run {of.run!r} "
            f"that were scored with {of.metric!r}.{did_you_mean(rating.case_id, population.items)} "
            "Name the store the review was made from with --xling-store"
        )
        raise DataError(msg)
    if rating.label is not None and rating.label not in scheme.labels:
        msg = (
            f"{rating.where}: unknown label {rating.label!r}."
            f"{did_you_mean(rating.label, scheme.labels)} Known: {', '.join(scheme.labels)}"
        )
        raise DataError(msg)
    if rating.has_judge and rating.judge != judged.label:
        msg = (
            f"{rating.where}: case {rating.case_id!r} had the label {rating.judge!r} when it was"
            f" reviewed, and in this store's run {of.run!r} it has {judged.label!r}: the review is"
            " of another run called so; name its store with --xling-store"
        )
        raise DataError(msg)
