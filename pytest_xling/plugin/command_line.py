"""What was typed: options without the model they are for, and several models."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.config.options import (
    REQUIRE_MODEL,
    our_variables,
    refuse_unknown_variables,
    sources_of,
    way_out,
)
from pytest_xling.config.settings import OPTIONS, Settings
from pytest_xling.errors import ConfigError, XlingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.config.option import Option

_FIX = "name one: --model=NAME, or XLING_MODEL in the environment"


@contextmanager
def usage_errors() -> Iterator[None]:
    """Have pytest end with status 4 and our message, where one of our errors ends it."""
    try:
        yield
    except XlingError as error:
        raise pytest.UsageError(str(error)) from error


def refuse_forgotten_model(config: pytest.Config) -> None:
    """Refuse to skip all benchmarks where a model was meant, and none is named.

    So it is where an option of ours is on the command line (not in addopts or in an ini file), or
    benchmarks are about to be collected and an option is in the environment, or the ini key
    ``xling_require_model`` is set.

    Raises:
        ConfigError: says what was given.
    """
    refuse_unknown_variables(os.environ)
    if typed := next((flag for _, flag, _ in _typed(config)), None):
        model = Settings.model
        msg = f"{typed} is given, and no model: no benchmark would be run; {_FIX}"
        raise ConfigError(way_out(model) if model.name in _of_others(config) else msg)
    if any(getattr(config.option, name, False) for name in _SHOWS):
        return
    required = config.getini(REQUIRE_MODEL)
    variables = our_variables(os.environ)
    if not variables and not required:
        return
    from pytest_xling.planning.benchmark import benchmark_name, discover  # noqa: PLC0415  seldom
    from pytest_xling.plugin.places import given_paths  # noqa: PLC0415  likewise

    if folders := discover(given_paths(config)):
        why = f"ini {REQUIRE_MODEL} is set" if required else f"{variables[0]} is set"
        names = ", ".join(map(benchmark_name, folders))
        msg = f"{why}, and no model is named: all tests of {names} would be skipped; {_FIX}"
        raise ConfigError(msg)


_SHOWS = ("collectonly", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow")
"""Options of pytest's under which nothing is run."""


def models_named(config: pytest.Config) -> list[str]:
    """Return the models that are named: all on the command line, else in the first other place.

    Each place may name several, separated by commas.
    """
    named = [value for entry, _, value in _typed(config) if entry is Settings.model]
    if not named:
        given = sources_of(config).given(Settings.model)
        named = [] if given is None else [str(given.raw)]
    return [name.strip() for text in named for name in text.split(",") if name.strip()]


def _of_others(config: pytest.Config) -> tuple[str, ...]:
    """Return the names of options whose short flag belongs to somebody else."""
    return tuple(getattr(config.option, "xling_shadowed", ()))


def _typed(config: pytest.Config) -> Iterator[tuple[Option[Any], str, str]]:
    """Yield our options on the command line: each with its flag and its value, if it has one.

    Short flags that belong to somebody else are not ours, nor is what stands in addopts.
    """
    others = _of_others(config)
    flags = {entry.flag: entry for entry in OPTIONS}
    if config.pluginmanager.hasplugin("xling_short"):
        flags |= {str(e.short): e for e in OPTIONS if e.short and e.name not in others}
    arguments = list(map(str, config.invocation_params.args))
    for place, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        if argument == "--":
            return
        if flag in flags:
            following = arguments[place + 1] if place + 1 < len(arguments) else ""
            yield flags[flag], flag, value if equals else following
