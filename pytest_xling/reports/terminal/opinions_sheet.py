"""What other paired tests say of the changes since a baseline, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.gates.wording import NONE, Figures, p_value
from pytest_xling.reports.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.analysis.comparison import Change
    from pytest_xling.analysis.second_opinions import SecondOpinion

__all__ = ["opinions_sheet"]


def opinions_sheet(opinions: Mapping[Change, SecondOpinion]) -> Sheet:
    """Return a row per change: p by each test, and the bootstrap's interval."""
    several = len({change.benchmark for change in opinions}) > 1
    columns: dict[str, list[str]] = {
        "metric": [f"{one.benchmark}/{one.metric}" if several else one.metric for one in opinions],
        "lang.": [change.language for change in opinions],
        "BCa 95%": [_interval(change, one) for change, one in opinions.items()],
        "t": [_p(change.p) for change in opinions],
        "BCa": [_p(one.p_bootstrap) for one in opinions.values()],
        "flips": [_p(one.p_sign_flips) for one in opinions.values()],
        "ranks": [_p(one.p_wilcoxon) for one in opinions.values()],
    }
    notes = [
        "p of no change, not corrected: t (gates use it), bootstrap over questions (BCa),",
        "flipping the signs of questions, and Wilcoxon's signed ranks.",
    ]
    margins = {one.margin for one in opinions.values() if one.margin is not None}
    if margins:
        columns["no worse"] = [_p(one.p_no_worse) for one in opinions.values()]
        (margin,) = margins
        kinds = dict.fromkeys(change.share for change in opinions)
        told = (Figures(share=share, difference=True, digits=1).limit(margin) for share in kinds)
        notes.append(f"no worse: p of being worse by {' or '.join(told)} or more, one-sided")
    return Sheet(title="Other tests", columns=columns, left=2, notes=tuple(notes))


def _p(p: float | None) -> str:
    return NONE if p is None else p_value(p).removeprefix("= ")


def _interval(change: Change, one: SecondOpinion) -> str:
    if one.low is None or one.high is None:
        return NONE
    figures = Figures.fitting([one.low, one.high], share=change.share, difference=True)
    return " to ".join(figures.ends(one.low, one.high))
