"""A request's messages as the tokens a model is given."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2.exceptions import TemplateError

from pytest_xling.errors import PermanentFault
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.providers.hf.translation import Direction
    from pytest_xling.records import Message

_TODAY = date(2024, 7, 26)
"""What chat templates are told the date is: Llama 3.1's own choice where it is told none."""

_NOW = re.compile(r"strftime_now\s*\(\s*([\"'])(.*?)\1\s*\)")


def chat_tokens(tokenizer: Any, messages: Sequence[Message]) -> list[int]:  # noqa: ANN401  untyped
    """Return *messages* in the model's own chat template, with the opening of an answer.

    What looks like a control token inside a message is plain text: a model's answer that is put
    before a judge cannot end its turn and begin another. Where the template takes no system
    message, that goes in front of the first turn. The date is always the same, so that a request
    is the same prompt every day.

    Raises:
        PermanentFault: the template does not take these messages.
    """
    turns = [{"role": m.role, "content": clean(m.content)} for m in messages]
    try:
        return _templated(tokenizer, turns)
    except TemplateError as error:
        if turns[0]["role"] != "system" or len(turns) == 1:
            msg = f"the model's chat template does not take these messages: {error}"
            raise PermanentFault(msg) from error
    system, first, *rest = messages
    together = replace(first, content=f"{system.content}\n\n{first.content}")
    return chat_tokens(tokenizer, [together, *rest])


def _templated(tokenizer: Any, turns: list[dict[str, str]]) -> list[int]:  # noqa: ANN401
    tokens: list[int] = tokenizer.apply_chat_template(
        turns,
        chat_template=_dated(tokenizer.get_chat_template()),
        add_generation_prompt=True,
        sanitize_control_tokens=True,
        return_dict=True,
    )["input_ids"]
    return tokens


@cache
def _dated(template: str) -> str:
    """Return *template* with ``strftime_now`` standing still."""
    formats = dict.fromkeys(form for _, form in _NOW.findall(template))
    if not formats:
        return template
    branches = "".join(
        f"{{%- elif format == {form!r} -%}}{_TODAY.strftime(form)}" for form in formats
    )
    return (
        "{%- macro strftime_now(format) -%}{%- if false -%}"
        f"{branches}{{%- endif -%}}{{%- endmacro -%}}{template}"
    )


def plain_tokens(tokenizer: Any, messages: Sequence[Message]) -> list[int]:  # noqa: ANN401  untyped
    """Return the text of *messages* as it is, for a model that goes on from there."""
    text = "".join(clean(message.content) for message in messages)
    tokens: list[int] = tokenizer(text, split_special_tokens=True)["input_ids"]
    if tokens:
        return tokens
    opening = tokenizer.bos_token_id
    if opening is None:
        opening = tokenizer.eos_token_id
    if opening is None:
        msg = "an empty prompt, and the model has no token to begin with"
        raise PermanentFault(msg)
    return [opening]


def source_tokens(
    tokenizer: Any,  # noqa: ANN401  untyped
    messages: Sequence[Message],
    direction: Direction,
) -> list[int]:
    """Return the sentence of *messages* as a translation model reads it."""
    text = "".join(clean(message.content) for message in messages)
    if direction.reads_as is not None:
        tokenizer.src_lang = direction.reads_as
        tokens: list[int] = tokenizer(text, split_special_tokens=True)["input_ids"]
        return tokens
    # Opus-MT reads a label wherever a text begins with one; a blank in front makes it words.
    labelled: list[int] = tokenizer(f"{direction.label} {text}", split_special_tokens=True)[
        "input_ids"
    ]
    return labelled
