"""How a benchmark asks: how often, at which temperatures, about what, and compared with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from pytest_xling.config import values
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.records import Condition

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_xling.config.settings import Settings
    from pytest_xling.config.yaml import YamlFile

__all__ = ["DESIGN_KEYS", "Asked", "Design"]

Asked: TypeAlias = Literal["repeatedly", "per_temperature", "once"]
"""``repeatedly``: K times at every temperature. ``per_temperature``: once at each. ``once``: once,
at the lowest."""

DESIGN_KEYS = (
    "asked",
    "expand",
    "max_tokens",
    "pivot",
    "samples",
    "temperatures",
    "top_logprobs",
)
_MAX_TOP_LOGPROBS = 20
"""What OpenAI's interface allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What prompts.yaml says of the experiment, beside the prompts themselves."""

    asked: Asked = "repeatedly"
    samples: int = 1
    """How often a question is asked unless ``--xling-samples`` says otherwise."""
    temperatures: tuple[float | None, ...] = (0.0,)
    """Unless ``--xling-temperatures`` says otherwise."""
    pivot: str | None = None
    """The language others are compared with; it is always asked."""
    candidates: bool = False
    """Whether each question is asked once for every candidate answer it has, right or wrong."""
    levels: bool = False
    """Whether each claim is asked about once at every level of presupposition."""
    top_logprobs: int | None = None
    """How many of the likeliest first tokens to ask for."""
    max_tokens: int | None = None
    """A limit below ``--xling-max-tokens``, where an answer is a word."""

    @classmethod
    def read(cls, file: YamlFile) -> Design:
        """Read the keys of a prompts.yaml that concern the design.

        Raises:
            ConfigError: names file, line, key and fix.
        """
        design: dict[str, Any] = {}
        readers: dict[str, Callable[[Any], Any]] = {
            "asked": _asked,
            "samples": _count(values.count(1)),
            "temperatures": _temperatures,
            "pivot": lambda value: find(str(value)).code,
            "top_logprobs": _top_logprobs,
            "max_tokens": _count(values.count(1)),
            "expand": _expand,
        }
        for key, read in readers.items():
            if key not in file.data:
                continue
            try:
                value = read(file.get(key))
                design |= {value: True} if key == "expand" else {key: value}
            except (ConfigError, ValueError) as error:
                raise file.error(key, what=str(error)) from error
        return cls(**design)

    def conditions(self, settings: Settings) -> list[Condition]:
        """Return the conditions under which a question is asked in this run, by temperature."""
        temperatures = settings.temperatures or self.temperatures
        samples = settings.samples or self.samples
        if self.asked == "once":
            temperatures = temperatures[:1]
        if self.asked != "repeatedly":
            samples = 1
        return [
            Condition(temperature=temperature, repeat=repeat)
            for temperature in temperatures
            for repeat in range(samples)
        ]

    def repeats(self, settings: Settings) -> int:
        """Return how often a question is asked at each temperature."""
        return 1 + max(condition.repeat for condition in self.conditions(settings))


def _asked(value: object) -> Asked:
    for word in get_args(Asked):
        if value == word:
            asked: Asked = word
            return asked
    msg = f"expected {', '.join(get_args(Asked))}, not {value!r}"
    raise ValueError(msg)


def _expand(value: object) -> str:
    if value not in {"candidates", "levels"}:
        msg = f"expected candidates or levels, not {value!r}"
        raise ValueError(msg)
    return str(value)


def _count(parse: Callable[[str], int]) -> Callable[[Any], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            msg = f"expected a whole number, not {value!r}"
            raise ValueError(msg)  # noqa: TRY004  every wrong value is a ValueError here
        return parse(str(value))

    return read


def _temperatures(value: object) -> tuple[float | None, ...]:
    parts = value if isinstance(value, list) else [value]
    return values.temperatures(",".join(str(part) for part in parts))


def _top_logprobs(value: object) -> int:
    number = _count(values.count(1))(value)
    if number > _MAX_TOP_LOGPROBS:
        msg = f"expected at most {_MAX_TOP_LOGPROBS}, not {number}"
        raise ValueError(msg)
    return number
