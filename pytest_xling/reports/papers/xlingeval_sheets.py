"""How XLingEval's tables are laid out: rows of numbers to sheets of text."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.papers.xlingeval_consistency import (
    ANOVA_COLUMNS,
    CONSISTENCY_COLUMNS,
    TTEST_COLUMNS,
    TUKEY_COLUMNS,
    anova_rows,
    consistency_rows,
    ttest_rows,
    tukey_rows,
)
from pytest_xling.reports.papers.xlingeval_correctness import (
    CORRECTNESS_COLUMNS,
    LABELS,
    correctness_rows,
)
from pytest_xling.reports.papers.xlingeval_verifiability import (
    CONVENTIONS,
    VERIFIABILITY_COLUMNS,
    verifiability_rows,
)
from pytest_xling.reports.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.reports.papers.xlingeval_consistency import Row

    Cell = str | int | float | None
    from collections.abc import Mapping

NONE = "–"
STARS = "* p < .05, ** p < .01, *** p < .001"
_LEAST_P = 1e-300


def consistency_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out Table A9: languages below each other, metrics beside each other."""
    pivot = rows[0]["pivot"]
    columns: dict[str, list[str]] = {
        "language": sorted(_distinct(rows, "language"), key=lambda code: (code != pivot, code))
    }
    every = rows
    empty = {str(row["metric"]) for row in rows} - {
        str(row["metric"]) for row in rows if row["mean"] is not None
    }
    rows = [row for row in rows if row["metric"] not in empty] or rows
    for metric in _distinct(rows, "metric"):
        row_of = {str(row["language"]): row for row in rows if row["metric"] == metric}
        digits = _digits(row["mean"] for row in row_of.values())
        drops = {
            code: "" if code == pivot else _signed(row["change_percent"], 1, "%")
            for code, row in row_of.items()
        }
        wide = max(map(len, drops.values()))
        columns[f"{metric}\nvs {pivot}"] = [
            f"{_number(row_of[code]['mean'], digits)}  {drops[code]:>{wide}}"
            if code in row_of
            else NONE
            for code in columns["language"]
        ]
    times = sorted({int(str(row["temperatures"])) for row in rows})
    counts = sorted({int(str(row["n"])) for row in rows if row["n"]})
    over = f"{_span(times)} temperature{'' if times == [1] else 's'}"
    notes = (
        f"means over {over}, each counting alike, and how far they are from those in {pivot}",
        f"n = {_span(counts)}: samples, those of all temperatures together" if counts else "",
        *_left_out(rows),
        *_reasons([row for row in rows if row["metric"] not in empty], of="language"),
        *_reasons([row for row in every if row["metric"] in empty]),
    )
    return [Sheet(title="", columns=columns, left=1, notes=tuple(filter(None, notes)))]


def tukey_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out Tables 2 and 3: a sheet per temperature."""
    sheets = []
    for title, shared in _by_temperature(rows):
        digits = _digits_by_metric(shared, "difference", "low", "high")
        columns = _metric_and_pair(shared)
        columns["difference"] = [
            _number(row["difference"], digits[row["metric"]]) for row in shared
        ]
        columns["95% interval"] = [
            NONE
            if row["low"] is None
            else f"({_number(row['low'], digits[row['metric']])}, "
            f"{_number(row['high'], digits[row['metric']])})"
            for row in shared
        ]
        columns["adjusted p"] = [_short_p(row) for row in shared]
        columns["n"] = [_sizes(row) for row in shared]
        notes = (
            "difference: the second language's mean minus the first's",
            f"p: Tukey's HSD over all pairs of languages; {STARS}",
            *_left_out(shared),
            *_reasons(shared),
        )
        sheets.append(Sheet(title=title, columns=columns, left=2, notes=notes))
    return sheets


def anova_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out Table A13: a sheet per temperature."""
    sheets = []
    for title, shared in _by_temperature(rows):
        columns = {
            "metric": [str(row["metric"]) for row in shared],
            "F": [_number(row["f"], 2) for row in shared],
            "df": [_df(row) for row in shared],
            "p": [_exact_p(row) for row in shared],
            "languages": [_whole(row["languages"]) for row in shared],
            "n": [_whole(row["n"]) for row in shared],
        }
        notes = (f"one-way analysis of variance; {STARS}", *_left_out(shared), *_reasons(shared))
        sheets.append(Sheet(title=title, columns=columns, left=1, notes=notes))
    return sheets


