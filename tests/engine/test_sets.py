"""Which answers are scored together."""

from __future__ import annotations

from pytest_xling.engine.job import Job, Result, Scorable
from pytest_xling.engine.sets import IN_PIVOT, TO_NEUTRAL, Corpus, ScorableSet, corpora_of, sets_of
from pytest_xling.records import Answer, Message, Request, Response, Sample


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


def scorable(text: str, language: str = "hi") -> Scorable:
    """Return an answer to be scored."""
    sample = Sample(id="q1", benchmark="b", language=language, prompt={"question": "?"})
    return Scorable(Answer(sample=sample, response=Response(text=text, stop_reason="stop")))


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


def repeated(
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
        repeated("en", 0),
        repeated("hi", 0),
        repeated("hi", 1),
        repeated("hi", 0, temperature=1.0),
        repeated("en", 1),
        repeated("hi", 0, sample="q2"),
    ]
    found = sets_of(results, range(6), unit="repeats")
    sizes = {index: len(one.answers) for index, one in found}
    assert {0: 2, 1: 2, 3: 1, 5: 1} == sizes


def test_the_pivot_stands_beside_the_others() -> None:
    """English is not compared with itself; where it was not asked, the other side is empty."""
    results = [
        repeated("en", 0),
        repeated("en", 1),
        repeated("hi", 0),
        repeated("hi", 0, sample="q2"),
    ]
    found = dict(sets_of(results, range(4), unit="pivot"))
    assert {2: (1, 2), 3: (1, 0)} == {
        index: (len(one.answers), len(one.pivot)) for index, one in found.items()
    }


def test_a_fault_leaves_a_set_unscored() -> None:
    """It will be whole once the answer is there; a smaller set would be another number."""
    results = [
        repeated("en", 0, lost=True),
        repeated("en", 1),
        repeated("hi", 0),
        repeated("hi", 1),
    ]
    assert [2] == [index for index, _ in sets_of(results, range(4), unit="repeats")]
    assert [] == sets_of(results, range(4), unit="pivot")


def test_corpora_are_of_one_language_and_temperature() -> None:
    """All sets of a corpus know each other."""
    results = [
        repeated(language, 0, temperature=temperature, sample=sample)
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
