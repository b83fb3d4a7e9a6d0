"""What a table of a paper is made of: the frames of a run, rows of numbers, sheets of text.

A paper's module has a :class:`Recipe` for each table. Its ``rows`` take what :func:`scored_with`
gives, frames of pandas's, and return numbers; its ``sheets`` lay the numbers out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.gates.pairing import temperature_of
from pytest_xling.languages import find
from pytest_xling.planning.subset import benchmark_meant, benchmarks_meant
from pytest_xling.reports.pivot import pivot_of
from pytest_xling.reports.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    from pytest_xling.analysis.loaded_run import LoadedRun

Value: TypeAlias = "str | int | float | None"
Row: TypeAlias = "dict[str, Value]"
Cell: TypeAlias = "Callable[[Row], str]"
"""Words what a row has in one column."""

NONE = "–"
ALL = "all"
"""What rows are called that pool languages, sets or claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One table of a paper, or several that are made of the same rows."""

    about: str
    rows: Callable[..., list[Row]]
    """Takes a :class:`LoadedRun`, ``benchmark`` and the ``options``."""
    columns: tuple[str, ...]
    """Of each row."""
    sheets: Callable[[Sequence[Row]], list[Sheet]]
    options: frozenset[str] = frozenset()
    """Further keywords of ``rows``, such as ``pairwise``; given only where they are asked for."""
    together: bool = False
    """Whether ``sheets`` takes the rows of all runs at once, each with its ``run``."""
    drawing: Callable[[Sequence[Row]], str] | None = None
    """Draws the rows of one run as an SVG; None where there is no drawing."""
    of_data: Callable[..., list[Row]] | None = None
    """Makes the same rows of a folder of data; None where answers are needed."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One benchmark of a run that was scored for a table."""

    run: LoadedRun
    benchmark: str
    wanted: tuple[str, ...]
    """The metrics of the table, in its order."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Those of them that it was scored with."""
        return tuple(m for m in self.wanted if m in self.run.versions[self.benchmark])

    @property
    def pivot(self) -> str:
        """The language others are compared with."""
        return pivot_of(self.run, self.benchmark)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A row for each score, as :meth:`LoadedRun.scores` has it, and its ``temperature``."""
        scores = self.run.scores()
        of_table = (scores["benchmark"] == self.benchmark) & scores["metric"].isin(self.metrics)
        scores = scores[of_table]
        return scores.assign(temperature=scores["condition"].map(temperature_of).astype(float))

    @cached_property
    def answers(self) -> pd.DataFrame:
        """A row for each answer, as :meth:`LoadedRun.cases` has it; a column for each metric."""
        cases = self.run.cases()
        cases = cases[cases["benchmark"] == self.benchmark]
        values = self.scores.set_index(["metric", "case"])["value"]
        columns = {m: cases["case"].map(values.get(m, {})).astype(float) for m in self.wanted}
        return cases.assign(**columns)

    def field(self, name: str, default: str | None = None) -> pd.Series:
        """Return a field of each answer's metadata."""
        return self.answers["metadata"].map(lambda metadata: metadata.get(name, default))


def scored_with(
    run: LoadedRun, metrics: Sequence[str], *, benchmark: str | None, every: bool = False
) -> Scored:
    """Return the one benchmark of *run* that was scored with *metrics*.

    Args:
        run: as it was read.
        metrics: in the order of the table.
        benchmark: needed where several benchmarks were.
        every: whether all of the metrics are needed, or any.

    Raises:
        ConfigError: none was, or *benchmark* is needed or unknown.
        EvaluationError: one of the metrics is there in two versions.
    """
    whose = f"run {run.run_id!r}"
    own = {name: [m for m in metrics if m in having] for name, having in run.signatures.items()}
    having = {name for name, found in own.items() if len(found) >= (len(metrics) if every else 1)}
    chosen = benchmark_meant(whose, own, benchmark, having=having)
    if chosen is None:
        named = benchmarks_meant(whose, own, benchmark)
        if every:
            lacking = " and ".join(
                f"{name!r} lacks {', '.join(sorted(set(metrics) - set(own[name])))}"
                for name in named
            )
            needs = f"{', '.join(metrics)}: {lacking or 'it has no scores'}"
        else:
            needs = f"some of {', '.join(metrics)}"
        msg = (
            f"{f'benchmark {benchmark!r} of ' if benchmark else ''}{whose} was not scored for this "
            f"table, which needs {needs}. Name them in the test file's xling marker and run again: "
            "answers are kept, so nothing is asked twice"
        )
        raise ConfigError(msg)
    for metric in own[chosen]:
        if len(versions := run.versions[chosen][metric]) > 1:
            msg = (
                f"{whose} was scored with {metric!r} in different ways, which cannot be put "
                f"together: {' and '.join(map(repr, versions))}"
            )
            raise EvaluationError(msg)
    return Scored(run=run, benchmark=chosen, wanted=tuple(metrics))


def records(frame: pd.DataFrame, columns: Sequence[str]) -> list[Row]:
    """Return the rows of *frame* with *columns*, in their order; what is missing is None."""
    cells = frame.reindex(columns=list(columns)).astype(object)
    return [
        {str(name): value for name, value in row.items()}
        for row in cells.where(cells.notna(), None).to_dict("records")
    ]


def split(rows: Iterable[Row], *keys: str) -> dict[tuple[Value, ...], list[Row]]:
    """Return the rows by what they have of *keys*, in the order these come in."""
    parts: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(tuple(row[key] for key in keys), []).append(row)
    return parts


def listing(
    rows: Sequence[Row],
    cells: Mapping[str, Cell],
    *,
    title: str = "",
    left: int = 1,
    notes: Iterable[str] = (),
    **options: Any,
) -> Sheet:
    """Return a sheet with a line for each row, and below each head what *cells* word of it."""
    columns = {head: [cell(row) for row in rows] for head, cell in cells.items()}
    return Sheet(
        title=title, columns=columns, left=left, notes=tuple(filter(None, notes)), **options
    )


def text(key: str) -> Cell:
    """Word what a row has under *key* as it is."""
    return lambda row: NONE if row[key] is None else str(row[key])


def count(key: str) -> Cell:
    """Word a whole number."""
    return lambda row: NONE if row[key] is None else f"{row[key]:,}"


def fixed(key: str, digits: int) -> Cell:
    """Word a number with so many digits after the point."""
    return lambda row: number(row[key], digits)


def number(value: Value, digits: int) -> str:
    """Word a number; a zero that is rounded has no sign."""
    if not isinstance(value, int | float):
        return NONE
    return f"{round(value, digits) + 0.0:.{digits}f}"


def language(row: Row) -> str:
    """Word the language of a row: its code and its English name."""
    code = str(row["language"])
    return code if code == ALL else f"{code} {find(code).english_name}"


def harmonic_mean(first: Value, second: Value) -> float | None:
    """Return the harmonic mean of two numbers; of what is missing there is none, of zeros 0."""
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        return None
    return 2 * first * second / (first + second) if first + second else 0.0
