"""How far raters agree, as tables and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_xling.gates.wording import percent
from pytest_xling.reports.review.agreement import MAJORITY
from pytest_xling.reports.sheet import Sheet
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.reports.review.agreement import (
        Disagreement,
        RaterAgreement,
        RatersAgreement,
    )
    from pytest_xling.stats.kappa import FleissKappa, Kappa
    from pytest_xling.stats.labelling import Measure
    from pytest_xling.stats.rate_intervals import WeightedRate

__all__ = [
    "disagreement_rows",
    "disagreement_text",
    "judge_rows",
    "judge_sheets",
    "raters_rows",
    "raters_sheet",
]

_NONE: Final = "–"
_REASON: Final = 200


def judge_rows(found: Sequence[RaterAgreement]) -> list[dict[str, Any]]:
    """Return one row for each rater and language, not rounded."""
    return [
        {
            "rater": one.rater,
            "language": one.language,
            "n": one.agreement.n,
            **_ends("agreement", one.agreement),
            "effective_n": one.agreement.size,
            **_ends("kappa", one.quality.kappa),
            **_ends("kappa_of_sample", one.kappa),
            "kappa_of_sample_reason": one.kappa.reason,
            **_ends("macro_f1", one.quality.macro_f1),
            "labels": [
                {
                    "label": label.label,
                    "n": label.support,
                    **_ends("precision", label.precision),
                    **_ends("recall", label.recall),
                    **_ends("f1", label.f1),
                }
                for label in one.quality.labels
            ],
            "cannot_tell": one.cannot_tell,
            "unlabelled": one.unlabelled,
            "no_value": one.no_value,
            "saw_judge": one.saw_judge,
            "unseen": one.unseen,
        }
        for one in found
    ]


def raters_rows(found: Sequence[RatersAgreement]) -> list[dict[str, Any]]:
    """Return one row for each language, not rounded."""
    return [
        {
            "language": one.language,
            "raters": one.raters,
            "n": one.kappa.n,
            **_ends("fleiss_kappa", one.kappa),
            "agreement": one.kappa.agreement,
            "reason": one.kappa.reason,
        }
        for one in found
    ]


def disagreement_rows(found: Sequence[Disagreement]) -> list[dict[str, Any]]:
    """Return one row for each answer, with what each rater said."""
    return [
        {
            "case": one.judged.case_id,
            "language": one.judged.language,
            "judge": one.judged.label,
            "reasoning": one.judged.reasoning,
            "raters": {
                rater: {"label": rating.label, "reason": rating.reason}
                for rater, rating in one.said.items()
            },
        }
        for one in found
    ]


def judge_sheets(found: Sequence[RaterAgreement], *, labeller: str) -> list[Sheet]:
    """Return how raters agree with the labels of the run, and how well these are found.

    Args:
        found: by rater and language.
        labeller: who gave the run's labels, such as ``the judge``.
    """
    heads = ("rater", "language", "n", "agreement (95%)", "κ (95%)", "cannot tell", "open", "saw")
    rows = [
        (
            one.rater,
            one.language,
            str(one.agreement.n),
            _percent(one.agreement),
            _with_ends(one.quality.kappa),
            str(one.cannot_tell),
            str(one.unlabelled),
            str(one.saw_judge),
        )
        for one in found
    ]
    notes = [
        "Agreement and Cohen's κ are of the run: the sample weighted back.",
        f"n: answers that the rater and {labeller} gave a label.",
        f"open: not labelled; of the majority: split. saw: after that of {labeller} was seen.",
    ]
    by_rater = {one.rater: one for one in found}
    if several := MAJORITY in by_rater:
        notes.append("majority: the label most raters gave.")
    unseen = max((one.unseen for one in found), default=0)
    if unseen:
        notes.append(
            f"Up to {unseen:,} answers of the run lie in strata of which a rater has labelled "
            "none: nothing stands for them."
        )
    missing = max((one.no_value for one in found), default=0)
    if missing:
        notes.append(
            f"Of up to {missing:,} labelled answers {labeller} said nothing: left out of agreement "
            "and n, misses in recall and κ."
        )
    chosen = [one for one in found if not several or one.rater == MAJORITY]
    return [
        _sheet(f"{labeller.capitalize()} against raters", heads, rows, left=2, notes=notes),
        _quality(chosen, labeller),
    ]


def _quality(found: Sequence[RaterAgreement], labeller: str) -> Sheet:
    heads = ("rater", "language", "label", "n", "precision", "recall", "F1 (95%)")
    rows = []
    for one in found:
        for number, label in enumerate(one.quality.labels):
            names = ("", "") if number else (one.rater, one.language)
            measures = (_plain(label.precision), _plain(label.recall), _with_ends(label.f1))
            rows.append((*names, label.label, str(label.support), *measures))
    notes = ("Raters' labels taken as right; the sample weighted back to the run.",)
    return _sheet(f"How well {labeller} finds each label", heads, rows, left=3, notes=notes)


def raters_sheet(found: Sequence[RatersAgreement]) -> Sheet:
    """Return how raters agree with each other."""
    heads = ("language", "raters", "n", "equal pairs", "Fleiss' κ (95%)")
    rows = [
        (
            one.language,
            str(one.raters),
            str(one.kappa.n),
            _NONE if one.kappa.agreement is None else percent(one.kappa.agreement),
            _with_ends(one.kappa),
        )
        for one in found
    ]
    reasons = dict.fromkeys(one.kappa.reason for one in found if one.kappa.reason)
    notes = (
        "Of answers with two labels or more, as sampled; bootstrap over claims or questions.",
        *(f"{_NONE}: {reason}." for reason in reasons),
    )
    return _sheet("Raters against each other", heads, rows, left=1, notes=notes)


def disagreement_text(found: Sequence[Disagreement], *, limit: int, labeller: str) -> str:
    """Return the answers on which raters and *labeller* differ, *limit* of them at most."""
    lines = [f"{len(found)} answers are labelled differently than {labeller} does:"]
    for one in found[:limit]:
        lines.append(f"  {one.judged.case_id}: {labeller} says {one.judged.label}")
        for rater, rating in one.said.items():
            reason = f": {printable(rating.reason, limit=_REASON)}" if rating.reason else ""
            lines.append(f"    {printable(rater)} says {rating.label}{reason}")
    if len(found) > limit:
        lines.append(f"  … and {len(found) - limit} more; --json has all")
    return "\n".join(lines)


def _sheet(
    title: str,
    heads: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    *,
    left: int,
    notes: Sequence[str],
) -> Sheet:
    columns = {head: [printable(row[n]) for row in rows] for n, head in enumerate(heads)}
    return Sheet(title=title, columns=columns, left=left, notes=tuple(notes))


def _ends(name: str, made: FleissKappa | Kappa | Measure | WeightedRate) -> dict[str, float | None]:
    return {name: made.value, f"{name}_low": made.low, f"{name}_high": made.high}


def _plain(measure: Measure) -> str:
    return _NONE if measure.value is None else f"{measure.value:.2f}"


def _with_ends(made: FleissKappa | Measure) -> str:
    if made.value is None:
        return _NONE
    if made.low is None or made.high is None:
        return f"{made.value:.2f}"
    return f"{made.value:.2f} ({made.low:.2f} to {made.high:.2f})"


def _percent(rate: WeightedRate) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return _NONE
    return f"{percent(rate.value)} ({percent(rate.low)} to {percent(rate.high)})"
