"""Several models on one command line: a run of each by a pytest of its own, then a comparison."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_xling.config.options import sources_of
from pytest_xling.config.settings import Settings, settle
from pytest_xling.errors import ConfigError, StoreMissing, XlingError
from pytest_xling.languages import find

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_ORDER: Final = (
    pytest.ExitCode.USAGE_ERROR,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.INTERNAL_ERROR,
)
"""What one status for all of them is, most telling first: a mistake, a closed gate, what lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """A model and what its run is told beside what all are."""

    name: str
    slug: str
    run: str
    junit: Path | None
    arguments: tuple[str, ...]


def run_each(config: pytest.Config, models: Sequence[str]) -> int:
    """Make a run of each of *models*, compare the others with the first, return one exit status.

    Each is checked before the first is asked anything.

    Raises:
        ConfigError: two have one name, or the settings are wrong.
    """
    if twice := [name for name, count in Counter(models).items() if count > 1]:
        msg = f"--model: {twice[0]!r} is named twice; name each once"
        raise ConfigError(msg)
    settings = settle(
        replace(
            sources_of(config),
            cli={**vars(config.option), Settings.model.dest: models[0]},
            language_code=lambda name: find(name).code,
        )
    )
    shared = _without_models(list(map(str, config.invocation_params.args)))
    with tempfile.TemporaryDirectory(prefix="xling-models-") as folder:
        each = [_told(config, settings, name, models, Path(folder)) for name in models]
        for model in each:
            checked = _pytest([*shared, *model.arguments, Settings.estimate.flag], quiet=True)
            if checked.returncode:
                sys.stderr.write(f"xling: model {model.name!r}:\n{checked.stderr}")
                return int(pytest.ExitCode.USAGE_ERROR)
        codes = []
        for number, model in enumerate(each, start=1):
            _say(f"\nxling: model {number} of {len(each)}: {model.name}\n")
            code = _pytest([*shared, *model.arguments]).returncode
            codes.append(code)
            if code == pytest.ExitCode.INTERRUPTED:
                break
        report = config.option.xmlpath
        if report:
            _merge({m.slug: m.junit for m in each if m.junit and m.junit.is_file()}, Path(report))
    _compare(each, settings)
    told = ", ".join(f"{m.name} {code}" for m, code in zip(each, codes, strict=False))
    _say(f"\nxling: {len(codes)} of {len(each)} models run; exit status of each: {told}\n")
    return worst(codes)


def worst(codes: Sequence[int]) -> int:
    """Return the status that tells most: interrupted, a mistake, a closed gate, what lacks, 0."""
    for code in (pytest.ExitCode.INTERRUPTED, *_ORDER):
        if code in codes:
            return int(code)
    return max(codes, default=0)


def _told(
    config: pytest.Config, settings: Settings, name: str, models: Sequence[str], folder: Path
) -> _Model:
    """Return what the run of one model is told: a name, and files that no other writes."""
    plain = [re.sub(r"[^A-Za-z0-9._-]+", "-", other).strip("-.") or "model" for other in models]
    number = models.index(name)
    slug = plain[number] if plain.count(plain[number]) == 1 else f"{plain[number]}-{number + 1}"
    begun = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    run = f"{settings.run_name or begun}-{slug}"[:100]
    arguments = [f"{Settings.model.flag}={name}", f"{Settings.run_name.flag}={run}"]
    junit = folder / f"{number}.xml" if config.option.xmlpath else None
    if junit is not None:
        arguments.append(f"--junitxml={junit}")
    if settings.report is not None:
        report = settings.report.with_name(f"{settings.report.stem}-{slug}{settings.report.suffix}")
        arguments.append(f"{Settings.report.flag}={report}")
    return _Model(name=name, slug=slug, run=run, junit=junit, arguments=tuple(arguments))


def _without_models(arguments: list[str]) -> list[str]:
    """Return the command line without the models that it names."""
    model = Settings.model
    flags = {model.flag, str(model.short)}
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return [*kept, argument, *rest]
        flag, equals, _ = argument.partition("=")
        if flag not in flags:
            kept.append(argument)
        elif not equals:
            next(rest, None)
    return kept


def _pytest(arguments: Sequence[str], *, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    """Run pytest as this one was run; *quiet* keeps what it prints."""
    by_module = Path(sys.argv[0]).name == "__main__.py"
    command = [sys.executable, *([] if by_module else ["-P"]), "-m", "pytest"]
    model = Settings.model.env
    environment = {name: value for name, value in os.environ.items() if name != model}
    return subprocess.run(  # noqa: S603  the command line that the user gave us
        [*command, *arguments], env=environment, text=True, check=False, capture_output=quiet
    )


def _merge(parts: Mapping[str, Path], path: Path) -> None:
    """Put the suites of all runs into one JUnit file, each under its model's name."""
    whole = ET.Element("testsuites", name="pytest tests")
    for slug, part in parts.items():
        for suite in ET.parse(part).getroot().iter("testsuite"):  # noqa: S314  our own pytest's
            suite.set("name", f"{suite.get('name', 'pytest')} {slug}")
            for case in suite.iter("testcase"):
                case.set("classname", f"{slug}.{case.get('classname', '')}")
            whole.append(suite)
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(whole).write(path, encoding="utf-8", xml_declaration=True)


def _compare(models: Sequence[_Model], settings: Settings) -> None:
    """Print what each model answers otherwise than the first, where both have a run."""
    from pytest_xling.analysis.baseline import open_baseline  # noqa: PLC0415  imports the store
    from pytest_xling.analysis.comparison import compare  # noqa: PLC0415  likewise
    from pytest_xling.reports.pivot import named_pivot  # noqa: PLC0415  likewise
    from pytest_xling.reports.terminal.comparison import comparison_text  # noqa: PLC0415  likewise
    from pytest_xling.store.database import Database  # noqa: PLC0415  likewise
    from pytest_xling.store.runs import find_run  # noqa: PLC0415  likewise

    try:
        database = Database(settings.store, create=False)
    except StoreMissing:
        return
    width = shutil.get_terminal_size().columns
    with closing(database), database.read() as connection:
        runs = [(model, find_run(connection, model.run)) for model in models]
        made = [(model, run) for model, run in runs if run is not None]
        for other, run in made[1:]:
            first, before = made[0]
            _say(f"\nxling: {other.name} beside {first.name}\n")
            try:
                baseline = open_baseline(before.run_id, store=settings.store)
                comparison = compare(connection, run, baseline, pivots=partial(named_pivot, run))
            except XlingError as error:
                _say(f"not compared: {error}\n")
                continue
            _say(f"{comparison_text(comparison, width=width, color=False)}\n")


def _say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
