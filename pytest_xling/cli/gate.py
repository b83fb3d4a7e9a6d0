"""``xling gate RUN --thresholds F``: judge a stored run, without a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_xling.analysis.baseline import open_baseline
from pytest_xling.analysis.drop import against
from pytest_xling.analysis.gate import Compared, gates_of, judge_gates
from pytest_xling.analysis.trust import trusted
from pytest_xling.cli.opening import read_thresholds, reading, store_path
from pytest_xling.cli.printing import color, print_json, print_text, width
from pytest_xling.config.values import path as parse_path
from pytest_xling.engine.leases import status_now
from pytest_xling.errors import ConfigError
from pytest_xling.reports.pivot import named_pivot
from pytest_xling.reports.terminal import judgement
from pytest_xling.reports.terminal.closing import is_closed
from pytest_xling.store.queries import case_counts, metric_steps, scores_by_place
from pytest_xling.store.questions import question_digests
from pytest_xling.store.runs import get_run

if TYPE_CHECKING:
    import argparse

    from sqlalchemy import Connection

    from pytest_xling.analysis.baseline import Baseline
    from pytest_xling.config.thresholds import ThresholdFile
    from pytest_xling.records import RunRecord, Verdict

__all__ = ["add_arguments", "run"]

CLOSED = 1
INCOMPLETE = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        "The verdicts the run was made with stay as they are.\n"
        "exit codes: 0 open; 1 closed; 3 the run is incomplete, whatever its gates say; 4 bad "
        "configuration"
    )
    parser.add_argument("run", metavar="RUN", help="a run's name, or `latest`")
    parser.add_argument(
        "--thresholds", metavar="FILE", type=parse_path, required=True, help="gates to judge by"
    )
    parser.add_argument(
        "--baseline",
        metavar="RUN|FILE|MODEL",
        help="judge drops (max_drop), too: a run, a file `xling export` wrote, or a model with a"
        " promoted run",
    )
    parser.add_argument("--json", action="store_true", help="print an object instead")


def run(args: argparse.Namespace) -> int:
    """Judge the run by the file."""
    with reading(args) as connection:
        record = get_run(connection, args.run)
        counts = case_counts(connection, record.run_id)
        limits = read_thresholds(args.thresholds, {benchmark for benchmark, _ in counts})
        baseline = None
        if args.baseline is not None:
            baseline = open_baseline(args.baseline, store=store_path(args))
        verdicts = _judged(connection, record, counts, limits, baseline)
    status = status_now(record)
    complete = status == "complete"
    if args.json:
        print_json(
            {
                "run": record.run_id,
                "status": status,
                "thresholds": str(args.thresholds),
                "baseline": None if baseline is None else baseline.told,
                "closed": is_closed(verdicts),
                "verdicts": [asdict(verdict) for verdict in verdicts],
            }
        )
    else:
        text = judgement(verdicts, counts, complete=complete, width=width(), color=color())
        print_text(text)
        if baseline is None and _limits_drops(limits, counts):
            print_text("drops (max_drop) are not judged: no --baseline is named")
        if not complete:
            print_text(f"run {record.run_id} is {status}: this decides nothing (exit 3)")
    if not complete:
        return INCOMPLETE
    return CLOSED if is_closed(verdicts) else 0


def _judged(
    connection: Connection,
    record: RunRecord,
    counts: dict[tuple[str, str], int],
    file: ThresholdFile,
    baseline: Baseline | None,
) -> list[Verdict]:
    """Judge each metric the file has a gate for in each language of the run.

    Raises:
        ConfigError: there is none, or one compares what the run does not have, or the run with
            itself.
    """
    gated = [
        step
        for step in metric_steps(connection, record.run_id)
        if step.metric in file.metrics(step.benchmark)
    ]
    scores = scores_by_place(connection, record.run_id, gated)
    with_levels = {
        benchmark
        for (benchmark, _, _), found in scores.items()
        if any(score.level is not None for score in found)
    }
    verdicts: list[Verdict] = []
    for benchmark, metric in dict.fromkeys((step.benchmark, step.metric) for step in gated):
        pivot = named_pivot(record, benchmark)
        gates = gates_of(
            file,
            metric,
            [language for name, language in counts if name == benchmark],
            of=(benchmark, record.model),
            by=Compared(
                pivot=pivot,
                levels=benchmark in with_levels,
                baseline=baseline is not None,
                named=f"in run {record.run_id!r} benchmark {benchmark!r}",
            ),
        )
        found = {
            language: scores.get((benchmark, metric, language), [])
            for language in {name for gate in gates for name in (gate.language, gate.pivot) if name}
        }
        side = None
        if baseline is not None and any(gate.kind == "drop" for gate in gates):
            if baseline.names.get(benchmark) == record.run_id:
                msg = f"run {record.run_id} is its own baseline for {benchmark}; name another one"
                raise ConfigError(msg)
            asked = question_digests(connection, record.run_id, benchmark=benchmark)
            side = against(baseline, benchmark, metric, asked=asked, pivot=pivot)
        verdicts += [
            trusted(connection, record.run_id, verdict, pivot=pivot)
            for verdict in judge_gates(gates, found.__getitem__, against=side)
        ]
    if not verdicts:
        scored = ", ".join(
            f"{step.benchmark}/{step.metric}" for step in metric_steps(connection, record.run_id)
        )
        msg = (
            f"{file.file.name} sets no gate for anything run {record.run_id!r} of model "
            f"{record.model!r} was scored with: {scored or 'nothing'}"
        )
        drops = baseline is None and _limits_drops(file, counts)
        hint = ". Its max_drop needs a --baseline" if drops else ""
        raise ConfigError(msg + hint)
    return verdicts


def _limits_drops(file: ThresholdFile, counts: dict[tuple[str, str], int]) -> bool:
    """Tell whether a file limits how much worse than a baseline a run may be."""
    return any(
        file.limits(benchmark, metric, "max_drop")
        for benchmark in {benchmark for benchmark, _ in counts}
        for metric in file.metrics(benchmark)
    )
