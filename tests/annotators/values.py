"""Values as annotators of stance and empathy give them."""

from __future__ import annotations

from pytest_xling.annotators.empathy import EmpathyAnnotator
from pytest_xling.annotators.stance import StanceAnnotator

__all__ = ["empathy_value", "stance_value"]

stance_value = StanceAnnotator.labelled_value
empathy_value = EmpathyAnnotator.labelled_value
