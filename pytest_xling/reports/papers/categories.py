"""How alike languages' questions are by category: the coefficients of CaLMQA's Figure 6."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.planning.benchmark import reader_of
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.bhattacharyya import bhattacharyya
from pytest_xling.store.queries import case_counts
from pytest_xling.store.questions import labels, question_digests
from pytest_xling.store.runs import get_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from sqlalchemy import Connection

    from pytest_xling.reports.papers.xlingeval_consistency import Row

    Question: TypeAlias = tuple[str, str, str, str]
    """Set, language, the question's id, its category; the last is empty where it has none."""

__all__ = [
    "CATEGORIES_COLUMNS",
    "CATEGORIES_TABLES",
    "categories_of_data",
    "categories_rows",
    "categories_sheets",
]

FIELD: Final = "category"
CATEGORIES_COLUMNS: Final = (
    "set", "first", "second", "coefficient", "low", "high", "n", "other_n", "categories", "reason",
)  # fmt: skip


def categories_rows(
    connection: Connection, run_id: str, *, benchmark: str | None = None, field: str = FIELD
) -> list[Row]:
    """Return for each two languages of each set how alike their categories are, of a run's samples.

    ``coefficient`` is Bhattacharyya's, from 0 to 1, of the shares of ``categories`` in ``n`` and
    ``other_n`` questions; ``low`` and ``high`` are the ends of its 95 % interval. There is no
    interval where both languages have some of the same questions, which are no two samples. Where
    there is no coefficient it is None, and ``reason`` says why. A set with categories in fewer than
    two languages has one row that says so.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run have categories.
        field: where the category is in the metadata of the samples.

    Raises:
        ConfigError: no sample has a category, or none in a second language; *benchmark* is needed
            or unknown.
        StoreError: no such run.
    """
    run = get_run(connection, run_id).run_id
    every = dict.fromkeys(name for name, _ in case_counts(connection, run))
    if benchmark is not None and benchmark not in every:
        msg = (
            f"run {run!r} has no benchmark {benchmark!r}.{did_you_mean(benchmark, every)} It has: "
            f"{', '.join(every) or 'none'}"
        )
        raise ConfigError(msg)
    category_of = {
        name: found
        for name in every
        if benchmark in {None, name}
        and (found := labels(connection, run, benchmark=name, key=field))
    }
    if len(category_of) > 1:
        msg = f"run {run!r} has several benchmarks; name one with --benchmark: {[*category_of]}"
        raise ConfigError(msg)
    questions: list[Question] = []
    for name, categories in category_of.items():
        set_of = labels(connection, run, benchmark=name, key="set")
        digests = question_digests(connection, run, benchmark=name)
        questions = [
            (set_of.get(key, ""), key[1], question.cluster, categories.get(key, ""))
            for key, question in digests.items()
        ]
    return _rows(questions, of=f"run {run!r}", field=field)


def categories_of_data(place: Path, *, field: str = FIELD) -> list[Row]:
    """Return the same of data that nobody has been asked yet.

    Args:
        place: a folder in a layout that benchmarks' data may have, such as a checkout of CaLMQA.
        field: where the category is in the metadata of the samples.

    Raises:
        ConfigError: *place* has no layout we know, or as :func:`categories_rows`.
        DataError: a row is wrong; names file and line.
    """
    reader = reader_of(place)
    samples = reader.read(place, benchmark="data", languages=reader.languages(place))
    questions = [
        (
            sample.metadata.get("set", ""),
            sample.language,
            sample.parallel_id or sample.id,
            sample.metadata.get(field, ""),
        )
        for sample in samples
    ]
    return _rows(questions, of=str(place), field=field)


