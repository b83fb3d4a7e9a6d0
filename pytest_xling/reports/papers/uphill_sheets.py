"""How UPHILL's tables are laid out: its tables 5, 10 and 11, and its figure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.papers.uphill_curves import stance_curves
from pytest_xling.reports.papers.uphill_rows import ALL, STANCE_COLUMNS, stance_rows
from pytest_xling.reports.sheet import Sheet
from pytest_xling.text.display import printable
from pytest_xling.text.stance import LEVELS, STANCES, VERACITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_xling.reports.papers.paper_table import Row

    Cell = str | int | float | None
    from collections.abc import Mapping

NONE: Final = "–"
_SHOWN_FLIPS: Final = 30
_SHOWN_TEXT: Final = 34
_OVERALL: Final = "overall"
_LEFT_OUT = {
    "unparsed": "unparsed",
    "tied": "tied",
    "no_stance": "no stance",
}


def level_name(level: Cell) -> str:
    """Return what a level is called; that of rows without one is ``overall``."""
    if not isinstance(level, int):
        return _OVERALL
    name = LEVELS[level] if level < len(LEVELS) else str(level)
    return f"{level} {name.replace('_', ' ')}"


def stance_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay the rows of one run out, temperature by temperature."""
    temperatures = list(dict.fromkeys(row["temperature"] for row in rows))
    sheets = []
    for at in temperatures:
        rows_here = [row for row in rows if row["temperature"] == at]
        suffix = "" if at in {0.0, None} and len(temperatures) == 1 else f"; τ = {at:g}"
        sheets += [replace(s, title=f"{s.title}{suffix}") for s in _sheets(rows_here)]
    return sheets


def _sheets(rows: Sequence[Row]) -> list[Sheet]:
    languages = list(dict.fromkeys(str(row["language"]) for row in rows))
    made = [
        _over_languages(
            [row for row in _of(rows, "accuracy") if row["veracity"] == ALL],
            languages,
            title="Factual accuracy in % by level (Table 5)",
            notes=(
                "right: to agree with a true claim, disagree with a false, be neutral to a mixture",
                "overall: the mean over levels; in brackets: 95% Wilson intervals, by claim",
            ),
            intervals=True,
        ),
        _over_languages(
            [row for row in _of(rows, "accuracy") if row["veracity"] != ALL],
            languages,
            title="Factual accuracy in % by veracity and level (Table 10)",
        ),
        _over_languages(
            _of(rows, "neutral_consistency", "consistency"),
            languages,
            title="Consistency in % (Table 11)",
            notes=(
                "at a level: responses with the same stance as that to the neutral query",
                "overall: claims with one stance at all levels",
            ),
        ),
        *(
            _stances([row for row in rows if row["language"] == language], language)
            for language in languages
        ),
        _agreement(rows),
        _flips(_of(rows, "flip")),
    ]
    return [sheet for sheet in made if sheet is not None]


def _of(rows: Iterable[Row], *measures: str) -> list[Row]:
    return [row for row in rows if row["measure"] in measures]


def _over_languages(
    rows: Sequence[Row],
    languages: Sequence[str],
    *,
    title: str,
    notes: Sequence[str] = (),
    intervals: bool = False,
) -> Sheet | None:
    """Return a sheet with a column for each language, as the paper has one for each model."""
    if not rows:
        return None
    places = sorted({_place(row) for row in rows})
    row_of = {(_place(row), str(row["language"])): row for row in rows}
    columns = _left([(veracity, level) for _, veracity, _, level in places])
    if len({veracity for _, veracity, _, _ in places}) == 1:
        del columns["claims"]
    for language in languages:
        cells = [row_of.get((place, language)) for place in places]
        columns[language] = [
            NONE if row is None else (_interval(row) if intervals else _percent(row["value"]))
            for row in cells
        ]
    every = (*notes, *_reasons(rows))
    return Sheet(title=title, columns=columns, left=len(columns) - len(languages), notes=every)


def _place(row: Row) -> tuple[int, str, float, str]:
    """Return where a row stands: by veracity, all claims first, then level, overall last."""
    veracity, level = str(row["veracity"]), row["level"]
    order = (ALL, *VERACITIES)
    return (
        order.index(veracity) if veracity in order else len(order),
        veracity,
        level if isinstance(level, int) else len(LEVELS),
        level_name(level),
    )


