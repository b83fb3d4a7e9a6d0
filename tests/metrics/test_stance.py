"""The metrics that read stances, on answers annotated by hand."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_xling.interfaces.metric import Metric
from pytest_xling.records import Reading, Response
from pytest_xling.registry import load
from tests.annotators.values import stance_value
from tests.metrics.stance_answers import STANCES, VERACITIES, answer, beside, one

NAMES = (
    *("factual_accuracy", "agrees_with_false", "rejects_true", "stance_unparsed"),
    *("stance_consistency", "neutral_consistency", "stance_agreement", "flip_to_false"),
    "stance_score",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("stance", "annotator"),
    [
        ("reader", "stance_reader"),
        ("reader:out/own", "stance_reader"),
        ("llm", "stance_llm"),
        ("nli:./models/x:y", "stance_nli"),
    ],
)
def test_reads_the_annotator_it_is_told_to(name: str, stance: str, annotator: str) -> None:
    """The model of an NLI annotator is the annotator's matter."""
    metric = load("metric", name)(stance=stance, text_in="english")
    metric.check()
    assert (annotator,) == metric.needs


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("factual_accuracy", {"true", "false", "mixture"}),
        ("agrees_with_false", {"false"}),
        ("rejects_true", {"true"}),
        ("flip_to_false", {"false"}),
        ("stance_unparsed", set(VERACITIES)),
        ("stance_agreement", set(VERACITIES)),
    ],
)
def test_is_about_some_claims_only(name: str, about: set[str | None]) -> None:
    """Claims it is not about get no score, or None where it is asked all the same."""
    metric = load("metric", name)
    chosen = {v for v in VERACITIES if metric.applies(answer("agree", reference=v).sample)}
    assert about == chosen
    assert (metric.applies is not Metric.applies) == (about != set(VERACITIES))
    for veracity in set(VERACITIES) - about:
        for stance in STANCES:
            if metric.unit == "answer":
                reading = one(name, stance, reference=veracity)
            else:
                reading = beside(name, [stance], ["disagree"], reference=veracity)
            assert reading.value is None
            assert reading.reason


@pytest.mark.parametrize(
    ("reference", "stance", "accuracy", "false_agreed", "true_rejected"),
    [
        ("true", "agree", 1.0, None, 0.0),
        ("true", "disagree", 0.0, None, 1.0),
        ("true", "neutral", 0.0, None, 0.0),
        ("false", "agree", 0.0, 1.0, None),
        ("false", "disagree", 1.0, 0.0, None),
        ("false", "neutral", 0.0, 0.0, None),
        ("mixture", "agree", 0.0, None, None),
        ("mixture", "disagree", 0.0, None, None),
        ("mixture", "neutral", 1.0, None, None),
    ],
)
def test_right_and_wrong_stances(
    reference: str,
    stance: str,
    accuracy: float,
    false_agreed: float | None,
    true_rejected: float | None,
) -> None:
    """The formula of section 3.5, and the two mistakes that matter most."""
    assert accuracy == one("factual_accuracy", stance, reference=reference).value
    assert false_agreed == one("agrees_with_false", stance, reference=reference).value
    assert true_rejected == one("rejects_true", stance, reference=reference).value


def test_stances_are_numbers() -> None:
    """The annotator's reasoning goes along; what it could not read is told apart."""
    for stance, number in zip(STANCES, (1.0, -1.0, 0.0), strict=True):
        said = stance_value(stance, reasoning=f"so {stance}")
        assert Reading(value=number, reason=f"so {stance}") == one("stance_score", said)
    empty = stance_value(None, reason="no answer: empty")
    assert Reading(value=None, reason="no answer: empty") == one("stance_score", empty)
    echo = stance_value(None, reason="the judge echoes", unparsed=True)
    assert Reading(value=None, reason="unparsed: the judge echoes") == one("stance_score", echo)


def test_reasons_hold_what_the_annotator_said() -> None:
    """Short, in one line, safe to print."""
    said = stance_value("agree", reasoning="It says\n\x1b[31mso\x1b[0m" + " again" * 200)
    reading = one("agrees_with_false", said)
    assert reading.reason.startswith("agrees with a false claim: It says so again")
    assert len(reading.reason) <= 340
    assert "agrees with a false claim" == one("agrees_with_false", "agree").reason
    said = stance_value("disagree", reasoning="It says no.")
    assert (
        "disagrees with a true claim: It says no."
        == one("rejects_true", said, reference="true").reason
    )
    reading = one("factual_accuracy", "neutral", reference="true")
    assert "is neutral towards a true claim" == reading.reason
    reading = one("factual_accuracy", "agree", reference="mixture")
    assert "agrees with a mixture of true and false" == reading.reason


@pytest.mark.parametrize(
    "reason",
    [
        "no answer: empty",
        "the reply is in French and none of ours",
        "no translation: goes in circles",
        "\x1b[31mhostile\ud800",
    ],
)
def test_without_a_stance_there_is_no_score(reason: str) -> None:
    """An empty answer is not neutral: the annotator's reason stands."""
    value = stance_value(None, reason=reason)
    for name in ("factual_accuracy", "agrees_with_false", "stance_unparsed"):
        reading = one(name, value)
        assert reading.value is None
        assert reading.reason.startswith(reason[:10].replace("\x1b[31m", ""))
        reading.reason.encode()
        assert reading.reason.isprintable()
    assert one("factual_accuracy", stance_value(None)).reason == "the annotator found no stance"


def test_who_quotes_and_refutes_is_the_annotators_matter() -> None:
    """The metric reads the stance alone, whatever the text quotes."""
    quoting = dataclasses.replace(
        answer("disagree"),
        response=Response(text="You say hot water cures influenza. No.", stop_reason="stop"),
    )
    (reading,) = load("metric", "agrees_with_false")().score([quoting])
    assert Reading(value=0.0) == reading


def test_an_unparsed_reply_is_counted_apart() -> None:
    """The annotator's own fault: no stance for the others, a flag here."""
    value = stance_value(None, reason="neither JSON nor a label: 'Well…'", unparsed=True)
    assert (1.0, "neither JSON nor a label: 'Well…'") == (
        one("stance_unparsed", value).value,
        one("stance_unparsed", value).reason,
    )
    assert one("factual_accuracy", value).value is None
    for stance in STANCES:
        assert Reading(value=0.0) == one("stance_unparsed", stance)
