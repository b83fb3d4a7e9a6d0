"""Decide the gates of a run: the one place for pytest, ``xling gate`` and interim looks alike."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from pytest_xling.errors import XlingError
from pytest_xling.gates.cases import cases_estimate
from pytest_xling.gates.corrected import (
    by_level,
    corrected,
    corrected_gap,
    corrected_trend,
    labels_at,
    level_name,
    wants_labels,
    with_labels_told,
)
from pytest_xling.gates.drop import judge_drop_gate
from pytest_xling.gates.estimate import estimate
from pytest_xling.gates.gap import gap_estimate
from pytest_xling.gates.judge import held_to_estimate, judge, judge_family
from pytest_xling.gates.overall import judge_overall
from pytest_xling.gates.pairing import at_level, cluster_of
from pytest_xling.gates.spec import LIMITS, gate_id
from pytest_xling.gates.trend import trend_estimate
from pytest_xling.registry import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.gates.drop import BaselineSide
    from pytest_xling.gates.interim_looks import Looks
    from pytest_xling.gates.spec import GateKind, GateSpec
    from pytest_xling.interfaces.metric import Better, MetricKind
    from pytest_xling.records import Expected, Score, Threshold, Verdict
    from pytest_xling.store.human_labels import HumanLabel

    Labels = Mapping[tuple[str, str], HumanLabel]


class Evidence(Protocol):
    """What is known of a run whose gates are decided."""

    def scores(self, benchmark: str, metric: str, language: str) -> Sequence[Score]:
        """Return the scores of a metric in a language."""
        ...

    def labels(
        self, benchmark: str, metric: str, language: str
    ) -> Mapping[tuple[str, str], HumanLabel]:
        """Return what people say the metric should have said, by sample and condition."""
        ...

    def baseline(self, benchmark: str, metric: str) -> BaselineSide | None:
        """Return the baseline's side of a metric; None where no baseline is named."""
        ...

    def trusted(self, verdict: Verdict) -> Verdict:
        """Return *verdict*; inconclusive where what it rests on does not bear it."""
        ...


class Decision:
    """Decides gates, whole families together and each family once.

    Scores that are not all there yet (of a gate that runs before its cases, or beside a fault) are
    not held, and the next gate reads them again.

    Args:
        evidence: of the run.
        family: gives the gates decided together with one, itself among them.
        expected: gives which scores a metric of a benchmark should have; None where that is not
            known, and what there is counts.
        looks: by benchmark the interim looks at it, where there are any.
    """

    def __init__(
        self,
        evidence: Evidence,
        *,
        family: Callable[[GateSpec], Sequence[GateSpec]],
        expected: Callable[[str, str], Expected | None],
        looks: Mapping[str, Looks],
    ) -> None:
        self._evidence = evidence
        self._family = family
        self._expected = expected
        self._looks = looks
        self._decided: dict[tuple[str, str, GateKind, str], dict[str, Verdict]] = {}
        self._held: dict[tuple[str, str], dict[str, Sequence[Score]]] = {}

    def verdict(
        self, spec: GateSpec, *, measure: Callable[[GateSpec], None] | None = None
    ) -> Verdict:
        """Decide a gate.

        Args:
            spec: the gate.
            measure: measures the annotators it rests on, where nobody has; a fault of theirs is an
                error of the gate.

        Raises:
            XlingError: scores that cannot be put together, or a store that cannot be read.
        """
        verdict = self.by_scores(spec)
        expected = self._expected(spec.benchmark, spec.metric)
        if expected is not None:
            if not expected.selected and not expected.recalled:
                return replace(verdict, reason=_NOTHING_SELECTED.format(spec.benchmark))
            if missing := self._missing(spec, expected):
                return replace(verdict, outcome="error", threshold=spec.threshold, reason=missing)
        if measure is not None:
            try:
                measure(spec)
            except XlingError as fault:
                reason = f"what it rests on could not be measured: {fault}"
                return replace(verdict, outcome="error", reason=reason)
        return self._evidence.trusted(verdict)

    def by_scores(self, spec: GateSpec) -> Verdict:
        """Decide a gate by the scores there are, whether or not any are missing."""
        if spec.family in self._decided:
            return self._decided[spec.family][spec.id]
        gates = self._family(spec)
        looks = self._looks.get(spec.benchmark)
        expected = self._expected(spec.benchmark, spec.metric)
        look = None if looks is None or expected is None else expected.look
        baseline = None
        if spec.kind == "drop":
            baseline = self._evidence.baseline(spec.benchmark, spec.metric)

        def scores(language: str) -> Sequence[Score]:
            return self.scores(spec, language)

        def labels(language: str) -> Mapping[tuple[str, str], HumanLabel]:
            return self._evidence.labels(spec.benchmark, spec.metric, language)

        if looks is None or look is None:
            verdicts = judge_gates(gates, scores, baseline=baseline, labels=labels)
        else:
            from pytest_xling.gates.interim_looks import (  # noqa: PLC0415  imports numpy
                at_look,
                looked_at,
            )

            now = [at_look(gate, looks, look) for gate in gates]
            verdicts = [
                looked_at(verdict, gate, looks, look)
                for verdict, gate in zip(
                    judge_gates(now, scores, baseline=baseline, labels=labels, at_look=True),
                    gates,
                    strict=True,
                )
            ]
        decided = {verdict.case: verdict for verdict in verdicts}
        languages = {code for gate in gates for code in gate.reads}
        if languages <= self._held.get((spec.benchmark, spec.metric), {}).keys():
            self._decided[spec.family] = decided
        return decided[spec.id]

    def _missing(self, spec: GateSpec, expected: Expected) -> str:
        """Say that scores are missing, or that there are too many; "" where all is well."""
        level = spec.threshold.level
        planned = there = 0
        for language in spec.reads:
            planned += sum(
                count
                for (code, at), count in expected.scores.items()
                if code == language and level in {None, at}
            )
            there += len(at_level(self.scores(spec, language), level))
        if there > planned:
            return f"{there - planned} scores more than the {planned} planned"
        if there == planned:
            return ""
        missing = f"{planned - there} of {planned} scores are missing: "
        if expected.recalled:
            return (
                f"{missing}their answers are not in the store, and were not asked for, as their "
                "tests are not selected; run all of them"
            )
        return f"{missing}they met a fault"

    def scores(self, spec: GateSpec, language: str) -> Sequence[Score]:
        """Return a metric's scores in a language; those of the metric last asked for are held."""
        place = (spec.benchmark, spec.metric)
        if place not in self._held:
            self._held = {place: {}}  # gates come metric by metric, and scores may be many
        held = self._held[place]
        if language in held:
            return held[language]
        scores = self._evidence.scores(*place, language)
        looks, expected = self._looks.get(spec.benchmark), self._expected(*place)
        if looks is not None and expected is not None and expected.look is not None:
            asked = looks.asked(expected.look)
            scores = [score for score in scores if cluster_of(score)[1] in asked]
        planned = None if expected is None else expected.scores
        if planned is None or len(scores) == sum(
            count for (code, _), count in planned.items() if code == language
        ):
            held[language] = scores
        return scores


