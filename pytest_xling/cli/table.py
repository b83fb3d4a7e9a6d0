"""``xling table surface RUN…`` and ``xling table length RUN…``: the tables of the CaLMQA paper."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING

from pytest_xling.cli.opening import reading
from pytest_xling.cli.printing import color, print_json, print_text, width
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.reports.rendering import listing
from pytest_xling.reports.tables import (
    ALL_LANGUAGES,
    LENGTH_COLUMNS,
    SURFACE_COLUMNS,
    length_table,
    surface_table,
)
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_xling.reports.tables import Row

__all__ = ["add_arguments", "run"]

TABLES = {
    "surface": (surface_table, SURFACE_COLUMNS),
    "length": (length_table, LENGTH_COLUMNS),
}
TEXTS = ("model", "set", "language")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.epilog = (
        "surface  percent of answers in a wrong language, with repetitions, and without either or\n"
        "         any other issue (Table 2); `all` leaves out languages that cannot be identified\n"
        "length   tokens of the answers in o200k_base (Table 17)"
    )
    parser.add_argument("table", choices=sorted(TABLES), metavar="TABLE", help="surface or length")
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="names of runs, below each other in one table"
    )
    parser.add_argument("--benchmark", metavar="NAME", help="which one, if the runs have several")
    parser.add_argument(
        "--language", metavar="LANG", type=_language, help="rows of this one only; or `all`"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a list of rows, not rounded")
    form.add_argument("--csv", action="store_true", help="print CSV, not rounded")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    make, columns = TABLES[args.table]
    with reading(args) as connection:
        rows = [
            row
            for name in args.runs
            for row in make(connection, name, benchmark=args.benchmark)
            if args.language in {None, row["language"]}
        ]
    if not rows:
        msg = f"{' and '.join(args.runs)}: no answers"
        if args.language is not None:
            msg += f" in the language {args.language!r}"
        raise ConfigError(msg)
    if args.json:
        print_json(rows)
    elif args.csv:
        writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        print_text(_text(rows, columns))
    return 0


def _text(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return the table; a single model stands above it, since its name may be long."""
    models = {printable(str(row["model"])) for row in rows}
    title = f"model {models.pop()}\n\n" if len(models) == 1 else ""
    heads = {column: column.replace("_", "_\n") for column in columns}
    if title:
        del heads["model"]
    return title + listing(
        {head: [_cell(row[column]) for row in rows] for column, head in heads.items()},
        width=width(),
        color=color(),
        right=[head for column, head in heads.items() if column not in TEXTS],
        shortened="model",
    )


def _language(text: str) -> str:
    """Read a language of the rows: ``all`` is the one that pools them."""
    return text if text == ALL_LANGUAGES else find(text).code


def _cell(value: str | float | None) -> str:
    match value:
        case None:
            return "–"
        case str():
            return printable(value)
        case int():
            return f"{value:,}"
        case _:
            return f"{value:.2f}"
