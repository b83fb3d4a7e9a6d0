"""Gate language models on how they answer in every language, as pytest cases.

The names below are what a conftest.py, a benchmark or a notebook needs; everything else may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_xling.analysis.loaded_run import LoadedRun, load_run
    from pytest_xling.authoring import annotator, flag, number, provider, search
    from pytest_xling.errors import (
        ConfigError,
        DataError,
        EvaluationError,
        PermanentFault,
        RateLimited,
        StoreError,
        TransientFault,
        XlingError,
    )
    from pytest_xling.interfaces.annotator import AnswerAnnotator, AskingAnnotator, TextAnnotator
    from pytest_xling.interfaces.metric import Flag, Number
    from pytest_xling.interfaces.search import SearchResult
    from pytest_xling.records import Answer, AnswerSet, Message, Reading, Response, Sample

__all__ = [
    "Answer",
    "AnswerAnnotator",
    "AnswerSet",
    "AskingAnnotator",
    "ConfigError",
    "DataError",
    "EvaluationError",
    "Flag",
    "LoadedRun",
    "Message",
    "Number",
    "PermanentFault",
    "RateLimited",
    "Reading",
    "Response",
    "Sample",
    "SearchResult",
    "StoreError",
    "TextAnnotator",
    "TransientFault",
    "XlingError",
    "annotator",
    "flag",
    "load_run",
    "number",
    "provider",
    "search",
]

_MODULES = {
    "analysis.loaded_run": ("LoadedRun", "load_run"),
    "authoring": ("annotator", "flag", "number", "provider", "search"),
    "errors": (
        "ConfigError",
        "DataError",
        "EvaluationError",
        "PermanentFault",
        "RateLimited",
        "StoreError",
        "TransientFault",
        "XlingError",
    ),
    "interfaces.annotator": ("AnswerAnnotator", "AskingAnnotator", "TextAnnotator"),
    "interfaces.metric": ("Flag", "Number"),
    "interfaces.search": ("SearchResult",),
    "records": ("Answer", "AnswerSet", "Message", "Reading", "Response", "Sample"),
}
_MODULE_OF = {name: module for module, listed in _MODULES.items() for name in listed}


def __dir__() -> list[str]:
    """List the public names, whether they are imported yet or not."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:  # noqa: ANN401  any public name
    """Import a public name when it is first used: the plugin loads in every pytest run."""
    if name not in _MODULE_OF:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