def ttest_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out Table A12: a sheet per temperature."""
    sheets = []
    for title, shared in _by_temperature(rows):
        columns = _metric_and_pair(shared)
        welch = any(row["test"] == "Welch" for row in shared)
        columns |= {
            "t": [_number(row["t"], 2) for row in shared],
            "df": [_number(row["df"], 1 if welch else 0) for row in shared],
            "p": [_exact_p(row) for row in shared],
            "n": [_sizes(row) for row in shared],
        }
        named = "Welch's" if welch else "Student's (pooled variance)"
        notes = (
            f"t: {named} test, unpaired, positive where the first mean is higher; {STARS}",
            *_left_out(shared),
            *_reasons(shared),
        )
        sheets.append(Sheet(title=title, columns=columns, left=2, notes=notes))
    return sheets


def correctness_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out Table 1, and the comparisons with the pivot language below it."""
    languages = [str(row["language"]) for row in rows]
    heads = {
        "more_comprehensive": "more compre-\nhensive",
        "less_comprehensive": "less compre-\nhensive",
        "dissimilar": "neither nor\nsimilar",
        "contradictory": "contra-\ndictory",
    }
    labels = [label for label in LABELS if any(row[label] is not None for row in rows)]
    counts = {"language": languages}
    counts |= {heads[label]: [_whole(row[label]) for row in rows] for label in labels}
    counts |= {name: [_whole(row[key]) for row in rows] for name, key in _COUNTED.items()}
    sheets = [Sheet(title="Answers by label", columns=counts, left=1)]
    compared = [row for row in rows if row["pairs"]]
    if not compared:
        return sheets
    beside = {"language": [str(row["language"]) for row in compared]}
    if "more_comprehensive" in labels:
        beside |= {
            "more compr.:\npoints lost": [_number(r["more_decrease_points"], 2) for r in compared],
            "relative\ndecrease": [
                _with_interval(row, "more_decrease_percent", digits=1, unit="%") for row in compared
            ],
        }
    if "contradictory" in labels:
        beside["contradictory:\ntimes as often"] = [
            _with_interval(row, "contradictory_ratio", digits=2, unit="×") for row in compared
        ]
    beside["samples\nin both"] = [_whole(row["pairs"]) for row in compared]
    notes = (
        "of samples labelled in both languages; points lost are what the paper calls a decrease",
        "in brackets: 95% intervals of the ratio of paired means, log scale, Student's t",
    )
    title = f"Compared with {rows[0]['pivot']}"
    return [*sheets, Sheet(title=title, columns=beside, left=1, notes=notes)]


def verifiability_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out Table A11: a sheet per convention."""
    titles = {
        "released": (
            "As the released code computes it",
            "replies without a verdict are left out; AUC is of the verdicts, so it equals recall",
        ),
        "honest": (
            "Honestly",
            "replies without a verdict are wrong; AUC is of P(right), by the log-probabilities",
        ),
    }
    heads = {
        "precision": "macro\nprecision",
        "recall": "macro\nrecall",
        "f1": "macro F1",
        "accuracy": "accuracy",
        "auc": "AUC",
        "f1_eq6": "macro F1\nby Eq. 6",
        "unknown_rate": "unknown",
    }
    sheets = []
    for convention in CONVENTIONS:
        shared = [row for row in rows if row["convention"] == convention]
        if not shared:
            continue
        columns = {"language": [str(row["language"]) for row in shared]}
        columns |= {head: [_spread(row, key) for row in shared] for key, head in heads.items()}
        columns["n"] = [_whole(row["n"]) for row in shared]
        times = sorted({int(str(row["temperatures"])) for row in shared})
        title, note = titles[convention]
        if max(times) > 1:
            note += f"; mean ± standard deviation over {_span(times)} temperatures"
        notes = (note, *_reasons(shared, of="language"))
        sheets.append(Sheet(title=title, columns=columns, left=1, notes=notes))
    return sheets


_COUNTED = {"no label": "no_label", "n": "n"}


def _by_temperature(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows of each temperature below its title."""
    return [
        ("temperature left to the model" if at is None else f"τ = {at:g}", list(group))
        for at, group in groupby(rows, key=lambda row: row["temperature"])
        if at is None or isinstance(at, int | float)
    ]


