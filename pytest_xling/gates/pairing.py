"""Bring together what two languages, or two runs, have of the same samples."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Score

_CONDITION = re.compile(r"t(?P<temperature>\d+(?:\.\d+)?(?:e-\d+)?)(?:-r\d+)?|r\d+|")


def temperature_of(condition: str) -> float:
    """Return the temperature in an id such as ``t0.7-r2``; 0.0 where it names none.

    An id names none at temperature 0, nor where the temperature was left to the model.

    Raises:
        EvaluationError: that is no id of a condition.
    """
    match = _CONDITION.fullmatch(condition)
    if match is None:
        msg = f"{condition!r} is no condition; expected such as 't0.7-r2', 't1', 'r2' or nothing"
        raise EvaluationError(msg)
    return float(match["temperature"] or 0.0)


SampleMeans: TypeAlias = "dict[tuple[str, str], dict[float, float]]"
"""By benchmark and sample: the mean at each temperature."""


def at_level(scores: Sequence[Score], level: int | None) -> Sequence[Score]:
    """Return the scores of one level; all of them where it is None."""
    return scores if level is None else [score for score in scores if score.level == level]


def cluster_of(score: Score) -> tuple[str, str]:
    """Return benchmark and question: what answers share that are not independent.

    A question may be asked several times, and as several samples.
    """
    return score.benchmark, score.cluster or score.sample_id


def sample_means(scores: Sequence[Score]) -> SampleMeans:
    """Return the mean of each sample's repeats at each temperature, where there is a value.

    In an order that does not depend on that of *scores*.

    Raises:
        EvaluationError: a value is not finite, or what stands as a condition is none.
    """
    values: defaultdict[tuple[str, str], defaultdict[float, list[float]]]
    values = defaultdict(lambda: defaultdict(list))
    for score in sorted(scores, key=lambda s: (s.benchmark, s.sample_id, s.condition)):
        if score.value is None:
            continue
        if not math.isfinite(score.value):
            msg = (
                f"{score.metric!r} gave {score.value!r}; a metric gives a number, or None and a "
                "reason"
            )
            raise EvaluationError(msg)
        at = temperature_of(score.condition)
        values[score.benchmark, score.sample_id][at].append(score.value)
    return {
        sample: {at: _mean(values) for at, values in by_temperature.items()}
        for sample, by_temperature in values.items()
    }


def paired_means(scores: Sequence[Score], others: Sequence[Score]) -> list[tuple[float, float]]:
    """Return for each question in both its mean in each, as :func:`paired_questions` does."""
    return list(paired_questions(scores, others).values())


def paired_questions(
    scores: Sequence[Score], others: Sequence[Score]
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return for each question in both its mean in each.

    Repeats are averaged first, then the temperatures at which a sample is in both, then the samples
    of a question: each of them counts alike.

    Raises:
        EvaluationError: as :func:`sample_means`.
    """
    ours, theirs = sample_means(scores), sample_means(others)
    questions = {(score.benchmark, score.sample_id): cluster_of(score) for score in scores}
    pairs: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for sample, here in ours.items():
        there = theirs.get(sample, {})
        if shared := [at for at in here if at in there]:
            pair = (_mean([here[at] for at in shared]), _mean([there[at] for at in shared]))
            pairs[questions[sample]].append(pair)
    return {
        question: (_mean([a for a, _ in means]), _mean([b for _, b in means]))
        for question, means in pairs.items()
    }


def answer_pairs(
    scores: Sequence[Score], others: Sequence[Score]
) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Return for each question the values of its answers that are in both.

    Answers are paired by sample and condition, a repeat with the same repeat.
    """
    theirs = {(score.benchmark, score.sample_id, score.condition): score.value for score in others}
    pairs: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for score in scores:
        there = theirs.get((score.benchmark, score.sample_id, score.condition))
        if score.value is not None and there is not None:
            pairs[cluster_of(score)].append((score.value, there))
    return pairs


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
