"""CaLMQA's tables, against numbers worked out by hand and by pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd
import pytest

from pytest_xling.analysis.loaded_run import load_run
from pytest_xling.errors import ConfigError
from pytest_xling.papers.calmqa import INDICATORS, LENGTH, SURFACE, TABLES
from pytest_xling.text.tokens import encode
from tests.reports.stories import ENGLISH, LOOP, METRICS, STORY
from tests.runs import Asked, Scored, make_run, put_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_xling.analysis.loaded_run import LoadedRun

# en: an API error and a loop among four. hi: one in English, one a loop in English, one empty.
# rn cannot be identified, so it stays out of "all". Each is a share of all answers asked for.
BY_HAND = [
    ("agnostic", "en", 0.0, 25.0, 50.0, 4),
    ("agnostic", "hi", 50.0, 25.0, 25.0, 4),
    ("agnostic", "rn", None, 50.0, None, 2),
    ("agnostic", "all", 25.0, 25.0, 37.5, 8),
    ("specific", "hi", 0.0, 0.0, 100.0, 1),
    ("specific", "all", 0.0, 0.0, 100.0, 1),
]


AskedRun: TypeAlias = "Callable[..., LoadedRun]"


@pytest.fixture
def asked_run(tmp_path: Path) -> AskedRun:
    """Returns the run in which this was asked and answered."""

    def made(asked: Sequence[Asked], *, metrics: Sequence[str]) -> LoadedRun:
        run = make_run(tmp_path / "s.sqlite", asked, metrics=metrics)
        return load_run(run.run_id, store=str(run.path))

    return made


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> LoadedRun:
    """The story as a run."""
    path = tmp_path_factory.mktemp("story") / "s.sqlite"
    make_run(path, STORY, metrics=METRICS)
    return load_run("run-1", store=path)


def test_surface_table_by_hand(story: LoadedRun) -> None:
    """Percentages are of all answers; errors are invalid but neither wrong nor repetitive."""
    rows = TABLES["surface"](story)
    assert BY_HAND == [tuple(row[name] for name in SURFACE[1:]) for row in rows]
    assert [SURFACE] * len(rows) == [tuple(row) for row in rows]
    assert {"model-1"} == {row["model"] for row in rows}


def test_length_table_by_pandas(story: LoadedRun) -> None:
    """Mean, median and sample standard deviation; an error counts by what stands in its place."""
    frame = pd.DataFrame(
        [
            {
                "set": one.set,
                "language": one.language,
                "tokens": len(encode([one.text or one.error or ""])[0]),
            }
            for one in STORY
        ]
    )
    expected = {}
    pooled = frame.assign(language="all")
    for key, group in pd.concat([frame, pooled]).groupby(["set", "language"]):
        tokens: Any = group["tokens"]
        expected[key] = (tokens.mean(), tokens.median(), tokens.std(), len(tokens))
    rows = TABLES["length"](story)
    assert LENGTH == tuple(rows[0])
    assert expected.keys() == {(row["set"], row["language"]) for row in rows}
    for row in rows:
        mean, median, std, n = expected[row["set"], row["language"]]
        assert n == row["n"]
        assert mean == pytest.approx(row["mean"])
        assert median == row["median"]
        if n == 1:
            assert row["std"] is None
        else:
            assert std == pytest.approx(row["std"])


def test_answers_withheld_by_the_provider_are_invalid_only(asked_run: AskedRun) -> None:
    """A filtered answer in the wrong language counts as no answer, not as a wrong language."""
    run = asked_run(
        [Asked(id="q1", language="hi", text=ENGLISH, stop_reason="content_filter")],
        metrics=["no_answer", "wrong_language", "repetition"],
    )
    row = TABLES["surface"](run)[-1]
    assert (0.0, 0.0, 0.0, 1) == tuple(row[name] for name in SURFACE[3:])


def test_repeats_count_as_answers(asked_run: AskedRun) -> None:
    """Two answers to one question are two answers."""
    asked = [Asked(id="q1", language="en", text=ENGLISH, repeat=repeat) for repeat in range(2)]
    run = asked_run(asked, metrics=["no_answer", "wrong_language", "repetition"])
    assert [2, 2] == [row["n"] for row in TABLES["surface"](run)]


def test_missing_metrics_are_named(asked_run: AskedRun) -> None:
    """A run scored with something else says what is missing and what to do."""
    run = asked_run(STORY[:1], metrics=["no_answer", "emoji"])
    with pytest.raises(ConfigError, match=r"lacks repetition\. .*run again"):
        TABLES["surface"](run)
    with pytest.raises(ConfigError, match="lacks answer_length"):
        TABLES["length"](run)


def test_several_benchmarks_must_be_chosen_from(asked_run: AskedRun) -> None:
    """Two benchmarks are never pooled: one is named, and a wrong name is corrected."""
    asked = [
        Asked(id="q1", language="en", text=ENGLISH, benchmark=name) for name in ("culture", "bread")
    ]
    run = asked_run(asked, metrics=["answer_length"])
    with pytest.raises(ConfigError, match="--benchmark"):
        TABLES["length"](run)
    assert 2 == len(TABLES["length"](run, benchmark="bread"))
    with pytest.raises(ConfigError, match="Did you mean 'bread'"):
        TABLES["length"](run, benchmark="braed")


def test_the_right_half_of_the_length_table_by_hand(asked_run: AskedRun) -> None:
    """Right are answers in the right language without repetitions; langid judges Pashto there."""
    # CLD2 knows it for Pashto, langid takes it for Persian.
    pashto = "د تلویزیون سټوډیو لپاره باید لومړی ځای وټاکئ او بیا سامان واخلئ."
    asked = [
        Asked(id="q1", language="en", text=ENGLISH),
        Asked(id="q2", language="en", text=LOOP),
        Asked(id="q3", language="en", text=None, stop_reason="error", error="OTHER"),
        Asked(id="q4", language="en", text=ENGLISH, stop_reason="content_filter"),
        Asked(id="q1", language="hi", text=ENGLISH),
        Asked(id="q1", language="rn", text=ENGLISH),
        Asked(id="q1", language="ps", text=pashto),
    ]
    metrics = ["no_answer", "repetition", "answer_length"]
    run = asked_run(asked, metrics=metrics)
    surface = {row["language"]: row for row in TABLES["surface"](run)}
    rows = {row["language"]: row for row in TABLES["length"](run)}
    (tokens,) = map(len, encode([ENGLISH]))
    assert 0.0 == surface["ps"]["wrong_language"]
    assert {"en": 1, "hi": 0, "ps": 0, "rn": 0, "all": 1} == {
        language: row["right_n"] for language, row in rows.items()
    }
    for language in ("en", "all"):
        row = rows[language]
        assert (tokens, tokens) == (row["right_mean"], row["right_median"])
        assert row["right_std"] is None


def test_the_right_half_needs_what_it_goes_by(asked_run: AskedRun) -> None:
    """Where nobody looked for repetitions, nothing is said of right answers."""
    run = asked_run(STORY[:2], metrics=["answer_length"])
    for row in TABLES["length"](run):
        assert row["n"] == 2
        assert {None} == {value for key, value in row.items() if key.startswith("right_")}


def test_indicators_by_hand(asked_run: AskedRun) -> None:
    """Parts of words count in the paper's rules, whole words in ours; each with its own answers."""
    asked = [
        Asked(id="q1", language="wo", text="I am SORRY, is this wolof?"),
        Asked(id="q2", language="wo", text="You misunderstand: Wolofs, or translators."),
        Asked(id="q3", language="wo", text=None, stop_reason="error", error="OTHER"),
        Asked(id="q1", language="es", text="Apologies! Spanish, I think. 😊", set="specific"),
        Asked(id="q1", language="en", text="Sorry, English is a Translation", set="specific"),
    ]
    metrics = ["apology", "names_language", "offers_translation"]
    run = asked_run(asked, metrics=metrics)
    rows = TABLES["indicators"](run)
    assert {INDICATORS} == {tuple(row) for row in rows}
    pooled = [tuple(row.values())[2:] for row in rows if row["set"] == "all"]
    assert pooled == [
        ("apology", "low-resource", pytest.approx(200 / 3), 3, 50.0, 2),
        ("apology", "others but English", 0.0, 1, 100.0, 1),
        ("language name", "all", 60.0, 5, pytest.approx(100 / 3), 3),
        ("translation", "all", 40.0, 5, 0.0, 3),
        ("emoji", "all", None, 5, None, 0),
    ]
    assert ["agnostic"] * 4 + ["specific"] * 4 + ["all"] * 5 == [row["set"] for row in rows]


@pytest.mark.parametrize("name", ["surface", "length", "indicators"])
def test_answers_that_are_not_kept_are_in_no_table(tmp_path: Path, name: str) -> None:
    """Their scores alone say nothing of their texts."""
    readings = {"no_answer": 0.0, "repetition": 0.0, "answer_length": 5.0, "apology": 0.0}
    path = put_run(tmp_path / "s.sqlite", [Scored(id="q1", language="hi", readings=readings)])
    assert [] == TABLES[name](load_run("run-1", store=path))
