"""What the Batch API says, however odd, and what becomes of each line of its results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import PermanentFault, ProviderFault, RateLimited, TransientFault
from pytest_xling.providers.openai.batch.results import read_results, read_state
from pytest_xling.records import Response

if TYPE_CHECKING:
    from pytest_xling.providers.openai.batch.results import Result

URL = "http://127.0.0.1:1/v1"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "status",
                    "errors",
                    "data",
                    "code",
                    "custom_id",
                    "response",
                    "status_code",
                    "body",
                    "error",
                    "message",
                    "request_counts",
                    "completed",
                    "output_file_id",
                    "choices",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def results(*lines: Any, wanted: str = "abc") -> dict[str, Result]:
    """Read *lines* as one file, of which those called by one of these letters are wanted."""
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return read_results([text.encode()], set(wanted), url=URL, batch="batch_1")


def line(key: str, status: int = 200, text: str = "yes") -> dict[str, Any]:
    """Return the line of a request that was asked."""
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    body = {"choices": [choice]} if status == 200 else {"error": {"message": text, "code": "odd"}}
    return {"custom_id": key, "response": {"status_code": status, "body": body}, "error": None}


def test_each_line_is_an_answer_or_says_why_there_is_none() -> None:
    """An error keeps its status and code, as if it had been asked directly."""
    undone = {"custom_id": "c", "response": None, "error": {"code": "batch_expired"}}
    read = results(line("a"), line("b", 400, "no"), undone, line("z"))
    assert ["a", "b", "c"] == list(read)
    assert isinstance(read["a"], Response)
    assert "yes" == read["a"].text
    assert isinstance(read["b"], openai.APIStatusError)
    assert (400, "odd", "no") == (read["b"].status_code, read["b"].code, read["b"].message)
    assert isinstance(read["c"], TransientFault)
    assert "did not ask it: 'batch_expired'" in str(read["c"])


def test_double_and_unreadable_lines_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """The first result of an id counts."""
    read = results(line("a"), line("a", text="no"), "{half", "[]", {"custom_id": 7}, "")
    assert isinstance(read["a"], Response)
    assert "yes" == read["a"].text
    assert "results given twice: 1; lines that cannot be read: 3" in caplog.text


def test_what_a_batch_says_of_itself() -> None:
    """Its counts, where its results are, and whether more will come."""
    told = {
        "id": "batch_1",
        "status": "expired",
        "request_counts": {"completed": 3, "failed": 1, "total": 9},
        "output_file_id": "file-1",
        "error_file_id": None,
    }
    state = read_state(told, url=URL)
    assert ("batch_1", "expired", True, 3, 1, ("file-1",)) == (
        state.id,
        state.status,
        state.over,
        state.completed,
        state.failed,
        state.files,
    )
    assert not read_state(told | {"status": "pondering"}, url=URL).over
    assert not read_state(told | {"output_file_id": None}, url=URL).over  # it has three answers


@pytest.mark.parametrize(
    ("code", "kind"), [("token_limit_exceeded", RateLimited), ("invalid_model", PermanentFault)]
)
def test_why_a_batch_was_turned_away(code: str, kind: type[ProviderFault]) -> None:
    """Too much now may be welcome later; what is wrong stays wrong."""
    errors = {"data": [{"code": code, "message": "No.", "line": 3}]}
    state = read_state({"id": "batch_1", "status": "failed", "errors": errors}, url=URL)
    assert isinstance(state.fault, kind)
    assert "took nothing of batch 'batch_1': 'No.' (line 3)" in str(state.fault)


@given(st.dictionaries(st.sampled_from(["id", "status", "errors", "request_counts"]), JSON))
def test_a_batch_may_say_anything(told: dict[str, Any]) -> None:
    """It is a state, or a fault that may pass."""
    try:
        state = read_state(told, url=URL)
    except TransientFault:
        return
    assert state.id == told["id"]


@given(JSON, JSON)
def test_a_line_may_say_anything(response: object, error: object) -> None:
    """Whatever it says, it is an answer or a fault of that request alone."""
    read = results({"custom_id": "a", "response": response, "error": error})
    assert isinstance(read["a"], Response | ProviderFault | openai.APIStatusError)
