"""Where benchmarks are looked for: where pytest is told to look, or where they usually lie."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_xling.config.options import sources_of
from pytest_xling.config.settings import Settings
from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.files.whole import display_path
from pytest_xling.planning.benchmark import benchmarks_in, bundled, discover

if TYPE_CHECKING:
    from pytest_xling.config.option import Given

USUAL = "benchmarks"
"""The folder of a project's benchmarks, in its root directory."""


def choose_benchmarks(config: pytest.Config) -> str:
    """Let pytest collect benchmarks where nobody named a path.

    Those are what ``--xling-benchmarks`` names, else the folder ``benchmarks`` in the root
    directory, unless pytest would look there anyway.

    Returns:
        A line that says which were taken; "" where pytest looks where it always does.

    Raises:
        ConfigError: a benchmark is unknown, or a path is named as well.
    """
    entry = Settings.benchmarks
    given = sources_of(config).given(entry)
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        if given is not None and given.source == entry.flag:
            msg = (
                f"{entry.flag} names benchmarks, and so does the path {config.args[0]!r}; leave "
                "one of them out"
            )
            raise ConfigError(msg)
        return ""
    root = config.rootpath
    if given is None:
        there = set(discover([root / USUAL])) if config.invocation_params.dir == root else set()
        if there <= set(discover(given_paths(config))):
            return ""
        places, source = [root / USUAL], f"ini {entry.dest}, if not said"
    else:
        names = sources_of(config).value(entry)
        places, source = [_place(name, given, config) for name in names], given.source
    config.args = [str(place) for place in places]
    config.args_source = pytest.Config.ArgsSource.ARGS
    return f"no path is given: benchmarks from {', '.join(map(display_path, places))} ({source})"


def _place(name: str, given: Given, config: pytest.Config) -> Path:
    """Return the folder that *name* stands for: a path, a benchmark of the project, or of ours."""
    folder = given.base / name
    if discover([folder] if folder.is_dir() else []):
        return folder.resolve()
    known = bundled() | benchmarks_in(config.rootpath / USUAL)
    if name not in known:
        msg = (
            f"{given.source}: no benchmark {name!r}: neither a folder with a prompts.yaml nor a "
            f"name.{did_you_mean(name, known)} Known: {', '.join(sorted(known))}"
        )
        raise ConfigError(msg)
    return known[name]


def given_paths(config: pytest.Config) -> list[Path]:
    """Return where pytest is going to look, as far as it is there."""
    given = [Path(argument.partition("::")[0]) for argument in config.args]
    base = config.invocation_params.dir
    return [path for path in (base / path for path in given) if path.exists()]
