"""Begin a run, or go on with the one of its name that did not come to its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from pytest_xling.config.options import option
from pytest_xling.engine.leases import status_now
from pytest_xling.errors import ConfigError
from pytest_xling.keys import canonical_json
from pytest_xling.store.queries import response_keys
from pytest_xling.store.runs import add_run, find_run, go_on

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from pytest_xling.plugin.setup import Setup
    from pytest_xling.records import RunRecord
    from pytest_xling.store.database import Database

__all__ = ["begin"]

SHAPING: Final = {
    "model": "model",
    "languages": "langs",
    "data": "data",
    "samples": "samples",
    "temperatures": "temperatures",
    "limit": "limit",
    "seed": "seed",
    "max_tokens": "max-tokens",
    "judge": "judge",
    "translator": "translator",
    "text_in": "text-in",
    "encoder": "encoder",
    "stance": "stance",
    "parameters": "param",
    "stop_early": "stop-early",
}
"""Settings that decide what is asked and how it is scored, and the options that say them."""


def begin(database: Database, run: RunRecord, setup: Setup) -> str:
    """Put *run* into the store; where it has one of that name that did not end, go on with it.

    Returns:
        A line that says so; "" where the run is new.

    Raises:
        ConfigError: the run of that name is complete, still being made, or was told otherwise.
        StoreError: the store cannot be written.
    """
    if setup.settings.run_name is None:
        with database.write() as connection:
            add_run(connection, run)
        return ""
    asked = {(case.benchmark, case.id): key for case, key, _ in setup.requests()}
    with database.write() as connection:
        earlier = find_run(connection, run.run_id)
        if earlier is None:
            add_run(connection, run)
            return ""
        answered = _answered(connection, earlier, run, asked)
        go_on(connection, run)
    return f"xling: continues run {run.run_id}: {answered:,} of {len(asked):,} answered"


def _answered(
    connection: Connection,
    earlier: RunRecord,
    run: RunRecord,
    asked: Mapping[tuple[str, str], bytes],
) -> int:
    """Return how many cases are answered already, where *earlier* can be gone on with.

    Raises:
        ConfigError: it cannot; says why.
    """
    name, status = earlier.run_id, status_now(earlier)
    other = "choose another --xling-run-name"
    if status == "running":
        msg = f"run {name!r} is being made by another process; wait for its end, or {other}"
        raise ConfigError(msg)
    if status in {"complete", "stopped"}:
        msg = f"the store has a run named {name!r} already, and it is {status}; {other}"
        raise ConfigError(msg)
    refused = f"run {name!r} is {status}, and to go on with it nothing may change: "
    if changes := _changes(earlier, run):
        msg = f"{refused}{'; '.join(changes)}. Say the same as then, or {other}"
        raise ConfigError(msg)
    keys = response_keys(connection, name)
    here = {place: key for place, key in keys.items() if place[0] in run.whole}
    if changed := sorted(place for place, key in here.items() if asked.get(place) != key):
        benchmark, case = changed[0]
        msg = (
            f"{refused}{len(changed):,} of its {len(here):,} answered cases ask something else now "
            f"or are gone, such as {case} of {benchmark}. Take back what was changed in its data "
            f"or prompts, or {other}"
        )
        raise ConfigError(msg)
    return len(here)


def _changes(earlier: RunRecord, run: RunRecord) -> list[str]:
    """Say which settings that shape a run differ from those it was begun with."""
    now = json.loads(canonical_json(dict(run.settings)))
    return [
        f"{option(name).flag} was {_shown(earlier.settings.get(key))} and is {_shown(now.get(key))}"
        for key, name in SHAPING.items()
        if earlier.settings.get(key) != now.get(key)
    ]


def _shown(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else canonical_json(value)  # type: ignore[arg-type]
