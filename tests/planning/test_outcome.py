"""What a case's readings make of its test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.engine.job import Job, Result
from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.planning.outcome import judge_case, refuse_flags
from pytest_xling.records import Message, Reading, Request, Response, Sample

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.metric import MetricKind
    from pytest_xling.planning.outcome import CaseOutcome

RAISED = Reading(value=1.0, reason="it says so")
CLEAR = Reading(value=0.0)
NOTHING = Reading(value=None, reason="no answer: refusal")
QUESTION = {"question": "क्यों?"}


def result(
    readings: Mapping[str, Reading], *, text: str | None = "Because \x1b[31mred.", **sample: Any
) -> Result:
    """Return an evaluated case with *readings*, its sample with some fields of its own."""
    fields = {"id": "q1", "benchmark": "b", "language": "hi", "prompt": QUESTION, **sample}
    request = Request(model="m", messages=(Message(role="user", content="क्यों?"),), params={})
    job = Job(
        case_id="q1-hi",
        benchmark="b",
        sample=Sample(**fields),
        condition="",
        position=0,
        request=request,
        metrics=tuple(readings),
    )
    response = Response(text=text, stop_reason="refusal" if text is None else "stop")
    return Result(job=job, response=response, readings=readings)


def judged(made: Result, *flags: str) -> CaseOutcome:
    """Judge a case by some flags, none of which has a budget."""
    return judge_case(made, flags, has_budget=lambda _: False)


@pytest.mark.parametrize(
    ("readings", "tolerated", "decision"),
    [
        ({"a": CLEAR, "b": CLEAR}, "", "pass"),
        ({"a": CLEAR, "b": NOTHING}, "", "pass"),
        ({"a": NOTHING, "b": NOTHING}, "ab", "unscored"),
        ({"a": RAISED, "b": CLEAR}, "", "fail"),
        ({"a": RAISED, "b": CLEAR}, "b", "fail"),
        ({"a": RAISED, "b": CLEAR}, "a", "tolerated"),
        ({"a": RAISED, "b": RAISED}, "a", "fail"),
        ({"a": RAISED, "b": RAISED}, "ab", "tolerated"),
        ({"a": RAISED, "b": NOTHING}, "a", "tolerated"),
    ],
)
def test_flags_decide(readings: Mapping[str, Reading], tolerated: str, decision: str) -> None:
    """One flag without a budget fails; all within their budgets are left to the gates."""
    outcome = judge_case(result(readings), ["a", "b"], has_budget=lambda flag: flag in tolerated)
    assert decision == outcome.decision


@pytest.mark.parametrize(
    ("readings", "asserted", "decision"),
    [
        ({"a": RAISED, "b": CLEAR}, "b", "pass"),
        ({"a": RAISED, "b": CLEAR}, "", "pass"),
        ({"a": CLEAR}, "ab", "pass"),
        ({"a": CLEAR}, "b", "pass"),
        ({"a": NOTHING}, "ab", "unscored"),
    ],
)
def test_only_what_is_asserted_and_about_the_case_counts(
    readings: Mapping[str, Reading], asserted: str, decision: str
) -> None:
    """Another flag may be raised; one that is not scored here is scored in other cases."""
    assert decision == judged(result(readings), *asserted).decision


@pytest.mark.parametrize(
    ("sample", "lines"),
    [
        ({}, ["  question: क्यों?"]),
        ({"metadata": {"asked_in": "en"}}, ["  asked in: English", "  question: क्यों?"]),
        (
            {"prompt": QUESTION | {"claim": "tea cures", "level": "3"}, "reference": "false"},
            ["  question: क्यों?", "  claim, which is false: tea cures"],
        ),
        (
            {"prompt": QUESTION | {"answer": "So\x1b[0m."}, "reference": "wrong"},
            ["  question: क्यों?", "  given answer, which is wrong: So."],
        ),
    ],
)
def test_the_evidence_shows_what_was_asked_answered_and_detected(
    sample: Mapping[str, Any], lines: list[str]
) -> None:
    """Cleaned, with the languages' names and what else one would have to look up."""
    message = judged(result({"a": RAISED, "b": CLEAR}, **sample), "a", "b").message
    expected = ["a: it says so", "  language: Hindi (hi)", *lines, "  answer: Because red."]
    assert expected == message.splitlines()


def test_a_long_answer_is_shortened_and_its_size_told() -> None:
    """Megabytes in a report help nobody; and none is not the empty text."""
    message = judged(result({"a": RAISED}, text="na " * 10_000), "a").message
    assert "answer (30,000 characters): na na" in message
    assert len(message) < 1_500
    assert "answer: none (refusal)" in judged(result({"a": RAISED}, text=None), "a").message


def test_unscored_says_why() -> None:
    """The reasons of all flags."""
    assert "a: no answer: refusal" == judged(result({"a": NOTHING}), "a").message


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("repetion", r"^check\('repetion'\): .* names it\. Did you mean 'repetition'\?"),
        ("length", r"is a number, and a case asserts flags; .*floor or"),
    ],
)
def test_what_is_no_flag_of_the_case_is_a_mistake_in_the_test(flag: str, message: str) -> None:
    """The marker does not name it, or it is a number, whose mean gates hold to limits."""
    scored: dict[str, MetricKind] = {"repetition": "flag", "length": "number"}
    refuse_flags(["repetition"], scored)
    with pytest.raises(ConfigError, match=message):
        refuse_flags(["repetition", flag], scored)


def test_without_a_response_there_is_nothing_to_judge() -> None:
    """A fault must not look like a pass."""
    with pytest.raises(EvaluationError, match="no response"):
        judged(Result(job=result({}).job))
