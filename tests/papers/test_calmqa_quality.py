"""CaLMQA's Table 2 whole, against numbers worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.analysis.loaded_run import load_run
from pytest_xling.papers.calmqa import TABLES
from pytest_xling.reports.sheet import plain
from tests.reports.stories import ENGLISH, HINDI
from tests.runs import Scored, put_run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.papers.recipe import Row

SWAHILI = "Barafu huelea juu ya maji kwa sababu maji yanapoganda huchukua nafasi kubwa zaidi."


def scored(
    name: str,
    language: str,
    text: str,
    *judged: float | None,
    set_name: str = "agnostic",
) -> Scored:
    """Return an answer with its factuality, relevance, overall score and number of claims."""
    metrics = ("factuality", "relevance", "overall", "claim_count")
    return Scored(
        id=name,
        language=language,
        text=text,
        benchmark="culture",
        readings={"no_answer": 0.0, "repetition": 0.0, **dict(zip(metrics, judged, strict=True))},
        metadata={"set": set_name} if set_name else {},
    )


ANSWERS = (
    scored("q1", "en", ENGLISH, 0.5, 1.0, 0.5, 4.0),
    scored("q2", "en", ENGLISH, 1.0, 0.0, 0.0, 8.0),
    scored("q3", "en", ENGLISH, None, 1.0, None, 2.0),
    scored("q1", "hi", HINDI, 0.0, 1.0, 0.0, 0.0),
    scored("q2", "hi", ENGLISH, None, None, 0.0, None),
    # langid takes Kirundi for Swahili: a wrong language of which nobody can tell.
    scored("q1", "rn", SWAHILI, None, 1.0, None, None),
    scored("s1", "en", ENGLISH, 0.25, 1.0, 0.25, 5.0, set_name="specific"),
)


def rows_of(path: Path, answers: tuple[Scored, ...] = ANSWERS) -> list[Row]:
    """Return the rows of a run with *answers*, as the command prints them."""
    put_run(path, answers)
    return [{"run": "run-1", **row} for row in TABLES["calmqa"](load_run("run-1", store=path))]


def text_of(rows: list[Row]) -> str:
    """Return what is printed."""
    sheets = TABLES["calmqa"].sheets(rows)
    return "\n".join(plain(sheet, width=120, color=False) for sheet in sheets)


def test_the_means_by_hand(tmp_path: Path) -> None:
    """Of judged answers, in %; `all` has no languages that cannot be identified."""
    by_place = {(row["set"], row["language"]): row for row in rows_of(tmp_path / "s.sqlite")}
    pooled = by_place["agnostic", "all"]
    assert pytest.approx(50) == pooled["factuality"]  # 0.5, 1, 0
    assert pytest.approx(75) == pooled["relevance"]  # 1, 0, 1, 1
    assert pytest.approx(12.5) == pooled["overall"]  # 0.5, 0, 0, 0
    assert (3.0, 1, 5) == (pooled["claims"], pooled["unjudged"], pooled["n"])
    assert 25 == by_place["specific", "en"]["overall"]


def test_who_was_not_judged_is_counted_where_the_language_cannot_be_told(tmp_path: Path) -> None:
    """What langid takes such an answer for is no issue of it; that is said below its table."""
    rows = rows_of(tmp_path / "s.sqlite")
    assert {"en": 1, "hi": 0, "rn": 1, "all": 1} == {
        row["language"]: row["unjudged"] for row in rows if row["set"] == "agnostic"
    }
    text = text_of(rows)
    assert "1 of the answers without issues were not judged" in text[text.index("Kirundi") :]


def test_k_is_told_of_one_language_too(tmp_path: Path) -> None:
    """As `--language` leaves it; of several it is that of all together."""
    rows = rows_of(tmp_path / "s.sqlite")
    text = text_of(rows)
    assert 1 == text.count("K of agnostic: 3 claims in the median")
    assert "factuality_f1_at_k.k=5)" in text
    english = text_of([row for row in rows if row["language"] == "en"])
    assert "K of agnostic: 4 claims in the median" in english


def test_questions_without_sets(tmp_path: Path) -> None:
    """They have one column of figures, and the title names no set."""
    answers = (scored("q1", "en", ENGLISH, 1.0, 1.0, 1.0, 7.0, set_name=""),)
    lines = text_of(rows_of(tmp_path / "s.sqlite", answers)).splitlines()
    assert "Table 2, all languages, in %" == lines[0]
    assert any("K of the questions: 7 claims" in line for line in lines)


def test_a_benchmark_that_was_not_judged_so_need_not_be_told_apart(tmp_path: Path) -> None:
    """It has a surface, too."""
    readings = {"no_answer": 0.0, "repetition": 0.0}
    other = Scored(id="q1", language="en", text=ENGLISH, readings=readings, benchmark="information")
    rows = rows_of(tmp_path / "s.sqlite", (*ANSWERS, other))
    assert rows_of(tmp_path / "t.sqlite") == rows


def test_runs_that_were_not_judged_alike_are_told_apart(tmp_path: Path) -> None:
    """With another judge, say; their figures stand side by side with a warning."""
    rows = rows_of(tmp_path / "a.sqlite")
    alike = [{**row, "run": "run-2"} for row in rows_of(tmp_path / "b.sqlite")]
    put_run(tmp_path / "c.sqlite", ANSWERS, version="2")
    third = load_run("run-1", store=tmp_path / "c.sqlite")
    other = [{"run": "run-3", **row} for row in TABLES["calmqa"](third)]
    assert "judged alike" not in text_of([*rows, *alike])
    assert "The runs were not judged alike" in text_of([*rows, *other])
