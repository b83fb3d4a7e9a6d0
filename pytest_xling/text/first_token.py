"""The log-probabilities of a reply's first token, as chat completions and llama.cpp give them."""

from __future__ import annotations

from typing import Any

from pytest_xling.text.display import clean

# Whatever a server sends, what is kept stays small.
_MOST = 100
_LONGEST = 100
# OpenAI sends -9999.0 for what it takes as impossible. Rounding may leave a little more than 0.
_LEAST, _GREATEST = -1e6, 1e-3


def read_first_token(logprobs: object) -> tuple[tuple[str, float], ...]:
    """Return the likeliest first tokens with their natural log-probabilities, likeliest first.

    Args:
        logprobs: the member of that name of a reply's choice; nothing is read of what is no token
            with a finite log-probability.
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first: Any = content[0] if isinstance(content, list) and content else None
    listed = first.get("top_logprobs") if isinstance(first, dict) else None
    entries = listed[:_MOST] if isinstance(listed, list) else []
    read = [pair for entry in entries if (pair := _read(entry)) is not None]
    return tuple(sorted(read, key=lambda pair: -pair[1]))


def _read(entry: Any) -> tuple[str, float] | None:  # noqa: ANN401  whatever a server sends
    if not isinstance(entry, dict):
        return None
    token, logprob = entry.get("token"), entry.get("logprob")
    if not isinstance(token, str) or not isinstance(logprob, int | float):
        return None
    # True is an int, too; and an int may be too large for a float.
    if isinstance(logprob, bool) or not _LEAST <= logprob <= _GREATEST:
        return None
    return clean(token[:_LONGEST]), float(logprob)
