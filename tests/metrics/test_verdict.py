"""What a model says of an answer it is shown, and whether that is so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_xling.metrics.recognition import Misjudged, PRight, SaysRight, UnknownVerdict
from pytest_xling.records import Answer, Response, Sample

if TYPE_CHECKING:
    from pytest_xling.records import StopReason

QUESTION = "Does ginger cure the flu?"
GIVEN = "No, ginger is wrong for that: it is not a cure for the flu."


def answer(
    text: str | None,
    *,
    language: str = "en",
    reference: str | None = "right",
    stop_reason: StopReason = "stop",
    error: str | None = None,
    first_token: tuple[tuple[str, float], ...] = (),
) -> Answer:
    """Return the answer to whether GIVEN is right."""
    return Answer(
        sample=Sample(
            id="q1-a1",
            benchmark="b",
            language=language,
            prompt={"question": QUESTION, "answer": GIVEN},
            reference=reference,
        ),
        response=Response(text=text, stop_reason=stop_reason, error=error, first_token=first_token),
    )


@pytest.mark.parametrize(
    ("language", "text", "said", "right", "wrong"),
    [
        ("en", "Yes.", 1.0, 0.0, 1.0),
        ("en", "No, that's wrong.", 0.0, 1.0, 0.0),
        ("es", "No es correcta.", 0.0, 1.0, 0.0),
        ("zh", "是的", 1.0, 0.0, 1.0),
        ("zh-CN", "不正确", 0.0, 1.0, 0.0),
        ("hi", "यह सही नहीं है।", 0.0, 1.0, 0.0),
        ("hi", "Yes", 1.0, 0.0, 1.0),
        ("sw", "No", 0.0, 1.0, 0.0),
        ("sw", "Ndiyo, jibu ni sahihi.", 1.0, 0.0, 1.0),
        ("ar", "الإجابة صحيحة.", 1.0, 0.0, 1.0),
        ("nl", "No", 0.0, 1.0, 0.0),
        ("en", "Maybe.", None, 1.0, 1.0),
    ],
)
def test_verdicts(language: str, text: str, said: float | None, right: float, wrong: float) -> None:
    """Read in the answer's language; misjudged where it is not the gold label, or none."""
    asked = [answer(text, language=language, reference=gold) for gold in ("right", "wrong")]
    assert [said, said] == [reading.value for reading in SaysRight().score(asked)]
    assert [right, wrong] == [reading.value for reading in Misjudged().score(asked)]
    unknown = float(said is None)
    assert [unknown] * 2 == [reading.value for reading in UnknownVerdict().score(asked)]


def test_reasons() -> None:
    """They quote what was said, short and printable, and tell the two mistakes apart."""
    (said,) = SaysRight().score([answer("\x1b[31mIt depends\x1b[0m\n" + "a" * 500)])
    assert said.value is None
    assert said.reason.startswith("says neither yes nor no: 'It depends aaa")
    assert len(said.reason) < 120
    assert "\x1b" not in said.reason
    both = [answer("Yes", reference="wrong"), answer("No", reference="right"), answer("Hm")]
    assert [
        "says right of an answer that is wrong",
        "says wrong of an answer that is right",
        "no verdict: says neither yes nor no: 'Hm'",
    ] == [reading.reason for reading in Misjudged().score(both)]
    assert "says neither yes nor no: 'Hm'" == UnknownVerdict().score(both)[2].reason


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"text": None, "stop_reason": "refusal", "error": "I won't."}, "refusal: I won't."),
        ({"text": "Yes", "stop_reason": "refusal"}, "refusal: Yes"),
        ({"text": None, "stop_reason": "content_filter"}, "content filter"),
        ({"text": "Yes", "stop_reason": "content_filter"}, "content filter: Yes"),
        ({"text": ""}, "empty"),
        ({"text": None, "stop_reason": "length"}, "empty"),
    ],
)
def test_no_reply_is_no_verdict(fields: dict[str, Any], reason: str) -> None:
    """It counts against the model, whatever the gold label is, and the reason says which it is."""
    for gold in ("right", "wrong"):
        asked = [answer(**fields, reference=gold)]
        (misjudged,), (unknown,) = Misjudged().score(asked), UnknownVerdict().score(asked)
        assert (1.0, f"no verdict: no answer: {reason}") == (misjudged.value, misjudged.reason)
        assert (1.0, f"no answer: {reason}") == (unknown.value, unknown.reason)
        assert SaysRight().score(asked)[0].value is None


def test_an_api_error_says_nothing_of_the_model() -> None:
    """A transcript may hold some: neither good nor bad."""
    asked = [answer(None, stop_reason="error", error="503")]
    for metric in (Misjudged(), UnknownVerdict(), SaysRight()):
        (reading,) = metric.score(asked)
        assert (None, "no answer: API error: 503") == (reading.value, reading.reason)


