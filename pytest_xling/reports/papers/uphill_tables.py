"""The tables of UPHILL from a run: what they are made of, how they are laid out and drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.reports.papers.curves import stance_curves
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.papers.stance_sheets import stance_sheets
from pytest_xling.reports.papers.stance_table import STANCE_COLUMNS, stance_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UPHILL_TABLES"]

UPHILL_TABLES: Mapping[str, PaperTable] = {
    "stance": PaperTable(
        about="accuracy, consistency, stances by level; how languages agree (Tables 5, 10, 11)",
        rows=stance_rows,
        columns=STANCE_COLUMNS,
        sheets=stance_sheets,
        options=frozenset({"majority"}),
        drawing=stance_curves,
    ),
}
