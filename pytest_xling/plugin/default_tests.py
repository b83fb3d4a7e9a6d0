"""The tests of a benchmark that has no test file: each answer, and each limit."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.plugin.cases import CaseCheck
    from pytest_xling.plugin.gates import GateCheck


def test_answer(xling_case: CaseCheck) -> None:
    """There is an answer, and no flag that thresholds.yaml limits is raised."""
    xling_case.check()


def test_gate(xling_gate: GateCheck) -> None:
    """What thresholds.yaml demands of all answers holds."""
    xling_gate.check()


def collect_tests(file: Path, parent: pytest.Collector) -> pytest.Module:
    """Return the tests above as those of *file*, a benchmark's prompts.yaml."""
    module = ModuleType(file.stem, __doc__)
    for function in (test_answer, test_gate):
        # pytest shows where a function's code is; to users that is their benchmark.
        code = function.__code__.replace(co_filename=str(file), co_firstlineno=1)
        test = FunctionType(code, globals(), function.__name__)
        test.__doc__ = function.__doc__
        setattr(module, function.__name__, test)
    collector: pytest.Module = pytest.Module.from_parent(parent, path=file)
    collector.obj = module
    return collector