def _metric_and_pair(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the columns that name a row; a metric is named once."""
    metrics = [str(row["metric"]) for row in rows]
    before = ["", *metrics]
    heads = [name if name != last else "" for name, last in zip(metrics, before, strict=False)]
    return {"metric": heads, "pair": [f"{row['first']} {row['second']}" for row in rows]}


def _digits(values: Iterable[Cell]) -> int:
    """Return how many digits after the point values of this size need."""
    largest = max((abs(value) for value in values if isinstance(value, int | float)), default=0.0)
    return 4 if largest < 10 else 2  # noqa: PLR2004  as the paper: similarities and words


def _digits_by_metric(rows: Sequence[Row], *keys: str) -> dict[Cell, int]:
    return {
        metric: _digits(row[key] for row in rows if row["metric"] == metric for key in keys)
        for metric in dict.fromkeys(row["metric"] for row in rows)
    }


def _number(value: Cell, digits: int) -> str:
    if not isinstance(value, int | float):
        return NONE
    # Without the sign of a zero that is rounded.
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _whole(value: Cell) -> str:
    return NONE if value is None else str(value)


def _signed(value: Cell, digits: int, unit: str) -> str:
    if not isinstance(value, int | float):
        return NONE
    # Without the sign of a zero that is rounded.
    return f"{round(value, digits) + 0.0:+.{digits}f}{unit}"


def _short_p(row: Row) -> str:
    p = row["p"]
    if not isinstance(p, int | float):
        return NONE
    number = "<0.001" if p < 0.001 else f"{p:.4f}"  # noqa: PLR2004  as the paper prints it
    return f"{number}{row['stars']}"


def _exact_p(row: Row) -> str:
    p = row["p"]
    if not isinstance(p, int | float):
        return NONE
    return f"{f'{p:.2e}' if p > _LEAST_P else '<1e-300'}{row['stars']}"


def _df(row: Row) -> str:
    return NONE if row["f"] is None else f"{row['df_between']}, {row['df_within']}"


def _sizes(row: Row) -> str:
    """Return how many samples two languages have, once where that is the same."""
    first, second = row["n_first"], row["n_second"]
    return _whole(first) if first == second else f"{_whole(first)}/{_whole(second)}"


def _with_interval(row: Row, key: str, *, digits: int, unit: str) -> str:
    value, low, high = row[key], row[f"{key}_low"], row[f"{key}_high"]
    if not isinstance(value, int | float):
        return NONE
    number = f"{value:.{digits}f}{unit}"
    return number if low is None else f"{number} ({_number(low, digits)}, {_number(high, digits)})"


def _spread(row: Row, key: str) -> str:
    mean, std = row[key], row[f"{key}_std"]
    if mean is None or std is None:
        return _number(mean, 4)
    return f"{_number(mean, 4)} ± {_number(std, 4)}"


def _span(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _distinct(rows: Sequence[Row], key: str) -> list[str]:
    return list(dict.fromkeys(str(row[key]) for row in rows))


def _left_out(rows: Sequence[Row]) -> list[str]:
    """Say how many samples are left out since a language lacks them."""
    counts = sorted({count for row in rows if isinstance(count := row["left_out"], int)})
    if not any(counts):
        return []
    plural = "" if counts == [1] else "s"
    return [
        f"left out: {_span(counts)} sample{plural} that some language lacks; --pairwise keeps them"
    ]


def _reasons(rows: Sequence[Row], *, of: str = "metric") -> list[str]:
    """Say why there are dashes: one line per reason."""
    names_of: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["reason"]:
            names_of.setdefault(str(row["reason"]), {})[str(row[of])] = None
    return [f"{NONE} {', '.join(names)}: {reason}" for reason, names in names_of.items()]


_PAIRWISE = frozenset({"pairwise"})

XLINGEVAL_TABLES: Mapping[str, PaperTable] = {
    "consistency": PaperTable(
        about="means over temperatures, and their drop from the pivot language's (Table A9)",
        rows=consistency_rows,
        columns=CONSISTENCY_COLUMNS,
        sheets=consistency_sheets,
        options=_PAIRWISE,
    ),
    "tukey": PaperTable(
        about="which languages differ: Tukey's HSD per temperature (Tables 2 and 3)",
        rows=tukey_rows,
        columns=TUKEY_COLUMNS,
        sheets=tukey_sheets,
        options=_PAIRWISE,
    ),
    "anova": PaperTable(
        about="whether languages differ: one-way ANOVA per temperature (Table A13)",
        rows=anova_rows,
        columns=ANOVA_COLUMNS,
        sheets=anova_sheets,
        options=_PAIRWISE,
    ),
    "ttest": PaperTable(
        about="unpaired t tests of each two languages per temperature (Table A12)",
        rows=ttest_rows,
        columns=TTEST_COLUMNS,
        sheets=ttest_sheets,
        options=_PAIRWISE | {"welch"},
    ),
    "correctness": PaperTable(
        about="what the judge says of answers, and how languages compare (Table 1)",
        rows=correctness_rows,
        columns=CORRECTNESS_COLUMNS,
        sheets=correctness_sheets,
    ),
    "verifiability": PaperTable(
        about="how well right answers are told from wrong ones (Table A11)",
        rows=verifiability_rows,
        columns=VERIFIABILITY_COLUMNS,
        sheets=verifiability_sheets,
    ),
}
