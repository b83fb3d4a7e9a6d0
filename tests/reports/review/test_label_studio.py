"""What Label Studio is given: checked with its own SDK where that is installed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.reports.review.answers import HOSTILE, reviewed, stances, told_flags
from tests.runs import Scored, put_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Xling

LABELS = ("more_comprehensive", "less_comprehensive", "dissimilar", "contradictory")


def _compared() -> list[Scored]:
    return [
        reviewed(
            id=f"q{number}",
            language="en",
            benchmark="health-correctness",
            question=HOSTILE,
            text=HOSTILE,
            metadata={"reference": "An aspirin a day."},
            readings={name: (float(name == LABELS[number % 4]), "so") for name in LABELS},
        )
        for number in range(8)
    ]


@pytest.mark.parametrize(
    ("told", "metric", "labels", "shown"),
    [
        (stances(), "stance_score", {"agree", "disagree", "neutral"}, ["question", "claim"]),
        (told_flags(), "repetition", {"yes", "no"}, ["question"]),
        (_compared(), "correctness_label", set(LABELS), ["question", "reference"]),
    ],
    ids=["stance", "flag", "correctness"],
)
def test_tasks_and_configuration(
    *,
    tmp_path: Path,
    xling: Xling,
    told: list[Scored],
    metric: str,
    labels: set[str],
    shown: list[str],
) -> None:
    """The configuration shows fields all tasks have; its choices are the labels."""
    put_run(tmp_path / "s.sqlite", told)
    asked = ["review", "run-1", "--metric", metric, "--sample", "8", "--label-studio", "t.json"]
    assert 0 == xling(*asked).code
    tasks = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    config = (tmp_path / "t.xml").read_text(encoding="utf-8")
    root = ET.fromstring(config)
    assert [*shown, "answer"] == [text.get("name") for text in root.iter("Text")]
    for text in root.iter("Text"):
        assert f"${text.get('name')}" == text.get("value")
        assert all(text.get("name") in task["data"] for task in tasks)
    (choices,) = root.iter("Choices")
    values = [choice.get("value") for choice in choices]
    assert labels | {"cannot tell"} == set(values)
    assert len(values) == len({choice.get("hotkey") for choice in choices})
    assert "answer" == choices.get("toName")
    assert 8 == len(tasks)
    for task in tasks:
        assert {"data"} == set(task)  # predictions would lead raters
        assert not {"judge", "reasoning", "label"} & set(task["data"])
    if metric == "correctness_label":
        assert {"An aspirin a day."} == {task["data"]["reference"] for task in tasks}
        assert {HOSTILE} == {task["data"]["answer"] for task in tasks}


def test_its_own_sdk_accepts_them(tmp_path: Path, xling: Xling) -> None:
    """Configuration, tasks and what raters say."""
    sdk = pytest.importorskip(
        "label_studio_sdk.label_interface", reason="label-studio-sdk is not installed"
    )
    put_run(tmp_path / "s.sqlite", stances())
    asked = ["review", "run-1", "--metric", "stance_score", "--label-studio", "t.json"]
    assert 0 == xling(*asked).code
    interface = sdk.LabelInterface((tmp_path / "t.xml").read_text(encoding="utf-8"))
    interface.validate()
    for task in json.loads((tmp_path / "t.json").read_text(encoding="utf-8")):
        assert interface.validate_task(task)
    said = {"from_name": "label", "to_name": "answer", "type": "choices"}
    for label, expected in (("agree", True), ("cannot tell", True), ("maybe", False)):
        annotation = {"result": [said | {"value": {"choices": [label]}}]}
        assert expected == interface.validate_annotation(annotation)
