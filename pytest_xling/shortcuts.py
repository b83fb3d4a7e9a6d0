"""``--model``, ``--langs`` and ``--baseline``, a plugin of their own.

They are declared only where they are used, and only where nobody else declares them: a project
whose conftest.py has a ``--model`` keeps it, and never notices ours. ``-p no:xling_short`` gives
them back for good.
"""

from __future__ import annotations

import argparse
import copy
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.config.options import SHORT, add_short_option, shadowed_hint, sources_of
from pytest_xling.config.settings import OPTIONS, Settings
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_xling.config.option import Option

SHADOWED = "xling_shadowed"
"""Attribute of the parsed options, so that workers have it too: names of options whose short flag
is on the command line and belongs to somebody else."""


class XlingShadowedOptionWarning(pytest.PytestWarning):
    """A short flag of ours that was used is a conftest.py's or another plugin's."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None]:
    """Declare the short options that are used, once every conftest.py has declared its own."""
    _, unknown = parser.parse_known_and_unknown_args(args)
    if mine := [entry for entry in SHORT if _uses(unknown, entry)]:
        # Their values are no paths, wherever a conftest.py is looked for.
        others = _without(mine, args)
        namespace = parser.parse_known_args(others, namespace=copy.copy(early_config.option))
        # Else folders above the project are looked through, and their conftest.py is loaded.
        namespace.confcutdir = early_config.known_args_namespace.confcutdir
        early_config.known_args_namespace = namespace
    used = [entry for entry in SHORT if _uses([*args, *unknown], entry)]
    try:
        return (yield)
    finally:
        shown = SHORT if early_config.known_args_namespace.help else used
        taken = [entry for entry in shown if not _declare(parser, entry)]
        if shadowed := [entry.name for entry in taken if entry in used]:
            setattr(early_config.option, SHADOWED, shadowed)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Say so where a short option on the command line is not ours.

    Raises:
        pytest.UsageError: a model of ours is named, so that ours may have been meant.
    """
    if hasattr(config, "workerinput"):
        return  # the controller has said so
    for entry in _shadowed(config):
        long = getattr(config.option, entry.dest, None)
        if long is None and _is_given(config, Settings.model):
            raise pytest.UsageError(shadowed_hint(entry))
        # Who turns warnings into errors is not stopped by a plugin that is not used.
        with suppress(XlingShadowedOptionWarning):
            warning = XlingShadowedOptionWarning(shadowed_hint(entry))
            config.issue_config_time_warning(warning, stacklevel=2)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Refuse to skip a benchmark for want of a model where ``--model`` is somebody else's."""
    config, entry = metafunc.config, Settings.model
    benchmark = {"xling_case", "xling_gate"} & set(metafunc.fixturenames)
    if benchmark and entry in _shadowed(config) and not _is_given(config, entry):
        raise pytest.Collector.CollectError(shadowed_hint(entry))


def _shadowed(config: pytest.Config) -> list[Option[Any]]:
    shadowed = getattr(config.option, SHADOWED, ())
    return [entry for entry in OPTIONS if entry.name in shadowed]


def _uses(args: list[str], entry: Option[Any]) -> bool:
    return any(arg == entry.short or arg.startswith(f"{entry.short}=") for arg in args)


def _without(entries: list[Option[Any]], args: list[str]) -> list[str]:
    """Return *args* without the short flags of *entries* and their values."""
    short = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for entry in entries:
        short.add_argument(str(entry.short), **entry.attributes)
    try:
        return short.parse_known_args(args)[1]
    except (argparse.ArgumentError, SystemExit):
        return args


def _declare(parser: pytest.Parser, entry: Option[Any]) -> bool:
    """Declare a short option; tell whether it was free."""
    try:
        add_short_option(parser, entry)
        with suppress(pytest.UsageError):  # of an option that is required, say: not our business
            parser.parse_known_args([])  # pytest 8 looks for clashes when it parses, not before
    except ConfigError:
        return False
    except argparse.ArgumentError:
        parser.getgroup("xling").options.pop()
        return False
    return True


def _is_given(config: pytest.Config, entry: Option[Any]) -> bool:
    return sources_of(config).given(entry) is not None
