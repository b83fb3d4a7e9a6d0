"""``--model`` and ``--langs``, a plugin of their own: ``-p no:xling_short`` gives them back."""

from __future__ import annotations

import pytest

from pytest_xling.config.options import add_short_options
from pytest_xling.errors import ConfigError

__all__ = ["pytest_addoption"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the short options."""
    try:
        add_short_options(parser)
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from error
