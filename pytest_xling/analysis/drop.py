"""What a run and its baseline have in common, and what gates of drops say of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.errors import ConfigError
from pytest_xling.gates.drop import differing, drop_estimate, judge_drop
from pytest_xling.gates.pairing import cluster_of
from pytest_xling.records import Estimate, Verdict
from pytest_xling.registry import load
from pytest_xling.store.questions import Question, digest_of, same_question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_xling.analysis.baseline import Baseline, Scores
    from pytest_xling.interfaces.metric import Unit
    from pytest_xling.records import Sample, Score, Threshold
    from pytest_xling.store.questions import Questions

__all__ = ["Against", "Shared", "against", "asked_in", "judge_drop_gate"]

_Claims: TypeAlias = "Mapping[tuple[str, str], set[str]]"
"""By cluster and language: its samples."""

LEAST_SHARED = 0.5
"""Of the questions of a run those that its baseline must have asked, too; and of those the baseline
has a value of, those that the run must have one of, too, for a gate to pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The scores of a run whose questions the baseline was asked, too, and the baseline's."""

    scores: Sequence[Score]
    others: Sequence[Score]
    asked: int
    """How many questions the run has scores of."""
    shared: int
    """How many of them the baseline has scores of."""
    refused: str = ""
    """Why they are not compared; empty where they can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """A metric of a run beside the baseline's."""

    name: str
    """What to call the baseline."""
    then: Scores
    """Its scores by language."""
    asked_then: Questions
    asked_now: Questions
    unit: Unit = "answer"
    pivot: str | None = None
    """The language others are compared with."""
    pivot_then: str | None = None
    """The language they were compared with; None where it is not known."""
    claims_then: _Claims = field(default_factory=dict)
    claims_now: _Claims = field(default_factory=dict)
    share: bool = False
    """Whether values have to be 0 or 1."""

    def shared(self, scores: Sequence[Score]) -> Shared:
        """Return what *scores*, of one language and perhaps level, have a counterpart of."""
        then: defaultdict[tuple[str, str], list[Score]] = defaultdict(list)
        for score in scores and self.then.get(scores[0].language, ()):
            then[score.sample_id, score.language].append(score)
        asked = {(score.sample_id, score.language) for score in scores}
        both = {key for key in asked if key in then and self._same(*key)}
        here = [score for score in scores if (score.sample_id, score.language) in both]
        there = [score for key in sorted(both) for score in then[key]]
        return Shared(
            scores=here,
            others=there,
            asked=len(asked),
            shared=len(both),
            refused=self._refused(here, there, asked=len(asked), shared=len(both)),
        )

    def _refused(
        self, here: Sequence[Score], there: Sequence[Score], *, asked: int, shared: int
    ) -> str:
        if self.share and any(score.value not in {None, 0.0, 1.0} for score in there):
            return f"{self.name} has values of this metric other than 0 and 1"
        ours = sorted({score.signature for score in here if score.value is not None})
        theirs = sorted({score.signature for score in there if score.value is not None})
        if ours and theirs and ours != theirs:
            pairs = ((now, then) for now in ours for then in theirs if now != then)
            told = " / ".join(differing(now, then) for now, then in pairs)
            return f"made in another way than in {self.name}: {told}"
        if self.unit == "pivot" and self.pivot_then not in {None, self.pivot}:
            return (
                f"made in another way than in {self.name}: "
                f"pivot: {self.pivot_then} there, {self.pivot} here"
            )
        if not self.then:
            return f"{self.name} has no scores of this metric"
        if shared < LEAST_SHARED * asked:
            return f"{self.name} has only {shared} of {asked} questions, fewer than half"
        return ""

    def _same(self, sample: str, language: str) -> bool:
        """Tell whether both have asked the same, in all that one score of a sample rests on."""
        now, then = self.asked_now.get((sample, language)), self.asked_then.get((sample, language))
        if now is None or then is None:
            return False
        keys = [(sample, language)]
        if self.unit == "pivot" and self.pivot is not None:
            keys.append((sample, self.pivot))
        if self.unit in {"levels", "neutral"}:
            claim = self.claims_now.get((now.cluster, language), set())
            before = self.claims_then.get((then.cluster, language), set())
            if self.unit == "levels" and claim != before:
                return False
            keys += [(one, language) for one in claim & before]
        return all(
            key in self.asked_now
            and key in self.asked_then
            and same_question(self.asked_now[key].digest, self.asked_then[key].digest)
            for key in keys
        )


