"""Baselines are found by name: a file, a run of the store, or the run promoted for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.analysis.baseline import open_baseline
from pytest_xling.cli import main
from pytest_xling.errors import ConfigError
from pytest_xling.store.database import Database
from pytest_xling.store.human_labels import HumanLabel, keep_human_labels
from pytest_xling.store.runs import promote
from tests.runs import Asked, make_run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.analysis.baseline import Baseline

METRICS = ("no_answer", "answer_length")


def _asked(benchmark: str) -> list[Asked]:
    return [
        Asked(
            id=f"{benchmark}-q{number}",
            benchmark=benchmark,
            language=language,
            question=f"{language} {number}?",
            text=None if number == 3 else f"answer {'word ' * number}",
            stop_reason="content_filter" if number == 3 else "stop",
        )
        for number in range(5)
        for language in ("en", "hi")
    ]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a run of two benchmarks, one that was interrupted, and promotions."""
    path = tmp_path / "store.sqlite"
    make_run(path, [*_asked("culture"), *_asked("bread")], metrics=METRICS)
    make_run(path, _asked("bread"), metrics=METRICS, run_id="run-2", status="interrupted")
    with Database(path).write() as connection:
        promote(connection, model="gpt", benchmarks=["culture"], run_id="run-1", at="2026-11-20")
        promote(connection, model="gpt", benchmarks=["bread"], run_id="run-2", at="2026-11-21")
    return path


def _all(baseline: Baseline) -> dict[tuple[str, str, str], list[tuple[object, ...]]]:
    """Return every score, in some order; what a flag detected is in no file without texts."""
    return {
        (benchmark, metric, language): sorted(
            (s.sample_id, s.condition, str(s.value), s.signature, s.cluster)
            if s.value is not None
            else (s.sample_id, s.condition, s.reason, s.signature, s.cluster)
            for s in scores
        )
        for benchmark in ("bread", "culture")
        for metric in baseline.source.metrics(benchmark)
        for language, scores in baseline.source.scores(benchmark, metric).items()
    }


def test_a_file_says_what_the_run_does(store: Path, tmp_path: Path) -> None:
    """Scores, signatures, clusters, digests of questions and people's labels survive it."""
    file = tmp_path / "base.json"
    labels = {
        "bread-q0-hi": HumanLabel(said="no", value=1.0),
        "bread-q1-hi": HumanLabel(said="no", value=None),
        "bread-q2-hi": HumanLabel(said="no", value=None, cannot_tell=True),
    }
    with Database(store).write() as connection:
        keep_human_labels(connection, "run-1", labels, benchmark="bread", metric="no_answer")
    assert 0 == main(["export", "run-1", "-o", str(file), "--xling-store", str(store)])
    run, read = open_baseline("run-1", store=store), open_baseline(str(file), store=store)
    assert _all(run) == _all(read)
    assert 8 == len(_all(run))
    assert run.source.questions("bread") == read.source.questions("bread")
    kept = {(f"bread-q{number}", ""): labels[f"bread-q{number}-hi"] for number in range(3)}
    assert kept == run.source.labels("bread", "no_answer", "hi")
    assert kept == read.source.labels("bread", "no_answer", "hi")
    assert {} == read.source.labels("bread", "no_answer", "en")
    assert ("run-1", "base.json") == (run.name("bread"), read.name("bread"))
    assert "base.json: run run-1 of model-1" == read.description
    assert "answer word" not in file.read_text(encoding="utf-8")
    assert "hi 0?" not in file.read_text(encoding="utf-8")


def test_a_model_stands_for_what_was_promoted(store: Path) -> None:
    """For each benchmark another run; a run that was forced is told of."""
    found = open_baseline("gpt", store=store)
    assert ("run-1", "run-2") == (found.name("culture"), found.name("bread"))
    assert "promoted for gpt: bread run-2; culture run-1" == found.description
    assert ("run run-2, to compare with, is interrupted: only what it has is compared",) == (
        found.notices
    )
    assert ("answer_length", "no_answer") == found.source.metrics("bread")
    assert {"en", "hi"} == set(found.source.scores("culture", "no_answer"))


def test_what_a_baseline_does_not_have(store: Path) -> None:
    """Nothing, rather than an error: the gates say so."""
    found = open_baseline("run-2", store=store)
    assert () == found.source.metrics("culture")
    assert {} == found.source.scores("culture", "no_answer")
    assert {} == found.source.questions("culture")
    assert {} == found.source.scores("bread", "emoji")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("run-3", r"no baseline 'run-3': neither a file nor a run of .* Did you mean 'run-2'\?"),
        ("gpt4", r"Did you mean 'gpt'\? `xling runs` and `xling promote --list` list them"),
        ("base.json", "no baseline 'base.json': neither a file"),
        ("latest", "'latest' is another run every time"),
    ],
)
def test_unknown_names(store: Path, said: str, message: str) -> None:
    """What is close is suggested, be it a run or a model."""
    with pytest.raises(ConfigError, match=message):
        open_baseline(said, store=store)


def test_no_store_at_all(tmp_path: Path) -> None:
    """Nothing is made where there is none."""
    with pytest.raises(ConfigError, match="no such file, and no store at"):
        open_baseline("run-1", store=tmp_path / "store.sqlite")
    assert [] == list(tmp_path.iterdir())
