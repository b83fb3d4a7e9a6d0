"""The tables of XLingEval from a run: what each is made of and how it is laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.reports.papers import xlingeval_sheets as sheets
from pytest_xling.reports.papers.consistency_tables import (
    ANOVA_COLUMNS,
    CONSISTENCY_COLUMNS,
    TTEST_COLUMNS,
    TUKEY_COLUMNS,
    anova_rows,
    consistency_rows,
    ttest_rows,
    tukey_rows,
)
from pytest_xling.reports.papers.correctness_table import CORRECTNESS_COLUMNS, correctness_rows
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.papers.verifiability_table import (
    VERIFIABILITY_COLUMNS,
    verifiability_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["XLINGEVAL_TABLES"]


_PAIRWISE = frozenset({"pairwise"})

XLINGEVAL_TABLES: Mapping[str, PaperTable] = {
    "consistency": PaperTable(
        about="means over temperatures, and their drop from the pivot language's (Table A9)",
        rows=consistency_rows,
        columns=CONSISTENCY_COLUMNS,
        sheets=sheets.consistency_sheets,
        options=_PAIRWISE,
    ),
    "tukey": PaperTable(
        about="which languages differ: Tukey's HSD per temperature (Tables 2 and 3)",
        rows=tukey_rows,
        columns=TUKEY_COLUMNS,
        sheets=sheets.tukey_sheets,
        options=_PAIRWISE,
    ),
    "anova": PaperTable(
        about="whether languages differ: one-way ANOVA per temperature (Table A13)",
        rows=anova_rows,
        columns=ANOVA_COLUMNS,
        sheets=sheets.anova_sheets,
        options=_PAIRWISE,
    ),
    "ttest": PaperTable(
        about="unpaired t tests of each two languages per temperature (Table A12)",
        rows=ttest_rows,
        columns=TTEST_COLUMNS,
        sheets=sheets.ttest_sheets,
        options=_PAIRWISE | {"welch"},
    ),
    "correctness": PaperTable(
        about="what the judge says of answers, and how languages compare (Table 1)",
        rows=correctness_rows,
        columns=CORRECTNESS_COLUMNS,
        sheets=sheets.correctness_sheets,
    ),
    "verifiability": PaperTable(
        about="how well right answers are told from wrong ones (Table A11)",
        rows=verifiability_rows,
        columns=VERIFIABILITY_COLUMNS,
        sheets=sheets.verifiability_sheets,
    ),
}
