"""``--xling-estimate``: what a run would ask and cost, said before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.cases.dry_run import dry_run
from pytest_xling.errors import XlingError
from pytest_xling.plugin.setup import read_setup
from pytest_xling.reports.dry_run import dry_run_text

if TYPE_CHECKING:
    from collections.abc import Collection

    from pytest_xling.cases.dry_run import LanguageEstimate
    from pytest_xling.plugin.setup import Setup

__all__ = ["show_estimate"]


def show_estimate(config: pytest.Config) -> int:
    """Print the estimate and return exit status 0."""
    try:
        setup = read_setup(config)
        rows = _estimate(setup)
    except XlingError as error:
        raise pytest.UsageError(str(error)) from error
    text = dry_run_text(
        rows, model=setup.model, paid=setup.provider.paid, price=setup.settings.price
    )
    print(text)  # noqa: T201  what the option is for
    return 0


def _estimate(setup: Setup) -> list[LanguageEstimate]:
    requests = {key: request for _, key, request in setup.requests()}
    stored = _stored(setup, requests)
    return dry_run(requests, stored=stored, price=setup.settings.price)


def _stored(setup: Setup, keys: Collection[bytes]) -> set[bytes]:
    from pytest_xling.store.database import Database  # noqa: PLC0415
    from pytest_xling.store.outputs import find_inputs  # noqa: PLC0415

    if not setup.settings.store.exists():
        return set()
    database = Database(setup.settings.store, create=False)
    with database.read() as connection:
        found = find_inputs(connection, keys)
    database.close()
    return found