def against(
    baseline: Baseline, benchmark: str, metric: str, *, asked: Questions, pivot: str | None
) -> Against:
    """Read what a baseline has of a metric.

    Args:
        baseline: to compare with.
        benchmark: its name.
        metric: its name.
        asked: what the run asks in the benchmark.
        pivot: the language others are compared with, where there is one.
    """
    asked_then = baseline.source.questions(benchmark)
    return Against(
        name=baseline.name(benchmark),
        then=baseline.source.scores(benchmark, metric),
        asked_then=asked_then,
        asked_now=asked,
        unit=_unit(metric),
        pivot=pivot,
        pivot_then=baseline.source.pivot(benchmark),
        claims_then=_claims(asked_then),
        claims_now=_claims(asked),
        share=_share(metric),
    )


def _unit(metric: str) -> Unit:
    """Return what one reading of a metric is of; of one not installed any more, an answer."""
    try:
        unit: Unit = load("metric", metric).unit
    except ConfigError:
        return "answer"
    return unit


def _share(metric: str) -> bool:
    try:
        share: bool = load("metric", metric).share
    except ConfigError:
        return False
    return share


def asked_in(samples: Iterable[Sample]) -> Questions:
    """Return what a run that has been planned will have asked, as the store will know it."""
    return {
        (sample.id, sample.language): Question(
            digest=digest_of(sample.prompt.get("question", ""), sample.reference),
            cluster=sample.parallel_id or sample.id,
        )
        for sample in samples
    }


def _claims(asked: Questions) -> _Claims:
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for (sample, language), question in asked.items():
        found[question.cluster, language].add(sample)
    return found


def judge_drop_gate(
    scores: Sequence[Score], threshold: Threshold, *, against: Against | None, case: str
) -> Verdict:
    """Judge one gate of a drop.

    Args:
        scores: of the run, at the level that is judged.
        threshold: with a ``max_drop``.
        against: the baseline's side; None where none is named.
        case: name of the gate's case.

    Returns:
        An error where there is nothing to compare with: other signatures, or fewer than half of the
        questions.
    """
    if against is None:
        return _undecided(threshold, case, "baseline", "no baseline is named")
    found = against.shared(scores)
    if found.refused:
        return _undecided(threshold, case, against.name, found.refused)
    metric = load("metric", threshold.metric)
    made = drop_estimate(
        found.scores,
        found.others,
        metric=threshold.metric,
        language=threshold.language,
        baseline=against.name,
        better=metric.better or "higher",
        alpha=threshold.alpha,
        kind="flag" if metric.share else "number",
        margin=threshold.max_drop or 0.0,
        widest=metric.reach(),
    )
    verdict = judge_drop(made, threshold, case=case)
    answered = len({cluster_of(score) for score in found.others if score.value is not None})
    if verdict.outcome == "pass" and made.n < LEAST_SHARED * answered:
        # What a model does not answer any more it does not answer wrongly either.
        lost = f"{against.name} has values of {answered} questions, fewer than half of them paired"
        verdict = replace(verdict, outcome="inconclusive", reason=f"{verdict.reason}; {lost}")
    if found.shared == found.asked:
        return verdict
    told = f"{verdict.reason}; {against.name} has {found.shared} of {found.asked} questions"
    return replace(verdict, reason=told)


def _undecided(threshold: Threshold, case: str, baseline: str, reason: str) -> Verdict:
    made = Estimate(
        metric=threshold.metric,
        language=threshold.language,
        baseline=baseline,
        value=None,
        low=None,
        high=None,
        n=0,
        unscored=0,
        reason=reason,
        share=_share(threshold.metric),
    )
    return Verdict(case=case, outcome="error", estimate=made, threshold=threshold, reason=reason)
