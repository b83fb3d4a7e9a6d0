"""Annotations, as the runner of GitHub Actions reads them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.reports.gate_summary import GateSummary
from pytest_xling.reports.github.commands import gate_annotations, listen_again, stop_listening
from tests.reports.github.runner import Command, heard
from tests.reports.verdicts import verdict as made_verdict

if TYPE_CHECKING:
    from pytest_xling.records import Outcome, Verdict

FILE = Path("/work/repo/gates/thresholds.yaml")
ATTACK = "5% of 1, a: b\n::error::owned\r##[add-mask]x%0A"


verdict = partial(
    made_verdict,
    metric="wrong_language",
    reason="too many",
    benchmark="bread",
    max_rate=0.05,
    origin="thresholds.yaml:12",
)


def annotated(*verdicts: Verdict, thresholds: Path | None = FILE) -> list[Command]:
    """Return the annotations a runner makes of these."""
    made = gate_annotations(
        GateSummary(verdicts=verdicts), thresholds=thresholds, workspace=Path("/work/repo")
    )
    return heard("\n".join(made))


def test_a_failed_gate_stands_at_its_line() -> None:
    """File, line and title are those of the gate; its file is told as from the repository."""
    expected = Command(
        "error",
        "too many",
        {
            "file": "gates/thresholds.yaml",
            "line": "12",
            "title": "bread: wrong_language, hi: fail",
        },
    )
    assert [expected] == annotated(verdict())


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [("pass", []), ("fail", ["error"]), ("error", ["error"]), ("inconclusive", ["warning"])],
)
def test_severity(outcome: Outcome, expected: list[str]) -> None:
    """What failed is an error, what is not known is a warning, what passed is not told."""
    assert expected == [command.name for command in annotated(verdict(outcome))]


def test_a_reason_cannot_be_a_command() -> None:
    """A reason that holds what a server said is one message, read back as one line of it."""
    (command,) = annotated(verdict(reason=ATTACK))
    assert "5% of 1, a: b ::error::owned ##[add-mask]x%0A" == command.data


def test_of_many_the_last_says_how_many_more() -> None:
    """GitHub shows ten of a kind: nine gates, and the number of the others."""
    languages = [f"l{number:02}" for number in range(25)]
    failed = [verdict(language=language) for language in languages]
    unclear = [verdict("inconclusive", language=language) for language in languages[:10]]
    commands = annotated(*failed, *unclear)
    assert ["error"] * 10 + ["warning"] * 10 == [command.name for command in commands]
    assert commands[9].data.startswith("16 more gates did not pass: wrong_language-l09, ")
    assert commands[19].properties["title"] == "bread: wrong_language, l09: inconclusive"


def test_without_a_file_annotations_are_of_the_step() -> None:
    """A gate of another file than the one known, or of none, has no place."""
    other = replace(verdict().threshold, origin="other.yaml:3")
    for command in (
        *annotated(verdict(), thresholds=None),
        *annotated(replace(verdict(), threshold=other)),
    ):
        assert {"title"} == set(command.properties)


def test_a_file_outside_the_repository_keeps_its_path() -> None:
    """GitHub cannot show it, but people can read where it is."""
    (command,) = annotated(verdict(), thresholds=Path("/elsewhere/thresholds.yaml"))
    assert "/elsewhere/thresholds.yaml" == command.properties["file"]


def test_between_stop_and_resume_nothing_is_heard() -> None:
    """The runner of this test, which stands for GitHub's, hears only what is outside."""
    log = f"::error::a\n{stop_listening('t0k')}\n ::error::b\nx ##[error]c\n{listen_again('t0k')}\n"
    assert ["a", "d"] == [command.data for command in heard(f"{log}##[error]d")]
