"""The exit status of a session with a model: one rule over what its hooks have found out.

docs/green.md shows the rule as a table, and tests/plugin/test_exit_status.py holds both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import pytest

_RESULTS: Final = frozenset(
    {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}
)
"""Exit statuses that speak of results; others say that the session itself did not end well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What decides the exit status."""

    pytest: int
    """The status by pytest and other plugins; 3 where tests gave no result, or a worker died."""
    mistaken: bool = False
    """A mistake in the configuration was found while tests were collected or run."""
    faults: int = 0
    """Cases and gates that met a fault of a provider or of a step."""
    unkept: bool = False
    """How the run ended could not be written into the store."""
    closed: bool = False
    """A verdict keeps the release back, or ended the run early, whatever became of its test."""
    unjudged: bool = False
    """A gate that thresholds.yaml asks for was not judged, or a required language not asked."""
    undecided: bool = False
    """Gates were judged, and none that estimates something has passed."""
    unwritten: bool = False
    """A report, or a file that was to be changed, could not be written."""
    shard: bool = False
    """A part of a run, which judges nothing and may be without questions."""


def exit_status(facts: RunFacts) -> int:
    """Decide the exit status: a mistake, then what is missing, then what is closed, else 0."""
    if facts.mistaken:
        return pytest.ExitCode.USAGE_ERROR
    if facts.pytest not in _RESULTS:
        return facts.pytest
    failed, incomplete = pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERNAL_ERROR
    first = (
        (facts.faults > 0 or facts.unkept, incomplete),
        (facts.pytest == failed or facts.closed, failed),
        (facts.unjudged or facts.unwritten, incomplete),
        (facts.undecided, failed),
        (facts.shard, pytest.ExitCode.OK),
    )
    return next((status for holds, status in first if holds), facts.pytest)


def run_status(facts: RunFacts, *, stopped: bool, stopped_early: bool) -> str:
    """Tell how the run ended, as the store keeps it.

    A gate that was left out makes no run incomplete: ``xling gate`` can judge it.

    Args:
        facts: of the session.
        stopped: whether pytest ended it before all tests were run, as with ``-x``.
        stopped_early: whether a gate that failed at an interim look did.

    Returns:
        complete, stopped, incomplete or interrupted.
    """
    status = exit_status(replace(facts, unjudged=False, unwritten=False))
    if status == pytest.ExitCode.INTERRUPTED:
        return "interrupted"
    if status not in _RESULTS or stopped:
        return "incomplete"
    return "stopped" if stopped_early else "complete"
