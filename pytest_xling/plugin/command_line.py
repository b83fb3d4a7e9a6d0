"""Our options on the command line: those without a model, and several models."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.config.options import (
    REQUIRE_MODEL,
    our_variables,
    refuse_unknown_variables,
    shadowed_hint,
    sources_of,
)
from pytest_xling.config.settings import OPTIONS, Settings
from pytest_xling.errors import ConfigError, XlingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.config.option import Option

_FIX = "name one: --model=NAME, or XLING_MODEL in the environment"


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn our errors into usage errors: pytest ends with status 4 and our message."""
    try:
        yield
    except XlingError as error:
        raise pytest.UsageError(str(error)) from error


def refuse_forgotten_model(config: pytest.Config) -> None:
    """Refuse to skip all benchmarks where a model was probably forgotten.

    That is where an option of ours is on the command line (not in addopts or in an ini file), or
    benchmarks are about to be collected and an option is in the environment, or the ini key
    ``xling_require_model`` is set.

    Raises:
        ConfigError: names the option, the variable or the ini key.
    """
    refuse_unknown_variables(os.environ)
    if typed := next((flag for _, flag, _ in _typed_options(config)), None):
        model = Settings.model
        msg = f"{typed} is given, and no model: no benchmark would be run; {_FIX}"
        raise ConfigError(shadowed_hint(model) if model.name in _shadowed(config) else msg)
    if any(getattr(config.option, name, False) for name in _SHOW_OPTIONS):
        return
    required = config.getini(REQUIRE_MODEL)
    variables = our_variables(os.environ)
    if not variables and not required:
        return
    from pytest_xling.planning.benchmark import benchmark_name, discover  # noqa: PLC0415  seldom
    from pytest_xling.plugin.places import collected_paths  # noqa: PLC0415  likewise

    if folders := discover(collected_paths(config)):
        why = f"ini {REQUIRE_MODEL} is set" if required else f"{variables[0]} is set"
        names = ", ".join(map(benchmark_name, folders))
        msg = f"{why}, and no model is named: all tests of {names} would be skipped; {_FIX}"
        raise ConfigError(msg)


_SHOW_OPTIONS = ("collectonly", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow")
"""Options of pytest's under which nothing is run."""


def models_named(config: pytest.Config) -> list[str]:
    """Return the models that the command line names, else the environment, else the ini file.

    Each may name several, separated by commas.
    """
    texts = [value for entry, _, value in _typed_options(config) if entry is Settings.model]
    if not texts:
        given = sources_of(config).given(Settings.model)
        texts = [] if given is None else [str(given.raw)]
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def _shadowed(config: pytest.Config) -> tuple[str, ...]:
    """Return the names of options whose short flag is another plugin's or a conftest.py's."""
    return tuple(getattr(config.option, "xling_shadowed", ()))


def _typed_options(config: pytest.Config) -> Iterator[tuple[Option[Any], str, str]]:
    """Yield our options on the command line, without addopts: each with its flag and value.

    The value is "" where there is none.
    """
    shadowed = _shadowed(config)
    flags = {entry.flag: entry for entry in OPTIONS}
    if config.pluginmanager.hasplugin("xling_short"):
        flags |= {str(e.short): e for e in OPTIONS if e.short and e.name not in shadowed}
    arguments = list(map(str, config.invocation_params.args))
    for index, argument in enumerate(arguments):
        flag, equals, value = argument.partition("=")
        if argument == "--":
            return
        if flag in flags:
            following = arguments[index + 1] if index + 1 < len(arguments) else ""
            yield flags[flag], flag, value if equals else following
