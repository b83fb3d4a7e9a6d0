"""What the fixtures ``xling_case`` and ``xling_gate`` give a test."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from pytest_xling.cases.outcome import judge_case
from pytest_xling.errors import XlingError
from pytest_xling.plugin.session import FAULT, SESSION, XlingSession
from pytest_xling.records import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.cases.plan import Case
    from pytest_xling.engine.run import Result
    from pytest_xling.plugin.selection import GateSpec
    from pytest_xling.records import Reading, Response, Sample

__all__ = ["CaseCheck", "GateCheck", "case_check", "gate_check"]


class CaseCheck:
    """A sample in one language with its answer and scores."""

    def __init__(
        self, session: XlingSession, case: Case, result: Result, response: Response
    ) -> None:
        self._session = session
        self._case = case
        self._result = result
        self.response = response
        """What the model answered."""

    @property
    def id(self) -> str:
        """The case id, such as ``agnostic-q01-hi``."""
        return self._case.id

    @property
    def sample(self) -> Sample:
        """The question and what is known of it."""
        return self._case.sample

    @property
    def readings(self) -> Mapping[str, Reading]:
        """What each metric says, by its name."""
        return self._result.readings

    def check(self, *flags: str) -> None:
        """Assert that none of *flags* is raised.

        A flag whose gate has an error budget (``max_rate`` above 0) makes the test xfail, with
        the evidence; the gate decides. Without a budget it fails. Where none of the metrics has
        anything to say, the test is skipped with the reasons.
        """
        __tracebackhide__ = True
        try:
            outcome = judge_case(
                self._result, flags, has_budget=self._session.has_budget(self._case)
            )
        except XlingError as error:
            pytest.fail(str(error), pytrace=False)
        if outcome.decision == "fail":
            pytest.fail(outcome.message, pytrace=False)
        if outcome.decision == "tolerated":
            pytest.xfail(outcome.message)
        if outcome.decision == "unscored":
            pytest.skip(outcome.message)


class GateCheck:
    """One gate: what thresholds.yaml demands of a metric in one language."""

    def __init__(self, session: XlingSession, spec: GateSpec) -> None:
        self._session = session
        self.spec = spec

    def verdict(self) -> Verdict:
        """Judge the run's scores, and keep the verdict with the run."""
        from pytest_xling.gates.estimate import estimate  # noqa: PLC0415
        from pytest_xling.gates.judge import judge  # noqa: PLC0415
        from pytest_xling.registry import load  # noqa: PLC0415
        from pytest_xling.store.runs import put_verdict, scores  # noqa: PLC0415

        spec, session = self.spec, self._session
        with session.database.read() as connection:
            found = scores(
                connection,
                session.run_id,
                benchmark=spec.benchmark,
                metric=spec.metric,
                language=spec.language,
            )
        made = estimate(
            found,
            metric=spec.metric,
            language=spec.language,
            kind=load("metric", spec.metric).kind,
            alpha=spec.threshold.alpha,
        )
        verdict = judge(made, spec.threshold, case=spec.id)
        lost = session.selection.planned[spec.benchmark, spec.language] - len(found)
        if lost > 0:
            verdict = Verdict(
                case=spec.id,
                outcome="error",
                estimate=made,
                threshold=spec.threshold,
                reason=f"{lost} of {lost + len(found)} answers are missing: they met a fault",
            )
        with session.database.write() as connection:
            put_verdict(connection, session.run_id, benchmark=spec.benchmark, verdict=verdict)
        return verdict

    def check(self) -> None:
        """Assert that the gate is open."""
        __tracebackhide__ = True
        verdict = self.verdict()
        where = f"{self.spec.benchmark}, {self.spec.language}, {verdict.threshold.origin}"
        message = f"{self.spec.metric}: {verdict.reason} ({where})"
        if verdict.outcome == "pass":
            return
        if verdict.outcome == "inconclusive":
            message = f"INCONCLUSIVE {message}"
            if verdict.threshold.on_inconclusive == "warn":
                pytest.skip(message)
        pytest.fail(message, pytrace=False)


def case_check(request: pytest.FixtureRequest) -> CaseCheck:
    """Evaluate the case a test is about; a fault is an error of the test, never a failure."""
    __tracebackhide__ = True
    session = request.config.stash[SESSION]
    case: Case = request.param
    result = session.result(case)
    properties = request.node.user_properties
    properties += [
        ("xling_case", case.id),
        ("xling_run", session.run_id),
        ("xling_model", session.setup.model),
        ("xling_language", case.sample.language),
    ]
    if result.fault is not None or result.response is None:
        message = f"{type(result.fault).__name__}: {result.fault}"
        properties.append((FAULT, message))
        pytest.fail(message, pytrace=False)
    for name, reading in result.readings.items():
        value = "none" if reading.value is None else f"{reading.value:g}"
        properties.append((f"xling_score_{name}", value))
        properties.append((f"xling_signature_{name}", result.signatures[name]))
    return CaseCheck(session, case, result, result.response)


def gate_check(request: pytest.FixtureRequest) -> GateCheck:
    """Give the gate a test is about."""
    session = request.config.stash[SESSION]
    spec: GateSpec = request.param
    limits = asdict(spec.threshold)
    request.node.user_properties += [
        ("xling_gate", spec.id),
        ("xling_run", session.run_id),
        ("xling_model", session.setup.model),
        ("xling_language", spec.language),
        *(
            (f"xling_{k}", str(limits[k]))
            for k in ("max_rate", "floor", "ceiling")
            if limits[k] is not None
        ),
    ]
    return GateCheck(session, spec)