_NOTHING_SELECTED = (
    "no case of {} is selected; `xling gate` judges a stored run, and `xling runs` lists them"
)


def judge_gates(
    gates: Sequence[GateSpec],
    scores: Callable[[str], Sequence[Score]],
    *,
    baseline: BaselineSide | None = None,
    labels: Callable[[str], Labels] = lambda _language: {},
    at_look: bool = False,
) -> list[Verdict]:
    """Judge gates of one metric of a benchmark; those of a family together.

    Args:
        gates: whole families; their verdicts come in the same order.
        scores: gives the metric's scores in a language.
        baseline: for drops, its side.
        labels: gives people's labels of the answers in a language, by sample and condition.
        at_look: whether the run has interim looks, at which labels do not count.
    """
    said_by_people = cache(labels)  # once for a language's own gate, its gaps and all levels

    def corrects(gate: GateSpec, language: str | None) -> Labels:
        wanted = gate.kind != "cases" and gate.threshold.estimate != "judge"
        return said_by_people(language) if wanted and language is not None else {}

    verdicts = [
        judge_overall(
            gate,
            {code: scores(code) for code in gate.reads},
            baseline=baseline,
            labels={code: corrects(gate, code) for code in gate.reads},
            at_look=at_look,
        )
        if gate.threshold.weights
        else judge_gate(
            scores(gate.language),
            gate.threshold,
            kind=gate.kind,
            pivot=gate.pivot,
            pivot_scores=scores(gate.pivot) if gate.pivot is not None else (),
            baseline=baseline,
            labels=corrects(gate, gate.language),
            pivot_labels=corrects(gate, gate.pivot),
            at_look=at_look,
        )
        for gate in gates
    ]
    for name in dict.fromkeys(gate.family for gate in gates):
        family = [index for index, gate in enumerate(gates) if gate.family == name]
        together = judge_family([verdicts[index] for index in family])
        for index, verdict in zip(family, together, strict=True):
            verdicts[index] = verdict
    return [
        held_to_estimate(verdict, _behind(gate, gates, verdicts))
        for gate, verdict in zip(gates, verdicts, strict=True)
    ]


def _behind(
    gate: GateSpec, gates: Sequence[GateSpec], verdicts: Sequence[Verdict]
) -> Verdict | None:
    """Return the verdict on all languages together that stands behind a gate of one."""
    return next(
        (
            verdict
            for other, verdict in zip(gates, verdicts, strict=True)
            if other.threshold.weights
            and (other.family, other.threshold.level) == (gate.family, gate.threshold.level)
        ),
        None,
    )


