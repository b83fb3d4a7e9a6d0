"""How a benchmark asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.config.settings import Settings
from pytest_xling.planning.design import Design

if TYPE_CHECKING:
    from tests.planning.bread import Bread


def test_nothing_said(bread: Bread) -> None:
    """A benchmark that says nothing asks each question once, at temperature 0."""
    design = bread.prompts("").design
    assert Design() == design
    (condition,) = design.conditions(Settings(model="m"))
    assert (0.0, 0) == (condition.temperature, condition.repeat)


def test_everything_said(bread: Bread) -> None:
    """All keys are read; languages by any of their names."""
    said = (
        "asked: per_temperature\nsamples: 3\ntemperatures: [1, 0]\npivot: english\n"
        "expand: candidates\ntop_logprobs: 5\nmax_tokens: 16"
    )
    expected = Design(
        asked="per_temperature",
        samples=3,
        temperatures=(0.0, 1.0),
        pivot="en",
        expand="candidates",
        top_logprobs=5,
        max_tokens=16,
    )
    assert expected == bread.prompts(said).design


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("repeatedly", [(0.0, 0), (0.0, 1), (1.0, 0), (1.0, 1)]),
        ("per_temperature", [(0.0, 0), (1.0, 0)]),
        ("once", [(0.0, 0)]),
    ],
)
def test_conditions(bread: Bread, asked: str, expected: list[tuple[float, int]]) -> None:
    """Repeats and temperatures are those of the benchmark unless the run says otherwise."""
    design = bread.prompts(f"asked: {asked}\nsamples: 2\ntemperatures: [0, 1]").design
    found = [(c.temperature, c.repeat) for c in design.conditions(Settings(model="m"))]
    assert expected == found
    more = Settings(model="m", samples=3, temperatures=(0.5,))
    counts = {"repeatedly": 3, "per_temperature": 1, "once": 1}
    assert counts[asked] == len(design.conditions(more))
    assert {0.5} == {condition.temperature for condition in design.conditions(more)}
