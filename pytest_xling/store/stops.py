"""What a run's record says of its end: the gate that stopped it early, gates that were left out."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from pytest_xling.keys import canonical_json
from pytest_xling.store.json_fields import text_at
from pytest_xling.store.schema import runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import RunRecord

KEY, UNJUDGED = "stopped_early", "unjudged"
"""In the settings of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The gate that ended a run before all was asked."""

    benchmark: str
    gate: str
    look: int
    looks: int
    share: float
    """Of the benchmark's questions, 0 to 1, that were in."""

    def __str__(self) -> str:
        """Say why no more was asked."""
        return (
            f"stopped early: {self.gate} of {self.benchmark} failed at look {self.look} of"
            f" {self.looks} with {100 * self.share:.1f}% of the answers"
        )


def put_stop(connection: Connection, run_id: str, stop: Stop) -> Stop:
    """Keep why a run stopped, and return what ended it: what was first to.

    Args:
        connection: in a transaction that writes, so that one process alone is the first.
        run_id: the run.
        stop: the gate that failed here.
    """
    settings = _settings(connection, run_id)
    if (earlier := _read(settings)) is not None:
        return earlier
    _put(connection, run_id, {**settings, KEY: asdict(stop)})
    return stop


def put_unjudged(connection: Connection, run_id: str, gates: Sequence[tuple[str, str]]) -> None:
    """Keep which gates a run should have judged and did not: of each the benchmark and its id."""
    _put(connection, run_id, {**_settings(connection, run_id), UNJUDGED: list(map(list, gates))})


def unjudged_in(record: RunRecord) -> list[tuple[str, str]]:
    """Return the gates that a run should have judged and did not: benchmark and id of each."""
    gates: Any = record.settings.get(UNJUDGED) or []
    return [(benchmark, gate) for benchmark, gate in gates]


def _put(connection: Connection, run_id: str, settings: Mapping[str, Any]) -> None:
    text = canonical_json(dict(settings))
    connection.execute(update(runs).where(runs.c.run_id == run_id).values(settings=text))


def stop_of(connection: Connection, run_id: str) -> Stop | None:
    """Return what ended a run early; None where nothing has."""
    query = select(text_at(runs.c.settings, f"$.{KEY}")).where(runs.c.run_id == run_id)
    text = connection.execute(query).scalar()
    return None if text is None else Stop(**json.loads(text))


def stop_in(record: RunRecord) -> Stop | None:
    """Return what ended a run early, from its record."""
    return _read(record.settings)


def _settings(connection: Connection, run_id: str) -> dict[str, Any]:
    text = connection.execute(select(runs.c.settings).where(runs.c.run_id == run_id)).scalar_one()
    read: dict[str, Any] = json.loads(text)
    return read


def _read(settings: Mapping[str, Any]) -> Stop | None:
    stop = settings.get(KEY)
    return None if stop is None else Stop(**stop)
