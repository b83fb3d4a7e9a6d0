"""How far raters agree with the judge, and with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_xling.stats.kappa import FleissKappa, Kappa, cohen_kappa, fleiss_kappa
from pytest_xling.stats.labelling import weighted_labelling
from pytest_xling.stats.rate_intervals import WeightedRate, weighted_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.reports.review.population import Judged, Population, Stratum
    from pytest_xling.reports.review.ratings import Rated, Rating
    from pytest_xling.stats.label_quality import Labelling

ALL: Final = "all"
"""The language of what is of all languages together."""
MAJORITY: Final = "majority"
"""The rater that stands for the label most of several raters gave."""
_SEVERAL: Final = 2

Labels: TypeAlias = "dict[str, str]"
"""By case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """How far one rater, or most of them, agree with the judge."""

    rater: str
    language: str
    agreement: WeightedRate
    """Of the run's answers that the judge gave a label, where the sample is weighted back."""
    kappa: Kappa
    """Of the sample as it is."""
    quality: Labelling
    """The judge's, with the rater's labels as the right ones; weighted back to the run."""
    cannot_tell: int
    unlabelled: int
    """Items of the file that were not labelled; for the majority, that it is split about."""
    no_value: int
    """Labelled answers of which the judge said nothing."""
    saw_judge: int
    """Labelled after the rater had seen the judge's label."""
    unseen: int
    """Answers of the run in strata of which the rater has labelled none: nothing stands for them.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RatersAgreement:
    """How far several raters agree with each other."""

    language: str
    raters: int
    kappa: FleissKappa


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An answer that some rater labels differently than the judge."""

    judged: Judged
    ratings: Mapping[str, Rating]
    """By rater: those who labelled it."""


def agreement_with_judge(
    population: Population, rated: Sequence[Rated], *, labels: Sequence[str]
) -> list[RaterAgreement]:
    """Compare each rater with the judge, by language and in all; of several also the majority.

    A labelled answer stands for as many of the run as its stratum has, over how many of it the
    rater has labelled: what was skipped is taken to be like the rest.

    Args:
        population: what the judge said of the run's answers.
        rated: by each rater; all cases are in the population.
        labels: all there are.
    """
    rows: list[RaterAgreement] = []
    for rater_file in rated:
        rows += _rows(rater_file.rater, list(rater_file.ratings), population, labels=labels)
    if len(rated) >= _SEVERAL:
        rows += _rows(MAJORITY, majority(rated), population, labels=labels)
    return rows


def majority(rated: Sequence[Rated]) -> list[Rating]:
    """Return what most raters said of each answer; no label where two are given equally often."""
    votes: defaultdict[str, list[Rating]] = defaultdict(list)
    for rater_file in rated:
        for rating in rater_file.ratings:
            votes[rating.case_id].append(rating)
    return [_vote(ratings) for ratings in votes.values()]


def _vote(ratings: Sequence[Rating]) -> Rating:
    counted = Counter(rating.label for rating in ratings if rating.label is not None).most_common()
    first = ratings[0]
    if not counted:
        cannot = any(rating.cannot_tell for rating in ratings)
        return replace(first, label=None, cannot_tell=cannot)
    split = len(counted) > 1 and counted[1][1] == counted[0][1]
    label = None if split else counted[0][0]
    saw = any(rating.saw_judge for rating in ratings if rating.label == label)
    return replace(first, label=label, cannot_tell=False, saw_judge=saw)


def _rows(
    rater: str, ratings: Sequence[Rating], population: Population, *, labels: Sequence[str]
) -> list[RaterAgreement]:
    languages = sorted({population.items[rating.case_id].language for rating in ratings})
    sizes = population.sizes()
    rows = []
    for language in (*languages, *([ALL] if len(languages) > 1 else ())):
        wanted = set(languages) if language == ALL else {language}
        own = [rating for rating in ratings if population.items[rating.case_id].language in wanted]
        there = {stratum: many for stratum, many in sizes.items() if stratum[0] in wanted}
        rows.append(_row(rater, language, own, population, there, labels=labels))
    return rows


