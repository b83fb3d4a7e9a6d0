"""Shares of claims that something supports, as metrics read them from ``support_*`` annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_xling.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.records import Answer

__all__ = ["check_support", "checker", "judged"]

_JUDGES: Final = ("llm", "nli")


def checker(support: str) -> str:
    """Return the annotator that ``--xling-support`` names."""
    return f"support_{support.partition(':')[0]}"


def check_support(support: str) -> None:
    """Raise ConfigError where *support* names nothing that checks claims."""
    kind, colon, model = support.partition(":")
    if kind not in _JUDGES or (kind == "nli") != bool(model.strip()) or (kind == "llm" and colon):
        hint = "" if kind in _JUDGES else did_you_mean(kind, _JUDGES)
        msg = (
            f"--xling-support={support}: what checks claims is llm (the model of "
            f"--xling-judge) or nli:MODEL.{hint}"
        )
        raise ConfigError(msg)


def judged(
    checks: Sequence[Answer], *, by: str, max_unjudged: float
) -> tuple[list[Answer], list[Answer], str]:
    """Return the claims that are supported, those that are not, and why neither can be said.

    Claims without a verdict are left out, unless they are too many.

    Args:
        checks: claims beside texts, annotated; at least one.
        by: the annotator.
        max_unjudged: the share of claims that may stay without a verdict.
    """
    verdicts: list[Any] = [check.annotations[by].value for check in checks]
    unjudged = [each["reason"] for each in verdicts if each["supported"] is None]
    if len(unjudged) > max_unjudged * len(checks):
        why = f"{len(unjudged)} of {len(checks)} claims without a verdict: {unjudged[0]}"
        return [], [], why
    paired = list(zip(checks, verdicts, strict=True))
    return (
        [check for check, each in paired if each["supported"] is True],
        [check for check, each in paired if each["supported"] is False],
        "",
    )
