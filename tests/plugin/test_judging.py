"""Gates read the store as seldom as they can, and never judge by what was not there yet."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

from pytest_xling.plugin.judging import Judging

from pytest_xling.gates.spec import GateSpec
from pytest_xling.records import Score, Threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.plugin.selection import Selection

LANGUAGES = ("es", "hi", "zh")


def _score(language: str, number: int, *, metric: str = "no_answer") -> Score:
    return Score(
        metric=metric,
        benchmark="b",
        sample_id=f"q{number}-l{number % 2}",
        language=language,
        condition="",
        value=0.0,
        reason="",
        signature="s",
        cluster=f"q{number}",
        level=number % 2,
    )


class _Planned:
    """What is planned: ten answers in each language, half of them at each of two levels."""

    def __init__(self) -> None:
        self.gates = [_gap(language) for language in LANGUAGES]
        self.gates += [_limit(level) for level in (None, 0, 1)]
        self.gates += [_limit(None, metric="apology")]

    def family(self, spec: GateSpec) -> list[GateSpec]:
        """Return the gates of that family."""
        return [gate for gate in self.gates if gate.family == spec.family]

    def planned_scores(self, benchmark: str, metric: str) -> Counter[tuple[str, int | None]]:
        """Return five for each language and level."""
        assert ("b", "no_answer") == (benchmark, metric) or metric == "apology"
        return Counter({(code, level): 5 for code in ("en", *LANGUAGES) for level in (0, 1)})


class _Store:
    """Gives what there is of a metric, and counts how often it is asked."""

    def __init__(self, there: int, *, metric: str = "no_answer") -> None:
        self.there = there
        self.asked: Counter[str] = Counter()
        self._metric = metric

    def __call__(self, language: str) -> Sequence[Score]:
        """Return the scores in a language."""
        self.asked[language] += 1
        return [_score(language, number, metric=self._metric) for number in range(self.there)]


def _gap(language: str) -> GateSpec:
    limits = Threshold(benchmark="b", metric="no_answer", language=language, max_gap=0.9, min_n=2)
    return GateSpec(threshold=limits, kind="gap", pivot="en")


def _limit(level: int | None, *, metric: str = "no_answer") -> GateSpec:
    limits = Threshold(
        benchmark="b", metric=metric, language="hi", max_rate=0.9, min_n=2, level=level
    )
    return GateSpec(threshold=limits)


def _judging() -> Judging:
    return Judging(cast("Selection", _Planned()))


def test_a_metric_is_read_once_for_all_its_gates() -> None:
    """Families, levels and what is lost: each language once, until another metric comes."""
    judging, store = _judging(), _Store(10)
    for language in LANGUAGES:
        assert "pass" == judging.verdict(_gap(language), store).outcome
        assert (0, 20) == judging.lost(_gap(language), store)
    assert [10, 5, 5] == [
        judging.verdict(_limit(level), store).estimate.n for level in (None, 0, 1)
    ]
    assert (0, 5) == judging.lost(_limit(1), store)
    assert dict.fromkeys(("en", *LANGUAGES), 1) == store.asked
    other = _Store(10, metric="apology")
    judging.verdict(_limit(None, metric="apology"), other)
    judging.verdict(_limit(None), store)
    assert (1, 1) == (other.asked["hi"], store.asked["hi"])
    judging.verdict(_gap("es"), store)
    assert 1 == store.asked["es"]


def test_what_is_not_whole_is_not_kept() -> None:
    """Scores may still come: a gate that ran too early spoils none that runs later."""
    judging, store = _judging(), _Store(3)
    assert 3 == judging.verdict(_gap("hi"), store).estimate.n
    assert (14, 20) == judging.lost(_gap("hi"), store)
    # Of three answers two are at level 0.
    assert (3, 5) == judging.lost(_limit(0), store)
    store.there = 10
    assert 10 == judging.verdict(_gap("hi"), store).estimate.n
    assert (0, 20) == judging.lost(_gap("hi"), store)
    store.there = 12
    assert (0, 20) == judging.lost(_gap("hi"), store)