def _row(
    rater: str,
    language: str,
    ratings: Sequence[Rating],
    population: Population,
    sizes: Mapping[Stratum, int],
    *,
    labels: Sequence[str],
) -> RaterAgreement:
    labelled_by_case = {rating.case_id: rating for rating in ratings if rating.label is not None}
    items = [population.items[case] for case in labelled_by_case]
    labelled = Counter(item.stratum for item in items)
    weight = {stratum: sizes[stratum] / many for stratum, many in labelled.items()}
    spoken = [item for item in items if item.label is not None]
    right = [str(labelled_by_case[item.case_id].label) for item in items]
    agreement = weighted_rate(
        [labelled_by_case[item.case_id].label == item.label for item in spoken],
        [weight[item.stratum] for item in spoken],
        [item.cluster for item in spoken],
    )
    kappa = cohen_kappa(
        [str(item.label) for item in spoken],
        [str(labelled_by_case[item.case_id].label) for item in spoken],
        clusters=[item.cluster for item in spoken],
    )
    quality = weighted_labelling(
        right,
        [item.label for item in items],
        [weight[item.stratum] for item in items],
        labels=labels,
        clusters=[item.cluster for item in items],
    )
    return RaterAgreement(
        rater=rater,
        language=language,
        agreement=agreement,
        kappa=kappa,
        quality=quality,
        cannot_tell=sum(rating.cannot_tell for rating in ratings),
        unlabelled=sum(rating.label is None and not rating.cannot_tell for rating in ratings),
        no_value=len(items) - len(spoken),
        saw_judge=sum(rating.saw_judge for rating in labelled_by_case.values()),
        unseen=sum(many for stratum, many in sizes.items() if stratum not in labelled),
    )


def agreement_among_raters(population: Population, rated: Sequence[Rated]) -> list[RatersAgreement]:
    """Compare raters with each other, by language and in all; nothing with fewer than two.

    It is of the sample as it is, and of the answers that two raters or more have labelled.
    """
    if len(rated) < _SEVERAL:
        return []
    given = _given(rated)
    languages = sorted({population.items[case].language for case in given})
    rows = []
    for language in (*languages, *([ALL] if len(languages) > 1 else ())):
        own = {
            case: labels
            for case, labels in given.items()
            if language in {ALL, population.items[case].language}
        }
        raters = {rater for labels in own.values() for rater in labels}
        kappa = fleiss_kappa(
            [list(labels.values()) for labels in own.values()],
            clusters=[population.items[case].cluster for case in own],
        )
        rows.append(RatersAgreement(language=language, raters=len(raters), kappa=kappa))
    return rows


def _given(rated: Iterable[Rated]) -> dict[str, Labels]:
    """Return the labels by case and rater."""
    given: dict[str, Labels] = {}
    for rater_file in rated:
        for rating in rater_file.ratings:
            if rating.label is not None:
                given.setdefault(rating.case_id, {})[rater_file.rater] = rating.label
    return given


def disagreements(population: Population, rated: Sequence[Rated]) -> list[Disagreement]:
    """Return the answers some rater labels differently than the judge, by language and case.

    First those about which all raters differ from it.
    """
    ratings_of: dict[str, dict[str, Rating]] = {}
    for rater_file in rated:
        for rating in rater_file.ratings:
            if rating.label is not None:
                ratings_of.setdefault(rating.case_id, {})[rater_file.rater] = rating
    disputed = [
        Disagreement(judged=population.items[case], ratings=by_rater)
        for case, by_rater in ratings_of.items()
        if population.items[case].label is not None
        and any(rating.label != population.items[case].label for rating in by_rater.values())
    ]

    def order(dispute: Disagreement) -> tuple[bool, str, str]:
        some_agree = any(
            rating.label == dispute.judged.label for rating in dispute.ratings.values()
        )
        return some_agree, dispute.judged.language, dispute.judged.case_id

    return sorted(disputed, key=order)
