"""A benchmark to be planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.planning.bread import Bread

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def bread(tmp_path: Path) -> Bread:
    """The benchmark ``bread``, not written yet."""
    return Bread(tmp_path)
