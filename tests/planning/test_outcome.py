"""What a case's readings make of its test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.engine.job import Job, Result
from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.planning.outcome import judge_case, refuse_flags
from pytest_xling.records import Message, Reading, Request, Response, Sample

if TYPE_CHECKING:
    from collections.abc import Mapping

RAISED = Reading(value=1.0, reason="it says so")
CLEAR = Reading(value=0.0)
NOTHING = Reading(value=None, reason="no answer: refusal")


def result(readings: Mapping[str, Reading], *, text: str | None = "Because \x1b[31mred.") -> Result:
    """Return an evaluated case with *readings*."""
    sample = Sample(id="q1", benchmark="b", language="hi", prompt={"question": "क्यों?"})
    request = Request(model="m", messages=(Message(role="user", content="क्यों?"),), params={})
    job = Job(
        case_id="q1-hi",
        benchmark="b",
        sample=sample,
        condition="",
        position=0,
        request=request,
        metrics=tuple(readings),
    )
    response = Response(text=text, stop_reason="refusal" if text is None else "stop")
    return Result(job=job, response=response, readings=readings)


def no_budget(_metric: str) -> bool:
    """Return that no flag is tolerated."""
    return False


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


def test_only_what_is_asserted_counts() -> None:
    """Another flag may be raised; without any flag there is nothing to fail."""
    readings = {"a": RAISED, "b": CLEAR}
    assert judge_case(result(readings), ["b"], has_budget=no_budget).decision == "pass"
    assert judge_case(result(readings), [], has_budget=no_budget).decision == "pass"


def test_a_flag_that_is_not_about_this_case_raises_nothing() -> None:
    """It is scored in other cases."""
    made = result({"a": CLEAR})
    assert judge_case(made, ["a", "b"], has_budget=no_budget).decision == "pass"
    assert judge_case(made, ["b"], has_budget=no_budget).decision == "pass"
    made = result({"a": NOTHING})
    assert judge_case(made, ["a", "b"], has_budget=no_budget).decision == "unscored"


def test_the_evidence_shows_the_claim_and_its_veracity() -> None:
    """Who reads it need not look it up."""
    made = result({"a": RAISED})
    prompt = {"question": "क्यों?", "claim": "tea cures", "level": "3"}
    sample = replace(made.job.sample, prompt=prompt, reference="false")
    made = replace(made, job=replace(made.job, sample=sample))
    outcome = judge_case(made, ["a"], has_budget=no_budget)
    assert "  claim, which is false: tea cures" in outcome.message.splitlines()


def test_the_evidence_shows_what_was_asked_answered_and_detected() -> None:
    """Cleaned, and in the language's name."""
    outcome = judge_case(result({"a": RAISED, "b": CLEAR}), ["a", "b"], has_budget=no_budget)
    assert outcome.message.splitlines() == [
        "a: it says so",
        "  language: Hindi (hi)",
        "  question: क्यों?",
        "  answer: Because red.",
    ]


def test_the_evidence_says_what_was_asked_in() -> None:
    """Where that is not the language the answer should be in."""
    made = result({"a": RAISED})
    sample = replace(made.job.sample, metadata={"asked_in": "en"})
    made = replace(made, job=replace(made.job, sample=sample))
    message = judge_case(made, ["a"], has_budget=no_budget).message
    assert "  language: Hindi (hi)\n  asked in: English\n" in message


def test_a_long_answer_is_shortened_and_its_size_told() -> None:
    """Megabytes in a report help nobody."""
    outcome = judge_case(result({"a": RAISED}, text="na " * 10_000), ["a"], has_budget=no_budget)
    assert "answer (30,000 characters): na na" in outcome.message
    assert len(outcome.message) < 1_500


def test_no_answer_is_said_with_its_reason() -> None:
    """None is not the empty text."""
    outcome = judge_case(result({"a": RAISED}, text=None), ["a"], has_budget=no_budget)
    assert "answer: none (refusal)" in outcome.message


def test_unscored_says_why() -> None:
    """The reasons of all flags."""
    outcome = judge_case(result({"a": NOTHING}), ["a"], has_budget=no_budget)
    assert outcome.message == "a: no answer: refusal"


def test_a_flag_that_was_not_scored_is_a_mistake_in_the_test() -> None:
    """The marker does not name it; the message says what is close."""
    refuse_flags(["repetition"], {"repetition": "flag"})
    expected = r"^check\('repetion'\): .* does not name it\. Did you mean 'repetition'\?"
    with pytest.raises(ConfigError, match=expected):
        refuse_flags(["repetition", "repetion"], {"repetition": "flag"})


def test_a_number_is_nothing_to_assert_of_a_case() -> None:
    """It is not raised or clear: gates hold its mean to limits."""
    with pytest.raises(ConfigError, match=r"is a number, and a case asserts flags; .*floor or"):
        refuse_flags(["length"], {"length": "number"})


def test_without_a_response_there_is_nothing_to_judge() -> None:
    """A fault must not look like a pass."""
    bare = Result(job=result({}).job)
    with pytest.raises(EvaluationError, match="no response"):
        judge_case(bare, [], has_budget=no_budget)


def test_evidence_shows_the_answer_asked_about() -> None:
    """Who is to say whether a verdict was right must see what it was about."""
    made = result({"a": RAISED})
    asked = replace(
        made.job.sample,
        prompt={"question": "क्यों?", "answer": "Because\x1b[0m."},
        reference="wrong",
    )
    outcome = judge_case(
        replace(made, job=replace(made.job, sample=asked)), ["a"], has_budget=no_budget
    )
    assert "given answer, which is wrong: Because" in outcome.message
    assert "\x1b" not in outcome.message
