"""Make a metric or annotator with the parameters a run has for it."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from importlib.metadata import version as installed_version
from typing import TYPE_CHECKING, Any, Literal, cast

from pytest_xling import registry
from pytest_xling.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.annotator import Annotator
    from pytest_xling.interfaces.metric import Metric
    from pytest_xling.keys import JsonValue

__all__ = ["Making", "parameters_of"]

SHARED = {"stance": "--xling-stance", "text_in": "--xling-text-in"}
"""Options for what metrics of stances and the annotators behind them must have alike."""

UNSIGNED = ("device",)
"""Fields that do not make another number of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """What metrics and annotators are made with.

    ``common`` fills every field of its name, unless ``own`` says otherwise.
    """

    common: Mapping[str, str | float | bool | None] = field(default_factory=dict)
    """By field, such as ``encoder``."""
    own: Mapping[str, str | float | bool | None] = field(default_factory=dict)
    """By ``name.field``, such as ``bertscore.idf``."""

    def make(self, kind: Literal["annotator", "metric"], name: str) -> Any:  # noqa: ANN401  any class
        """Return the metric or annotator called *name*, made.

        Raises:
            ConfigError: there is none, or a parameter of it is unknown or of the wrong type.
        """
        cls = registry.load(kind, name)
        known = {each.name: each for each in fields(cls)}
        given = {key: value for key, value in self.common.items() if key in known}
        for place, value in self.own.items():
            owner, _, key = place.partition(".")
            if owner != name:
                continue
            if key in SHARED and ("stance" in known or (kind == "annotator" and cls.calibrated)):
                msg = (
                    f"--xling-param: {place} is the same for all that find or read stances; set it "
                    f"with {SHARED[key]}"
                )
                raise ConfigError(msg)
            if key not in known:
                listed = ", ".join(sorted(known)) or "none"
                msg = (
                    f"--xling-param: {kind} {name!r} has no parameter {key!r}."
                    f"{did_you_mean(key, known)} It has: {listed}"
                )
                raise ConfigError(msg)
            given[key] = _fitting(place, value, known[key].default)
        return cls(**given)

    def annotators_of(self, metric: Any) -> dict[str, Any]:  # noqa: ANN401  any metric
        """Return by name the annotators that *metric*, already made, rests on, however far down."""
        found: dict[str, Any] = {}
        waiting = list(metric.needs)
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                found[name] = self.make("annotator", name)
                waiting += found[name].needs
        return found

    def check(self) -> None:
        """Check that every parameter belongs to a metric or annotator there is.

        Raises:
            ConfigError: one does not; says what is close.
        """
        names = dict.fromkeys(registry.names("metric"), "metric")
        names |= dict.fromkeys(registry.names("annotator"), "annotator")
        for place in self.own:
            owner = place.partition(".")[0]
            if owner not in names:
                msg = (
                    f"--xling-param: no metric or annotator is called {owner!r}."
                    f"{did_you_mean(owner, names)}"
                )
                raise ConfigError(msg)
            self.make("metric" if names[owner] == "metric" else "annotator", owner)


def parameters_of(made: Metric[Any] | Annotator) -> dict[str, JsonValue]:
    """Return a step's fields, what else it rests on, and the versions of its libraries."""
    values: dict[str, JsonValue] = {
        each.name: getattr(made, each.name)
        for each in fields(cast("Any", made))
        if each.name not in UNSIGNED
    }
    values.update(made.signed())
    for library in made.libraries:
        values[library] = installed_version(library)
    return values


def _fitting(
    place: str,
    value: Any,  # noqa: ANN401  what the user wrote
    default: Any,  # noqa: ANN401  any field's
) -> Any:  # noqa: ANN401  likewise
    """Return *value* if it is of the kind of its field's default."""
    if default in (MISSING, None) or value is None:
        return value
    if type(default) is float and type(value) is int:
        return float(value)
    if type(value) is not type(default):
        msg = (
            f"--xling-param: {place} must be {_KINDS.get(type(default), 'as its default')}, such "
            f"as {default!r}, not {value!r}"
        )
        raise ConfigError(msg)
    return value


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
