"""Name this process so that others can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["dead", "this_process"]


def this_process() -> str:
    """Return ``host:pid:start``, which no other process shares."""
    return _name(os.getpid())


@cache
def _name(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{_started(pid)}"


def dead(owners: Iterable[str]) -> set[str]:
    """Return those of *owners* that ran on this host and are gone.

    Of a process on another host nothing can be told; its leases end by their time.
    """
    host = socket.gethostname()
    gone = set()
    for owner in owners:
        where, _, process = owner.rpartition(":")[0].rpartition(":")
        started = owner.rpartition(":")[2]
        if where == host and process.isdigit() and not _lives(int(process), started):
            gone.add(owner)
    return gone


def _lives(pid: int, started: str) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _started(pid) == started


def _started(pid: int) -> str:
    """Return the start time of *pid* in clock ticks, or "" where the system does not tell.

    It tells a process from a later one with the same number.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
