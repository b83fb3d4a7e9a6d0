"""By how much a model is worse than a baseline in a language, on the same questions.

It is a gap, but for what is compared: not two languages of a run, but two runs in a language.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.errors import ConfigError
from pytest_xling.gates.corrected import corrected_gap
from pytest_xling.gates.gap import gap_estimate
from pytest_xling.gates.judge import judge
from pytest_xling.gates.pairing import cluster_of
from pytest_xling.gates.relative_drop import relative_drop
from pytest_xling.records import Estimate, Verdict
from pytest_xling.registry import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.interfaces.metric import Better, MetricKind, Unit
    from pytest_xling.records import Score, Threshold
    from pytest_xling.store.human_labels import HumanLabel
    from pytest_xling.store.questions import Questions

    Labels = Mapping[tuple[str, str], HumanLabel]

_SHOWN = 3


def drop_estimate(
    scores: Sequence[Score],
    baseline_scores: Sequence[Score],
    *,
    metric: str,
    language: str,
    baseline: str,
    better: Better,
    alpha: float,
    kind: MetricKind = "number",
    margin: float = 0.0,
    widest: float | None = None,
) -> Estimate:
    """Estimate by how much the run is worse than *baseline*: the mean over paired questions.

    Args:
        scores: of the run in *language*, in any order.
        baseline_scores: of the same metric in the same language; of the same questions.
        metric: the metric all of them are of.
        language: the language all of them are in.
        baseline: its name.
        better: which end of the metric is good.
        alpha: the interval misses with this probability, both sides together.
        kind: as for :func:`pytest_xling.gates.gap.gap_estimate`, as everything else.
        margin: the drop that is allowed.
        widest: how far apart two numbers can be; None where that is not known.

    Raises:
        EvaluationError: as :func:`pytest_xling.gates.gap.gap_estimate`.
    """
    made = gap_estimate(
        scores,
        [replace(score, language=baseline) for score in baseline_scores],
        metric=metric,
        language=language,
        pivot=baseline,
        better=better,
        alpha=alpha,
        kind=kind,
        margin=margin,
        widest=widest,
    )
    return replace(made, pivot="", baseline=baseline)


def differing(here: str, there: str) -> str:
    """Say in which fields two signatures differ: ``text_in: english there, native here``.

    Args:
        here: the signature of the run, such as ``sim_sent|v1|encoder:e5|text_in:native``.
        there: that of the baseline.
    """
    ours, theirs = _fields(here), _fields(there)
    differences = [
        f"{name}: {theirs.get(name, 'nothing')} there, {ours.get(name, 'nothing')} here"
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    ]
    more = f"; and {len(differences) - _SHOWN} more" if len(differences) > _SHOWN else ""
    return "; ".join(differences[:_SHOWN]) + more


def _fields(signature: str) -> dict[str, str]:
    """Return the fields of a signature; its name and version are fields, too."""
    name, *parts = signature.split("|")
    fields = {"metric": name}
    for part in parts:
        key, colon, value = part.partition(":")
        fields[key if colon else "version"] = value if colon else part
    return fields


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


@dataclass(frozen=True, kw_only=True)
class BaselineSide:
    """A metric of a run beside the baseline's."""

    name: str
    """What to call the baseline."""
    metric: str
    then: Mapping[str, Sequence[Score]]
    """The baseline's scores by language."""
    asked_then: Questions
    asked_now: Questions
    pivot: str | None = None
    """The language others are compared with."""
    pivot_then: str | None = None
    """The language they were compared with; None where it is not known."""
    labels_then: Callable[[str], Labels] = lambda _language: {}
    """Gives people's labels of the baseline's answers in a language, by sample and condition."""

    @cached_property
    def unit(self) -> Unit:
        """What one reading of the metric is of; of one not installed any more, an answer."""
        try:
            unit: Unit = load("metric", self.metric).unit
        except ConfigError:
            return "answer"
        return unit

    @cached_property
    def _claims(self) -> tuple[_Claims, _Claims]:
        """The samples of each claim, now and then."""
        return _claims(self.asked_now), _claims(self.asked_then)

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
        if _share(self.metric) and any(score.value not in {None, 0.0, 1.0} for score in there):
            return f"{self.name} has values of this metric other than 0 and 1"
        ours = sorted({score.signature for score in here if score.value is not None})
        theirs = sorted({score.signature for score in there if score.value is not None})
        if ours and theirs and ours != theirs:
            pairs = ((now, then) for now in ours for then in theirs if now != then)
            difference = " / ".join(differing(now, then) for now, then in pairs)
            return f"made in another way than in {self.name}: {difference}"
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
            claims_now, claims_then = self._claims
            claim = claims_now.get((now.cluster, language), set())
            before = claims_then.get((then.cluster, language), set())
            if self.unit == "levels" and claim != before:
                return False
            keys += [(other, language) for other in claim & before]
        return all(
            key in self.asked_now
            and key in self.asked_then
            and self.asked_now[key].is_same(self.asked_then[key])
            for key in keys
        )


