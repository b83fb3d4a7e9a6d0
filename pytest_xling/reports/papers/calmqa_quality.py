"""CaLMQA's Table 2 whole: surface quality, factuality, relevance and the overall score."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from pytest_xling.keys import content_key
from pytest_xling.languages import find
from pytest_xling.reports.papers.calmqa import (
    ALL_LANGUAGES,
    SURFACE_COLUMNS,
    asked_answers,
    scored_with,
    surface_table,
)
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.sheet import Sheet
from pytest_xling.store.runs import get_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.reports.papers.calmqa import AskedAnswer, Row

JUDGED: Final = ("factuality", "relevance", "overall", "claim_count")
NEEDED: Final = ("no_answer", "repetition", *JUDGED)
COLUMNS: Final = (
    *SURFACE_COLUMNS[:-1],
    "factuality", "relevance", "overall", "claims", "unjudged", "n", "judged",
)  # fmt: skip
_HEADS: Final[Mapping[str, str]] = {
    "wrong_language": "wrong\nlang.",
    "repetition": "repeti-\ntions",
    "without_issues": "w/o\nissues",
    "factuality": "factual\nprec.",
    "relevance": "rele-\nvance",
    "overall": "overall\nscore",
}
"""The columns of the printed table, in percent."""
_SETS: Final = ("agnostic", "specific")
_BETWEEN: Final = "/"
_DIGITS: Final = 12


def quality_rows(connection: Connection, run_id: str, *, benchmark: str | None = None) -> list[Row]:
    """Return Table 2: rows by set and language, in percent; the language ``all`` pools them.

    Surface quality is as in the table ``surface``. ``factuality`` is the mean over answers without
    surface issues that were judged, 0 for one without claims; ``relevance`` the share of them that
    are relevant; ``overall`` the mean over all answers, 0 for one with an issue or none at all.
    ``claims`` is the median number of claims, and ``unjudged`` how many answers without issues lack
    a factuality or a relevance. ``judged`` is a digest of the metrics' signatures: only runs with
    the same compare. All is pooled over answers (micro-averaged); languages that cannot be
    identified are not in ``all``.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where the run has several that were scored for this.

    Raises:
        ConfigError: the run was not scored for this, or *benchmark* is needed or unknown.
        StoreError: no such run.
    """
    run = get_run(connection, run_id)
    steps = scored_with(connection, run.run_id, NEEDED, benchmark=benchmark)
    chosen = steps[JUDGED[0]].benchmark
    by_place: dict[tuple[str, str], list[AskedAnswer]] = defaultdict(list)
    for answer in asked_answers(connection, run.run_id, NEEDED, benchmark=chosen):
        if find(answer.language).identifiable:
            by_place[answer.set, ALL_LANGUAGES].append(answer)
        by_place[answer.set, answer.language].append(answer)
    judged: Row = {
        "judged": content_key([steps[metric].signature for metric in JUDGED]).hex()[:_DIGITS]
    }
    rows = [
        surface | _judged(by_place[str(surface["set"]), str(surface["language"])]) | judged
        for surface in surface_table(connection, run.run_id, benchmark=chosen)
    ]
    return [{column: row[column] for column in COLUMNS} for row in rows]


def _judged(answers: Sequence[AskedAnswer]) -> Row:
    """Return what was judged of the answers of one row."""
    values = {
        metric: [value for answer in answers if (value := answer.value(metric)) is not None]
        for metric in JUDGED
    }
    row: Row = {
        metric: 100 * math.fsum(values[metric]) / len(values[metric]) if values[metric] else None
        for metric in ("factuality", "relevance", "overall")
    }
    clean = [
        answer
        for answer in answers
        if not (answer.flagged("no_answer") or _misplaced(answer) or answer.repetitive)
    ]
    row["claims"] = statistics.median(values["claim_count"]) if values["claim_count"] else None
    row["unjudged"] = sum(
        any(answer.value(metric) is None for metric in ("factuality", "relevance"))
        for answer in clean
    )
    return row


def _misplaced(answer: AskedAnswer) -> bool:
    """Whether it is in a wrong language, as far as that can be told."""
    return answer.wrong_language and find(answer.language).identifiable


def quality_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay the rows of all runs out as the paper does: agnostic / specific, a sheet per language."""
    languages = sorted(
        {str(row["language"]) for row in rows}, key=lambda c: (c != ALL_LANGUAGES, c)
    )
    sheets = []
    for language in languages:
        of_language = [row for row in rows if row["language"] == language]
        # K is of a domain, whatever the language.
        pooled = language == ALL_LANGUAGES or len(languages) == 1
        notes = [
            *_alike_notes(of_language),
            *(_k_notes(of_language) if pooled else ()),
            *_unjudged_notes(of_language),
        ]
        sheets.append(_sheet(language, of_language, notes))
    return sheets


def _sheet(language: str, rows: Sequence[Row], notes: Sequence[str]) -> Sheet:
    sets = sorted({str(row["set"]) for row in rows})
    by_run: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_run.setdefault(str(row["run"]), {})[str(row["set"])] = row
    columns: dict[str, list[str]] = {
        "model": [str(next(iter(by_set.values()))["model"]) for by_set in by_run.values()]
    }
    columns |= {
        head: [_cells(by_set, sets, column) for by_set in by_run.values()]
        for column, head in _HEADS.items()
    }
    columns["n"] = [
        _BETWEEN.join(str(by_set[name]["n"]) if name in by_set else "–" for name in sets)
        for by_set in by_run.values()
    ]
    title = "all languages" if language == ALL_LANGUAGES else find(language).english_name
    between = f": {' / '.join(sets)}" if any(sets) else ""
    return Sheet(
        title=f"Table 2, {title}, in %{between}",
        columns=columns,
        left=1,
        notes=tuple(notes),
        shortened="model",
    )


def _cells(by_set: Mapping[str, Row], sets: Sequence[str], column: str) -> str:
    values = [by_set.get(name, {}).get(column) for name in sets]
    return _BETWEEN.join("–" if value is None else f"{value:.1f}" for value in values)


def _alike_notes(rows: Sequence[Row]) -> list[str]:
    """Warn of runs that differ in more than the model under test."""
    if len({row["judged"] for row in rows}) == 1:
        return []
    differs = "judge, translator, search, parameters or versions differ"
    return [f"The runs were not judged alike ({differs}): compare only their surface"]


def _k_notes(rows: Sequence[Row]) -> list[str]:
    """Say which K the claims of the runs' answers make, for each set."""
    notes = []
    for name in sorted({str(row["set"]) for row in rows}):
        medians = [
            float(row["claims"])
            for row in rows
            if row["set"] == name and isinstance(row["claims"], int | float)
        ]
        if medians:
            median = statistics.median(medians)
            notes.append(
                f"K of {name or 'the questions'}: {median:g} claims in the median over the runs "
                f"(--xling-param=factuality_f1_at_k.k={max(1, round(median))})"
            )
    return notes


def _unjudged_notes(rows: Sequence[Row]) -> list[str]:
    """Say how many answers should have been judged and were not."""
    unjudged = sum(int(row["unjudged"] or 0) for row in rows)
    if not unjudged:
        return []
    return [f"{unjudged} of the answers without issues were not judged: `xling export` says why"]


QUALITY_TABLES: Final[Mapping[str, PaperTable]] = {
    "calmqa": PaperTable(
        about="surface quality, factuality, relevance, overall, in % (Table 2 whole)",
        rows=quality_rows,
        columns=COLUMNS,
        sheets=quality_sheets,
        together=True,
    )
}
