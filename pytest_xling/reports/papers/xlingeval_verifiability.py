"""XLingEval's table of verifiability: how well right answers are told from wrong (Table A11)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.gates.estimate import check_scores
from pytest_xling.gates.pairing import temperature_of
from pytest_xling.reports.papers.samples import choose_benchmark
from pytest_xling.reports.pivot import pivot_of
from pytest_xling.stats.classification import classification
from pytest_xling.stats.mean import describe
from pytest_xling.store.questions import labels
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import scores_by_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import Reading, Score
    from pytest_xling.reports.papers.xlingeval_consistency import Row
    from pytest_xling.stats.classification import Conventions

# The paper's five in its order, then its equation 6, which it does not use.
MEASURES = ("precision", "recall", "f1", "accuracy", "auc", "f1_eq6")
CONVENTIONS = ("released", "honest")
VERIFIABILITY_COLUMNS = (
    "model",
    "language",
    "convention",
    *(column for measure in MEASURES for column in (measure, f"{measure}_std")),
    "unknown_rate",
    "unknown_rate_std",
    "temperatures",
    "n",
    "reason",
)


def verifiability_rows(
    connection: Connection, run_id: str, *, benchmark: str | None = None
) -> list[Row]:
    """Return Table A11: by language and convention the means over temperatures and their spread.

    The conventions are those of :mod:`pytest_xling.stats.classification`; the spread is the
    standard deviation over temperatures (divided by their number minus one), None at one. What is
    not defined at one of the temperatures has no mean; ``reason`` says why.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run were scored for this.

    Raises:
        ConfigError: the run was not scored with ``says_right``, its cases do not say which answers
            are right, or *benchmark* is needed or unknown.
        EvaluationError: scores of one metric were made in different ways.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    (said_by, *_) = choose_benchmark(connection, run.run_id, ("says_right",), benchmark=benchmark)
    name = said_by.benchmark
    steps = choose_benchmark(connection, run.run_id, ("says_right", "p_right"), benchmark=name)
    gold = labels(connection, run.run_id, benchmark=name, key="gold")
    scores = scores_by_place(connection, run.run_id, steps)
    pivot = pivot_of(run, name)
    languages = sorted({code for _, _, code in scores}, key=lambda code: (code != pivot, code))
    rows: list[Row] = []
    for language in languages:
        verdicts = scores.get((name, "says_right", language), [])
        p_right = scores.get((name, "p_right", language), [])
        check_scores(verdicts, metric="says_right", language=language)
        check_scores(p_right, metric="p_right", language=language)
        known = [score for score in verdicts if (score.sample_id, language) in gold]
        if not known:
            msg = (
                f"the cases of benchmark {name!r} in run {run.run_id!r} do not say which answers "
                "are right; ask with `expand: candidates` in its prompts.yaml"
            )
            raise ConfigError(msg)
        by_temperature = _by_temperature(known, p_right, gold)
        for convention in CONVENTIONS:
            place: Row = {"model": run.model, "language": language, "convention": convention}
            place |= {"n": len(known), "temperatures": len(by_temperature)}
            rows.append(place | _measures(by_temperature, convention))
    return [{column: row[column] for column in VERIFIABILITY_COLUMNS} for row in rows]


def _by_temperature(
    verdicts: Sequence[Score], p_right: Sequence[Score], gold: dict[tuple[str, str], str]
) -> list[Conventions]:
    """Return what comes of the verdicts at each temperature, rising."""
    probability = {(s.sample_id, s.condition): s.value for s in p_right}
    asked: defaultdict[float, list[Score]] = defaultdict(list)
    for score in verdicts:
        asked[temperature_of(score.condition)].append(score)
    return [
        classification(
            [gold[score.sample_id, score.language] == "right" for score in asked[temperature]],
            [None if score.value is None else score.value == 1 for score in asked[temperature]],
            p_right=[probability.get((s.sample_id, s.condition)) for s in asked[temperature]],
        )
        for temperature in sorted(asked)
    ]


def _measures(by_temperature: Sequence[Conventions], convention: str) -> Row:
    """Return mean and spread of each measure, and why there is none."""
    row: Row = {}
    reasons: dict[str, list[str]] = {}
    for measure in (*MEASURES, "unknown_rate"):
        readings: list[Reading] = [
            measured.unknown_rate
            if measure == "unknown_rate"
            else getattr(getattr(measured, convention), measure)
            for measured in by_temperature
        ]
        values = [reading.value for reading in readings if reading.value is not None]
        complete = len(values) == len(readings)
        described = describe(values if complete else [])
        row |= {measure: described.mean, f"{measure}_std": described.std}
        if not complete:
            why = next(reading.reason for reading in readings if reading.value is None)
            reasons.setdefault(why, []).append(measure)
    row["reason"] = "; ".join(f"{', '.join(names)}: {why}" for why, names in reasons.items())
    return row
