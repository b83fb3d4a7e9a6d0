"""The pytest plugin; nothing heavy is imported until a model is named."""

from __future__ import annotations

import gc
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.config.options import add_pytest_options, sources_of
from pytest_xling.config.settings import Settings
from pytest_xling.plugin.command_line import models_named, refuse_forgotten_model, usage_errors

if TYPE_CHECKING:
    from pytest_xling.plugin.cases import CaseCheck
    from pytest_xling.plugin.gates import GateCheck

__all__ = [
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_configure",
    "pytest_generate_tests",
    "pytest_load_initial_conftests",
    "xling_case",
    "xling_gate",
]

MARKER = (
    "xling(metrics): what the benchmark in this file's folder is scored by, beside what "
    "thresholds.yaml limits; see `pytest --fixtures` for xling_case and xling_gate"
)
NO_MODEL = "no model is named: pytest --model=NAME --langs=hi,zh runs this benchmark"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_pytest_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Read ``--xling-env-file``, before any conftest.py looks for what is in it."""
    options = early_config.known_args_namespace
    sources = replace(sources_of(early_config), cli=vars(options))
    with usage_errors():
        if options.help or sources.given(Settings.env_file) is None:
            return
        from pytest_xling.config.env_file import add_variables  # noqa: PLC0415  seldom needed

        add_variables(sources, os.environ)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run several models one by one; answer ``--xling-estimate`` without asking anything."""
    if config.option.help or config.option.version or not _model_is_named(config):
        return None
    with usage_errors():
        if len(models := models_named(config)) > 1:
            from pytest_xling.plugin.several_models import run_each  # noqa: PLC0415

            return run_each(config, models)
        if not sources_of(config).value(Settings.estimate):
            return None
        from pytest_xling.plugin.dry_run import show_estimate  # noqa: PLC0415

        return show_estimate(config)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker and, if a model is named, check everything before anything is asked."""
    config.addinivalue_line("markers", MARKER)
    if config.option.help:
        return
    if _model_is_named(config):
        collects = gc.isenabled()
        gc.disable()
        from pytest_xling.plugin.session import start  # noqa: PLC0415

        gc.freeze()  # what was imported stays: no need to look through it for garbage
        if collects:
            gc.enable()
        start(config)
    elif not hasattr(config, "workerinput"):
        with usage_errors():
            refuse_forgotten_model(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Skip cases and gates where no model is named; the session parametrises them otherwise."""
    if _model_is_named(metafunc.config):
        return
    for fixture in ("xling_case", "xling_gate"):
        if fixture in metafunc.fixturenames:
            skipped = pytest.param(None, id="no-model", marks=pytest.mark.skip(reason=NO_MODEL))
            metafunc.parametrize(fixture, [skipped])


def _model_is_named(config: pytest.Config) -> bool:
    """Tell whether a model is named; where that cannot be read it is a usage error."""
    with usage_errors():
        return sources_of(config).given(Settings.model) is not None


@pytest.fixture
def xling_case() -> CaseCheck:
    """One sample in one language, answered and scored: ``xling_case.check("repetition")``."""
    # pytest_generate_tests gives every test that asks for it a value of its own.
    return pytest.fail("xling_case is for the tests of a benchmark", pytrace=False)


@pytest.fixture
def xling_gate() -> GateCheck:
    """One line of thresholds.yaml for one language; ``xling_gate.check()`` after all cases."""
    return pytest.fail("xling_gate is for the tests of a benchmark", pytrace=False)
