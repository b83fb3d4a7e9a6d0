"""How far raters agree, as tables and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_xling.reports.review.agreement import MAJORITY
from pytest_xling.reports.sheet import Sheet
from pytest_xling.text.display import printable
from pytest_xling.text.numbers import NONE, measured, percent, share, with_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.reports.review.agreement import (
        Disagreement,
        RaterAgreement,
        RatersAgreement,
    )
    from pytest_xling.stats.rate_intervals import WeightedRate

_REASON: Final = 200


def judge_rows(agreements: Sequence[RaterAgreement]) -> list[dict[str, Any]]:
    """Return one row for each rater and language, not rounded."""
    return [
        {
            "rater": agreement.rater,
            "language": agreement.language,
            "n": agreement.agreement.n,
            **with_ends("agreement", agreement.agreement),
            "effective_n": agreement.agreement.size,
            **with_ends("kappa", agreement.quality.kappa),
            **with_ends("kappa_of_sample", agreement.kappa),
            "kappa_of_sample_reason": agreement.kappa.reason,
            **with_ends("macro_f1", agreement.quality.macro_f1),
            "labels": [
                {
                    "label": label.label,
                    "n": label.support,
                    **with_ends("precision", label.precision),
                    **with_ends("recall", label.recall),
                    **with_ends("f1", label.f1),
                }
                for label in agreement.quality.labels
            ],
            "cannot_tell": agreement.cannot_tell,
            "unlabelled": agreement.unlabelled,
            "no_value": agreement.no_value,
            "saw_judge": agreement.saw_judge,
            "unseen": agreement.unseen,
        }
        for agreement in agreements
    ]


def raters_rows(agreements: Sequence[RatersAgreement]) -> list[dict[str, Any]]:
    """Return one row for each language, not rounded."""
    return [
        {
            "language": agreement.language,
            "raters": agreement.raters,
            "n": agreement.kappa.n,
            **with_ends("fleiss_kappa", agreement.kappa),
            "agreement": agreement.kappa.agreement,
            "reason": agreement.kappa.reason,
        }
        for agreement in agreements
    ]


def disagreement_rows(disputed: Sequence[Disagreement]) -> list[dict[str, Any]]:
    """Return one row for each answer, with what each rater said."""
    return [
        {
            "case": dispute.judged.case_id,
            "language": dispute.judged.language,
            "judge": dispute.judged.label,
            "reasoning": dispute.judged.reasoning,
            "raters": {
                rater: {"label": rating.label, "reason": rating.reason}
                for rater, rating in dispute.ratings.items()
            },
        }
        for dispute in disputed
    ]


def judge_sheets(agreements: Sequence[RaterAgreement], *, labeller: str) -> list[Sheet]:
    """Return how raters agree with the labels of *labeller*, and how well these are found."""
    notes = [
        "Agreement and Cohen's κ are of the run: the sample weighted back.",
        f"n: answers that the rater and {labeller} gave a label.",
        f"open: not labelled; of the majority: split. saw: after that of {labeller} was seen.",
    ]
    by_rater = {agreement.rater: agreement for agreement in agreements}
    if several := MAJORITY in by_rater:
        notes.append("majority: the label most raters gave.")
    unseen = max((agreement.unseen for agreement in agreements), default=0)
    if unseen:
        notes.append(
            f"Up to {unseen:,} answers of the run lie in strata of which a rater has labelled "
            "none: nothing stands for them."
        )
    missing = max((agreement.no_value for agreement in agreements), default=0)
    if missing:
        notes.append(
            f"Of up to {missing:,} labelled answers {labeller} said nothing: left out of agreement "
            "and n, misses in recall and κ."
        )
    against = Sheet.of(
        f"{labeller.capitalize()} against raters",
        agreements,
        {
            "rater": lambda row: printable(row.rater),
            "language": lambda row: row.language,
            "n": lambda row: str(row.agreement.n),
            "agreement (95%)": lambda row: _percent(row.agreement),
            "κ (95%)": lambda row: measured(row.quality.kappa),
            "cannot tell": lambda row: str(row.cannot_tell),
            "open": lambda row: str(row.unlabelled),
            "saw": lambda row: str(row.saw_judge),
        },
        left=2,
        notes=notes,
    )
    chosen = [agreement for agreement in agreements if not several or agreement.rater == MAJORITY]
    return [against, _quality(chosen, labeller)]


def _quality(agreements: Sequence[RaterAgreement], labeller: str) -> Sheet:
    lines = [
        (*((printable(each.rater), each.language) if not number else ("", "")), label)
        for each in agreements
        for number, label in enumerate(each.quality.labels)
    ]
    return Sheet.of(
        f"How well {labeller} finds each label",
        lines,
        {
            "rater": lambda line: line[0],
            "language": lambda line: line[1],
            "label": lambda line: line[2].label,
            "n": lambda line: str(line[2].support),
            "precision": lambda line: measured(line[2].precision, interval=False),
            "recall": lambda line: measured(line[2].recall, interval=False),
            "F1 (95%)": lambda line: measured(line[2].f1),
        },
        left=3,
        notes=["Raters' labels taken as right; the sample weighted back to the run."],
    )


def raters_sheet(agreements: Sequence[RatersAgreement]) -> Sheet:
    """Return how raters agree with each other."""
    reasons = dict.fromkeys(
        agreement.kappa.reason for agreement in agreements if agreement.kappa.reason
    )
    return Sheet.of(
        "Raters against each other",
        agreements,
        {
            "language": lambda row: row.language,
            "raters": lambda row: str(row.raters),
            "n": lambda row: str(row.kappa.n),
            "equal pairs": lambda row: share(row.kappa.agreement),
            "Fleiss' κ (95%)": lambda row: measured(row.kappa),
        },
        notes=[
            "Of answers with two labels or more, as sampled; bootstrap over claims or questions.",
            *(f"{NONE}: {reason}." for reason in reasons),
        ],
    )


def disagreement_text(disputed: Sequence[Disagreement], *, limit: int, labeller: str) -> str:
    """Return the answers on which raters and *labeller* differ, *limit* of them at most."""
    lines = [f"{len(disputed)} answers are labelled differently than {labeller} does:"]
    for dispute in disputed[:limit]:
        lines.append(f"  {dispute.judged.case_id}: {labeller} says {dispute.judged.label}")
        for rater, rating in dispute.ratings.items():
            reason = f": {printable(rating.reason, limit=_REASON)}" if rating.reason else ""
            lines.append(f"    {printable(rater)} says {rating.label}{reason}")
    if len(disputed) > limit:
        lines.append(f"  … and {len(disputed) - limit} more; --json has all")
    return "\n".join(lines)


def _percent(rate: WeightedRate) -> str:
    if rate.value is None or rate.low is None or rate.high is None:
        return NONE
    return f"{percent(rate.value)} ({percent(rate.low)} to {percent(rate.high)})"
