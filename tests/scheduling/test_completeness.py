"""Tests for pytest_xling.scheduling.completeness in one process; tests/integration has workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_xling.scheduling.completeness import Completeness
from tests.forkserver import run_pytester

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = """
import pytest
from tests.scheduling.counted import Counted

def pytest_configure(config):
    config.pluginmanager.register(Counted())
"""
# A plugin that makes a report vanish, as a broken hook of a user's might.
LOSES = """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return True if "lost" in item.name else None
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Make a project whose runs are checked for completeness."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(CONFTEST + LOSES)
    return pytester


MIXED = """
import pytest
def test_pass(): pass
def test_fail(): assert False
def test_skip(): pytest.skip("no")
@pytest.mark.skip(reason="no")
def test_mark(): pass
@pytest.mark.xfail
def test_xfail(): assert False
@pytest.fixture
def broken(): assert False
def test_setup(broken): pass
@pytest.fixture
def ends_badly():
    yield
    assert False
def test_teardown(ends_badly): pass
"""


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), pytest.ExitCode.TESTS_FAILED),
        (("-x",), pytest.ExitCode.TESTS_FAILED),
        (("--maxfail=2",), pytest.ExitCode.TESTS_FAILED),
        (("--stepwise",), pytest.ExitCode.INTERRUPTED),
        (("-k", "pass or skip or mark"), pytest.ExitCode.OK),
        (("-k", "nothing_like_it"), pytest.ExitCode.NO_TESTS_COLLECTED),
        (("--collect-only",), pytest.ExitCode.OK),
        (("--setup-plan",), pytest.ExitCode.OK),
        (("--setup-only", "-k", "pass"), pytest.ExitCode.OK),
        (("--no-such-option",), pytest.ExitCode.USAGE_ERROR),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_complete_run_keeps_its_status(
    project: pytest.Pytester, args: tuple[str, ...], expected: pytest.ExitCode
) -> None:
    """Skips, expected failures, errors around a test, selections and stops are not losses."""
    project.makepyfile(MIXED)
    result = run_pytester(project, *args)
    assert expected == result.ret
    result.stdout.no_fnmatch_line("*incomplete*")


@pytest.mark.parametrize(
    ("code", "status", "lines"),
    [
        (
            "def test_a(): pass\ndef test_lost(): pass",
            pytest.ExitCode.INTERNAL_ERROR,
            ["*incomplete*", "1 of 2 tests *", "  test_it.py::test_lost"],
        ),
        (
            "\n".join(f"def test_lost{n}(): pass" for n in range(25)),
            pytest.ExitCode.INTERNAL_ERROR,
            ["25 of 25 tests gave no result:", "  ... and 15 more"],
        ),
        (
            "import pytest\ndef test_a(): pytest.exit('', returncode=0)\ndef test_b(): pass",
            pytest.ExitCode.INTERNAL_ERROR,
            ["*incomplete*"],
        ),
        (
            "def test_a(): raise KeyboardInterrupt\ndef test_b(): pass",
            pytest.ExitCode.INTERRUPTED,
            [],
        ),
    ],
    ids=["one", "many", "exit 0", "ctrl-c"],
)
def test_lost_tests_are_named_and_no_success(
    project: pytest.Pytester, code: str, status: pytest.ExitCode, lines: list[str]
) -> None:
    """Ten at most, the others counted; who leaves with status 0 lost the rest, and Ctrl-C is 2."""
    project.makepyfile(test_it=code)
    result = run_pytester(project)
    assert status == result.ret
    result.stdout.fnmatch_lines(lines)


def reported(completeness: Completeness, **fields: str) -> None:
    """Report the test ``t.py::a``, as passed where *fields* say nothing else."""
    report = pytest.TestReport("t.py::a", ("t.py", 0, "a"), {}, "passed", None, "call")
    report.__dict__.update(fields)
    completeness.pytest_runtest_logreport(report)


def test_a_test_collected_twice_must_be_reported_twice() -> None:
    """Equal node ids are counted; workers that collect the same are not added up."""
    completeness = Completeness()
    for _worker in range(2):
        completeness.pytest_xdist_node_collection_finished(["t.py::a", "t.py::a", "t.py::b"])
    reported(completeness)
    assert ["t.py::a", "t.py::b"] == completeness.missing()
    reported(completeness)
    assert ["t.py::b"] == completeness.missing()


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({"when": "setup"}, False),
        ({"when": "setup", "outcome": "failed"}, True),
        ({"when": "setup", "outcome": "skipped"}, True),
        ({"when": "call", "outcome": "failed"}, True),
        ({"when": "call", "outcome": "rerun"}, False),
        ({"when": "call", "context": "subtest"}, False),
        ({"when": "teardown", "outcome": "failed"}, False),
        ({"when": "???", "outcome": "failed"}, True),
    ],
)
def test_what_counts_as_reported(fields: dict[str, str], *, counts: bool) -> None:
    """The phase that decides, and xdist's crash report; no try that is rerun, and no subtest."""
    completeness = Completeness()
    completeness.pytest_xdist_node_collection_finished(["t.py::a"])
    reported(completeness, **fields)
    assert counts == ([] == completeness.missing())


def test_a_worker_interrupted_has_not_crashed() -> None:
    """Ctrl-C in a worker comes as an error of that name; ends without error are no crash."""
    completeness = Completeness()
    for error in (None, "keyboard-interrupt", "Not properly terminated"):
        completeness.pytest_testnodedown("gw0", error)
    assert ["worker gw0 died: Not properly terminated"] == completeness.crashes
