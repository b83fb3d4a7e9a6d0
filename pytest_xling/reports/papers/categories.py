"""How alike languages' questions are by category: the coefficients of CaLMQA's Figure 6."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.planning.benchmark import importer_of
from pytest_xling.planning.subset import benchmark_meant, benchmarks_meant
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.bhattacharyya import bhattacharyya
from pytest_xling.store.cases import case_counts
from pytest_xling.store.questions import samples_asked
from pytest_xling.store.runs import get_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from sqlalchemy import Connection

    from pytest_xling.analysis.categories import JudgedCategories
    from pytest_xling.records import Sample
    from pytest_xling.reports.papers.paper_table import Row

FIELD: Final = "category"
GIVEN: Final = "given"
CATEGORIES_COLUMNS: Final = (
    "set", "first", "second", "coefficient", "low", "high", "n", "other_n", "categories", "reason",
    "source", "kappa", "other_kappa",
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

    ``source`` says whose categories they are, ``given`` in the data or by a judge. ``kappa`` and
    ``other_kappa`` are Cohen's between such a judge and the given ones in both languages.

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
    samples = samples_of_run(connection, run, benchmark=benchmark, field=field)
    return _rows(samples, of=f"run {run!r}", field=field, lacking=_name_another(field))


def categories_of_data(place: Path, *, field: str = FIELD) -> list[Row]:
    """Return the same of data that nobody has been asked yet.

    Args:
        place: a folder in a layout that benchmarks' data may have, such as a checkout of CaLMQA.
        field: where the category is in the metadata of the samples.

    Raises:
        ConfigError: *place* has no layout we know, or as :func:`categories_rows`.
        DataError: a row is wrong; names file and line.
    """
    samples = samples_of_data(place)
    return _rows(samples, of=str(place), field=field, lacking=_name_another(field))


def judged_rows(judged: JudgedCategories, *, of: str, judge: str, field: str = FIELD) -> list[Row]:
    """Return the same by a judge's categories.

    Args:
        judged: the samples, with its categories.
        of: the run, or the folder, for messages.
        judge: its name.
        field: where the category is in the metadata of the samples.

    Raises:
        ConfigError: no sample has a category, or none in a second language.
    """
    lacking = f"; {_without(judged)}" if judged.without else ""
    lacking = lacking if judged.samples else ": no questions were asked"
    rows = _rows(judged.samples, of=of, field=field, lacking=lacking)
    source = _source(judged, judge)
    kappa = {str(language): made.value for language, made in judged.given_in.items()}
    return [
        row
        | {
            "source": source,
            "kappa": kappa.get(str(row["first"])),
            "other_kappa": kappa.get(str(row["second"])),
        }
        for row in rows
    ]


def samples_of_run(
    connection: Connection, run: str, *, benchmark: str | None = None, field: str | None = FIELD
) -> list[Sample]:
    """Return the samples of the one benchmark of a run that has categories, or else questions.

    Args:
        connection: to the store.
        run: its name.
        benchmark: needed where several have.
        field: where the category is in the metadata; None where questions are enough.

    Raises:
        ConfigError: *benchmark* is needed or unknown.
    """
    every = [name for name, _ in case_counts(connection, run)]
    asked = {
        name: samples_asked(connection, run, benchmark=name)
        for name in benchmarks_meant(f"run {run!r}", every, benchmark)
    }
    having = {
        name: samples
        for name, samples in asked.items()
        if any(s.prompt if field is None else field in s.metadata for s in samples)
    }
    chosen = benchmark_meant(f"run {run!r}", every, benchmark, having=having)
    return [] if chosen is None else having[chosen]


def samples_of_data(place: Path) -> list[Sample]:
    """Return the samples of data that nobody has been asked yet.

    Raises:
        ConfigError: *place* has no layout we know.
        DataError: a row is wrong; names file and line.
    """
    importer = importer_of(place)
    return importer.read(place, benchmark="data", languages=importer.languages(place))


def _name_another(field: str) -> str:
    return (
        f". Categories are in the samples' metadata, here under {field!r}; name another key with "
        "--field, or have a judge find them: --judged --xling-judge=MODEL"
    )


def _source(judged: JudgedCategories, judge: str) -> str:
    """Say whose categories they are, and how far it was measured."""
    given = judged.given
    parts = [f"judge {judge}"]
    if given.n:
        kappa = given.reason if given.value is None else f"κ={given.value:.2f}"
        if given.low is not None and given.high is not None:
            kappa += f" ({given.low:.2f} to {given.high:.2f})"
        parts.append(f"agrees with {given.n} given: {given.agreement:.2f} equal, {kappa}")
    elif judged.foreign:
        parts.append(f"those given are of another scheme, as {judged.foreign[0]!r}")
    else:
        parts.append("nothing given to compare with")
    if judged.measured_in:
        on_labelled = ", ".join(
            f"{language} {'–' if (k := made.quality.kappa.value) is None else f'{k:.2f}'}"
            f" (n={made.quality.n})"
            for language, made in judged.measured_in.items()
        )
        parts.append(f"κ on labelled questions: {on_labelled}")
    measured = {code for code, made in judged.given_in.items() if made.n} | {*judged.measured_in}
    if unmeasured := sorted(judged.given_in.keys() - measured):
        parts.append(f"unmeasured in {', '.join(unmeasured)}")
    if judged.without:
        parts.append(_without(judged))
    return "; ".join(parts)


def _without(judged: JudgedCategories) -> str:
    """Say how many questions have no category, and the commonest reason."""
    number = sum(judged.without.values())
    reason = max(judged.without, key=lambda each: judged.without[each])
    return f"{number} of {len(judged.samples)} questions have none ({reason})"


def _rows(samples: Iterable[Sample], *, of: str, field: str, lacking: str) -> list[Row]:
    """Return the rows; *lacking* ends the message where there are no two languages to compare."""
    by_set: defaultdict[str, defaultdict[str, dict[tuple[str, str], None]]]
    by_set = defaultdict(lambda: defaultdict(dict))
    for sample in samples:
        here = by_set[sample.metadata.get("set", "")][sample.language]
        if category := sample.metadata.get(field):
            here[sample.parallel_id or sample.id, category] = None
    with_categories = {
        name: [language for language, found in languages.items() if found]
        for name, languages in by_set.items()
    }
    if max(map(len, with_categories.values()), default=0) < 2:  # noqa: PLR2004  two are compared
        listed = ", ".join(sorted({code for codes in with_categories.values() for code in codes}))
        msg = (
            f"{of}: languages are compared by the categories of their questions, and "
            + (f"of no set two languages have any (only {listed})" if listed else "there are none")
            + lacking
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
    blank: Row = dict.fromkeys(CATEGORIES_COLUMNS)
    return [blank | {"source": GIVEN} | row for row in rows]


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
    notes = [
        "Bhattacharyya's coefficient: 1 is the same distribution; --csv has the intervals",
        *(f"categories: {source}" for source in dict.fromkeys(row["source"] for row in rows)),
    ]
    if kappas := {
        str(row[language]): row[kappa]
        for row in rows
        for language, kappa in (("first", "kappa"), ("second", "other_kappa"))
        if row[kappa] is not None
    }:
        listed = ", ".join(f"{language} {kappa:.2f}" for language, kappa in kappas.items())
        notes.append(f"κ with those given, by language: {listed}")
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
        options=frozenset({"field", "judged"}),
        together=True,
        of_data=categories_of_data,
    ),
}
