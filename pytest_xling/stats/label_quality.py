"""How well labels match those that are known, as numbers; nothing here needs numpy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number from 0 to 1 (κ: from -1) with its interval; None where it is not defined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelQuality:
    """How well one label is found."""

    label: str
    support: int
    """How many have it."""
    precision: Measure
    recall: Measure
    f1: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """The quality of labels, all classes together."""

    n: int
    missing: int
    """How many got no label: a false negative for their known label, no false positive."""
    accuracy: Measure
    macro_f1: Measure
    """The mean F1 of the labels that occur, known or assigned."""
    kappa: Measure
    """Cohen's; no label counts as a label of its own."""
    labels: tuple[LabelQuality, ...]
    questions: int | None = None
    """About how many the items are; None of a calibration kept before that was counted."""
