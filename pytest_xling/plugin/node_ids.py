"""Find the case or gate of a test by its node id, all the controller knows of workers' tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.planning.plan import Case
from pytest_xling.scheduling.groups import GATE, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

NO_GATES_ID: Final = "no-gates"
"""The id of the skipped test of a benchmark without gates."""


class NodeIds:
    """Finds the planned case, or the gate, that a test is parametrised with.

    Args:
        plans: by folder, the cases.
        gates: by folder, the ids of the gates there may be.
        roots: the folders that paths in node ids are relative to: the root directory, and those
            outside of it that pytest collects.
    """

    def __init__(
        self,
        plans: Mapping[Path, Sequence[Case]],
        gates: Mapping[Path, Collection[str]],
        roots: Sequence[Path],
    ) -> None:
        self._cases = {folder: {case.id: case for case in plan} for folder, plan in plans.items()}
        self._gates = gates
        self._roots = roots
        self._folders: dict[str, Path] = {}

    def kind(self, nodeid: str) -> str | None:
        """Return ``GATE``, the group of the test's case, or None for any other test."""
        match = self._case_or_gate(nodeid)
        return match.group if isinstance(match, Case) else match

    def cases(self, nodeids: Sequence[str]) -> list[Case]:
        """Return the cases that tests are about, each once."""
        cases = (case for case in map(self._case_or_gate, nodeids) if isinstance(case, Case))
        return list({(case.benchmark, case.id): case for case in cases}.values())

    def _case_or_gate(self, nodeid: str) -> Case | str | None:
        """Return the case of a test, ``GATE`` for any gate, or None for any other test."""
        name = parse(nodeid)
        folder = self._folder(name.path)
        cases = self._cases.get(folder)
        if cases is None or name.callspec is None:
            return None
        for part in _parts(name.callspec):
            if part in cases:
                return cases[part]
            if part == NO_GATES_ID or part in self._gates[folder]:
                return GATE
        return None

    def _folder(self, path: str) -> Path:
        if path not in self._folders:
            folders = [(root / path).parent.resolve() for root in self._roots]
            known = (folder for folder in folders if folder in self._cases)
            self._folders[path] = next(known, folders[0])
        return self._folders[path]


def _parts(callspec: str) -> Iterator[str]:
    """Yield the id of a parameter set, and what may be the ids of single parameters in it."""
    yield callspec
    words = callspec.split("-")
    for length in range(len(words) - 1, 0, -1):
        for start in range(len(words) - length + 1):
            yield "-".join(words[start : start + length])
