"""``xling plan`` after a run: what its questions took is what more of them would cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project


@pytest.mark.slow
def test_cost_of_more_like_it(project: Project) -> None:
    """Tokens come from the answers in the store, the price from the run's own settings."""
    project.write("benchmarks/bread/prompts.yaml", 'chat: "{question}"\npivot: en\n')
    project.run("--model=scripted:", "--langs=en,hi", "--xling-price=scripted=2,8", code=0)
    usages = [answer.response["usage"] for answer in project.answers()]
    done = project.xling(
        "plan", "--detect=20pp", "--run=latest", "--metric=wrong_language", "--json", code=0
    )
    found = json.loads(done.stdout)
    assert [sum(column) / len(usages) for column in zip(*usages, strict=True)] == found["tokens"]
    read, written = found["tokens"]
    assert read > 0 < written
    (design, *_) = found["designs"]
    assert design["requests"] * (2 * read + 8 * written) / 1e6 == pytest.approx(design["usd"])
    (hindi,) = found["at_hand"]
    assert ("hi", 3, True) == (hindi["language"], hindi["questions"], hindi["underpowered"])
