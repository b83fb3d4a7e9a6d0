"""Which answers are scored together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.engine.job import Job, Result, Scorable
from pytest_xling.engine.sets import TO_NEUTRAL, sets_of
from pytest_xling.records import Answer, Message, Request, Response, Sample

if TYPE_CHECKING:
    from pytest_xling.engine.sets import ScorableSet


def result(level: int, *, language: str = "en", repeat: int = 0, fault: bool = False) -> Result:
    """Return the result of a query about claim c at *level*."""
    sample = Sample(
        id=f"c-l{level}",
        benchmark="b",
        language=language,
        prompt={"question": "Q", "claim": "x", "level": str(level)},
        parallel_id="c",
    )
    text = f"{language} {level} {repeat}"
    job = Job(
        case_id=text,
        benchmark="b",
        sample=sample,
        condition=f"r{repeat}" if repeat else "",
        position=0,
        request=Request(model="m", messages=(Message(role="user", content="Q"),), params={}),
        metrics=(),
        pivot="en",
    )
    answer = Answer(sample=sample, response=Response(text=text, stop_reason="stop"))
    return Result(job=job, scorable=None if fault else Scorable(answer))


def texts(found: ScorableSet) -> tuple[list[str], list[str]]:
    """Return the texts of a set and of what it is compared with."""
    return [a.answer.text for a in found.answers], [a.answer.text for a in found.pivot]


def test_levels_of_one_repeat_and_language_are_together() -> None:
    """In the order of the levels, whatever order they came in."""
    results = [
        result(level, language=language, repeat=repeat)
        for level in (2, 0, 1)
        for language in ("en", "hi")
        for repeat in (0, 1)
    ]
    found = sets_of(results, range(len(results)), unit="levels")
    assert [
        (results[first].job.case_id, texts(one)[0], one.compared) for first, one in sorted(found)
    ] == [
        (f"{language} 0 {repeat}", [f"{language} {level} {repeat}" for level in range(3)], "")
        for language in ("en", "hi")
        for repeat in (0, 1)
    ]


def test_each_level_is_compared_with_the_neutral_query() -> None:
    """Of the same repeat; the neutral query itself is not."""
    results = [result(level, repeat=repeat) for level in (0, 1, 2) for repeat in (0, 1)]
    found = sets_of(results, range(len(results)), unit="neutral")
    assert {results[first].job.case_id: texts(one) for first, one in found} == {
        f"en {level} {repeat}": ([f"en {level} {repeat}"], [f"en 0 {repeat}"])
        for level in (1, 2)
        for repeat in (0, 1)
    }
    assert {TO_NEUTRAL} == {one.compared for _, one in found}


def test_a_fault_at_one_level_leaves_no_set() -> None:
    """Asked again, there will be one; a fault at the neutral query costs all comparisons."""
    results = [result(0), result(1, fault=True), result(2)]
    assert [] == sets_of(results, range(3), unit="levels")
    assert [2] == [first for first, _ in sets_of(results, range(3), unit="neutral")]
    results = [result(0, fault=True), result(1), result(2)]
    assert [] == sets_of(results, range(3), unit="neutral")


def test_where_the_neutral_query_was_not_asked_nothing_is_compared_with() -> None:
    """The set is there, and says so when it is scored."""
    ((_, one),) = sets_of([result(3)], [0], unit="neutral")
    assert (["en 3 0"], []) == texts(one)
