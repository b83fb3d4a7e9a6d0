"""What gates say, made up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.records import Estimate, Threshold, Verdict

if TYPE_CHECKING:
    from pytest_xling.records import Outcome


def verdict(
    outcome: Outcome = "fail",
    *,
    metric: str = "emoji",
    language: str = "hi",
    reason: str | None = None,
    **limits: Any,
) -> Verdict:
    """Return what a gate of a rate says of four answers."""
    of: dict[str, Any] = {"benchmark": "culture", "metric": metric, "language": language}
    return Verdict(
        case=f"{metric}-{language}",
        outcome=outcome,
        estimate=Estimate(
            metric=metric, language=language, value=0.5, low=0.1, high=0.9, n=4, unscored=0
        ),
        threshold=Threshold(**(of | {"max_rate": 0.1} | limits)),
        reason=f"because {outcome}" if reason is None else reason,
    )
