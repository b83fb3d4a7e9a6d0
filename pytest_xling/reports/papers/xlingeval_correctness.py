"""XLingEval's table of correctness: what a judge says of answers beside the expert's (Table 1)."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_xling.gates.estimate import check_scores
from pytest_xling.gates.pairing import paired_means
from pytest_xling.reports.papers.samples import choose_benchmark
from pytest_xling.reports.pivot import pivot_of
from pytest_xling.stats.paired_means import Ratio, paired_ratio
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import scores_by_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import Score
    from pytest_xling.reports.papers.xlingeval_consistency import Row

# In the paper's order.
LABELS = ("more_comprehensive", "less_comprehensive", "dissimilar", "contradictory")
CORRECTNESS_COLUMNS = (
    "model",
    "language",
    "pivot",
    *LABELS,
    "no_label",
    "n",
    "more_decrease_points",
    "more_decrease_percent",
    "more_decrease_percent_low",
    "more_decrease_percent_high",
    "contradictory_ratio",
    "contradictory_ratio_low",
    "contradictory_ratio_high",
    "pairs",
)


def correctness_rows(
    connection: Connection, run_id: str, *, benchmark: str | None = None
) -> list[Row]:
    """Return Table 1: the answers with each label, by language, and how they compare.

    Counts are of all answers. The comparisons with the pivot language are of the ``pairs``:
    samples labelled in both, repeats and temperatures of a sample averaged. They are

    - ``more_decrease_points``: by how many percentage points of the samples ``more_comprehensive``
      is rarer. That is the number the paper calls a relative decrease: 226 in English and 142 in
      Hindi of 246 are its 34.15.
    - ``more_decrease_percent``: the relative decrease, 100 · (1 - ratio of the two rates).
    - ``contradictory_ratio``: how many times as often an answer is contradictory.

    The ends of the latter two are those of a 95 % interval of the ratio of paired means, symmetric
    on a log scale (:func:`pytest_xling.stats.paired_means.paired_ratio`).

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run were scored for this.

    Raises:
        ConfigError: the run was not scored for this, or *benchmark* is needed or unknown.
        EvaluationError: scores of one metric were made in different ways.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    steps = choose_benchmark(connection, run.run_id, LABELS, benchmark=benchmark)
    name, metrics = steps[0].benchmark, [step.metric for step in steps]
    by_language: defaultdict[str, dict[str, list[Score]]] = defaultdict(dict)
    for (_, metric, language), scores in scores_by_place(connection, run.run_id, steps).items():
        check_scores(scores, metric=metric, language=language)
        by_language[language][metric] = scores
    pivot = pivot_of(run, name)
    rows = []
    for language in sorted(by_language, key=lambda code: (code != pivot, code)):
        by_label = by_language[language]
        row: Row = {"model": run.model, "language": language, "pivot": pivot}
        row |= {metric: _count(by_label[metric]) for metric in metrics if metric in by_label}
        longest = max(by_label.values(), key=len)
        row |= {"n": len(longest), "no_label": sum(score.value is None for score in longest)}
        if language != pivot and pivot in by_language:
            row |= _beside(by_label, by_language[pivot])
        rows.append({column: row.get(column) for column in CORRECTNESS_COLUMNS})
    return rows


def _count(scores: Sequence[Score]) -> int:
    return sum(score.value == 1 for score in scores)


def _beside(by_label: dict[str, list[Score]], pivot: dict[str, list[Score]]) -> Row:
    """Return the comparisons with the pivot language, of those labels that both have."""
    row: Row = {}
    for metric in ("more_comprehensive", "contradictory"):
        if metric not in by_label or metric not in pivot:
            continue
        pairs = paired_means(by_label[metric], pivot[metric])
        row["pairs"] = len(pairs)
        ratio = paired_ratio(pairs)
        if metric == "contradictory":
            row |= {"contradictory_ratio": ratio.value}
            row |= {"contradictory_ratio_low": ratio.low, "contradictory_ratio_high": ratio.high}
        elif pairs:
            lost = math.fsum(there - here for here, there in pairs)
            row["more_decrease_points"] = 100 * lost / len(pairs)
            row |= _decrease(ratio)
    return row


def _decrease(ratio: Ratio) -> Row:
    """Return a relative decrease in percent; its low end is the high end of the ratio."""
    value, low, high = (
        None if part is None else 100 * (1 - part) for part in (ratio.value, ratio.high, ratio.low)
    )
    return {
        "more_decrease_percent": value,
        "more_decrease_percent_low": low,
        "more_decrease_percent_high": high,
    }
