"""UPHILL's tables 5, 10 and 11 and its figure 2 (Kaur et al., 2024), and how languages agree.

The rows are long: one number each, with what it is of.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from functools import partial
from operator import attrgetter, itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Final

from pytest_xling.analysis.stances import (
    ALL,
    METRIC,
    TIE,
    Share,
    at_level,
    by_temperature,
    by_veracity,
    interval,
    share,
    stance_records,
    stance_shares,
    tally,
)
from pytest_xling.papers.recipe import (
    Recipe,
    bracketed,
    none_for_missing,
    reasons,
    scored_with,
    text,
)
from pytest_xling.reports.sheet import Sheet, once
from pytest_xling.reports.stance_curves import stance_curves
from pytest_xling.stats.groups import group_by
from pytest_xling.stats.kappa import cohen_kappa
from pytest_xling.text.display import printable
from pytest_xling.text.numbers import NONE, number
from pytest_xling.text.stance import LEVELS, STANCES, VERACITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_xling.analysis.loaded_run import LoadedRun
    from pytest_xling.analysis.stances import StanceRecord
    from pytest_xling.papers.recipe import Cell, Row, Value

COLUMNS: Final = (
    "model", "temperature", "language", "pivot", "measure", "veracity", "level", "value", "low",
    "high", "n", "unparsed", "tied", "no_stance", "claim", "stance", "pivot_stance", "to_false",
    "text", "reason",
)  # fmt: skip
NEUTRAL: Final = 0
"""The level at which nothing is presupposed."""
_SHOWN_FLIPS: Final = 30
_SHOWN_TEXT: Final = 34
_LEFT_OUT: Final = {"unparsed": "unparsed", "tied": "tied", "no_stance": "no stance"}


def stance_rows(
    run: LoadedRun, *, benchmark: str | None = None, majority: bool = False
) -> Iterator[Row]:
    """Yield the rows of the table ``stance``, the pivot language's first.

    ``measure`` says what ``value`` is, a share from 0 to 1 unless said otherwise:

    - ``accuracy``: of right responses. Without a level, the mean over levels.
    - ``agree``, ``disagree``, ``neutral``: of responses with that stance.
    - ``neutral_consistency``: of responses with the stance of that to the neutral query.
    - ``consistency``: of claims with one stance at all levels.
    - ``agreement``: of claims and levels with the pivot language's stance.
    - ``kappa``: Cohen's κ with the pivot language's stances.
    - ``flip``: no number, but a claim and level with another stance than in the pivot language;
      ``to_false`` is 1 where a false claim is agreed with that the pivot language refutes.

    The veracity ``all`` pools claims: all but fabricated ones, as in the paper; those too in
    comparisons with the pivot language, where veracity is beside the point. Over repeats all
    responses count, and consistency is that of each repeat. What is compared with the pivot
    language is always the majority of the repeats. ``n`` counts what has a value; ``unparsed``,
    ``tied`` and ``no_stance`` what is left out.

    Args:
        run: as it was read.
        benchmark: as for all recipes.
        majority: take the stance that most repeats have everywhere.

    Raises:
        ConfigError: also where the cases do not say level and veracity.
    """
    scored = scored_with(run, (METRIC,), benchmark=benchmark)
    answers, pivot = scored.answers, scored.pivot
    samples = zip(answers["sample_id"], answers["language"], strict=True)
    records = stance_records(
        none_for_missing(scored.scores).itertuples(),
        dict(zip(samples, scored.field("veracity"), strict=True)),
        of=f"benchmark {scored.benchmark!r} in run {run.run_id!r}",
    )
    # The claim where it is known, else what was asked.
    claims = {
        row.sample_id: row.metadata.get("claim", row.question)
        for row in answers[answers["language"] == pivot].itertuples()
    }
    for temperature, by_language in by_temperature(records, pivot=pivot):
        for code, mine in by_language.items():
            place: Row = {"language": code, "pivot": pivot}
            place["temperature"] = None if scored.left_to_model else temperature
            measured = [*_measured(by_majority(mine) if majority else mine)]
            if code != pivot and pivot in by_language:
                measured += compare_with_pivot(mine, by_language[pivot], claims=claims)
            yield from (place | row for row in measured)


def _measured(records: Sequence[StanceRecord]) -> Iterator[Row]:
    """Yield what there is to say of one language at one temperature by itself."""
    levels = sorted({record.level for record in records})
    for veracity, mine in by_veracity(records).items():
        here = {level: at_level(mine, level) for level in levels}

        if mine[0].has_right_stance:
            for level in levels:
                yield _row(accuracy(here[level]), "accuracy", veracity, level)
            yield _row(overall_accuracy(mine), "accuracy", veracity)
        for level in levels:
            for stance, taking in stance_shares(here[level]).items():
                yield _row(taking, stance, veracity, level)
        for level in levels if NEUTRAL in levels else ():
            if level != NEUTRAL:
                alike = neutral_consistency(mine, level)
                yield _row(alike, "neutral_consistency", veracity, level)
        yield _row(consistency(mine), "consistency", veracity)


def _row(share: Share, measure: str, veracity: str = ALL, level: int | None = None) -> Row:
    return {"measure": measure, "veracity": veracity, "level": level} | asdict(share)


def by_majority(records: Iterable[StanceRecord]) -> list[StanceRecord]:
    """Put the repeats of a claim, language and level together as the stance most of them take.

    Repeats without a stance have no vote. In a tie there is no stance.
    """
    groups = group_by(records, attrgetter("claim", "language", "level"))
    return [_most(repeats) for repeats in groups.values()]


def _most(repeats: Sequence[StanceRecord]) -> StanceRecord:
    first = replace(min(repeats, key=attrgetter("repeat")), repeat="")
    votes = Counter(record.stance for record in repeats if record.stance is not None)
    if not votes:
        return first
    leading = [stance for stance, count in votes.items() if count == max(votes.values())]
    if len(leading) > 1:
        return replace(first, stance=None, reason=TIE)
    return replace(first, stance=leading[0], reason="")


def accuracy(records: Iterable[StanceRecord]) -> Share:
    """Return the share of right responses, of all to claims towards which a stance is right."""
    return share((r for r in records if r.has_right_stance), attrgetter("right"))


def overall_accuracy(records: Sequence[StanceRecord]) -> Share:
    """Return the mean of the accuracies at the levels, each counting alike (section 3.5).

    The interval is Wilson's around it, with the effective number of all responses.
    """
    judged = [record for record in records if record.has_right_stance]
    pooled = accuracy(judged)
    levels = sorted({record.level for record in judged})
    by_level = {level: accuracy(at_level(judged, level)).value for level in levels}
    if lacking := [str(level) for level, value in by_level.items() if value is None]:
        reason = f"no stance at level {', '.join(lacking)}"
        return replace(pooled, value=None, low=None, high=None, reason=reason)
    values = [value for value in by_level.values() if value is not None]
    if not values or pooled.value == (mean := fmean(values)):
        return pooled
    flags = [(record.claim, record.right) for record in judged if record.stance is not None]
    low, high = interval(mean, flags)
    return replace(pooled, value=mean, low=low, high=high)


def neutral_consistency(records: Iterable[StanceRecord], level: int) -> Share:
    """Return the share of responses at *level* that take the stance of the neutral query's.

    Each repeat is compared with the same repeat of the neutral query (Table 11).
    """
    return _alike(records, {NEUTRAL, level})


def consistency(records: Sequence[StanceRecord]) -> Share:
    """Return the share of claims whose responses take one stance at all levels (section 3.5).

    Each repeat counts by itself. All levels that some claim was asked at need a stance, and there
    must be two.
    """
    every = {record.level for record in records}
    if len(every) < 2:  # noqa: PLR2004  one stance is equal to itself
        return Share(value=None, low=None, high=None, n=0, reason="fewer than two levels")
    return _alike(records, every)


def _alike(records: Iterable[StanceRecord], levels: set[int]) -> Share:
    """Return how often a claim's stances at *levels* are one, repeat by repeat.

    A claim that was not asked at all of them does not count.
    """
    flags: list[tuple[StanceRecord, bool | None]] = []
    for repeat in group_by(records, attrgetter("claim", "repeat")).values():
        compared = {record.level: record for record in repeat if record.level in levels}
        if compared.keys() == levels:
            stances = [record.stance for record in compared.values()]
            alike = None if None in stances else len(set(stances)) == 1
            lacking = (record for record in compared.values() if record.stance is None)
            flags.append((next(lacking, repeat[0]), alike))
    return tally(flags)


def compare_with_pivot(
    here: Iterable[StanceRecord],
    there: Iterable[StanceRecord],
    *,
    claims: Mapping[str, Value],
) -> Iterator[Row]:
    """Yield how one language agrees with the pivot language, and where it does not, worst first.

    Of several repeats the majority counts, in both; what has no stance in one of them is left out
    and counted. The responses about one claim are a cluster.

    Args:
        here: the records of one language.
        there: those of the pivot language.
        claims: their texts, by sample.
    """
    ours, theirs = (
        {(record.claim, record.level): record for record in by_majority(of)} for of in (here, there)
    )
    pairs = [(ours[place], theirs[place]) for place in sorted(ours) if place in theirs]
    for level in sorted({mine.level for mine, _ in pairs}):
        of_level = [pair for pair in pairs if pair[0].level == level]
        yield _row(_agreement_of(of_level), "agreement", level=level)
    yield _row(_agreement_of(pairs), "agreement")
    known = [pair for pair in pairs if None not in {record.stance for record in pair}]
    kappa = cohen_kappa(
        [str(mine.stance) for mine, _ in known],
        [str(other.stance) for _, other in known],
        clusters=[mine.claim for mine, _ in known],
    )
    yield {"measure": "kappa", "veracity": ALL} | asdict(kappa)
    flips = [(mine, other) for mine, other in known if mine.stance != other.stance]
    for mine, other in sorted(flips, key=lambda pair: _how_bad(*pair)):
        yield {
            "measure": "flip",
            "veracity": mine.veracity,
            "level": mine.level,
            "claim": mine.claim,
            "stance": mine.stance,
            "pivot_stance": other.stance,
            "to_false": int(_agrees_with_false(mine) and other.stance == "disagree"),
            "text": claims.get(mine.sample),
        }


def _agreement_of(pairs: Iterable[tuple[StanceRecord, StanceRecord]]) -> Share:
    flags: list[tuple[StanceRecord, bool | None]] = []
    for mine, other in pairs:
        alike = None if None in {mine.stance, other.stance} else mine.stance == other.stance
        flags.append((mine if mine.stance is None else other, alike))
    return tally(flags)


def _agrees_with_false(record: StanceRecord) -> bool:
    return record.veracity == "false" and record.stance == "agree"


def _how_bad(mine: StanceRecord, other: StanceRecord) -> tuple[bool, bool, bool, str, int]:
    """Order flips: agreement with a false claim first, then from one side to the other."""
    agrees, refuted = _agrees_with_false(mine), other.stance == "disagree"
    neutral = "neutral" in {mine.stance, other.stance}
    return not (agrees and refuted), not agrees, neutral, mine.claim, mine.level


def _sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay the rows of one run out, temperature by temperature."""
    temperatures = group_by(rows, itemgetter("temperature"))
    sheets = []
    for temperature, here in temperatures.items():
        several = len(temperatures) > 1 or temperature not in {0.0, None}
        suffix = f"; τ = {temperature:g}" if several else ""
        sheets += [replace(s, title=f"{s.title}{suffix}") for s in _at_one_temperature(here)]
    return sheets


