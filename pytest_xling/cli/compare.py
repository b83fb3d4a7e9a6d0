"""``xling compare RUN BASELINE``: what has changed, paired question by question."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_xling.cases.baseline import open_baseline
from pytest_xling.cases.comparison import compare
from pytest_xling.cli.opening import reading, store_path
from pytest_xling.cli.printing import color, print_json, print_text, width
from pytest_xling.reports.comparison import comparison_text
from pytest_xling.reports.pivot import names_no_pivot, pivot_of
from pytest_xling.store.runs import get_run

if TYPE_CHECKING:
    import argparse

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        "Means are of the questions that both have. q is Benjamini and Hochberg's over all rows;\n"
        "the object of --json has p and Holm's as well. The exit code is 0 whatever has changed:\n"
        "`xling gate RUN --thresholds FILE --baseline BASELINE` judges."
    )
    parser.add_argument("run", metavar="RUN", help="a run's name, or `latest`")
    parser.add_argument(
        "baseline",
        metavar="BASELINE",
        help="a file `xling export` wrote, a run, or a model with a promoted run",
    )
    parser.add_argument("--json", action="store_true", help="print an object instead")


def run(args: argparse.Namespace) -> int:
    """Compare the run with the baseline."""
    with reading(args) as connection:
        record = get_run(connection, args.run)
        baseline = open_baseline(args.baseline, store=store_path(args))

        def pivot(benchmark: str) -> str | None:
            return None if names_no_pivot(record, benchmark) else pivot_of(record, benchmark)

        found = compare(connection, record, baseline, pivots=pivot)
    if args.json:
        changes = [
            asdict(change) | {"worse": change.is_worse, "found": change.is_found}
            for change in found.changes
        ]
        missing = [
            dict(zip(("benchmark", "metric", "language"), place, strict=True))
            for place in found.missing
        ]
        print_json(
            {
                "run": record.run_id,
                "status": record.status,
                "baseline": baseline.told,
                "changes": changes,
                "missing": missing,
            }
        )
        return 0
    for notice in baseline.notices:
        print_text(notice)
    if record.status != "complete":
        print_text(f"run {record.run_id} is {record.status}: only what it has is compared")
    print_text(comparison_text(found, width=width(), color=color()))
    return 0
