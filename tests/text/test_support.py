"""What ``--xling-param=support`` may name."""

from __future__ import annotations

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.metrics.factuality import Factuality


@pytest.mark.parametrize("support", ["llm", "nli:model"])
def test_what_checks_claims(support: str) -> None:
    """The judge, or a model of natural language inference."""
    Factuality(support=support).check()


@pytest.mark.parametrize(
    ("support", "hint"),
    [("nli", ""), ("nli: ", ""), ("llm:m", ""), ("lm", " Did you mean 'llm'?"), ("", "")],
)
def test_what_checks_none(support: str, hint: str) -> None:
    """What was written is not asked for again."""
    with pytest.raises(ConfigError, match=r"llm .* or nli:MODEL") as told:
        Factuality(support=support).check()
    assert str(told.value).endswith(f"nli:MODEL.{hint}")
