"""What is built and installed: the wheel, its entry points, its declared dependencies."""

from __future__ import annotations

import sys
import tomllib
from configparser import ConfigParser
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import grimp
import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pytest_xling"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DIST_INFO = f"pytest_xling-{PROJECT['version']}.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """Build the wheel once, in this process."""
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with ZipFile(built) as opened:
        yield opened


def _requirements(*extras: str) -> dict[str, Requirement]:
    """Return what the package and *extras* require, by canonical name."""
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    return {canonicalize_name(r.name): r for r in map(Requirement, lines)}


def _sources(folder: Path) -> set[str]:
    """Return the files under *folder*, relative to it, without hidden and compiled ones."""
    paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    left_out = (".", "__pycache__")
    return {p.as_posix() for p in paths if not any(part.startswith(left_out) for part in p.parts)}


def test_wheel_holds_every_file_of_the_package(wheel: ZipFile) -> None:
    """Code, the py.typed marker and data files such as the table of languages are all there."""
    expected = {f"pytest_xling/{name}" for name in _sources(PACKAGE)}
    assert {"pytest_xling/py.typed", "pytest_xling/languages/table.jsonl"} <= expected
    assert set() == expected - set(wheel.namelist())


def test_wheel_brings_the_benchmarks(wheel: ZipFile) -> None:
    """The bundled benchmarks are where `xling init` looks for them after pip install."""
    expected = {f"pytest_xling/_benchmarks/{name}" for name in _sources(ROOT / "benchmarks")}
    assert "pytest_xling/_benchmarks/culture/data/en.jsonl" in expected
    assert set() == expected - set(wheel.namelist())


def test_wheel_holds_nothing_else(wheel: ZipFile) -> None:
    """No tests, stores or caches get in, and nothing lands outside the package."""
    paths = [PurePosixPath(name) for name in wheel.namelist()]
    assert {"pytest_xling", DIST_INFO} == {path.parts[0] for path in paths}
    junk = {"tests", "perf", ".xling", "__pycache__"}
    assert [] == [p for p in paths if junk & set(p.parts) or p.suffix in {".pyc", ".sqlite"}]


def test_entry_points_lead_somewhere(wheel: ZipFile) -> None:
    """Both pytest plugins and the command are declared, and each can be imported."""
    declared = ConfigParser()
    declared.read_string(wheel.read(f"{DIST_INFO}/entry_points.txt").decode())
    assert {
        "console_scripts": {"xling": "pytest_xling.cli:main"},
        "pytest11": {"xling": "pytest_xling.plugin", "xling_short": "pytest_xling.shortcuts"},
    } == {section: dict(declared[section]) for section in declared.sections()}
    for section in declared.sections():
        for target in declared[section].values():
            assert resolve_name(target) is not None


def test_what_is_imported_is_declared() -> None:
    """No module of the package leans on a distribution that came along by chance."""
    graph = grimp.build_graph("pytest_xling", include_external_packages=True, cache_dir=None)
    users = {name: graph.find_modules_that_directly_import(name) for name in graph.modules}
    distributions = packages_distributions()
    extras = "anthropic data embedded google hub pandas ray short-lines thai topics torch xdist"
    declared = set(_requirements(*extras.split()))
    undeclared = {
        top: sorted(users[top])
        for top in users
        if graph.is_module_squashed(top)
        and top not in sys.stdlib_module_names
        and not declared & set(map(canonicalize_name, distributions.get(top, [top])))
    }
    assert {} == undeclared


def test_constraints_pin_what_is_required() -> None:
    """Each requirement has one exact pin that satisfies it, from no particular index."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins: dict[str, Version] = {}
    for line in filter(None, (line.partition("#")[0].strip() for line in lines)):
        name, _, version = line.partition("==")
        pins[canonicalize_name(name)] = Version(version)
    assert Version("2.13.0") == pins["torch"]
    required = _requirements("data", "embedded", "hub", "pandas", "torch", "xdist", "dev")
    del required["pytest-xling"]
    assert [] == [
        str(requirement)
        for name, requirement in required.items()
        if name not in pins or not requirement.specifier.contains(pins[name])
    ]
