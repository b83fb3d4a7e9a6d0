"""How a benchmark asks: how often, at which temperatures, about what, and compared with what."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from pytest_xling.config import values
from pytest_xling.config.request import request
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.records import Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_xling.config.settings import Settings
    from pytest_xling.config.yaml import YamlFile
    from pytest_xling.keys import JsonValue

Asked: TypeAlias = Literal["repeatedly", "per_temperature", "once"]
"""``repeatedly``: K times at every temperature. ``per_temperature``: once at each. ``once``: once,
at the lowest."""

DESIGN_KEYS = (
    "answer_in",
    "asked",
    "expand",
    "judge_turns",
    "max_tokens",
    "pivot",
    "request",
    "samples",
    "temperatures",
    "top_logprobs",
)
_FIELDS = {"judge_turns": "judge_all_turns"}
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
    answer_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the language questions are asked in, the languages to answer in; empty where an answer is
    to be in the language of its question."""
    judge_all_turns: bool = False
    """Whether each reply of the model in a conversation is an answer; else the last alone is."""
    request: Mapping[str, JsonValue] = field(default_factory=dict)
    """What is added to each request, by the names of the provider's own interface."""

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
            "judge_turns": _judge_turns,
            "request": request,
        }
        for key, read in readers.items():
            if key not in file.data:
                continue
            try:
                value = read(file.get(key))
                design |= {value: True} if key == "expand" else {_FIELDS.get(key, key): value}
            except (ConfigError, ValueError) as error:
                raise file.error(key, what=str(error)) from error
        return cls(**design, answer_in=_answer_in(file, pivot=design.get("pivot")))

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


def _answer_in(file: YamlFile, *, pivot: str | None) -> dict[str, tuple[str, ...]]:
    """Read the languages to answer in, by the language questions are asked in."""
    at = "answer_in"
    given = file.get(at)
    if at not in file.data:
        return {}
    if not isinstance(given, dict) or not given:
        what = "needs the language asked in and those to answer in, such as `en: [hi, tr]`"
        raise file.error(at, what=what)
    answer_in: dict[str, tuple[str, ...]] = {}
    for asked, answers in given.items():
        if not isinstance(answers, list) or not answers:
            raise file.error(at, asked, what="needs a list of languages, such as [hi, tr]")
        language = _known(file, at, asked, name=asked)
        if language in answer_in:
            raise file.error(at, asked, what=f"the language {language!r} is there twice; keep one")
        codes = [_known(file, at, asked, n, name=name) for n, name in enumerate(answers)]
        for number, code in enumerate(codes):
            if code in codes[:number]:
                what = f"the language {code!r} is there twice; keep one"
                raise file.error(at, asked, number, what=what)
        answer_in[language] = tuple(codes)
    if pivot not in {None, *chain.from_iterable(answer_in.values())}:
        what = f"has no {pivot!r}, the pivot the others are compared with; add it to the answers"
        raise file.error(at, what=what)
    return answer_in


def _known(file: YamlFile, *at: str | int, name: object) -> str:
    """Return the code of the language that stands at a key path."""
    try:
        return find(str(name)).code
    except ConfigError as error:
        raise file.error(*at, what=str(error)) from error


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


def _judge_turns(value: object) -> bool:
    if value not in {"all", "last"}:
        msg = f"expected all or last, not {value!r}"
        raise ValueError(msg)
    return value == "all"


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
