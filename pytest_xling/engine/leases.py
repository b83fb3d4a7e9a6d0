"""Name this process so that others can tell whether it still lives."""

from __future__ import annotations

import os
import socket
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_xling.records import RunRecord

SILENT_S = 60.0
"""Of a process elsewhere nothing is heard for so long only where it is gone."""


def this_process() -> str:
    """Return ``place:pid:start``, which no other process shares."""
    return _name(os.getpid())


@cache
def _name(pid: int) -> str:
    return f"{_place()}:{pid}:{_started(pid)}"


@cache
def _place() -> str:
    """Return what tells hosts apart, which may share a name, and the containers of one."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        space = boot = ""
    return f"{socket.gethostname()}/{space}/{boot}"


def dead(owners: Iterable[str]) -> set[str]:
    """Return those of *owners* that ran here and are gone.

    Of a process on another host nothing can be told; its leases end by their time.
    """
    place = _place()
    gone = set()
    for owner in owners:
        where, _, process = owner.rpartition(":")[0].rpartition(":")
        started = owner.rpartition(":")[2]
        if where == place and process.isdigit() and not _lives(int(process), started):
            gone.add(owner)
    return gone


def status_now(run: RunRecord) -> str:
    """Return a run's status: ``killed`` where it runs as the store knows, and nobody makes it."""
    return "killed" if run.status == "running" and _is_gone(run) else run.status


def _is_gone(run: RunRecord) -> bool:
    """Tell whether the process that makes a run is gone, by itself or by its silence."""
    here = run.owner.rpartition(":")[0].rpartition(":")[0] == _place()
    if here and os.name != "nt":
        return bool(dead([run.owner]))
    return time.time() - run.seen_at > SILENT_S


def _lives(pid: int, started: str) -> bool:
    if os.name == "nt":
        return True  # os.kill(pid, 0) would send it Ctrl-C; its leases end by their time
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # xdist does not reap a worker that was killed before the run is over.
    state, since = _state_and_start(pid)
    return state not in {"Z", "X"} and since == started


def _started(pid: int) -> str:
    """Return the start time of *pid* in clock ticks, or "" where the system does not tell.

    It tells a process from a later one with the same number.
    """
    return _state_and_start(pid)[1]


def _state_and_start(pid: int) -> tuple[str, str]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "", ""
    fields = stat.rpartition(")")[2].split()
    return fields[0], fields[19]
