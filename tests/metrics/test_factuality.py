"""Factuality, F1@K, relevance and the overall score: what of an answer counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.metrics.factuality import (
    ClaimCount,
    Factuality,
    FactualityF1AtK,
    FactualPrecision,
    Overall,
    Relevance,
)
from pytest_xling.records import Annotation, Answer
from tests.answers import annotated_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

ISSUE = "wrong language: en, expected hi"


def answer(
    verdicts: Sequence[bool | str | None] | None,
    *,
    relevant: bool | None = True,
    issues: Sequence[str] = (),
    unknown: str = "",
    reason: str = "",
    reasoning: str = "It is about bread.",
) -> Answer:
    """Return an answer whose claims have these verdicts; "" for one on which nothing is found."""
    claims = None if verdicts is None else [{"text": f"Claim {n}."} for n in range(len(verdicts))]
    page = {"title": "Page", "text": "What it says.", "url": ""}
    values: dict[str, Any] = {
        "surface_issues": {"issues": list(issues), "unknown": unknown},
        "verifiable_claims": {"claims": claims, "reason": reason},
        "evidence": {"found": [[] if v == "" else [page, page] for v in verdicts or ()]},
        "relevance_llm": {
            "relevant": relevant,
            "reasoning": reasoning,
            "reason": "" if relevant is not None else "not judged",
            "unparsed": False,
        },
    }
    made = annotated_answer("रोटी", "hi", values)
    checks = Factuality().checks(made)
    found: Any = [v for v in verdicts or () if v != ""]
    return replace(
        made,
        checks=tuple(
            replace(
                check,
                annotations={
                    "support_llm": Annotation(
                        kind="support_llm",
                        value={"supported": verdict, "p": None, "reason": "prose"},
                        signature="",
                    )
                },
            )
            for check, verdict in zip(checks, found, strict=True)
        ),
    )


def test_the_share_of_supported_claims() -> None:
    """A claim on which nothing is found is not supported; the reason lists what is not."""
    reading = Factuality().read(answer([True, True, False, ""]))
    assert 0.5 == reading.value
    assert "not supported: Claim 2.\nnot supported: Claim 3." == reading.reason
    assert 4.0 == ClaimCount().read(answer([True, True, False, ""])).value


def test_a_claim_is_checked_against_all_that_was_found_on_it() -> None:
    """In English; where nothing was found nobody is asked."""
    (check,) = Factuality().checks(answer([True, ""]))
    assert "Page\nWhat it says.\n\nPage\nWhat it says." == check.text
    assert ("Claim 0.", "en") == (check.sample.prompt["claim"], check.language)


def test_without_claims_it_is_0_and_undefined() -> None:
    """0 as in CaLMQA; the version beside it has no value."""
    assert (0.0, "no verifiable claims") == _parts(Factuality().read(answer([])))
    assert (None, "no verifiable claims") == _parts(FactualPrecision().read(answer([])))
    assert (0.0, "no verifiable claims") == _parts(FactualityF1AtK().read(answer([])))
    assert 0.0 == ClaimCount().read(answer([])).value


def _parts(reading: Any) -> tuple[float | None, str]:  # noqa: ANN401  a Reading
    return reading.value, reading.reason


@pytest.mark.parametrize(
    ("supported", "others", "k", "expected"),
    [
        (5, 5, 10, 0.5),  # P 1/2, R 1/2
        (8, 2, 4, 2 * 0.8 / 1.8),  # P 4/5, R 1: more than K are no more
        (2, 0, 8, 0.4),  # P 1, R 1/4
        (0, 3, 8, 0.0),
    ],
)
def test_f1_at_k(supported: int, others: int, k: int, expected: float) -> None:
    """VeriScore's section 3.3, by hand."""
    given_answer = answer([True] * supported + [False] * others)
    assert pytest.approx(expected) == FactualityF1AtK(k=k).read(given_answer).value


@pytest.mark.parametrize("metric", [Factuality(), FactualPrecision(), FactualityF1AtK()])
def test_claims_without_a_verdict(metric: Any) -> None:  # noqa: ANN401  any of them
    """One in ten is left out; with more there is no value."""
    few = metric.read(answer([True] * 9 + [None]))
    assert metric.read(answer([True] * 9)).value == few.value
    many = metric.read(answer([True] * 8 + [None] * 2))
    assert (None, "2 of 10 claims without a verdict: prose") == _parts(many)


def test_answers_with_issues_have_no_factuality_and_are_worth_nothing() -> None:
    """Judged are answers without surface issues only; overall is 0 of the others."""
    given_answer = answer(None, relevant=None, issues=[ISSUE], reason=f"surface issue: {ISSUE}")
    for metric in (Factuality(), FactualPrecision(), FactualityF1AtK(), ClaimCount()):
        assert (None, f"surface issue: {ISSUE}") == _parts(metric.read(given_answer))
    assert None is Relevance().read(given_answer).value
    assert (0.0, ISSUE) == _parts(Overall().read(given_answer))


@given(
    st.lists(st.sampled_from([True, False, ""]), max_size=8),
    st.booleans(),
    st.booleans(),
)
def test_overall_is_the_product(verdicts: list[bool | str], relevant: bool, clean: bool) -> None:  # noqa: FBT001  drawn
    """Surface × factuality × relevance, of any answer."""
    made = answer(verdicts, relevant=relevant, issues=() if clean else [ISSUE])
    factuality, relevance = Factuality().read(made).value, Relevance().read(made).value
    assert factuality is not None
    assert relevance is not None
    assert pytest.approx(clean * factuality * relevance) == Overall().read(made).value
    for metric in (Factuality(), FactualityF1AtK(), Overall()):
        assert 0 <= (metric.read(made).value or 0.0) <= 1


def test_what_is_not_known_leaves_no_overall_score() -> None:
    """Nor do languages that cannot be identified; an irrelevant answer is worth 0 whatever else."""
    assert (None, "not judged") == _parts(Overall().read(answer([True], relevant=None)))
    unknown = "Fijian cannot be identified"
    assert (None, unknown) == _parts(Overall().read(answer([True], unknown=unknown)))
    unreadable = answer(None, reason="no claims: prose")
    assert (None, "no claims: prose") == _parts(Overall().read(unreadable))
    irrelevant = answer(None, relevant=False, reason="no claims: prose")
    assert (0.0, "irrelevant: It is about bread.") == _parts(Overall().read(irrelevant))


def test_a_judges_reasoning_is_shown_in_a_line() -> None:
    """It may be long, in several lines, or hold what a terminal obeys."""
    long = answer([True], relevant=False, reasoning="It is\n\x1b[31mabout " + "bread " * 100)
    for metric in (Relevance(), Overall()):
        said = metric.read(long).reason
        assert "It is about bread" in said
        assert len(said) <= 220