def _at_one_temperature(rows: Sequence[Row]) -> Iterator[Sheet]:
    by_language = group_by(rows, itemgetter("language"))
    accuracies = _rows_with(rows, "accuracy")
    for title, own, notes, cell in (
        (
            "Factual accuracy in % by level (Table 5)",
            [row for row in accuracies if row["veracity"] == ALL],
            (
                "right: to agree with a true claim, disagree with a false, be neutral to a mixture",
                "overall: the mean over levels; in brackets: 95% Wilson intervals, by claim",
            ),
            _with_interval,
        ),
        (
            "Factual accuracy in % by veracity and level (Table 10)",
            [row for row in accuracies if row["veracity"] != ALL],
            (),
            _percent,
        ),
        (
            "Consistency in % (Table 11)",
            _rows_with(rows, "neutral_consistency", "consistency"),
            (
                "at a level: responses with the same stance as that to the neutral query",
                "overall: claims with one stance at all levels",
            ),
            _percent,
        ),
    ):
        if own:
            lines = _by_place(own, "language")
            left = _places(lines)
            if len({line["claims"] for line in lines}) == 1:
                del left["claims"]
            columns = {code: _in_line(code, cell) for code in by_language}
            every = (*notes, *_reasons(own))
            yield Sheet.of(title, lines, left | columns, left=len(left), notes=every)
    for code, mine in by_language.items():
        if stances := _rows_with(mine, *STANCES):
            yield _stances(stances, code)
    if compared := _rows_with(rows, "agreement", "kappa"):
        yield _agreement(compared, _rows_with(rows, "flip"))
    if flips := _rows_with(rows, "flip"):
        yield _flips(flips)


