"""UPHILL's tables 5, 10 and 11 and its figure 2 for a run, and how languages agree in stance.

The rows are long: one number each, with what it is of.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.gates.estimate import check_scores
from pytest_xling.gates.pairing import temperature_of
from pytest_xling.reports.papers.samples import choose_benchmark
from pytest_xling.reports.papers.uphill_stances import (
    NEUTRAL,
    StanceRecord,
    accuracy,
    beside,
    by_majority,
    consistency,
    has_right_stance,
    neutral_consistency,
    overall_accuracy,
    share,
)
from pytest_xling.reports.pivot import pivot_of
from pytest_xling.store.questions import labels, questions
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import scores_by_place
from pytest_xling.text.stance import STANCES, VERACITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import Score
    from pytest_xling.reports.papers.paper_table import Row
    from pytest_xling.reports.papers.uphill_stances import Share
    from pytest_xling.stats.kappa import Kappa
    from pytest_xling.text.stance import Stance

ALL: Final = "all"
"""The veracity of rows that pool claims: all but fabricated ones, as in the paper; those too in
comparisons with the pivot language, where veracity is beside the point."""

STANCE_COLUMNS = (
    "model",
    "temperature",
    "language",
    "pivot",
    "measure",
    "veracity",
    "level",
    "value",
    "low",
    "high",
    "n",
    "unparsed",
    "tied",
    "no_stance",
    "claim",
    "stance",
    "pivot_stance",
    "to_false",
    "text",
    "reason",
)
_METRIC = "stance_score"
_STANCES: Final[Mapping[float, Stance]] = {-1.0: "disagree", 0.0: "neutral", 1.0: "agree"}
_REPEAT = "r"


def stance_rows(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str | None = None,
    majority: bool = False,
) -> list[Row]:
    """Return the rows of the table ``stance``, the pivot language's first.

    ``measure`` says what ``value`` is, a share from 0 to 1 unless said otherwise:

    - ``accuracy``: of right responses. Without a level, the mean over levels.
    - ``agree``, ``disagree``, ``neutral``: of responses with that stance.
    - ``neutral_consistency``: of responses with the stance of that to the neutral query.
    - ``consistency``: of claims with one stance at all levels.
    - ``agreement``: of claims and levels with the pivot language's stance.
    - ``kappa``: Cohen's κ with the pivot language's stances.
    - ``flip``: no number, but a claim and level with another stance than in the pivot language;
      ``to_false`` is 1 where a false claim is agreed with that the pivot language refutes.

    Over repeats all responses count, and consistency is that of each repeat. What is compared with
    the pivot language is always the majority of the repeats. ``n`` counts what has a value;
    ``unparsed``, ``tied`` and ``no_stance`` what is left out.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run were scored for this.
        majority: take the stance that most repeats have everywhere.

    Raises:
        ConfigError: the run was not scored with ``stance_score``, its cases do not say level and
            veracity, or *benchmark* is needed or unknown.
        EvaluationError: scores were made in different ways.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    (step,) = choose_benchmark(connection, run.run_id, (_METRIC,), benchmark=benchmark)
    name, pivot = step.benchmark, pivot_of(run, step.benchmark)
    veracities = labels(connection, run.run_id, benchmark=name, key="veracity")
    by_temperature: defaultdict[float, dict[str, list[StanceRecord]]] = defaultdict(dict)
    for (_, _, language), scores in scores_by_place(connection, run.run_id, [step]).items():
        check_scores(scores, metric=_METRIC, language=language)
        for score in scores:
            records = by_temperature[temperature_of(score.condition)].setdefault(language, [])
            records.append(_record(score, veracities, run_id=run.run_id))
    claims = _claims(connection, run.run_id, benchmark=name, language=pivot)
    left_to_model = run.settings.get("temperatures") == [None]
    rows: list[Row] = []
    for temperature, by_language in sorted(by_temperature.items()):
        order = sorted(by_language, key=lambda code: (code != pivot, code))
        for language in order:
            records = sorted(by_language[language], key=lambda r: (r.claim, r.level, r.repeat))
            place: Row = {"model": run.model, "language": language, "pivot": pivot}
            place["temperature"] = None if left_to_model else temperature
            measured = _measured(by_majority(records) if majority else records)
            if language != pivot and pivot in by_language:
                measured += _beside(records, by_language[pivot], claims)
            rows += [
                {column: (place | row).get(column) for column in STANCE_COLUMNS} for row in measured
            ]
    return rows


