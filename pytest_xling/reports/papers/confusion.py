"""Language confusion, as Marchisio et al. (2024) count it: line- and word-level pass rates."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.papers.samples import choose_benchmark
from pytest_xling.reports.sheet import Sheet
from pytest_xling.store.cases import StoredCase, read_cases
from pytest_xling.store.runs import get_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.reports.papers.xlingeval_consistency import Row

ALL: Final = "all"
CONFUSION_COLUMNS: Final = (
    "model", "setting", "language", "lpr", "wpr", "lcpr", "n", "left_out", "sources",
)  # fmt: skip
LINE: Final = "wrong_line"
WORD: Final = "english_words"
COUNTS: Final = ("n", "left out", "sources")
NOTE: Final = (
    "LPR: answers without a wrong line, in %; WPR: of these, answers without English words; LCPR: "
    "their harmonic mean"
)


def confusion_rows(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str | None = None,
    field: str = "source",
) -> list[Row]:
    """Return the pass rates by setting and language, in percent.

    ``lpr`` is the share of answers without a wrong line, of those with a line that could be looked
    at (``n``; the others are ``left_out``); ``wpr`` the share without English words of those
    without a wrong line, in languages where English words can be told; ``lcpr`` is their harmonic
    mean. A language's rates are means over the sources of its questions, those of the language
    ``all`` means over the languages. The setting is ``monolingual`` where questions are in the
    language of their answers, else ``crosslingual``.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run were scored for this.
        field: what has the source of a question in the metadata of the samples; questions without
            it are one source.

    Raises:
        ConfigError: the run was not scored with ``wrong_line``, or *benchmark* is needed or
            unknown.
        EvaluationError: scores of one metric were made in different ways.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    steps = choose_benchmark(connection, run.run_id, [LINE, WORD], benchmark=benchmark)
    name = steps[0].benchmark
    if steps[0].metric != LINE:
        msg = (
            f"benchmark {name!r} of run {run.run_id!r} was scored with {WORD!r} and not with "
            f"{LINE!r}. Name that in the test file's xling marker and run again: answers are kept"
        )
        raise ConfigError(msg)
    by_place: defaultdict[tuple[str, str], list[StoredCase]] = defaultdict(list)
    for case in read_cases(connection, run.run_id, benchmark=name, scored=steps):
        alone = case.metadata.get("asked_in", case.language) == case.language
        by_place["monolingual" if alone else "crosslingual", case.language].append(case)
    rows: list[Row] = []
    for setting in sorted({setting for setting, _ in by_place}, reverse=True):
        of_setting: list[Row] = [
            {
                "model": run.model,
                "setting": setting,
                "language": language,
                **_of_language(cases, field=field),
            }
            for (place, language), cases in sorted(by_place.items())
            if place == setting
        ]
        rows += [_of_all(of_setting), *of_setting]
    return rows


def _of_language(cases: Iterable[StoredCase], *, field: str) -> Row:
    """Return the rates of the answers in one language."""
    by_source: defaultdict[str, list[StoredCase]] = defaultdict(list)
    for case in cases:
        by_source[case.metadata.get(field, "")].append(case)
    lines, words = [], []
    used = left_out = 0
    for of_source in by_source.values():
        passed = [case for case in of_source if _value(case, LINE) == 0]
        known = [case for case in of_source if _value(case, LINE) is not None]
        used += len(known)
        left_out += len(of_source) - len(known)
        lines.append(_share(len(passed), len(known)))
        said = [value for case in passed if (value := _value(case, WORD)) is not None]
        words.append(_share(said.count(0), len(said)))
    lpr, wpr = _mean(lines), _mean(words)
    return {
        "lpr": lpr,
        "wpr": wpr,
        "lcpr": _harmonic(lpr, wpr),
        "n": used,
        "left_out": left_out,
        "sources": len(by_source),
    }


def _of_all(rows: Sequence[Row]) -> Row:
    """Return the means over the languages of one setting."""
    lpr, wpr = (_mean([_number(row[rate]) for row in rows]) for rate in ("lpr", "wpr"))
    return {
        **rows[0],
        "language": ALL,
        "lpr": lpr,
        "wpr": wpr,
        "lcpr": _harmonic(lpr, wpr),
        "n": sum(int(row["n"] or 0) for row in rows),
        "left_out": sum(int(row["left_out"] or 0) for row in rows),
        "sources": max(int(row["sources"] or 0) for row in rows),
    }


def _value(case: StoredCase, metric: str) -> float | None:
    value, _ = case.readings.get(metric, (None, ""))
    return value


def _share(part: int, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def _number(value: str | float | None) -> float | None:
    return value if isinstance(value, int | float) else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _harmonic(first: float | None, second: float | None) -> float | None:
    if first is None or second is None:
        return None
    return 2 * first * second / (first + second) if first + second else 0.0


def confusion_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out the rows of one run, a sheet for each setting."""
    settings = dict.fromkeys(row["setting"] for row in rows)
    return [_sheet([row for row in rows if row["setting"] == setting]) for setting in settings]


def _sheet(rows: Sequence[Row]) -> Sheet:
    columns = {
        "language": [
            ALL if row["language"] == ALL else f"{row['language']} {_english_name(row)}"
            for row in rows
        ]
    }
    for rate in ("lpr", "wpr", "lcpr"):
        columns[rate.upper()] = [_percent(row[rate]) for row in rows]
    columns |= {head: [f"{row[head.replace(' ', '_')]:,}" for row in rows] for head in COUNTS}
    return Sheet(
        title=str(rows[0]["setting"]),
        columns=columns,
        left=1,
        notes=(NOTE,),
    )


def _english_name(row: Row) -> str:
    return find(str(row["language"])).english_name


def _percent(value: str | float | None) -> str:
    return f"{value:.1f}" if isinstance(value, int | float) else "–"


CONFUSION_TABLES: Final[Mapping[str, PaperTable]] = {
    "confusion": PaperTable(
        about="answers without lines, and without words, in another language: LPR, WPR, LCPR",
        rows=confusion_rows,
        columns=CONFUSION_COLUMNS,
        sheets=confusion_sheets,
        options=frozenset({"field"}),
    ),
}
