"""XLingEval's tables of consistency: means and drops, and three tests of their differences."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.reports.papers.samples import read_samples
from pytest_xling.stats.clusters import listwise
from pytest_xling.stats.group_means import anova, pooled_t, summarise, tukey, welch_t
from pytest_xling.stats.p_values import stars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from pytest_xling.reports.papers.samples import Groups, RunSamples

Row: TypeAlias = "dict[str, str | int | float | None]"

# The paper's eight, in its order, then ours.
METRICS = (
    "sim_sent",
    "bertscore",
    "sim_1gram",
    "sim_2gram",
    "length",
    "sim_hdp",
    "sim_lda_20",
    "sim_lda_100",
    "bertscore_precision",
    "bertscore_recall",
    "cross_sim_sent",
    "cross_bertscore",
    "cross_sim_hdp",
    "cross_sim_lda_20",
    "cross_sim_lda_100",
)
CONSISTENCY_COLUMNS = (
    "model", "metric", "language", "pivot", "mean", "change_percent", "temperatures", "n",
    "left_out", "reason",
)  # fmt: skip
TUKEY_COLUMNS = (
    "model", "temperature", "metric", "first", "second", "difference", "low", "high", "p",
    "stars", "n_first", "n_second", "left_out", "reason",
)  # fmt: skip
ANOVA_COLUMNS = (
    "model", "temperature", "metric", "f", "p", "stars", "df_between", "df_within", "languages",
    "n", "left_out", "reason",
)  # fmt: skip
TTEST_COLUMNS = (
    "model", "temperature", "metric", "first", "second", "test", "t", "df", "p", "stars",
    "n_first", "n_second", "left_out", "reason",
)  # fmt: skip

NOTHING_SHARED = "no sample has a value in all languages; --pairwise keeps the others"
NOTHING_PAIRED = "no sample has a value in both languages"


def consistency_rows(
    connection: Connection, run_id: str, *, benchmark: str | None = None, pairwise: bool = False
) -> list[Row]:
    """Return Table A9: by metric and language the mean over temperatures, and how far it is off.

    Every temperature counts alike, however many samples are left at it. A language that has no
    value at one of the metric's temperatures has no mean: it would be one of something else.
    ``change_percent`` is negative where the mean is below the pivot language's, and None where that
    is not above 0. ``n`` counts samples, at all temperatures together, as does ``left_out``: those
    that some language has and another lacks.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run were scored for this.
        pairwise: whether to use all samples a language has; else those all languages have.

    Raises:
        ConfigError: the run was not scored for this, or *benchmark* is needed or unknown.
        StoreError: no such run.
    """
    samples = read_samples(connection, run_id, METRICS, benchmark=benchmark)
    rows: list[Row] = []
    for metric in samples.metrics:
        used = [at for at in samples.temperatures if (metric, at) in samples.values]
        groups = [samples.groups(metric, at, pairwise=pairwise) for at in used]
        means = {code: _mean(code, groups) for code in samples.expected(metric)}
        base = means.get(samples.pivot)
        left_out = sum(samples.left_out(metric, at) for at in used if not pairwise)
        for code, mean in means.items():
            row: Row = {"model": samples.run.model, "metric": metric, "language": code}
            row |= {"pivot": samples.pivot, "mean": mean, "temperatures": len(used)}
            if mean is not None and base is not None and base > 0:
                row["change_percent"] = 100 * (mean / base - 1)
            row |= {
                "n": sum(len(by_language.get(code, {})) for by_language in groups),
                "left_out": left_out,
            }
            lacks = [
                at
                for at, by_language in zip(used, groups, strict=True)
                if not by_language.get(code)
            ]
            reason = f"no value at τ = {', '.join(f'{at:g}' for at in lacks)}" if lacks else ""
            if not used:
                reason = samples.reasons.get(metric, "")
            if lacks and any(code in samples.values[metric, at] for at in lacks):
                reason = NOTHING_SHARED
            rows.append(_row(CONSISTENCY_COLUMNS, row, reason))
    return rows


def tukey_rows(
    connection: Connection, run_id: str, *, benchmark: str | None = None, pairwise: bool = False
) -> list[Row]:
    """Return Tables 2 and 3: Tukey's HSD per temperature and metric; else as Table A9 above.

    ``difference`` is the second language's mean minus the first's, with its 95 % interval.
    """
    samples = read_samples(connection, run_id, METRICS, benchmark=benchmark)
    rows: list[Row] = []
    for place, groups, absent in _compared(samples, pairwise=pairwise):
        # Listwise, all languages have the same samples; pairwise, each has some.
        if all(groups.values()):
            values = {code: list(by_sample.values()) for code, by_sample in groups.items()}
            for difference in tukey(values):
                row: Row = {
                    "difference": difference.mean,
                    "low": difference.low,
                    "high": difference.high,
                }
                row |= _p(difference.p) | _pair(difference.first, difference.second)
                row |= {"n_first": len(values[difference.first])}
                row |= {"n_second": len(values[difference.second])}
                rows.append(_row(TUKEY_COLUMNS, place | row, difference.reason))
        else:
            pairs = combinations(groups, 2)
            rows += [_row(TUKEY_COLUMNS, place | _pair(*pair), NOTHING_SHARED) for pair in pairs]
        rows += [_row(TUKEY_COLUMNS, place | _pair(*pair), why) for pair, why in absent]
    return rows


def anova_rows(
    connection: Connection, run_id: str, *, benchmark: str | None = None, pairwise: bool = False
) -> list[Row]:
    """Return Table A13: one-way ANOVA per temperature and metric; else as Table A9 above."""
    samples = read_samples(connection, run_id, METRICS, benchmark=benchmark)
    rows: list[Row] = []
    for place, groups, absent in _compared(samples, pairwise=pairwise):
        row: Row = {"languages": len(groups), "n": sum(map(len, groups.values()))}
        if not all(groups.values()):
            rows.append(_row(ANOVA_COLUMNS, place | row, NOTHING_SHARED))
            continue
        result = anova([list(values.values()) for values in groups.values()])
        row |= {"f": result.f, "df_between": result.df_between, "df_within": result.df_within}
        why = "; ".join(filter(None, (result.reason, *dict.fromkeys(why for _, why in absent))))
        rows.append(_row(ANOVA_COLUMNS, place | row | _p(result.p), why))
    return rows


def ttest_rows(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str | None = None,
    pairwise: bool = False,
    welch: bool = False,
) -> list[Row]:
    """Return Table A12: unpaired t tests per temperature and metric.

    ``t`` is positive where the first language's mean is higher. With *pairwise*, two languages are
    compared on the samples that both have; without *welch* they are taken to have one variance, as
    the degrees of freedom in the paper tell. Else as Table A9 above.
    """
    samples = read_samples(connection, run_id, METRICS, benchmark=benchmark)
    test = welch_t if welch else pooled_t
    rows: list[Row] = []
    for place, groups, absent in _compared(samples, pairwise=pairwise):
        for first, second in combinations(groups, 2):
            mine, other = listwise({first: groups[first], second: groups[second]}).values()
            row = _pair(first, second) | {"test": "Welch" if welch else "pooled"}
            row |= {"n_first": len(mine), "n_second": len(other)}
            if not mine:
                reason = NOTHING_PAIRED if pairwise else NOTHING_SHARED
                rows.append(_row(TTEST_COLUMNS, place | row, reason))
                continue
            result = test(summarise(list(mine.values())), summarise(list(other.values())))
            row |= {"t": result.t, "df": result.df} | _p(result.p)
            rows.append(_row(TTEST_COLUMNS, place | row, result.reason))
        rows += [_row(TTEST_COLUMNS, place | _pair(*pair), why) for pair, why in absent]
    return rows


def _pair(first: str, second: str) -> Row:
    return {"first": first, "second": second}


def _p(p: float | None) -> Row:
    return {"p": p, "stars": stars(p)}


def _row(columns: Sequence[str], cells: Row, reason: str) -> Row:
    """Return a row with all *columns*, in their order; what is not told is None."""
    return {name: cells.get(name) for name in columns} | {"reason": reason}


def _compared(
    samples: RunSamples, *, pairwise: bool
) -> Iterator[tuple[Row, Groups, list[tuple[tuple[str, str], str]]]]:
    """Yield, by temperature and metric, where a comparison stands and what is compared.

    What is left of the languages by listwise deletion may be nothing. Languages without a value
    are not among them; what comes last are the pairs they would be in, and why they are not there.
    """
    for temperature in samples.temperatures:
        for metric in samples.metrics:
            groups = samples.groups(metric, temperature, pairwise=pairwise)
            expected = samples.expected(metric)
            if not groups or len(expected) < 2:  # noqa: PLR2004  two are compared
                continue
            place: Row = {"model": samples.run.model, "metric": metric}
            place["temperature"] = None if samples.left_to_model else temperature
            place["left_out"] = 0 if pairwise else samples.left_out(metric, temperature)
            absent = [
                (pair, f"{' and '.join(lacking)}: no value")
                for pair in combinations(expected, 2)
                if (lacking := [code for code in pair if code not in groups])
            ]
            yield place, groups, absent


def _mean(code: str, groups: list[Groups]) -> float | None:
    """Return a language's mean over temperatures; None where it has no value at one."""
    means = []
    for by_language in groups:
        values = by_language.get(code)
        if not values:
            return None
        means.append(math.fsum(values.values()) / len(values))
    return math.fsum(means) / len(means) if means else None
