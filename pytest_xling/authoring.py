"""Metrics, annotators and providers from one function, in a conftest.py or a benchmark's test file.

    import pytest_xling as xling


    @xling.flag(version="1")
    def too_short(answer: xling.Answer) -> bool | None:
        \"\"\"Flags answers of fewer than 20 characters.\"\"\"
        return len(answer.text) < 20

The source's digest stands in the signature, so that a changed function is scored anew even where
its version was forgotten. What else it rests on (helpers, libraries) is up to the version.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pytest_xling import registry
from pytest_xling.errors import BrokenStep, ConfigError, TransientFault
from pytest_xling.files.whole import display_path
from pytest_xling.interfaces.annotator import TextAnnotator
from pytest_xling.interfaces.metric import Flag, Number
from pytest_xling.records import Reading, Response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pytest_xling.interfaces.metric import Better, Bounds, Metric, Unit
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, Request

__all__ = ["annotator", "flag", "number", "provider"]

Function = TypeVar("Function", bound="Callable[..., Any]")
Replies: TypeAlias = "Callable[..., Awaitable[str | Response]]"


def flag(
    *,
    version: str = "1",
    needs: Sequence[str] = (),
    unit: Unit = "answer",
    least: int = 1,
    scores_missing: bool = False,
) -> Callable[[Function], Function]:
    """Make a flag of a function from an answer to True (bad), False or None (cannot know).

    The function's name is the metric's. It may return a :class:`~pytest_xling.records.Reading`
    instead, to give the reason; else the first line of its docstring is shown with what it flags.

    Args:
        version: raised whenever the same input would give another reading.
        needs: annotators whose output it reads from ``answer.annotations``.
        unit: what one reading is of; for others than ``answer`` it is given an AnswerSet.
        least: how many answers a set needs.
        scores_missing: whether it is asked about answers that are none, too.

    Raises:
        ConfigError: a metric of that name exists already.
    """
    shared = {"unit": unit, "least": least, "scores_missing": scores_missing}
    return _metric_of(Flag, version, needs, shared)


def number(
    *,
    version: str = "1",
    needs: Sequence[str] = (),
    bounds: Bounds = (None, None),
    better: Better | None = None,
    unit: Unit = "answer",
    least: int = 1,
    scores_missing: bool = False,
) -> Callable[[Function], Function]:
    """Make a number of a function from an answer to a number or None (cannot know).

    Args:
        version: as for :func:`flag`, and so the others.
        needs: annotators whose output it reads.
        bounds: the lowest and the highest value there can be; None where there is no end.
        better: ``higher`` or ``lower``, where languages are to be compared by it.
        unit: what one reading is of.
        least: how many answers a set needs.
        scores_missing: whether it is asked about answers that are none, too.

    Raises:
        ConfigError: a metric of that name exists already.
    """
    shared = {"unit": unit, "least": least, "scores_missing": scores_missing}
    return _metric_of(Number, version, needs, {**shared, "bounds": bounds, "better": better})


def annotator(*, version: str = "1") -> Callable[[Function], Function]:
    """Make an annotator of a function from a text and its language to a JSON value.

    Metrics that name it in ``needs`` find the value in ``answer.annotations[NAME].value``.

    Raises:
        ConfigError: an annotator of that name exists already.
    """

    def made(function: Function) -> Function:
        def annotate(
            _self: TextAnnotator, texts: Sequence[str], languages: Sequence[str]
        ) -> list[JsonValue]:
            return [
                function(text, language) for text, language in zip(texts, languages, strict=True)
            ]

        _add("annotator", TextAnnotator, function, version, {"annotate": annotate})
        return function

    return made


def provider(
    name: str, *, paid: bool = False, max_connections: int = 16
) -> Callable[[Function], Function]:
    """Make a provider of an async function from messages to the text of the answer.

    It is called with a list of :class:`~pytest_xling.records.Message` and, as keywords, what it
    names of ``model`` (what follows ``NAME:`` in ``--model``), ``temperature``, ``max_tokens``,
    ``seed`` and ``repeat``. An OSError or a time-out is asked again; a fault that is to end the run
    is a ``PermanentFault``.

    Args:
        name: as in ``--model=NAME``.
        paid: whether requests may cost money.
        max_connections: requests it can usefully have in flight at once.

    Raises:
        ConfigError: a provider of that name exists already.
    """

    def made(function: Function) -> Function:
        cls = type(
            f"Provider_{name}",
            (_FunctionProvider,),
            {
                "name": name,
                "paid": paid,
                "max_connections": max_connections,
                "function": staticmethod(function),
                "__doc__": function.__doc__,
                "__module__": function.__module__,
            },
        )
        registry.add("provider", name, cls, origin=_origin(function))
        return function

    return made


class _FunctionProvider:
    """Asks a function of the user's."""

    style: PromptStyle = "chat"
    function: Replies

    def __init__(self, spec: str = "", *, timeout_s: float = 120.0, device: str = "auto") -> None:
        del device
        self._model = spec
        self._timeout_s = timeout_s
        self._source = _digest(self.function)
        parameters = inspect.signature(self.function).parameters
        self._takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        self._taken = frozenset(parameters)

    def check(self) -> None:
        """Raise ConfigError where the function is not async."""
        if not inspect.iscoroutinefunction(self.function):
            msg = f"{_origin(self.function)}: a provider is an async function; write `async def`"
            raise ConfigError(msg)

    def identify(self, request: Request) -> dict[str, JsonValue]:
        """Return all that determines the answer, the function's source among it."""
        return {
            "source": self._source,
            "model": self._model,
            "messages": [[message.role, message.content] for message in request.messages],
            "params": dict(request.params),
        }

    async def generate(self, request: Request) -> Response:
        """Ask once.

        Raises:
            TransientFault: it took too long, or could not reach what it asks.
            BrokenStep: what came back is neither a text nor a Response.
        """
        given = {"model": self._model, "repeat": request.repeat, **request.params}
        wanted = {k: v for k, v in given.items() if self._takes_all or k in self._taken}
        try:
            async with asyncio.timeout(self._timeout_s):
                reply: object = await self.function(list(request.messages), **wanted)
        except OSError as error:  # TimeoutError is one
            msg = f"{_origin(self.function)}: {str(error) or type(error).__name__}"
            raise TransientFault(msg) from error
        if isinstance(reply, Response):
            return reply
        if not isinstance(reply, str):
            msg = f"{_origin(self.function)} gave {type(reply).__name__}, not a text or a Response"
            raise BrokenStep(msg)
        return Response(text=reply, stop_reason="stop", model_version=self._source)

    async def aclose(self) -> None:
        """Do nothing: nothing is held."""


