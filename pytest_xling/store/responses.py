"""The answer of the model under test, as whoever reads it from the store wants it."""

from __future__ import annotations

import json
from typing import Any

from pytest_xling.text.thoughts import split_thoughts


def read_response(output: str) -> dict[str, Any]:
    """Return a stored response, its ``thoughts``, where it has any, apart from its ``text``.

    The store has what the provider gave, perhaps with thoughts in the text.
    """
    response: dict[str, Any] = json.loads(output)
    thoughts, text = split_thoughts(response["text"] or "", apart=response.get("thoughts", ""))
    if thoughts:
        response["thoughts"] = thoughts
    if response["text"]:
        response["text"] = text
    return response
