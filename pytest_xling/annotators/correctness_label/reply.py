"""Read what a judge replied, strictly: what is not exactly as asked for is no label."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from pytest_xling.annotators.correctness_label.prompts import LABELS
from pytest_xling.text.clean import clean
from pytest_xling.text.display import shorten

__all__ = ["Verdict", "continued", "structured"]

_THOUGHT = re.compile(r"\s*<think>.*?</think>", re.DOTALL)
_CODE_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*)\n?[ \t]*```", re.DOTALL)
_LONGEST = 100_000
_LONGEST_REASONING = 4_000
_FIRST_WORDS = {
    "contradictory": "contradictory",
    "different": "dissimilar",
    "dissimilar": "dissimilar",
    "more": "more_comprehensive",
    "less": "less_comprehensive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A judge's label and why, or what is wrong with the reply."""

    label: str | None = None
    reasoning: str = ""
    wrong: str = ""
    """In words of ours: nothing of the reply is in it."""


class _UnreadableError(ValueError):
    """A reply is not what was asked for; the message says how, in words of ours."""


def structured(reply: str) -> Verdict:
    """Read a reply that should be one JSON object with reasoning and label.

    It may stand in a code fence, and after a ``<think>`` block.
    """
    try:
        value = _parsed(_bare(reply))
    except _UnreadableError as error:
        return Verdict(wrong=str(error))
    if not isinstance(value, dict) or value.keys() != {"reasoning", "label"}:
        return Verdict(wrong="it is not an object with the keys reasoning and label, and no others")
    label, reasoning = value["label"], value["reasoning"]
    if not isinstance(reasoning, str) or not reasoning.strip():
        return Verdict(wrong="its reasoning is no text")
    if not isinstance(label, str) or label not in LABELS:
        return Verdict(wrong="its label is none of the four")
    reasoning = shorten(clean(reasoning).strip(), limit=_LONGEST_REASONING)
    return Verdict(label=label, reasoning=reasoning)


def continued(reply: str) -> Verdict:
    """Read how a base model continued ``Label of Answer 2:``; only the first word counts."""
    words = re.findall(r"\w+", reply.partition("\n")[0].casefold())
    label = _FIRST_WORDS.get(words[0]) if words else None
    return Verdict(label=label, wrong="" if label else "its first word is no label")


def _bare(reply: str) -> str:
    """Return *reply* without the thoughts before and the code fence around it."""
    if len(reply) > _LONGEST:
        msg = f"it has more than {_LONGEST} characters"
        raise _UnreadableError(msg)
    text = clean(reply)
    thought = _THOUGHT.match(text)
    text = (text[thought.end() :] if thought else text).strip()
    if not text:
        msg = "it is empty"
        raise _UnreadableError(msg)
    inner = _CODE_FENCE.fullmatch(text)
    return inner.group(1) if inner else text


def _parsed(text: str) -> Any:  # noqa: ANN401  any JSON
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        msg = f"it is not one JSON object alone ({error.msg} at character {error.pos})"
        raise _UnreadableError(msg) from error
    except _UnreadableError:
        raise
    except (ValueError, RecursionError) as error:  # a number, or brackets, without end
        msg = "it is not JSON that can be read"
        raise _UnreadableError(msg) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        msg = "a key occurs twice in it"
        raise _UnreadableError(msg)
    return made


def _refuse(name: str) -> NoReturn:
    msg = f"{name} is not JSON"
    raise _UnreadableError(msg)