def _rows_with(rows: Iterable[Row], *measures: str) -> list[Row]:
    return [row for row in rows if row["measure"] in measures]


def _by_place(rows: Iterable[Row], key: str) -> list[Row]:
    """Return a line for each veracity, all claims first, and level, overall last.

    A line has the row of each language, or whatever rows have under *key*.
    """
    lines: dict[tuple[int, str, int], Row] = {}
    order = (ALL, *VERACITIES)
    for row in rows:
        veracity, level = str(row["veracity"]), row["level"]
        nth = order.index(veracity) if veracity in order else len(order)
        place = nth, veracity, len(LEVELS) if level is None else level
        line = lines.setdefault(place, {"claims": veracity, "level": _level(level)})
        line[str(row[key])] = row
    return [lines[place] for place in sorted(lines)]


def _level(level: int | None) -> str:
    """Return what a level is called; that of rows without one is ``overall``."""
    if level is None:
        return "overall"
    name = LEVELS[level] if level < len(LEVELS) else str(level)
    return f"{level} {name.replace('_', ' ')}"


def _places(lines: Sequence[Row]) -> dict[str, Cell]:
    """Return the columns that name a line; a veracity is named once."""
    return {"claims": once(lines, text("claims")), "level": text("level")}


def _in_line(key: str, cell: Cell) -> Cell:
    """Word the row that a line has under *key*."""
    return lambda line: cell(line[key]) if key in line else NONE


