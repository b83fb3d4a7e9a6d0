"""Sets of questions compared, as CaLMQA compares them: by Kolmogorov and Smirnov's test."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.gates.estimate import check_scores, why_none
from pytest_xling.gates.pairing import cluster_of, sample_means
from pytest_xling.languages import find
from pytest_xling.registry import load, names
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.papers.samples import choose_benchmark
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.p_values import holm, stars
from pytest_xling.stats.paired_means import paired_mean
from pytest_xling.stats.two_samples import kolmogorov_smirnov, mean_difference, paired_ks
from pytest_xling.store.questions import labels
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import metric_steps, scores_by_place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.interfaces.metric import Bounds
    from pytest_xling.records import Score
    from pytest_xling.reports.papers.paper_table import Row

METRIC: Final = "answer_length"
SETS_COLUMNS: Final = (
    "model", "metric", "set", "against", "language", "mean", "other_mean", "difference", "low",
    "high", "distance", "p", "p_holm", "n", "other_n", "paired", "reason",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Questions:
    """What one set has in one language."""

    values: Mapping[tuple[str, str], float]
    """By question: the mean of its answers."""
    scores: Sequence[Score]


def sets_rows(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str | None = None,
    metric: str = METRIC,
    field: str = "set",
) -> list[Row]:
    """Compare each two sets of questions in each language.

    A question counts once, by the mean of its repeats, then temperatures, then samples.
    ``difference`` is the mean of ``set`` less that of ``against``, from ``low`` to ``high`` with 95
    % confidence; ``distance`` and ``p`` are of Kolmogorov and Smirnov's test, which asks whether
    the answers' values are of one distribution, as CaLMQA does in App. C.2. ``p_holm`` is corrected
    for all comparisons of the run: its languages, and its pairs of sets if there are several.

    Two sets are *parallel* in a language where most questions of the smaller have a partner in the
    other: the same ``parallel_id``. They are compared pair by pair, without the other questions.
    Where there is nothing to compare, ``p`` is None and ``reason`` says why.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run were scored with *metric*.
        metric: a number.
        field: what the sets are told apart by in the metadata of the samples.

    Raises:
        ConfigError: the run was not scored with *metric*, that is a flag, *benchmark* is needed or
            unknown, or the samples have fewer than two sets.
        EvaluationError: scores of one metric were made in different ways.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    scored = {step.metric for step in metric_steps(connection, run.run_id)}
    if metric not in scored:
        msg = (
            f"run {run.run_id!r} was not scored with {metric!r}.{did_you_mean(metric, scored)} It "
            f"has: {', '.join(sorted(scored)) or 'no scores'}. Name one with --metric"
        )
        raise ConfigError(msg)
    bounds = _bounds(metric)
    steps = choose_benchmark(connection, run.run_id, [metric], benchmark=benchmark)
    name = steps[0].benchmark
    set_of = labels(connection, run.run_id, benchmark=name, key=field)
    if len(known := sorted(set(set_of.values()))) < 2:  # noqa: PLR2004  two are compared
        has = f"only {known[0]!r}" if known else "none"
        msg = (
            f"benchmark {name!r} of run {run.run_id!r} has not two sets of questions: of {field!r} "
            f"in the metadata of its samples it has {has}. Name another key with --field"
        )
        raise ConfigError(msg)
    by_place: defaultdict[str, dict[str, _Questions]] = defaultdict(dict)
    for (_, _, language), scores in scores_by_place(connection, run.run_id, steps).items():
        check_scores(scores, metric=metric, language=language)
        by_set: defaultdict[str, list[Score]] = defaultdict(list)
        for score in scores:
            if in_set := set_of.get((score.sample_id, language)):
                by_set[in_set].append(score)
        for in_set, of_set in by_set.items():
            questions = _Questions(values=_question_means(of_set), scores=of_set)
            by_place[language][in_set] = questions
    rows: list[Row] = []
    for other, one in combinations(known, 2):
        for language, sets in sorted(by_place.items()):
            row: Row = {"set": one, "against": other, "language": language}
            rows.append(row | _compared(sets.get(one), sets.get(other), bounds=bounds))
    tested = [row for row in rows if row["p"] is not None]
    for row, adjusted in zip(tested, holm([float(row["p"] or 0) for row in tested]), strict=True):
        row["p_holm"] = adjusted
    every: Row = {"model": run.model, "metric": metric}
    return [{column: (every | row).get(column) for column in SETS_COLUMNS} for row in rows]


