"""Ask the `hf` provider: alone, or many requests at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.errors import PermanentFault
from pytest_xling.providers.hf import HfProvider
from pytest_xling.records import Response
from tests.providers.asking import ask as _one_by_one
from tests.providers.asking import at_once, request

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Request


TEXTS = (
    "Water",
    "What helps against a cold, and what does not?",
    "पानी",
    "¿Cuánto hay que dormir?",
    "睡眠",
)


def asking(text: str, **params: JsonValue) -> Request:
    """Return a greedy request for 12 tokens, or as *params* say."""
    return request(text, params={"temperature": 0.0, "max_tokens": 12, **params})


def ask(
    folder: Path, requests: Sequence[Request], *, timeout_s: float = 120.0
) -> list[Response | BaseException]:
    """Ask all at once."""
    return at_once(HfProvider(str(folder), device="cpu", timeout_s=timeout_s), *requests)


def answers(folder: Path, requests: Sequence[Request]) -> list[Response]:
    """Ask all at once; there must be answers."""
    found = []
    for answer in ask(folder, requests):
        assert isinstance(answer, Response), answer
        found.append(answer)
    return found


def alone(folder: Path, requests: Sequence[Request]) -> list[str | None]:
    """Return the answers to *requests*, asked one after the other."""
    return [each.text for each in _one_by_one(HfProvider(str(folder), device="cpu"), *requests)]


def fault(folder: Path, request: Request, *, timeout_s: float = 120.0) -> str:
    """Return what the fault says that *request* must meet."""
    (answer,) = ask(folder, [request], timeout_s=timeout_s)
    assert isinstance(answer, PermanentFault), answer
    return str(answer)