def _limits(threshold: Threshold) -> list[float]:
    """Return what a threshold says of the metric itself."""
    given = (getattr(threshold, name) for name in LIMITS["limit"])
    return [limit for limit in given if limit is not None]


def judge_gate(
    scores: Sequence[Score],
    threshold: Threshold,
    *,
    kind: GateKind = "limit",
    pivot: str | None = None,
    pivot_scores: Sequence[Score] = (),
    baseline: BaselineSide | None = None,
    labels: Labels = MappingProxyType({}),
    pivot_labels: Labels = MappingProxyType({}),
    at_look: bool = False,
) -> Verdict:
    """Judge one gate alone, by what *threshold* says of the metric, its cases, gap, drop or trend.

    Args:
        scores: of the threshold's benchmark, metric and language, at all levels.
        threshold: the limits.
        kind: what is to be judged.
        pivot: for a gap, the language to compare with.
        pivot_scores: the metric's scores in that language.
        baseline: for a drop, its side.
        labels: people's labels of the answers, by sample and condition: they correct what the
            metric says, unless the threshold wants that alone.
        pivot_labels: of those in the pivot language.
        at_look: whether the run has interim looks, at which labels do not count.
    """
    own, pivot_own = (at_level(of, threshold.level) for of in (scores, pivot_scores))
    here = labels_at(own, labels)
    sides: dict[str, Labels] = {}
    if kind == "cases" or threshold.estimate == "judge":
        pass
    elif kind == "trend":
        sides = by_level(own, here)
    elif kind == "gap":
        sides = {threshold.language: here, pivot or "": labels_at(pivot_own, pivot_labels)}
    elif kind == "drop":
        if baseline is not None:
            sides = {"this run": here, baseline.name: baseline.labels_then(threshold.language)}
    elif threshold.max_rate != 0:  # that is a rule: each flagged answer counts
        at = threshold.level
        sides = {threshold.language if at is None else level_name(at): here}
    counted = not at_look and wants_labels(threshold, sides)
    verdict = _by_kind(
        own,
        threshold,
        kind=kind,
        pivot=pivot or "",
        pivot_own=pivot_own,
        baseline=baseline,
        labels=tuple(sides.values()) if counted else (),
    )
    return with_labels_told(verdict, sides, at_look=at_look)


def _by_kind(
    own: Sequence[Score],
    threshold: Threshold,
    *,
    kind: GateKind,
    pivot: str,
    pivot_own: Sequence[Score],
    baseline: BaselineSide | None,
    labels: Sequence[Labels],
) -> Verdict:
    """Judge a gate by the scores at its level, and by labels of each side where they count."""
    metric = load("metric", threshold.metric)
    values: MetricKind = "flag" if metric.share else "number"
    case = gate_id(threshold.metric, threshold.language, kind=kind, level=threshold.level)
    better: Better = metric.better or "higher"
    if kind == "cases":
        return judge(cases_estimate(own, threshold), threshold, case=case, kind="cases")
    if kind == "drop":
        both = (labels[0], labels[1]) if labels else None
        return judge_drop_gate(own, threshold, baseline=baseline, case=case, labels=both)
    if kind == "trend":
        trend = trend_estimate(
            own,
            metric=threshold.metric,
            language=threshold.language,
            better=better,
            alpha=threshold.alpha,
            kind=values,
            margin=threshold.max_trend or 0.0,
            widest=metric.reach(),
        )
        if labels:
            trend = corrected_trend(
                trend,
                own,
                {key: label for at in labels for key, label in at.items()},
                better=better,
                kind=values,
                alpha=threshold.alpha,
                bounds=metric.bounds,
                limits=[threshold.max_trend or 0.0],
            )
        return judge(trend, threshold, case=case, kind="trend")
    if kind == "gap":
        gap = gap_estimate(
            own,
            pivot_own,
            metric=threshold.metric,
            language=threshold.language,
            pivot=pivot,
            better=better,
            alpha=threshold.alpha,
            kind=values,
            margin=threshold.max_gap or 0.0,
            widest=metric.reach(),
        )
        if labels:
            gap = corrected_gap(
                gap,
                own,
                labels[0],
                pivot_own,
                labels[1],
                better=better,
                kind=values,
                alpha=threshold.alpha,
                bounds=metric.bounds,
                limits=[threshold.max_gap or 0.0],
            )
        return judge(gap, threshold, case=case, kind="gap")
    made = estimate(
        own,
        metric=threshold.metric,
        language=threshold.language,
        kind=values,
        alpha=threshold.alpha,
        bounds=metric.bounds,
        # A budget of 0 is a rule, which chance has no say in.
        limits=[limit for limit in _limits(threshold) if limit != 0 or values == "number"],
    )
    if labels:
        made = corrected(
            made,
            own,
            labels[0],
            kind=values,
            alpha=threshold.alpha,
            bounds=metric.bounds,
            limits=_limits(threshold),
        )
    return judge(made, threshold, case=case)
