"""The part of a run that this session makes: its questions, and none of the gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.plugin.selection import case_of, gate_of, is_gate

if TYPE_CHECKING:
    from collections.abc import Generator

    from pytest_xling.planning.shards import Shard
    from pytest_xling.plugin.selection import Selection


class Sharding:
    """A pytest plugin: leaves the cases of one shard, once all else has selected.

    Where nobody else selects there are no others by then: a test takes some kB, run or not.

    Args:
        shard: which.
        selection: learns of the gates, whose metrics are scored here and which are judged later.
    """

    def __init__(self, shard: Shard, selection: Selection) -> None:
        self._shard = shard
        self._selection = selection

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Generator[None]:
        """Deselect gates, and cases of other shards; tests that are neither stay."""
        yield
        self._selection.judged_later = [
            spec for item in items if (spec := gate_of(item)) is not None
        ]
        elsewhere = [item for item in items if not self._has(item)]
        if elsewhere:
            items[:] = [item for item in items if self._has(item)]
            config.hook.pytest_deselected(items=elsewhere)

    def _has(self, item: pytest.Item) -> bool:
        case = case_of(item)
        return not is_gate(item) and (case is None or self._shard.has(case))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say who judges."""
        terminalreporter.write_line(
            f"{self._shard}: gates are judged when all are there, by `xling merge`"
        )
