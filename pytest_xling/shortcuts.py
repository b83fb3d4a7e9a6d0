"""``--model``, ``--langs`` and ``--baseline``, a plugin of their own.

``-p no:xling_short`` gives the names back.
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from pytest_xling.config.options import add_short_options, taken
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["pytest_addoption", "pytest_load_initial_conftests"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the short options."""
    try:
        add_short_options(parser)
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser) -> Generator[None]:
    """Say what to do where a conftest.py declares an option of the same name."""
    try:
        yield
        with suppress(pytest.UsageError):  # of an option that is required, say: not our business
            parser.parse_known_args([])  # pytest 8 looks for clashes when it parses, not before
    except argparse.ArgumentError as error:
        msg = taken(error.message)
        if msg is None:
            raise
        raise pytest.UsageError(msg) from error
