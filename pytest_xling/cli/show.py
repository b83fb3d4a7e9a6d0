"""``xling show RUN``: what a run came to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_xling.cli.opening import reading, store_location
from pytest_xling.cli.printing import color, print_json, print_text, width
from pytest_xling.engine.leases import status_now
from pytest_xling.reports.freshness import freshness
from pytest_xling.reports.terminal import summary
from pytest_xling.reports.terminal.closing import faults_met, is_closed
from pytest_xling.reports.terminal.findings import findings
from pytest_xling.reports.terminal.labelled import before_labels, before_labels_text
from pytest_xling.reports.terminal.matrix import with_intervals
from pytest_xling.reports.terminal.spending import spent
from pytest_xling.store.cases import case_counts
from pytest_xling.store.human_labels import label_counts
from pytest_xling.store.runs import get_run, stop_in, total_progress
from pytest_xling.store.scores import metric_steps
from pytest_xling.store.verdicts import read_verdicts
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    import argparse

    from sqlalchemy import Connection

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord
    from pytest_xling.store.runs import Progress

FINDINGS_JSON = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="a run's name, or `latest`")
    parser.add_argument("--verbose", "-v", action="store_true", help="more findings, longer texts")
    parser.add_argument("--json", action="store_true", help="print an object instead")


def run(args: argparse.Namespace) -> int:
    """Show the run; the exit code is 0 whatever its gates say."""
    with reading(args) as connection:
        record = get_run(connection, args.run)
        if args.json:
            print_json(_as_json(connection, record))
            return 0
        text = summary(
            connection,
            record.run_id,
            width=width(),
            color=color(),
            verbose=args.verbose,
            store=store_location(args),
        )
        progress = total_progress(connection, record.run_id)
        stale = before_labels(
            read_verdicts(connection, record.run_id), label_counts(connection, record.run_id)
        )
    print_text(f"{_heading(record, progress)}\n\n{text}")
    if stale:
        print_text(before_labels_text(stale, record.run_id))
    return 0


def _heading(record: RunRecord, progress: Progress) -> str:
    made = record.created_at[:16].replace("T", " ")
    git = f", code {printable(record.git)}" if record.git else ""
    faults = progress.errors
    have = "has" if faults == 1 else "have"
    lost = f"\n{faults_met(faults)} and {have} no score" if faults else ""
    cost = spent(record, progress.cost_usd)
    stop = stop_in(record)
    early = f"\n{printable(str(stop))}" if stop else ""
    return (
        f"run {record.run_id}: {status_now(record)}, made {made} UTC\n"
        f"model {printable(record.model)}{git}{f', {cost}' if cost else ''}{early}{lost}"
    )


def _as_json(connection: Connection, record: RunRecord) -> dict[str, JsonValue]:
    verdicts = read_verdicts(connection, record.run_id)
    counts = case_counts(connection, record.run_id)
    scored = metric_steps(connection, record.run_id)
    estimates = with_intervals(connection, record.run_id, scored)
    return {
        "run": asdict(record) | {"status": status_now(record)},
        "answers": [
            {"benchmark": benchmark, "language": language, "n": n}
            for (benchmark, language), n in counts.items()
        ],
        "freshness": asdict(freshness(connection, record)),
        "estimates": [
            {"benchmark": benchmark, **asdict(made)}
            for (benchmark, _, _), made in sorted(estimates.items())
        ],
        "closed": is_closed(verdicts),
        "verdicts": [asdict(verdict) for verdict in verdicts],
        "judged_before_labels": [
            {"benchmark": verdict.threshold.benchmark, "case": verdict.case}
            for verdict in before_labels(verdicts, label_counts(connection, record.run_id))
        ],
        "findings": [
            asdict(finding)
            for finding in findings(
                connection, record.run_id, verdicts=verdicts, limit=FINDINGS_JSON
            )
        ],
    }