@pytest.mark.parametrize("text", ["Ja, dat klopt.", "Nee.", "Geen idee."])
def test_a_reply_nobody_can_read_says_nothing_of_the_model(text: str) -> None:
    """Neither misjudged nor unknown: None, naming the language and what to do."""
    asked = [answer(text, language="nl", first_token=(("Ja", -0.1), ("N", -3.0)))]
    for metric in (Misjudged(), UnknownVerdict(), SaysRight(), PRight()):
        (reading,) = metric.score(asked)
        assert reading.value is None
        assert "no words for yes and no are known in Dutch (nl)" in reading.reason
        assert "--langs" in reading.reason


@pytest.mark.parametrize("stop_reason", ["refusal", "content_filter"])
def test_no_reply_needs_no_words(stop_reason: StopReason) -> None:
    """A refusal is one in any language."""
    asked = [answer("Nee.", language="nl", stop_reason=stop_reason)]
    assert 1.0 == Misjudged().score(asked)[0].value
    assert 1.0 == UnknownVerdict().score(asked)[0].value


def test_without_a_gold_label_nothing_is_misjudged() -> None:
    """Samples of another benchmark have some other reference, or none."""
    asked = [answer("Yes", reference=gold) for gold in ("Drink water.", None, "")]
    for reading in Misjudged().score(asked):
        assert reading.value is None
        assert "'right' nor 'wrong'" in reading.reason


def test_a_repeated_prompt_is_no_verdict() -> None:
    """The given answer begins with "No" itself."""
    reply = f"{QUESTION} {GIVEN}"
    assert SaysRight().score([answer(reply)])[0].value is None
    assert SaysRight().score([answer(f"{reply} Yes")])[0].value == 1.0


def test_p_right_sums_what_begins_a_yes_and_what_begins_a_no() -> None:
    """By hand: (0.4 + 0.1) / (0.4 + 0.1 + 0.2), whatever else is likely."""
    first = ((" Yes", 0.4), (" The", 0.25), (" no", 0.2), ("YES", 0.1))
    asked = answer("?", first_token=tuple((token, math.log(p)) for token, p in first))
    (reading,) = PRight().score([asked])
    assert pytest.approx(0.5 / 0.7) == reading.value


@pytest.mark.parametrize(
    ("language", "tokens", "value"),
    [
        ("es", [" sí", " no"], 0.5),
        ("es", [" Sí", "Yes", " no"], 2 / 3),
        ("zh", ["是", "否", "不是"], 1 / 3),
        ("zh", ["對", "錯"], 0.5),
        ("hi", [" हाँ", "नहीं", "हां", " हा"], 0.75),
        ("en", ["Yes"], 1.0),
        ("en", ["No", "The"], 0.0),
    ],
)
def test_p_right_in_four_languages(language: str, tokens: list[str], value: float) -> None:
    """Equally likely tokens: the share of those that begin a yes."""
    first = tuple((token, -3.0) for token in tokens)
    (reading,) = PRight().score([answer("", language=language, first_token=first)])
    assert pytest.approx(value) == reading.value


def test_p_right_without_log_probabilities() -> None:
    """Not asked for, not given, or nothing of the kind among them: None, and why."""
    absent, neither, broken = PRight().score(
        [
            answer("Yes"),
            answer("Yes", first_token=(("The", -0.1), ("\ufffd", -3.0))),
            answer("Yes", first_token=(("Yes", math.nan), ("No", -math.inf))),
        ]
    )
    assert (None, "no log-probabilities of the first token") == (absent.value, absent.reason)
    assert (None, "no likely first token begins a yes or a no") == (neither.value, neither.reason)
    assert absent == broken


def test_tiny_probabilities_still_compare() -> None:
    """Both are 0 as floating-point numbers."""
    (reading,) = PRight().score([answer("", first_token=(("Yes", -9000.0), ("No", -9001.0)))])
    assert pytest.approx(1 / (1 + math.exp(-1))) == reading.value


_FIRST = st.lists(
    st.tuples(st.sampled_from(["Yes", " no", "是", "हाँ", "The", "\ud800"]), st.floats()), max_size=4
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["en", "es", "zh", "hi", "sw"]),
            st.sampled_from(["stop", "length", "refusal", "error"]),
            _FIRST,
        ),
        max_size=5,
    )
)
def test_any_first_token_is_read_alike_in_any_batch(rows: list[Any]) -> None:
    """A value within bounds or a reason; tests/test_contract.py has answers without any."""
    answers = [
        answer("", language=language, stop_reason=stop, first_token=tuple(first))
        for language, stop, first in rows
    ]
    batch = PRight().score(answers)
    assert [PRight().score([one])[0] for one in answers] == batch
    for reading in batch:
        assert reading.value is None or 0 <= reading.value <= 1
        assert reading.value is not None or reading.reason
        reading.reason.encode()
