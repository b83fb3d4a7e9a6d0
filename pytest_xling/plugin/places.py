"""Where benchmarks are looked for: in the paths pytest is given, or in their usual folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.config.options import sources_of
from pytest_xling.config.settings import Settings
from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.files.whole import display_path
from pytest_xling.planning.benchmark import benchmarks_in, bundled, discover

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.config.option import Given

USUAL = "benchmarks"
"""The folder of a project's benchmarks, in its root directory."""


def choose_benchmarks(config: pytest.Config) -> str:
    """Let pytest collect benchmarks where the command line has no path.

    Those are what ``--xling-benchmarks`` names, else the folder ``benchmarks`` in the root
    directory, unless pytest would look there anyway.

    Returns:
        A line that says which were chosen; "" where pytest's own paths stay.

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
        usual = set(discover([root / USUAL])) if config.invocation_params.dir == root else set()
        if usual <= set(discover(collected_paths(config))):
            return ""
        folders, source = [root / USUAL], f"ini {entry.dest}, if not said"
    else:
        names = sources_of(config).value(entry)
        folders, source = [_folder_of(name, given, config) for name in names], given.source
    config.args = [str(folder) for folder in folders]
    config.args_source = pytest.Config.ArgsSource.ARGS
    return f"no path is given: benchmarks from {', '.join(map(display_path, folders))} ({source})"


def _folder_of(name: str, given: Given, config: pytest.Config) -> Path:
    """Return the folder of a benchmark: *name* is a path, or a name in the project or bundled."""
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


def collected_paths(config: pytest.Config) -> list[Path]:
    """Return the paths that pytest is going to collect, where they exist."""
    base = config.invocation_params.dir
    paths = (base / argument.partition("::")[0] for argument in config.args)
    return [path for path in paths if path.exists()]
