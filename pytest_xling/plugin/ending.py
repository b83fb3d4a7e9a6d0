"""How a session ended, as the store keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from pytest_xling.store.database import Database

__all__ = ["keep_end", "status_of"]

STATUS: Final[Mapping[int, str]] = {0: "complete", 1: "complete", 2: "interrupted", 5: "complete"}
"""How a run ended, by pytest's exit status; all others leave it incomplete."""


def status_of(session: pytest.Session, *, stopped: bool = False) -> str:
    """Tell how a run ended: complete, stopped, incomplete or interrupted.

    Args:
        session: pytest's.
        stopped: whether a gate that failed early ended the run.
    """
    status = STATUS.get(int(session.exitstatus), "incomplete")
    if status == "complete" and (session.shouldfail or session.shouldstop):
        return "incomplete"  # -x or --maxfail ended it
    return "stopped" if stopped and status == "complete" else status


def keep_end(database: Database, run_id: str, *, status: str, seconds: float) -> str:
    """Say in the store how the run ended.

    Returns:
        Why that could not be kept, such as a store that is full or was deleted; "" where it was.
    """
    from pytest_xling.store.runs import finish_run  # noqa: PLC0415  when a run is made

    try:
        with database.write() as connection:
            finish_run(connection, run_id, status=status, seconds=seconds)
    except StoreError as error:
        return str(error)
    return ""