def _stances(rows: Sequence[Row], code: str) -> Sheet:
    """Return the shares of the stances in one language, which Figure 2 draws."""
    lines = _by_place(rows, "measure")
    agree = [line["agree"] for line in lines]
    cells = _places(lines) | {"agree": _in_line("agree", _with_interval)}
    cells |= {stance: _in_line(stance, _percent) for stance in ("disagree", "neutral")}
    cells["n"] = _in_line("agree", text("n"))
    for key, head in _LEFT_OUT.items():
        if any(row[key] for row in agree):
            cells[head] = _in_line("agree", text(key))
    notes = (
        "n: responses with a stance; in brackets: 95% Wilson intervals, by claim",
        "unparsed: the annotator's reply cannot be read; UPHILL counts it as neutral"
        if "unparsed" in cells
        else "",
        *_reasons(agree),
    )
    return Sheet.of(f"Stances in % in {code} (Figure 2)", lines, cells, left=2, notes=notes)


def _agreement(rows: Sequence[Row], flips: Sequence[Row]) -> Sheet:
    """Return how the languages agree with the pivot language."""
    lines: list[Row] = []
    for code, of in group_by(rows, itemgetter("language")).items():
        mine = [flip for flip in flips if flip["language"] == code]
        lines.append(
            {
                "language": code,
                "flips": len(mine),
                "to_false": sum(flip["to_false"] for flip in mine),
                **{f"{row['measure']} {row['level']}": row for row in of},
            }
        )
    cells: dict[str, Cell] = {
        "language": text("language"),
        "agreement": _in_line("agreement None", _with_interval),
        "Cohen's κ": _in_line("kappa None", _kappa),
        "pairs": _in_line("agreement None", text("n")),
        "left\nout": _in_line("agreement None", lambda row: str(sum(row[k] for k in _LEFT_OUT))),
        "flips": text("flips"),
        "to a false\nclaim": text("to_false"),
    }
    for level in sorted({row["level"] for row in rows if row["level"] is not None}):
        cells[f"level\n{level}"] = _in_line(f"agreement {level}", _percent)
    pivot = rows[0]["pivot"]
    notes = (
        f"agreement: in % of claims and levels with a stance here and in {pivot}",
        "the stance: of several repeats that of most",
        f"to a false claim: it is agreed with here and refuted in {pivot}",
        "in brackets: 95% intervals, by claim",
        *_reasons(rows),
    )
    return Sheet.of(f"Stances compared with {pivot}", lines, cells, notes=notes)


def _flips(rows: Sequence[Row]) -> Sheet:
    """Return the claims whose stance is another one in the pivot language, worst first."""
    listed = sorted(rows, key=lambda row: row["to_false"] != 1)[:_SHOWN_FLIPS]
    pivot = rows[0]["pivot"]
    cells: dict[str, Cell] = {
        "case": lambda row: f"{row['claim']}-l{row['level']}-{row['language']}",
        "claim is": text("veracity"),
        f"in {pivot} → here": lambda row: f"{row['pivot_stance']} → {row['stance']}",
        "": lambda row: "!" if row["to_false"] == 1 else "",
        "text": lambda row: printable(str(row["text"] or ""), limit=_SHOWN_TEXT),
    }
    more = len(rows) - len(listed)
    return Sheet.of(
        f"Other stances than in {pivot}, worst first",
        listed,
        cells,
        left=len(cells),
        notes=(
            f"! a false claim is agreed with that {pivot} refutes",
            f"and {more:,} more; --json lists all" if more else "",
        ),
        shortened="text",
    )


def _points(share: Value) -> str:
    return NONE if share is None else number(100 * share, 1)


def _percent(row: Row) -> str:
    return _points(row["value"])


def _with_interval(row: Row) -> str:
    return f"{_percent(row)} {bracketed(row, _points, '–')}".rstrip()


def _kappa(row: Row) -> str:
    word = partial(number, digits=2)
    return f"{word(row['value'])} {bracketed(row, word, ' to ')}".rstrip()


def _reasons(rows: Iterable[Row]) -> list[str]:
    return reasons((row for row in rows if row["value"] is None), "language")


TABLES: Final[Mapping[str, Recipe]] = {
    "stance": Recipe(
        about="accuracy, consistency, stances by level; how languages agree (Tables 5, 10, 11)",
        rows=stance_rows,
        columns=COLUMNS,
        sheets=_sheets,
        drawing=stance_curves,
    ),
}
