"""``xling runs``: list the runs in the store."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_xling.cli.opening import reading
from pytest_xling.cli.printing import color, print_json, print_text, width
from pytest_xling.reports.closing import is_closed
from pytest_xling.reports.rendering import MIN_SHORTENED, listing, taken, widest
from pytest_xling.store.queries import case_counts
from pytest_xling.store.runs import list_runs, read_verdicts
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Verdict

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--json", action="store_true", help="print a list of objects instead")


def run(args: argparse.Namespace) -> int:
    """List the runs, oldest first."""
    rows = []
    with reading(args) as connection:
        for record in list_runs(connection):
            counts = case_counts(connection, record.run_id)
            rows.append(
                {
                    **asdict(record),
                    "answers": sum(counts.values()),
                    "languages": sorted({language for _, language in counts}),
                    **_gates(read_verdicts(connection, record.run_id)),
                }
            )
    if args.json:
        print_json(rows)
        return 0
    if not rows:
        print_text("The store has no runs yet; pytest --model=… makes one.")
        return 0
    print_text(_table(rows))
    return 0


def _table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line per run; names are never cut, since people copy them."""
    columns: dict[str, list[str]] = {
        "run": [row["run_id"] for row in rows],
        "model": [printable(row["model"]) for row in rows],
        "answers": [f"{row['answers']:,}" for row in rows],
        "gate": [_outcome(row) for row in rows],
    }
    more = {
        "languages": [str(len(row["languages"])) for row in rows],
        "made (UTC)": [row["created_at"][:16].replace("T", " ") for row in rows],
    }
    if taken(columns | more) <= width():
        columns |= more
    elif width() - taken(columns) + widest("model", columns["model"]) < MIN_SHORTENED:
        del columns["model"]  # names made up for runs say which it is
    return listing(
        columns,
        width=width(),
        color=color(),
        right=("answers", "languages"),
        shortened="model",
    )


def _outcome(row: dict[str, Any]) -> str:
    """Say what the gates said, or why that does not count."""
    if row["status"] != "complete":
        return str(row["status"])
    return {None: "none", True: "closed", False: "open"}[row["closed"]]


def _gates(verdicts: Sequence[Verdict]) -> dict[str, JsonValue]:
    """Say whether the gate is closed, None where there was none, and how many gates said what."""
    return {
        "closed": is_closed(verdicts) if verdicts else None,
        "gates": dict(Counter(verdict.outcome for verdict in verdicts)),
    }