def _record(
    score: Score, veracities: Mapping[tuple[str, str], str], *, run_id: str
) -> StanceRecord:
    veracity = veracities.get((score.sample_id, score.language))
    if score.level is None or veracity is None:
        msg = (
            f"the cases of benchmark {score.benchmark!r} in run {run_id!r} do not say their level "
            "of presupposition and their claim's veracity; ask about claims with `expand: levels` "
            "in prompts.yaml"
        )
        raise ConfigError(msg)
    if score.value is not None and score.value not in _STANCES:
        msg = f"{_METRIC!r} gave {score.value!r}; a stance is -1, 0 or 1"
        raise EvaluationError(msg)
    return StanceRecord(
        claim=score.cluster or score.sample_id,
        veracity=veracity,
        language=score.language,
        level=score.level,
        repeat=_repeat(score.condition),
        stance=None if score.value is None else _STANCES[score.value],
        reason=score.reason,
        sample=score.sample_id,
    )


def _repeat(condition: str) -> str:
    """Return the repeat in an id such as ``t0.7-r2``; empty for the first."""
    last = condition.rpartition("-")[2]
    return last if last.startswith(_REPEAT) else ""


def _claims(
    connection: Connection, run_id: str, *, benchmark: str, language: str
) -> dict[str, str]:
    """Return the texts of claims by sample: the claim where it is known, else what was asked."""
    asked = questions(connection, run_id, benchmark=benchmark, language=language)
    known = labels(connection, run_id, benchmark=benchmark, key="claim")
    return asked | {sample: text for (sample, code), text in known.items() if code == language}


def _measured(records: Sequence[StanceRecord]) -> list[Row]:
    """Return what there is to say of one language at one temperature by itself."""
    levels = sorted({record.level for record in records})
    present = {record.veracity for record in records}
    veracities = [veracity for veracity in VERACITIES if veracity in present] + sorted(
        present - {*VERACITIES}
    )
    rows: list[Row] = []
    for veracity in (ALL, *veracities):
        pooled = veracity == ALL
        mine = [r for r in records if (has_right_stance(r) if pooled else r.veracity == veracity)]
        if not mine:
            continue
        place: Row = {"veracity": veracity}
        if has_right_stance(mine[0]):
            for level in levels:
                right = accuracy(_at(mine, level))
                rows.append(place | {"measure": "accuracy", "level": level} | _numbers(right))
            rows.append(place | {"measure": "accuracy"} | _numbers(overall_accuracy(mine)))
        for level in levels:
            here = _at(mine, level)
            rows += [
                place | {"measure": stance, "level": level} | _numbers(_taking(stance, here))
                for stance in STANCES
            ]
        for level in levels if NEUTRAL in levels else ():
            if level != NEUTRAL:
                consistent = neutral_consistency(mine, level)
                measure: Row = {"measure": "neutral_consistency", "level": level}
                rows.append(place | measure | _numbers(consistent))
        rows.append(place | {"measure": "consistency"} | _numbers(consistency(mine)))
    return rows


def _taking(stance: Stance, records: Sequence[StanceRecord]) -> Share:
    return share(records, lambda record: record.stance == stance)


def _at(records: Iterable[StanceRecord], level: int) -> list[StanceRecord]:
    return [record for record in records if record.level == level]


def _beside(
    records: Sequence[StanceRecord], pivot: Sequence[StanceRecord], claims: Mapping[str, str]
) -> list[Row]:
    """Return how one language agrees with the pivot language, and where it does not."""
    beside_pivot = beside(records, pivot)
    everywhere: Row = {"veracity": ALL}
    rows: list[Row] = [
        everywhere | {"measure": "agreement", "level": level} | _numbers(agreement)
        for level, agreement in beside_pivot.by_level.items()
    ]
    rows.append(everywhere | {"measure": "agreement"} | _numbers(beside_pivot.agreement))
    rows.append(everywhere | {"measure": "kappa"} | _kappa(beside_pivot.kappa))
    for flip in beside_pivot.flips:
        here, there = flip.here, flip.there
        rows.append(
            {
                "measure": "flip",
                "veracity": here.veracity,
                "level": here.level,
                "claim": here.claim,
                "stance": here.stance,
                "pivot_stance": there.stance,
                "to_false": int(flip.to_false),
                "text": claims.get(here.sample),
            }
        )
    return rows


def _numbers(measured: Share) -> Row:
    return {
        "value": measured.value,
        "low": measured.low,
        "high": measured.high,
        "n": measured.n,
        "unparsed": measured.unparsed,
        "tied": measured.tied,
        "no_stance": measured.no_stance,
        "reason": measured.reason,
    }


def _kappa(kappa: Kappa) -> Row:
    return {
        "value": kappa.value,
        "low": kappa.low,
        "high": kappa.high,
        "n": kappa.n,
        "reason": kappa.reason,
    }
