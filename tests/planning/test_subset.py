"""Which benchmark of a run is meant."""

from __future__ import annotations

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.planning.subset import benchmark_meant, benchmarks_meant

KNOWN = ("culture", "health", "culture")


def test_the_named_one_or_the_only_one() -> None:
    """Of several that have what is needed one is to be named; none may have it."""
    assert ["culture", "health"] == benchmarks_meant("run 'r'", KNOWN, None)
    assert ["health"] == benchmarks_meant("run 'r'", KNOWN, "health")
    assert "health" == benchmark_meant("run 'r'", KNOWN, None, having={"health"})
    assert benchmark_meant("run 'r'", KNOWN, "culture", having={"health"}) is None
    with pytest.raises(
        ConfigError, match=r"^run 'r' has several benchmarks; name one with --bench"
    ):
        benchmark_meant("run 'r'", KNOWN, None)
    hint = r"has no benchmark 'cultur'\. Did you mean 'culture'\? It has: culture, health"
    with pytest.raises(ConfigError, match=hint):
        benchmarks_meant("run 'r'", KNOWN, "cultur")