def _rows(questions: Iterable[Question], *, of: str, field: str) -> list[Row]:
    by_set: defaultdict[str, defaultdict[str, dict[tuple[str, str], None]]]
    by_set = defaultdict(lambda: defaultdict(dict))
    for name, language, question, category in questions:
        here = by_set[name][language]
        if category:
            here[question, category] = None
    with_categories = {
        name: [language for language, found in languages.items() if found]
        for name, languages in by_set.items()
    }
    if max(map(len, with_categories.values()), default=0) < 2:  # noqa: PLR2004  two are compared
        listed = ", ".join(sorted({code for codes in with_categories.values() for code in codes}))
        msg = (
            f"{of}: languages are compared by the categories of their questions, and "
            + (f"of no set two languages have any (only {listed})" if listed else "there are none")
            + f". Categories are in the samples' metadata, here under {field!r}; name another key "
            "with --field"
        )
        raise ConfigError(msg)
    rows: list[Row] = []
    for name, languages in sorted(by_set.items()):
        having = with_categories[name]
        if len(having) < 2:  # noqa: PLR2004  as above
            which = f"only {having[0]} has" if having else "no language has"
            rows.append({"set": name, "reason": f"{which} categories"})
            continue
        scheme = {category for found in languages.values() for _, category in found}
        for first, second in combinations(sorted(languages), 2):
            pair: Row = {"set": name, "first": first, "second": second}
            alike = _coefficient(languages[first], languages[second], first, second, len(scheme))
            rows.append(pair | alike)
    return [{column: row.get(column) for column in CATEGORIES_COLUMNS} for row in rows]


def _coefficient(
    ours: Mapping[tuple[str, str], None],
    theirs: Mapping[tuple[str, str], None],
    first: str,
    second: str,
    categories: int,
) -> Row:
    """Return how alike two languages are.

    Args:
        ours: questions of the first, each with its category.
        theirs: of the second.
        first: the language.
        second: the other.
        categories: how many the set has in all languages.
    """
    row: Row = {"n": len(ours), "other_n": len(theirs), "categories": categories}
    if lacking := [code for code, of in ((first, ours), (second, theirs)) if not of]:
        return row | {"reason": f"no categories in {' and '.join(lacking)}"}
    if categories < 2:  # noqa: PLR2004  all distributions over one are the same
        return row | {"reason": "all questions of the set are in one category"}
    alike = bhattacharyya(
        Counter(category for _, category in ours),
        Counter(category for _, category in theirs),
        categories=categories,
    )
    row["coefficient"] = alike.value
    if {question for question, _ in ours} & {question for question, _ in theirs}:
        return row | {"reason": "no interval: questions are the same in both"}
    return row | {"low": alike.low, "high": alike.high}


def categories_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out a matrix of coefficients for each run, or folder of data, and each set."""
    compared = [row for row in rows if row["second"]]
    left_out = [row for row in rows if not row["second"]]
    matrices: list[Sheet] = []
    for run, name in dict.fromkeys((row["run"], row["set"]) for row in compared):
        matrix = _matrix([row for row in compared if (row["run"], row["set"]) == (run, name)])
        title = f"{run}; categories of the questions" + (f", set {name}" if name else "")
        others = tuple(f"set {r['set']}: {r['reason']}" for r in left_out if r["run"] == run)
        matrices.append(replace(matrix, title=title, notes=matrix.notes + others))
    return matrices


def _matrix(rows: Sequence[Row]) -> Sheet:
    by_pair = {(str(row["first"]), str(row["second"])): row for row in rows}
    languages = list(dict.fromkeys(code for row in rows for code in (row["first"], row["second"])))
    columns = {"": [str(code) for code in languages[1:]]}
    for number, first in enumerate(languages[:-1]):
        columns[str(first)] = [
            _number(by_pair.get((str(first), str(second)))) if later >= number else ""
            for later, second in enumerate(languages[1:])
        ]
    known = [row for row in rows if row["coefficient"] is not None]
    known.sort(key=lambda row: float(row["coefficient"] or 0))
    notes = ["Bhattacharyya's coefficient: 1 is the same distribution; --csv has the intervals"]
    notes += [
        f"{which}: {row['first']} and {row['second']}, {row['coefficient']:.2f}{_interval(row)}"
        for which, row in zip(("least alike", "most alike"), (known[:1] + known[-1:]), strict=False)
    ]
    why: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["reason"]:
            why[str(row["reason"])].append(f"{row['first']}–{row['second']}")
    notes += [f"{reason}: {', '.join(pairs)}" for reason, pairs in why.items()]
    return Sheet(title="", columns=columns, left=1, notes=tuple(notes))


def _number(row: Row | None) -> str:
    value = row["coefficient"] if row else None
    return "–" if value is None else f"{value:.2f}"


def _interval(row: Row) -> str:
    return "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"


CATEGORIES_TABLES: Final[Mapping[str, PaperTable]] = {
    "categories": PaperTable(
        about="how alike languages are by categories of questions (Fig. 6); RUN or ./data",
        rows=categories_rows,
        columns=CATEGORIES_COLUMNS,
        sheets=categories_sheets,
        options=frozenset({"field"}),
        together=True,
        of_data=categories_of_data,
    ),
}
