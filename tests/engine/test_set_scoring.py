"""The step that scores sets of answers."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_xling.engine.executor import LocalExecutor
from pytest_xling.engine.job import Job, Result, Scorable
from pytest_xling.engine.scoring import SetScoring
from pytest_xling.engine.sets import IN_PIVOT, Corpus, ScorableSet, corpora_of, sets_of
from pytest_xling.interfaces.metric import Number
from pytest_xling.records import Answer, AnswerSet, Reading, Request, Response, Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.errors import XlingError


@dataclass(frozen=True, kw_only=True)
class Shares(Number[AnswerSet]):
    """The share of a set among all characters it was scored with: not what a metric should be."""

    name = "shares"
    version = "1"
    unit = "repeats"
    least = 2

    def score(self, sets: Sequence[AnswerSet], /) -> list[Reading]:
        """Return how much of all text is in each set."""
        sizes = [sum(len(a.text) for a in (*one.answers, *one.pivot)) for one in sets]
        return [Reading(value=size / sum(sizes)) for size in sizes]


class SharesOfCorpus(Shares):
    """The same, fitted to its whole corpus first."""

    fitted = True


def scorable(text: str | None, language: str = "hi") -> Scorable:
    """Return an answer to be scored; without a text, one that was filtered."""
    sample = Sample(id="q1", benchmark="b", language=language, prompt={"question": "?"})
    reason: Literal["stop", "content_filter"] = "content_filter" if text is None else "stop"
    return Scorable(Answer(sample=sample, response=Response(text=text, stop_reason=reason)))


async def computed(step: SetScoring, inputs: Sequence[ScorableSet]) -> list[Reading | XlingError]:
    """Return what the step gives, in order."""
    outcomes: dict[int, Reading | XlingError] = {}
    async for ready in step.compute(inputs):
        outcomes |= ready
    return [outcomes[index] for index in range(len(inputs))]


def score(metric: Shares, sets: Sequence[ScorableSet]) -> list[Reading | XlingError]:
    """Run the step over *sets*."""
    with closing(LocalExecutor()) as executor:
        step = SetScoring(metric, parameters={}, annotators={}, executor=executor)
        return asyncio.run(computed(step, sets))


@pytest.mark.parametrize(
    ("answers", "pivot", "compared", "reason"),
    [
        (["a"], [], "", "asked once (K = 1): comparing needs --xling-samples=2 or more"),
        (["a", None], [], "", "1 of 2 answers: content filter 1"),
        ([None, " "], [], "", "0 of 2 answers: content filter 1, empty text 1"),
        (["a", "b"], [], IN_PIVOT, "no answer in the pivot language to compare with"),
        (["a", "b"], [None], IN_PIVOT, "0 of 1 answers in the pivot language: content filter 1"),
    ],
)
def test_too_few_answers(
    answers: list[str | None],
    pivot: list[str | None],
    compared: str,
    reason: str,
) -> None:
    """A set that cannot be compared has no value; the reason says what happened or what to do."""
    one = ScorableSet(tuple(map(scorable, answers)), tuple(map(scorable, pivot)), compared=compared)
    assert [Reading(value=None, reason=reason)] == score(Shares(), [one])


def test_missing_answers_are_left_out_and_counted() -> None:
    """What is left is scored."""
    one = ScorableSet((scorable("ab"), scorable(None), scorable("c")))
    assert ("ab", "c") == tuple(answer.text for answer in one.answer_set.answers)
    assert 1 == one.answer_set.missing
    assert [Reading(value=1.0)] == score(Shares(), [one])


def test_a_fitted_metric_sees_its_whole_corpus() -> None:
    """Even where only one set is still to be scored; sets too small to score are left out."""
    bare = tuple(
        ScorableSet(tuple(map(scorable, texts))) for texts in (["a", "b"], ["c", "def"], ["g"])
    )
    whole = [ScorableSet(one.answers, corpus=Corpus(bare)) for one in bare]
    readings = score(SharesOfCorpus(), whole)
    assert [2 / 6, 4 / 6, None] == [getattr(reading, "value", "failed") for reading in readings]
    assert [Reading(value=4 / 6)] == score(SharesOfCorpus(), [whole[1]])


def test_keys() -> None:
    """A key depends on the answers and their order, on the pivot and on the corpus."""
    a, b, other = scorable("a"), scorable("b"), scorable("c")
    plain = ScorableSet((a, b))
    keys = [
        plain.key,
        ScorableSet((b, a)).key,
        ScorableSet((a,)).key,
        ScorableSet((a, b), (other,), compared=IN_PIVOT).key,
        ScorableSet((a, b), compared=IN_PIVOT).key,
        ScorableSet((a, b), corpus=Corpus((plain,))).key,
        ScorableSet((a, b), corpus=Corpus((plain, ScorableSet((other,))))).key,
    ]
    assert len(keys) == len(set(keys))
    assert plain.key == ScorableSet((scorable("a"), scorable("b"))).key
    there_and_back = (plain, ScorableSet((other,)))
    assert (
        ScorableSet((a, b), corpus=Corpus(there_and_back)).key
        == ScorableSet((a, b), corpus=Corpus(there_and_back[::-1])).key
    )


def result(
    language: str, repeat: int, *, temperature: float = 0.0, sample: str = "q1", lost: bool = False
) -> Result:
    """Return what came of a job in a benchmark whose pivot is English."""
    job = Job(
        case_id=f"{sample}-{language}-{temperature}-{repeat}",
        benchmark="b",
        sample=Sample(id=sample, benchmark="b", language=language, prompt={"question": "?"}),
        condition="",
        position=0,
        request=Request(model="m", messages=(), params={}, repeat=repeat),
        metrics=("shares",),
        temperature=temperature,
        pivot="en",
    )
    return Result(job=job, scorable=None if lost else scorable(f"{repeat}", language))


def test_sets_are_of_one_sample_language_and_temperature() -> None:
    """Each under the index of its first result."""
    results = [
        result("en", 0),
        result("hi", 0),
        result("hi", 1),
        result("hi", 0, temperature=1.0),
        result("en", 1),
        result("hi", 0, sample="q2"),
    ]
    found = sets_of(results, range(6), unit="repeats")
    sizes = {index: len(one.answers) for index, one in found}
    assert {0: 2, 1: 2, 3: 1, 5: 1} == sizes


def test_the_pivot_stands_beside_the_others() -> None:
    """English is not compared with itself; where it was not asked, the other side is empty."""
    results = [result("en", 0), result("en", 1), result("hi", 0), result("hi", 0, sample="q2")]
    found = dict(sets_of(results, range(4), unit="pivot"))
    assert {2: (1, 2), 3: (1, 0)} == {
        index: (len(one.answers), len(one.pivot)) for index, one in found.items()
    }


def test_a_fault_leaves_a_set_unscored() -> None:
    """It will be whole once the answer is there; a smaller set would be another number."""
    results = [result("en", 0, lost=True), result("en", 1), result("hi", 0), result("hi", 1)]
    assert [2] == [index for index, _ in sets_of(results, range(4), unit="repeats")]
    assert [] == sets_of(results, range(4), unit="pivot")


def test_corpora_are_of_one_language_and_temperature() -> None:
    """All sets of a corpus know each other."""
    results = [
        result(language, 0, temperature=temperature, sample=sample)
        for language in ("en", "hi")
        for temperature in (0.0, 1.0)
        for sample in ("q1", "q2", "q3")
    ]
    corpora = corpora_of(results, unit="repeats")
    assert [3, 3, 3, 3] == [len(corpus) for corpus in corpora]
    assert all(
        one.corpus is not None and len(one.corpus.sets) == 3
        for corpus in corpora
        for _, one in corpus
    )
    assert 2 == len(corpora_of(results, unit="pivot"))
