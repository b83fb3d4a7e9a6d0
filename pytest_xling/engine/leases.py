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
"""A process on another host that reports nothing for so long is taken to be gone."""


def this_process() -> str:
    """Return ``place:pid:start``, which no other process shares."""
    return _name(os.getpid())


@cache
def _name(pid: int) -> str:
    return f"{_place()}:{pid}:{_started(pid)}"


@cache
def _place() -> str:
    """Return an id of this host, or container of it, that no other has by the same host name."""
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        space = boot = ""
    return f"{socket.gethostname()}/{space}/{boot}"


def dead(owners: Iterable[str]) -> set[str]:
    """Return those of *owners* that ran on this host and are gone.

    Processes on other hosts cannot be checked; their leases expire.
    """
    place = _place()
    gone = set()
    for owner in owners:
        rest, _, started = owner.rpartition(":")
        host, _, process = rest.rpartition(":")
        if host == place and process.isdigit() and not _lives(int(process), started):
            gone.add(owner)
    return gone


def status_now(run: RunRecord) -> str:
    """Return a run's status: ``killed`` if the store says it runs and its process is gone."""
    return "killed" if run.status == "running" and _is_gone(run) else run.status


def _is_gone(run: RunRecord) -> bool:
    """Tell whether a run's process is gone; on another host, whether it has been silent."""
    here = run.owner.rpartition(":")[0].rpartition(":")[0] == _place()
    if here and os.name != "nt":
        return bool(dead([run.owner]))
    return time.time() - run.seen_at > SILENT_S


def _lives(pid: int, started: str) -> bool:
    if os.name == "nt":
        return True  # os.kill(pid, 0) would send it Ctrl-C; its leases expire
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A worker that was killed is a zombie until the run is over: xdist does not reap it.
    state, since = _state_and_start(pid)
    return state not in {"Z", "X"} and since == started


def _started(pid: int) -> str:
    """Return the start time of *pid* in clock ticks, or "" where the system does not say.

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
