"""The language that the others of a run are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.analysis.loaded_run import LoadedRun
    from pytest_xling.records import RunRecord

DEFAULT_PIVOT = "en"
"""For runs that were made before benchmarks could name one."""


def pivot_of(run: RunRecord | LoadedRun, benchmark: str) -> str:
    """Return the pivot language of a benchmark, as the run was made with it."""
    pivots = run.settings.get("pivots")
    named = pivots.get(benchmark) if isinstance(pivots, Mapping) else None
    return named if isinstance(named, str) else DEFAULT_PIVOT


def named_pivot(run: RunRecord, benchmark: str) -> str | None:
    """Return the pivot language of a benchmark; None where the run names some and none for it."""
    pivots = run.settings.get("pivots")
    unnamed = isinstance(pivots, Mapping) and benchmark not in pivots
    return None if unnamed else pivot_of(run, benchmark)
