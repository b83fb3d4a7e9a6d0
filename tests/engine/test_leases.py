"""Who holds a lease, and whether it still lives."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Literal

import pytest

from pytest_xling.engine.leases import SILENT_S, dead, status_now, this_process
from pytest_xling.records import RunRecord


def other_process() -> str:
    """Return the name of a process that has ended."""
    script = "from pytest_xling.engine.leases import this_process; print(this_process())"
    return subprocess.check_output([sys.executable, "-c", script], text=True).strip()


def test_a_process_that_ended_is_dead_and_this_one_is_not() -> None:
    """So its leases end at once, and ours do not."""
    gone = other_process()
    assert {gone} == dead({gone, this_process()})


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="tells no start times")  # noqa: PTH110
def test_a_later_process_of_the_same_number_is_another() -> None:
    """The start time tells."""
    later = this_process().rpartition(":")[0] + ":1"
    assert {later} == dead({later})


def test_nothing_is_told_of_other_places() -> None:
    """Another host, or another container of the same host's name: the number means nothing here."""
    place, number, started = this_process().rsplit(":", 2)
    host = place.partition("/")[0]
    elsewhere = {
        f"far-{place}:999999999:{started}",
        f"{host}/pid:[1]:{number}:1",
        f"{place.rpartition('/')[0]}/another-boot:999999999:{started}",
        f"{host}/:999999999:{started}",
        "",
        "nonsense",
    }
    assert set() == dead(elsewhere)


def test_no_signal_is_sent_where_that_would_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows signal 0 is Ctrl-C; there a lease ends by its time alone."""
    gone = other_process()
    monkeypatch.setattr("pytest_xling.engine.leases.os.name", "nt")
    monkeypatch.setattr("pytest_xling.engine.leases.os.kill", lambda *_: pytest.fail("a signal"))
    assert set() == dead({gone})


def run_of(
    owner: str, *, silent_s: float = 0.0, status: Literal["running", "complete"] = "running"
) -> RunRecord:
    """Return a run that *owner* makes and that was last heard of some time ago."""
    return RunRecord(
        run_id="r",
        model="m",
        created_at="2026-11-22T10:00:00.000+00:00",
        status=status,
        settings={},
        versions={},
        git="",
        seed=0,
        owner=owner,
        seen_at=time.time() - silent_s,
    )


def test_a_run_of_a_process_that_ended_was_killed() -> None:
    """Here the process tells, however long it says nothing; what ended is not killed."""
    assert "running" == status_now(run_of(this_process(), silent_s=10 * SILENT_S))
    assert "killed" == status_now(run_of(other_process()))
    assert "complete" == status_now(run_of(other_process(), status="complete"))


def test_of_a_process_elsewhere_silence_tells() -> None:
    """Another host's, or another container's; and of early versions' runs nobody is known."""
    assert "running" == status_now(run_of("elsewhere/:1:2"))
    assert "killed" == status_now(run_of("elsewhere/:1:2", silent_s=2 * SILENT_S))
    assert "killed" == status_now(run_of("", silent_s=2 * SILENT_S))
