"""Find metrics, providers, annotators and dataset readers by name, importing only what is used.

A built-in is a module whose file name is its name, in the package of its kind; its one class is
named in the module's ``__all__``. A third-party one is an entry point in the group
``pytest_xling.<kind>s``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from pytest_xling.errors import ConfigError, did_you_mean

__all__ = ["Checks", "Kind", "Loads", "MetricKind", "MetricKinds", "load", "names"]

Kind: TypeAlias = Literal["annotator", "dataset", "metric", "provider"]
MetricKind: TypeAlias = Literal["flag", "number"]


@runtime_checkable
class Loads(Protocol):
    """A metric or annotator with something large to load before its first batch."""

    def load(self) -> None:
        """Load it; called while the first answers are awaited, on the thread that will score."""
        ...


@runtime_checkable
class Checks(Protocol):
    """A metric or annotator that needs what may not be there, such as an extra or a model."""

    def check(self) -> None:
        """Raise ConfigError if so; called while tests are collected, so it loads nothing."""
        ...


@cache
def _builtin(kind: Kind) -> frozenset[str]:
    folder = Path(__file__).parent / f"{kind}s"
    return frozenset(p.stem for p in folder.glob("[!_]*.py"))


@cache
def _entry_points(kind: Kind) -> dict[str, Any]:
    from importlib.metadata import entry_points  # noqa: PLC0415  costs 10 ms, seldom needed

    return {e.name: e for e in entry_points(group=f"pytest_xling.{kind}s")}


def names(kind: Kind) -> tuple[str, ...]:
    """Return all known names of *kind*, sorted; imports none of them."""
    return tuple(sorted(_builtin(kind) | _entry_points(kind).keys()))


@cache
def load(kind: Kind, name: str) -> Any:  # noqa: ANN401  the class is whatever the name stands for
    """Import and return the class registered as *name*.

    Raises:
        ConfigError: no such name (says what is close), or its module does not load.
    """
    if name in _builtin(kind):
        module = import_module(f"pytest_xling.{kind}s.{name}")
        (public,) = module.__all__
        return getattr(module, public)
    if name in _entry_points(kind):
        entry = _entry_points(kind)[name]
        try:
            return entry.load()
        except (ImportError, AttributeError) as error:
            msg = (
                f"{kind} {name!r} of another package cannot be loaded from {entry.value!r}: {error}"
            )
            raise ConfigError(msg) from error
    known = names(kind)
    msg = f"unknown {kind} {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}"
    raise ConfigError(msg)


class MetricKinds(Mapping[str, MetricKind]):
    """The kind of every metric, each loaded when asked for."""

    def __getitem__(self, name: str) -> MetricKind:
        """Return ``flag`` or ``number``."""
        if name not in names("metric"):
            raise KeyError(name)
        kind: MetricKind = load("metric", name).kind
        return kind

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(names("metric"))

    def __len__(self) -> int:
        """Return how many metrics there are."""
        return len(names("metric"))