def _share(metric: str) -> bool:
    try:
        share: bool = load("metric", metric).share
    except ConfigError:
        return False
    return share


def _claims(asked: Questions) -> _Claims:
    claims: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for (sample, language), question in asked.items():
        claims[question.cluster, language].add(sample)
    return claims


def judge_drop_gate(
    scores: Sequence[Score],
    threshold: Threshold,
    *,
    baseline: BaselineSide | None,
    case: str,
    labels: tuple[Labels, Labels] | None = None,
) -> Verdict:
    """Judge one gate of a drop.

    Args:
        scores: of the run, at the level that is judged.
        threshold: with a ``max_drop``.
        baseline: its side; None where none is named.
        case: name of the gate's case.
        labels: people's labels of the run's answers and of the baseline's, by sample and condition,
            where they correct what the metric says.

    Returns:
        An error where there is nothing to compare with: other signatures, or fewer than half of the
        questions.
    """
    if baseline is None:
        return undecided(threshold, case, "baseline", "no baseline is named")
    paired = baseline.shared(scores)
    if paired.refused:
        return undecided(threshold, case, baseline.name, paired.refused)
    metric = load("metric", threshold.metric)
    better: Better = metric.better or "higher"
    kind: MetricKind = "flag" if metric.share else "number"
    made = drop_estimate(
        paired.scores,
        paired.others,
        metric=threshold.metric,
        language=threshold.language,
        baseline=baseline.name,
        better=better,
        alpha=threshold.alpha,
        kind=kind,
        margin=threshold.max_drop or 0.0,
        widest=metric.reach(),
    )
    if threshold.relative_drop:
        made = relative_drop(
            made,
            paired.scores,
            paired.others,
            better=better,
            alpha=threshold.alpha,
            kind=kind,
            margin=threshold.max_drop or 0.0,
            widest=metric.reach(),
        )
    if labels is not None:
        made = corrected_gap(
            made,
            paired.scores,
            labels[0],
            paired.others,
            labels[1],
            better=better,
            kind=kind,
            alpha=threshold.alpha,
            bounds=metric.bounds,
            limits=[threshold.max_drop or 0.0],
        )
    verdict = judge(made, threshold, case=case, kind="drop")
    answered = len({cluster_of(score) for score in paired.others if score.value is not None})
    if verdict.outcome == "pass" and made.n < LEAST_SHARED * answered:
        # What a model does not answer any more it does not answer wrongly either.
        lost = f"{baseline.name} has values of {answered} questions, fewer than half of them paired"
        verdict = replace(verdict, outcome="inconclusive", reason=f"{verdict.reason}; {lost}")
    if paired.shared == paired.asked:
        return verdict
    reason = f"{verdict.reason}; {baseline.name} has {paired.shared} of {paired.asked} questions"
    return replace(verdict, reason=reason)


def undecided(threshold: Threshold, case: str, baseline: str, reason: str) -> Verdict:
    """Return the error of a drop that cannot be judged, and why."""
    made = Estimate.none(
        reason,
        metric=threshold.metric,
        language=threshold.language,
        baseline=baseline,
        share=_share(threshold.metric),
    )
    return Verdict(case=case, outcome="error", estimate=made, threshold=threshold, reason=reason)