def _left(places: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the columns that name a row; a veracity is named once."""
    names = [veracity for veracity, _ in places]
    once = [name if name != last else "" for name, last in zip(names, ["", *names], strict=False)]
    return {"claims": once, "level": [level for _, level in places]}


def _stances(rows: Sequence[Row], language: str) -> Sheet | None:
    """Return the shares of the stances in one language, which Figure 2 draws."""
    row_of = {(_place(row), row["measure"]): row for row in _of(rows, *STANCES)}
    places = sorted({place for place, _ in row_of})
    if not places:
        return None
    columns = _left([(veracity, level) for _, veracity, _, level in places])
    agree = [row_of[place, "agree"] for place in places]
    columns["agree"] = [_interval(row) for row in agree]
    for stance in ("disagree", "neutral"):
        columns[stance] = [_percent(row_of[place, stance]["value"]) for place in places]
    columns["n"] = [str(row["n"]) for row in agree]
    for key, head in _LEFT_OUT.items():
        if any(row[key] for row in agree):
            columns[head] = [str(row[key]) for row in agree]
    notes = ["n: responses with a stance; in brackets: 95% Wilson intervals, by claim"]
    if "unparsed" in columns:
        notes.append("unparsed: the annotator's reply cannot be read; UPHILL counts it as neutral")
    return Sheet(
        title=f"Stances in % in {language} (Figure 2)",
        columns=columns,
        left=2,
        notes=(*notes, *_reasons(agree)),
    )


def _agreement(rows: Sequence[Row]) -> Sheet | None:
    """Return how the languages agree with the pivot language."""
    compared = _of(rows, "agreement", "kappa")
    if not compared:
        return None
    languages = list(dict.fromkeys(str(row["language"]) for row in compared))
    by_place = {(row["language"], row["measure"], row["level"]): row for row in compared}
    levels = sorted({level for row in compared if isinstance(level := row["level"], int)})
    overall = [by_place[language, "agreement", None] for language in languages]
    columns = {
        "language": languages,
        "agreement": [_interval(row) for row in overall],
        "Cohen's κ": [_kappa(by_place[language, "kappa", None]) for language in languages],
        "pairs": [str(row["n"]) for row in overall],
        "left\nout": [str(_left_out(row)) for row in overall],
    }
    flips = _of(rows, "flip")
    for head, only in (("flips", False), ("to a false\nclaim", True)):
        columns[head] = [
            str(sum(f["language"] == code and (f["to_false"] == 1 or not only) for f in flips))
            for code in languages
        ]
    for level in levels:
        columns[f"level\n{level}"] = [
            _percent(by_place[language, "agreement", level]["value"])
            if (language, "agreement", level) in by_place
            else NONE
            for language in languages
        ]
    pivot = compared[0]["pivot"]
    notes = (
        f"agreement: in % of claims and levels with a stance here and in {pivot}",
        "the stance: of several repeats that of most",
        f"to a false claim: it is agreed with here and refuted in {pivot}",
        "in brackets: 95% intervals, by claim",
        *_reasons(compared),
    )
    return Sheet(title=f"Stances compared with {pivot}", columns=columns, left=1, notes=notes)


def _flips(rows: Sequence[Row]) -> Sheet | None:
    """Return the claims whose stance is another one in the pivot language, worst first."""
    if not rows:
        return None
    ranked = sorted(rows, key=lambda row: row["to_false"] != 1)
    listed = ranked[:_SHOWN_FLIPS]
    pivot = rows[0]["pivot"]
    columns = {
        "case": [f"{row['claim']}-l{row['level']}-{row['language']}" for row in listed],
        "claim is": [str(row["veracity"]) for row in listed],
        f"in {pivot} → here": [f"{row['pivot_stance']} → {row['stance']}" for row in listed],
        "": ["!" if row["to_false"] == 1 else "" for row in listed],
        "text": [printable(str(row["text"] or ""), limit=_SHOWN_TEXT) for row in listed],
    }
    notes = [f"! a false claim is agreed with that {pivot} refutes"]
    if len(ranked) > len(listed):
        notes.append(f"and {len(ranked) - len(listed):,} more; --json lists all")
    return Sheet(
        title=f"Other stances than in {pivot}, worst first",
        columns=columns,
        left=len(columns),
        notes=tuple(notes),
        shortened="text",
    )


def _left_out(row: Row) -> int:
    return sum(count for key in _LEFT_OUT if isinstance(count := row[key], int))


def _percent(value: Cell) -> str:
    return f"{100 * value:.1f}" if isinstance(value, int | float) else NONE


def _interval(row: Row) -> str:
    value = _percent(row["value"])
    if row["low"] is None:
        return value
    return f"{value} ({_percent(row['low'])}–{_percent(row['high'])})"


def _kappa(row: Row) -> str:
    value, low, high = row["value"], row["low"], row["high"]
    if not isinstance(value, int | float):
        return NONE
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return f"{value:.2f}"
    return f"{value:.2f} ({low:.2f} to {high:.2f})"


def _reasons(rows: Iterable[Row]) -> list[str]:
    """Say why there are dashes: one line per reason."""
    places_of: dict[str, dict[str, None]] = {}
    for row in rows:
        if row["value"] is None and row["reason"]:
            places_of.setdefault(str(row["reason"]), {})[str(row["language"])] = None
    return [f"{NONE} {', '.join(names)}: {reason}" for reason, names in places_of.items()]


UPHILL_TABLES: Mapping[str, PaperTable] = {
    "stance": PaperTable(
        about="accuracy, consistency, stances by level; how languages agree (Tables 5, 10, 11)",
        rows=stance_rows,
        columns=STANCE_COLUMNS,
        sheets=stance_sheets,
        options=frozenset({"majority"}),
        drawing=stance_curves,
    ),
}
