"""What the fixture ``xling_gate`` gives a test."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import XlingError
from pytest_xling.gates.decide import Decision
from pytest_xling.gates.judge import advises, blocks, reason_of
from pytest_xling.gates.spec import LIMITS
from pytest_xling.plugin.context import FAULT
from pytest_xling.plugin.selection import GateTest
from pytest_xling.registry import load
from pytest_xling.store.verdicts import put_verdict
from pytest_xling.text.display import printable
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.gates.spec import GateSpec
    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.early_stopping import EarlyStopping
    from pytest_xling.plugin.evaluation import Annotators, Evaluator
    from pytest_xling.plugin.selection import Selection
    from pytest_xling.records import Verdict

_SMALLEST_P = 1e-300
"""No p is 0: stands in the JUnit file for what is no larger."""
_LONGEST_REASON = 2000
"""Characters of a reason in the JUnit file: what decided a gate stands at its end."""


@dataclass(eq=False)
class Gates:
    """What the gates of a session are decided with."""

    context: Context
    selection: Selection
    evaluator: Evaluator
    annotators: Annotators
    stopping: EarlyStopping

    @cached_property
    def decision(self) -> Decision:
        """What decides them, once the run is there."""
        return Decision(
            self.context.stored_run,
            family=self.selection.family,
            expected=self.stopping.expected,
            looks=self.stopping.looks,
        )


class GateCheck(GateTest):
    """One gate: what thresholds.yaml demands of a metric in one language."""

    def __init__(self, gates: Gates, spec: GateSpec) -> None:
        super().__init__(spec)
        self._gates = gates
        self._stopped = False
        self._properties: list[tuple[str, object]] = []

    def set_up(self, item: pytest.Item) -> None:
        """Say in the report which gate this is."""
        spec, context = self.spec, self._gates.context
        baseline = context.setup.baseline if spec.kind == "drop" else None
        self._properties = item.user_properties
        self._properties += [
            ("xling_gate", spec.id),
            ("xling_run", context.run_id),
            ("xling_model", context.setup.model),
            ("xling_language", spec.language),
            ("xling_tier", spec.threshold.tier),
            *([] if spec.threshold.level is None else [("xling_level", str(spec.threshold.level))]),
            *([] if baseline is None else [("xling_baseline", baseline.name(spec.benchmark))]),
            *_limits(spec),
        ]

    def verdict(self) -> Verdict:
        """Judge the run's scores, and keep the verdict with the run.

        Raises:
            XlingError: it cannot be judged or kept: a fault, which leaves the run incomplete.
        """
        try:
            return self._decided()
        except XlingError as fault:
            self._properties.append((FAULT, str(fault)))
            raise

    def _decided(self) -> Verdict:
        spec, gates = self.spec, self._gates
        gates.evaluator.recall(spec.benchmark)
        if load("metric", spec.metric).fitted:
            gates.evaluator.score_corpora()
        verdict = gates.decision.verdict(spec, measure=self._measure)
        self._stopped = gates.context.early_stop() is not None
        behind = gates.context.stored_run.behind(spec.threshold, gap=spec.kind == "gap")
        self._properties += [("xling_judge", str(annotator)) for annotator in behind]
        if verdict.outcome == "error" and spec.benchmark in gates.selection.recalled:
            self._properties.append((FAULT, verdict.reason))
        gates.context.database.transact(
            partial(
                put_verdict,
                run_id=gates.context.run_id,
                benchmark=spec.benchmark,
                verdict=verdict,
                expected=gates.stopping.expected(spec.benchmark, spec.metric),
            )
        )
        return verdict

    def _measure(self, spec: GateSpec) -> None:
        """Measure the annotators the gate rests on; a fault leaves the run incomplete."""
        try:
            self._gates.annotators.vouch(spec.threshold, gap=spec.kind == "gap")
        except XlingError as fault:
            self._properties.append((FAULT, str(fault)))
            raise

    def check(self) -> None:
        """Assert that the gate is open."""
        __tracebackhide__ = True
        try:
            verdict = self.verdict()
        except XlingError as error:
            pytest.fail(f"{self.spec.metric}: {error}", pytrace=False)
        made = verdict.estimate
        self._properties += [
            ("xling_outcome", verdict.outcome),
            ("xling_reason", printable(reason_of(verdict), limit=_LONGEST_REASON)),
            ("xling_n", str(made.n)),
            ("xling_unscored", str(made.unscored)),
            ("xling_signature", made.signature),
            *(
                (f"xling_{name}", f"{number:.6g}")
                for name in ("value", "low", "high")
                if (number := getattr(made, name)) is not None
            ),
            *(
                (f"xling_{name}", f"{max(number, _SMALLEST_P):.6g}")
                for name in ("p", "p_holm")
                if (number := getattr(made, name)) is not None
            ),
        ]
        limits = verdict.threshold
        level = None if limits.level is None else LEVELS[limits.level]
        where = ", ".join(filter(None, (limits.benchmark, limits.language, level, limits.origin)))
        message = f"{self.spec.metric}: {verdict.reason} ({where})"
        if verdict.outcome == "pass":
            return
        if verdict.outcome == "inconclusive":
            message = f"INCONCLUSIVE {message}"
            # Asking was stopped by a gate that failed: that one closes the gate, not this.
            if self._stopped:
                pytest.skip(message)
        if advises(verdict):
            pytest.xfail(f"advisory: {message}")
        if verdict.outcome == "inconclusive" and not blocks(verdict):
            pytest.skip(message)
        pytest.fail(message, pytrace=False)


def _limits(spec: GateSpec) -> Iterator[tuple[str, str]]:
    """Yield what a gate is held to, as the properties of its test."""
    for name in LIMITS[spec.kind]:
        limit = getattr(spec.threshold, name)
        if limit is None:
            continue
        said = f"{limit:g}"
        if name == "max_flagged":
            said = f"{limit} of {spec.threshold.repeats}"
        elif name == "max_drop" and spec.threshold.relative_drop:
            said = f"{100 * limit:g}%"
        yield f"xling_{name}", said
