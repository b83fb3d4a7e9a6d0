"""People's labels go with the answers, whichever run they were drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.store.database import Database
from pytest_xling.store.export import exported
from pytest_xling.store.human_labels import (
    HumanLabel,
    human_labels_of,
    human_values,
    keep_human_labels,
    labelled_run,
)
from tests.runs import Asked, make_run

if TYPE_CHECKING:
    from pathlib import Path

METRIC = {"benchmark": "culture", "metric": "no_answer"}
PLACE = METRIC | {"language": "hi"}


def asked(count: int, *, other: int = 0, language: str = "hi") -> list[Asked]:
    """Return so many answers, of which the first *other* read otherwise."""
    return [
        Asked(
            id=f"q{number}",
            language=language,
            question=f"{language} {number}?{'?' if number < other else ''}",
            text=f"answer {number}",
        )
        for number in range(count)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A run of which two answers are labelled, in Hindi alone."""
    path = tmp_path / "s.sqlite"
    make_run(path, [*asked(4), *asked(4, language="en")], metrics=("no_answer",))
    labels = {f"q{n}-hi": HumanLabel(said="no", value=1.0 if n < 2 else None) for n in range(4)}
    with Database(path).write() as connection:
        keep_human_labels(connection, "run-1", labels, **METRIC)
    return path


def again(path: Path, answers: list[Asked]) -> tuple[str, list[str]]:
    """Make another run, and return whose labels count for it and of which samples."""
    later = "2026-11-22T10:00:00.000+00:00"
    make_run(path, answers, metrics=("no_answer",), run_id="run-2", created_at=later)
    with Database(path).read() as connection:
        labels = human_labels_of(connection, "run-2", **PLACE)
        of = labelled_run(connection, "run-2", **PLACE)
    return of, sorted(sample for (sample, _), label in labels.items() if label.value is not None)


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (asked(4), ("run-1", ["q0", "q1"])),
        (asked(4)[1:], ("run-1", ["q1"])),
        (asked(4, other=1), ("run-2", [])),
        (asked(5), ("run-2", [])),
    ],
    ids=["the same", "fewer", "another", "more"],
)
def test_the_same_answers_under_another_name_have_them(
    store: Path, answers: list[Asked], found: tuple[str, list[str]]
) -> None:
    """A warm run does not ask people again; where any is another, labels are no sample of all."""
    assert found == again(store, answers)


def test_own_labels_come_first(store: Path) -> None:
    """Then those of the run before do not count, nor are they added."""
    again(store, asked(4))
    own = {"q3-hi": HumanLabel(said="no", value=0.0), "q0-hi": HumanLabel(said="no", value=None)}
    with Database(store).write() as connection:
        keep_human_labels(connection, "run-2", own, **METRIC)
        labels = human_labels_of(connection, "run-2", **PLACE)
        assert {"q0-hi": 1.0, "q1-hi": 1.0} == human_values(connection, "run-1", **METRIC)
    assert {("q3", ""): own["q3-hi"], ("q0", ""): own["q0-hi"]} == labels


def test_another_version_of_the_metric_asks_again(store: Path) -> None:
    """People were asked something else."""
    with Database(store).write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO steps (digest, kind, name, version, parameters)"
            " SELECT x'00', kind, name, '0', parameters FROM steps WHERE name = 'no_answer'"
        )
        connection.exec_driver_sql(
            "UPDATE run_steps SET step = (SELECT id FROM steps WHERE version = '0')"
        )
    assert ("run-2", []) == again(store, asked(4))


def test_answers_that_nobody_could_tell_are_kept_as_such(store: Path) -> None:
    """They have no value, and are among what people were asked."""
    labels = {"q2-hi": HumanLabel(said="no", value=None, cannot_tell=True)}
    with Database(store).write() as connection:
        keep_human_labels(connection, "run-1", labels, **METRIC)
        assert {"q2-hi": None} == human_values(connection, "run-1", **METRIC)
        assert {("q2", ""): labels["q2-hi"]} == human_labels_of(connection, "run-1", **PLACE)


def test_an_export_has_them(store: Path) -> None:
    """Beside each score, of whichever run they were drawn from."""
    again(store, asked(4))
    with Database(store).read() as connection:
        for run_id in ("run-1", "run-2"):
            cases = exported(connection, run_id, texts=False)
            told = [case["scores"]["no_answer"] for case in cases if case["language"] == "hi"]
            assert [1.0, 1.0, None, None] == [score["people"] for score in told]
            assert {"no"} == {score["said"] for score in told}
