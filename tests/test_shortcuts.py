"""A project whose conftest.py has a ``--model`` of its own keeps it; ours steps aside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests import forkserver

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

CONFTEST = """
def pytest_addoption(parser):
    parser.addoption({name!r}, {more})
"""


def _pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XLING_", "PYTEST_"))
    }
    return forkserver.run(
        "pytest", ["-p", "no:cacheprovider", *arguments], cwd=folder, env=inherited
    )


def _project(root: Path, folder: str, name: str, more: str = "dest='theirs'") -> None:
    (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    place = root / folder
    place.mkdir(exist_ok=True)
    (place / "conftest.py").write_text(CONFTEST.format(name=name, more=more), encoding="utf-8")
    (place / "test_plain.py").write_text(
        "def test_plain(request): assert request.config.option.theirs in (None, 'x')\n",
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("option", "folder", "arguments"),
    [
        ("model", "", ["--model", "x"]),
        ("model", "checks", ["checks", "--model=x"]),
        pytest.param("langs", "", ["--langs=x", "-n2"], marks=pytest.mark.slow),
        pytest.param("baseline", "", ["--baseline", "x"], marks=pytest.mark.slow),
    ],
)
def test_a_conftest_with_our_option(
    tmp_path: Path, option: str, folder: str, arguments: list[str]
) -> None:
    """Theirs is theirs, and a warning names ours and how to be rid of the warning."""
    _project(tmp_path, folder, f"--{option}")
    done = _pytest(tmp_path, *arguments)
    assert 0 == done.returncode, done.stdout + done.stderr
    shown = " ".join(done.stdout.split())
    assert f"--{option} belongs to a conftest.py or to another plugin" in shown
    assert f"use --xling-{option} for pytest-xling's" in shown
    assert 1 == shown.count("XlingShadowedOptionWarning")
    done = _pytest(tmp_path, "-p", "no:xling_short", *arguments)
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "xling_short" not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("option", ["model", "langs", "baseline"])
def test_an_option_that_is_not_used_is_not_mentioned(tmp_path: Path, option: str) -> None:
    """Not a word in a project that knows nothing of us, with warnings as errors, too."""
    _project(tmp_path, "", f"--{option}")
    done = _pytest(tmp_path, "-W", "error")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert option not in done.stdout + done.stderr
    assert 0 == _pytest(tmp_path, "-W", "error", f"--{option}=x").returncode


def test_a_conftest_met_while_collecting(tmp_path: Path) -> None:
    """One in a subfolder that pytest does not look into first does no harm, either."""
    _project(tmp_path, "", "--theirs")
    _project(tmp_path, "deeper", "--model", "dest='other'")
    (tmp_path / "deeper" / "test_plain.py").rename(tmp_path / "deeper" / "test_deeper.py")
    done = _pytest(tmp_path)
    assert 0 == done.returncode, done.stdout + done.stderr


def test_the_values_of_our_options_are_no_paths(tmp_path: Path) -> None:
    """``--model checks``: the conftest.py in a folder of that name is not looked for."""
    _project(tmp_path, "", "--theirs")
    _project(tmp_path, "checks", "--mine", "required=True")
    done = _pytest(tmp_path, "--langs", "checks", "test_plain.py")
    assert 4 == done.returncode, done.stdout + done.stderr
    assert "--langs is given, and no model" in done.stderr


def test_what_lies_above_a_project_is_no_part_of_it(tmp_path: Path) -> None:
    """Its conftest.py is not loaded, nor are the folders beside the project looked through."""
    (tmp_path / "conftest.py").write_text("raise ValueError", encoding="utf-8")
    project = tmp_path / "project"
    project.mkdir()
    _project(project, "", "--model")
    done = _pytest(project, "--model=x")
    assert 0 == done.returncode, done.stdout + done.stderr


def test_help_shows_what_is_ours(tmp_path: Path) -> None:
    """``--help`` lists their option and the short ones that are left to us."""
    _project(tmp_path, "", "--model", "help='of theirs'")
    done = _pytest(tmp_path, "--help")
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "of theirs" in done.stdout
    assert "Short for --xling-langs." in done.stdout
    assert "Short for --xling-model." not in done.stdout


def test_a_clash_with_somebody_else_is_not_ours(tmp_path: Path) -> None:
    """A conftest.py that declares an option of pytest's own is shown what pytest shows."""
    _project(tmp_path, "", "--verbose")
    done = _pytest(tmp_path)
    assert 1 == done.returncode
    assert "conflicting option string: --verbose" in done.stderr
    assert "xling_short" not in done.stderr


def test_a_required_option_is_left_to_pytest(tmp_path: Path) -> None:
    """Looking for clashes early asks for no option early: pytest's own help does not, either."""
    _project(tmp_path, "", "--theirs", "required=True")
    assert 0 == _pytest(tmp_path, "--theirs=x").returncode
    assert 4 == _pytest(tmp_path).returncode
