"""The header says which limits and which store are in force, and warns of others further up."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.project import Project

LIMITS = "defaults: {min_n: 1}\nbenchmarks:\n  bread:\n    no_answer: {max_rate: 0.99}\n"


@pytest.mark.slow
def test_the_header_says_what_is_in_force(project: Project) -> None:
    """Relative to where pytest was started; without a file it says none."""
    outcome = project.run("--model=scripted", "--langs=hi")
    assert "xling: thresholds none; store .xling/store.sqlite" in outcome.out.splitlines()
    project.write("limits/mine.yaml", LIMITS)
    outcome = project.run("--model=scripted", "--langs=hi", "--xling-thresholds=limits/mine.yaml")
    assert "xling: thresholds limits/mine.yaml; store .xling/store.sqlite" in outcome.out
    assert "further" not in outcome.out


@pytest.mark.slow
def test_another_root_directory_is_noticed(project: Project) -> None:
    """A subfolder with an ini file lacks the limits: 4. A store further up is named."""
    project.write("thresholds.yaml", LIMITS)
    assert project.run("--model=scripted", "--langs=hi").code == 0
    project.write("benchmarks/pytest.ini", "[pytest]\n")
    inside = replace(project, root=project.root / "benchmarks")
    shown = inside.refused("--model=scripted", "--langs=hi", "-q")
    root = project.root
    assert f"{root}/thresholds.yaml is not read: the root directory is {inside.root}" in shown
    assert f"--rootdir={root} or --xling-thresholds={root}/thresholds.yaml" in shown
    limits = f"--xling-thresholds={root}/thresholds.yaml"
    named = inside.run("--model=scripted", "--langs=hi", limits, code=0)
    assert f"{root}/.xling/store.sqlite is not used" in named.said
    assert f"--xling-store={root}/.xling/store.sqlite" in named.said
    mended = inside.run("--model=scripted", "--langs=hi", f"--rootdir={root}", code=0)
    assert f"xling: thresholds {root}/thresholds.yaml; store {root}/.xling" in mended.out
    assert "is not read" not in mended.out
    assert "no gate of" not in mended.out


@pytest.mark.parametrize(
    ("file", "arguments"),
    [
        ("thresholds.yml", ()),
        ("thresholds.yaml", ("-c", os.devnull, "benchmarks/bread")),
        ("thresholds.yaml", ("--rootdir=benchmarks",)),
        ("benchmarks/thresholds.yaml", ()),
    ],
)
def test_limits_that_would_not_be_found(
    project: Project, file: str, arguments: tuple[str, ...]
) -> None:
    """By another ending, and by another root directory: 4, with the file and what to say."""
    path = project.write(file, LIMITS)
    shown = project.refused("--model=scripted", "--langs=hi", *arguments)
    assert f"{path} is not read" in shown
    assert f"--xling-thresholds={path}" in shown
    assert not project.store.exists()


@pytest.mark.slow
def test_limits_that_an_unread_ini_file_names(project: Project) -> None:
    """Where -c takes that file's place, the limits it names are gone: 4."""
    project.write("limits/mine.yaml", LIMITS)
    project.write("pytest.ini", "[pytest]\nxling_thresholds = limits/mine.yaml\n")
    assert project.run("--model=scripted", "--langs=hi").code == 0
    outcome = project.run("--model=scripted", "--langs=hi", "-c", os.devnull, code=4)
    assert f"xling_thresholds in {project.root}/pytest.ini is not read" in outcome.err