def _bounds(metric: str) -> Bounds:
    """Return between what *metric* lies; of one that is not installed here that is not known."""
    if metric not in names("metric"):
        return (None, None)
    made = load("metric", metric)
    if made.kind == "flag" or made.share:
        msg = (
            f"{metric!r} has no values but 0 and 1, and the table sets compares distributions of "
            "numbers. Name a number with --metric, such as answer_length"
        )
        raise ConfigError(msg)
    bounds: Bounds = made.bounds
    return bounds


def _question_means(scores: Sequence[Score]) -> dict[tuple[str, str], float]:
    question_of = {(score.benchmark, score.sample_id): cluster_of(score) for score in scores}
    means: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for sample, by_temperature in sample_means(scores).items():
        means[question_of[sample]].append(_mean(list(by_temperature.values())))
    return {question: _mean(values) for question, values in means.items()}


def _compared(first: _Questions | None, second: _Questions | None, *, bounds: Bounds) -> Row:
    """Return what there is to say of two sets in one language."""
    ours, theirs = ({} if of is None else of.values for of in (first, second))
    shared = [question for question in ours if question in theirs]
    paired = 2 * len(shared) > min(len(ours), len(theirs))
    values, others = (
        [of[question] for question in (shared if paired else of)] for of in (ours, theirs)
    )
    row: Row = {"n": len(values), "other_n": len(others), "paired": "yes" if paired else "no"}
    row |= {"mean": _mean(values) if values else None, "p": None}
    row |= {"other_mean": _mean(others) if others else None}
    if not values or not others:
        of = second if values else first
        return row | {"reason": why_none(of.scores) if of else "no questions of one set"}
    row["difference"] = _mean(values) - _mean(others)
    if min(len(values), len(others)) < 2:  # noqa: PLR2004  a distribution of one tells nothing
        return row | {"reason": "one question has no spread"}
    if paired:
        pairs = list(zip(values, others, strict=True))
        lowest, highest = bounds
        widest = None if lowest is None or highest is None else highest - lowest
        differences = paired_mean([a - b for a, b in pairs], widest=widest)
        row |= {"low": differences.low, "high": differences.high}
        tested = paired_ks(pairs)
    else:
        around = mean_difference(values, others, bounds=bounds)
        row |= dict(zip(("low", "high"), around or (None, None), strict=True))
        tested = kolmogorov_smirnov(values, others)
    if row["low"] is None:
        row["reason"] = "no interval: values without a spread"
    return row | {"distance": tested.distance, "p": tested.p}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def sets_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out the rows of one run, a sheet for each two sets."""
    pairs = dict.fromkeys((row["set"], row["against"]) for row in rows)
    return [_sheet([row for row in rows if (row["set"], row["against"]) == pair]) for pair in pairs]


def _sheet(rows: Sequence[Row]) -> Sheet:
    first = rows[0]
    columns = {
        "language": [f"{row['language']} {find(str(row['language'])).english_name}" for row in rows]
    }
    columns |= {
        str(first["set"]): [_number(row["mean"]) for row in rows],
        str(first["against"]): [_number(row["other_mean"]) for row in rows],
        "diff.": [_number(row["difference"]) for row in rows],
        "95 %": [
            "–" if row["low"] is None else f"{_number(row['low'])}…{_number(row['high'])}"
            for row in rows
        ],
        "D": [_number(row["distance"]) for row in rows],
        "p\n(Holm)": [_p(row["p_holm"]) for row in rows],
        "n": [
            f"{row['n']} pairs" if row["paired"] == "yes" else f"{row['n']}/{row['other_n']}"
            for row in rows
        ],
    }
    why: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["reason"]:
            why[str(row["reason"])].append(str(row["language"]))
    return Sheet(
        title=f"{first['metric']}: {first['set']} against {first['against']}",
        columns=columns,
        left=1,
        notes=(
            "D: distance of Kolmogorov and Smirnov; p: of one distribution, after Holm",
            *(f"{', '.join(codes)}: {reason}" for reason, codes in why.items()),
        ),
    )


def _number(value: str | float | None) -> str:
    """Return three digits, or more before the point."""
    if not isinstance(value, int | float):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004  three digits


def _p(p: str | float | None) -> str:
    return f"{p:.3f}{stars(p)}" if isinstance(p, int | float) else "–"


SETS_TABLES: Final[Mapping[str, PaperTable]] = {
    "sets": PaperTable(
        about="questions of one set against another, by language (App. C.2)",
        rows=sets_rows,
        columns=SETS_COLUMNS,
        sheets=sets_sheets,
        options=frozenset({"metric", "field"}),
    ),
}
