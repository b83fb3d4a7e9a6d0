"""Gate language models on how they answer in every language, as pytest cases.

The names below are what a conftest.py, a benchmark or a notebook needs; everything else may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_xling.authoring import annotator, flag, number, provider
    from pytest_xling.errors import (
        ConfigError,
        EvaluationError,
        PermanentFault,
        RateLimited,
        TransientFault,
        XlingError,
    )
    from pytest_xling.interfaces.annotator import AnswerAnnotator, AskingAnnotator, TextAnnotator
    from pytest_xling.interfaces.metric import Flag, Number
    from pytest_xling.records import Answer, AnswerSet, Message, Reading, Response, Sample

__all__ = [
    "Answer",
    "AnswerAnnotator",
    "AnswerSet",
    "AskingAnnotator",
    "ConfigError",
    "EvaluationError",
    "Flag",
    "Message",
    "Number",
    "PermanentFault",
    "RateLimited",
    "Reading",
    "Response",
    "Sample",
    "TextAnnotator",
    "TransientFault",
    "XlingError",
    "annotator",
    "flag",
    "number",
    "provider",
]

_MODULES = {
    "authoring": ("annotator", "flag", "number", "provider"),
    "errors": (
        "ConfigError",
        "EvaluationError",
        "PermanentFault",
        "RateLimited",
        "TransientFault",
        "XlingError",
    ),
    "interfaces.annotator": ("AnswerAnnotator", "AskingAnnotator", "TextAnnotator"),
    "interfaces.metric": ("Flag", "Number"),
    "records": ("Answer", "AnswerSet", "Message", "Reading", "Response", "Sample"),
}
_MODULE_OF = {name: module for module, listed in _MODULES.items() for name in listed}


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    """Import a public name when it is first used: the plugin loads in every pytest run."""
    if name not in _MODULE_OF:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