def _metric_of(
    base: type[Metric[Any]], version: str, needs: Sequence[str], shared: Mapping[str, object]
) -> Callable[[Function], Function]:
    def made(function: Function) -> Function:
        name = function.__name__
        summary = (inspect.getdoc(function) or name).split("\n")[0]

        def read(_self: Metric[Any], answer: Any, /) -> Reading:  # noqa: ANN401  an answer or a set
            return _reading(function(answer), flag=base is Flag, of=name, summary=summary)

        namespace = {"needs": tuple(needs), "read": read, **shared}
        _add("metric", base, function, version, namespace)
        return function

    return made


def _add(
    kind: registry.Kind,
    base: type,
    function: Callable[..., Any],
    version: str,
    namespace: Mapping[str, object],
) -> None:
    """Make a class of *function* and register it."""
    digest = _digest(function)
    cls = type(
        function.__name__,
        (base,),
        {
            "name": function.__name__,
            "version": version,
            "signed": lambda _self: {"source": digest},
            "__doc__": function.__doc__ or function.__name__,
            "__module__": function.__module__,
            **namespace,
        },
    )
    made: type = dataclass(frozen=True, kw_only=True)(cls)
    registry.add(kind, function.__name__, made, origin=_origin(function))


def _reading(value: object, *, flag: bool, of: str, summary: str) -> Reading:
    """Return what a function gave as a reading.

    Raises:
        BrokenStep: it is none.
    """
    if isinstance(value, Reading):
        return value
    if value is None:
        return Reading(value=None, reason=f"{of} gave no value")
    if isinstance(value, bool) and flag:
        return Reading(value=float(value), reason=summary if value else "")
    if isinstance(value, int | float) and not isinstance(value, bool) and not flag:
        return Reading(value=float(value))
    wanted = "True, False" if flag else "a number"
    msg = f"{of} gave {value!r}; it is to give {wanted}, None or a Reading"
    raise BrokenStep(msg)


def _digest(function: Callable[..., Any]) -> str:
    """Return a short digest of a function's source, of its code where there is no source."""
    try:
        source = dedent(inspect.getsource(function)).encode()
    except OSError:
        source = function.__code__.co_code + repr(function.__code__.co_consts).encode()
    return hashlib.sha256(source).hexdigest()[:12]


def _origin(function: Callable[..., Any]) -> str:
    code = function.__code__
    return f"{display_path(Path(code.co_filename))}:{code.co_firstlineno}"
