"""Scores kept as a run, which tables are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.analysis.loaded_run import load_run
from tests.runs import RUN, Scored, put_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pytest_xling.analysis.loaded_run import LoadedRun


@pytest.fixture
def keep(tmp_path: Path) -> Callable[..., LoadedRun]:
    """Keeps scores as a run in a store of its own, and reads it."""

    def kept(*scored: Sequence[Scored], **record: Any) -> LoadedRun:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.sqlite"
        put_run(path, [one for some in scored for one in some], **record)
        return load_run(RUN.run_id, store=path)

    return kept
