"""Log-probabilities in the store."""

from __future__ import annotations

import json
import math

from pytest_xling.engine.answering import decode_response, encode_response
from pytest_xling.records import Response


def test_log_probabilities_come_back_from_the_store() -> None:
    """Exactly, in their order."""
    response = Response(
        text="Yes", stop_reason="stop", first_token=((" Yes", -0.1), (" 是", -2.5), ("No", -9999.0))
    )
    assert response == decode_response(json.loads(encode_response(response)))


def test_a_row_without_them_is_read_as_before() -> None:
    """They are left out where there are none, so that old rows and new ones are alike."""
    response = Response(text="Yes", stop_reason="stop")
    stored = json.loads(encode_response(response))
    assert "first_token" not in stored
    assert response == decode_response(stored)


def test_what_no_store_can_keep_is_left_out() -> None:
    """A provider of another package may give what JSON or SQLite do not know."""
    odd = (("a\ud800", -1.0), ("b", math.nan), ("c", -math.inf))
    stored = encode_response(Response(text="Yes", stop_reason="stop", first_token=odd))
    assert (("a\ufffd", -1.0),) == decode_response(json.loads(stored)).first_token


def test_what_the_server_did_not_take_is_kept() -> None:
    """A reply asked for without its schema says so; one with all that was asked is as ever."""
    response = Response(text="Yes", stop_reason="stop", left_out=("response_format",))
    assert response == decode_response(json.loads(encode_response(response)))
    assert "left_out" not in encode_response(Response(text="Yes", stop_reason="stop"))
