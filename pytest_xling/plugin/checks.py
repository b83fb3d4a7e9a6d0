"""What the fixtures ``xling_case`` and ``xling_gate`` give a test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest

from pytest_xling.analysis.gate import LIMITS
from pytest_xling.errors import ConfigError, EvaluationError, GivenUp, XlingError
from pytest_xling.planning.outcome import judge_case, refuse_flags
from pytest_xling.records import Verdict
from pytest_xling.registry import load
from pytest_xling.text.display import printable
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.analysis.gate import GateSpec
    from pytest_xling.engine.job import Result
    from pytest_xling.planning.plan import Case
    from pytest_xling.plugin.early import Glance
    from pytest_xling.plugin.judging import Judging
    from pytest_xling.plugin.session import XlingSession
    from pytest_xling.records import Reading, Response, Sample, Score

__all__ = ["FAULT", "GIVEN_UP", "MISTAKE", "CaseCheck", "GateCheck"]

FAULT = "xling_fault"
"""The user property that marks a case whose evaluation failed."""
GIVEN_UP = "xling_given_up"
"""The user property that marks one that was given up for what an earlier one shows in full."""
MISTAKE = "xling_mistake"
"""The user property that marks a test that is wrong in itself; the session ends with status 4."""


class CaseCheck:
    """A sample in one language with, once its test is set up, its answer and scores."""

    def __init__(self, session: XlingSession, case: Case) -> None:
        self._session = session
        self.case = case
        self._item: pytest.Item | None = None
        self._result: Result | None = None
        self._properties: list[tuple[str, object]] = []

    def set_up(self, item: pytest.Item) -> None:
        """Evaluate the case; a fault is an error of the test, never a failure."""
        __tracebackhide__ = True
        session, case = self._session, self.case
        self._properties = item.user_properties
        try:
            stop = session.stopped_before(case)
            result = None if stop else session.result(case)
        except XlingError as error:
            item.user_properties.append((FAULT, str(error)))
            pytest.fail(str(error), pytrace=False)
        except Exception as error:
            # Not one of our own errors: a bug, in a metric perhaps. Let it show, as a fault.
            item.user_properties.append((FAULT, repr(error)))
            raise
        if result is None:
            pytest.skip(stop)
        item.user_properties += [
            ("xling_case", case.id),
            ("xling_run", session.run_id),
            ("xling_model", session.setup.model),
            ("xling_language", case.sample.language),
        ]
        if (fault := result.fault) is not None:
            message = f"{type(fault).__name__}: {fault}"
            if isinstance(fault, GivenUp) and session.is_told(fault.cause):
                message = "GivenUp: nothing more is asked, for what other cases met"
                item.user_properties.append((GIVEN_UP, "1"))
            item.user_properties.append((FAULT, message))
            pytest.fail(message, pytrace=False)
        for name, reading in result.readings.items():
            value = "none" if reading.value is None else f"{reading.value:g}"
            item.user_properties.append((f"xling_score_{name}", value))
            item.user_properties.append((f"xling_signature_{name}", result.signatures[name]))
        self._item, self._result = item, result

    def tear_down(self) -> None:
        """Let go of the answer."""
        self._item = self._result = None

    @property
    def id(self) -> str:
        """The case id, such as ``agnostic-q01-hi``."""
        return self.case.id

    @property
    def sample(self) -> Sample:
        """The question and what is known of it."""
        return self.case.sample

    @property
    def response(self) -> Response:
        """What the model answered."""
        response = self._evaluated().response
        if response is None:
            msg = f"case {self.id} has no response"
            raise EvaluationError(msg)
        return response

    @property
    def readings(self) -> Mapping[str, Reading]:
        """What each metric says, by its name.

        Of a question asked several times, the first case also has what metrics say of all its
        answers.
        """
        return self._evaluated().readings

    def _evaluated(self) -> Result:
        if self._result is None:
            msg = f"case {self.id} is evaluated while its test runs, neither before nor after"
            raise EvaluationError(msg)
        return self._result

    def check(self, *flags: str) -> None:
        """Assert that none of *flags* is raised.

        A flag whose gate has an error budget (``max_rate`` above 0) makes the test xfail, with
        the evidence; the gate decides. Without a budget it fails. Where none of the metrics has
        anything to say, the test is skipped with the reasons.
        """
        __tracebackhide__ = True
        session = self._session
        try:
            refuse_flags(flags, session.selection.kinds(self.case.benchmark))
            outcome = judge_case(self._evaluated(), flags, has_budget=session.has_budget(self.case))
        except ConfigError as error:
            self._refuse(str(error))
        except XlingError as error:
            if not isinstance(error, ConfigError):  # a mistake in the test is no fault of the run
                self._properties.append((FAULT, str(error)))
            pytest.fail(str(error), pytrace=False)
        if outcome.decision == "fail":
            pytest.fail(outcome.message, pytrace=False)
        if outcome.decision == "tolerated":
            pytest.xfail(outcome.message)
        if outcome.decision == "unscored":
            pytest.skip(outcome.message)

    def _refuse(self, mistake: str) -> NoReturn:
        """Fail the test for a mistake in itself, and ask nothing for those that follow."""
        __tracebackhide__ = True
        if self._item is not None:
            self._item.user_properties.append((MISTAKE, mistake))
            self._item.session.shouldstop = f"{self._item.nodeid} is wrong in itself"
        pytest.fail(mistake, pytrace=False)


class GateCheck:
    """One gate: what thresholds.yaml demands of a metric in one language."""

    def __init__(self, session: XlingSession, spec: GateSpec) -> None:
        self._session = session
        self.spec = spec
        self._stopped = False
        self._properties: list[tuple[str, object]] = []

    def set_up(self, item: pytest.Item) -> None:
        """Say in the report which gate this is."""
        spec, session = self.spec, self._session
        limits = {name: getattr(spec.threshold, name) for name in LIMITS[spec.kind]}
        baseline = session.setup.baseline if spec.kind == "drop" else None
        self._properties = item.user_properties
        self._properties += [
            ("xling_gate", spec.id),
            ("xling_run", session.run_id),
            ("xling_model", session.setup.model),
            ("xling_language", spec.language),
            *([] if spec.threshold.level is None else [("xling_level", str(spec.threshold.level))]),
            *([] if baseline is None else [("xling_baseline", baseline.name(spec.benchmark))]),
            *(
                (f"xling_{name}", f"{limit:g}")
                for name, limit in limits.items()
                if limit is not None
            ),
        ]

    def verdict(self) -> Verdict:
        """Judge the run's scores, and keep the verdict with the run.

        Raises:
            XlingError: it cannot be judged or kept: a fault, which leaves the run incomplete.
        """
        try:
            return self._judged()
        except XlingError as fault:
            self._properties.append((FAULT, str(fault)))
            raise

    def _judged(self) -> Verdict:
        from pytest_xling.store.runs import put_verdict  # noqa: PLC0415

        spec, session = self.spec, self._session
        session.recall(spec.benchmark)
        if load("metric", spec.metric).fitted:
            session.score_corpora()
        verdict = self.judged_by(session.stopping.judging(spec))
        self._stopped = session.stopping.stop() is not None
        if verdict.outcome == "error" and spec.benchmark in session.selection.recalled:
            self._properties.append((FAULT, verdict.reason))
        with session.database.write() as connection:
            put_verdict(connection, session.run_id, benchmark=spec.benchmark, verdict=verdict)
        return verdict

    def judged_by(self, judging: Judging | Glance) -> Verdict:
        """Judge the run's scores, as far as none is missing and what made them can be trusted."""
        spec, selection = self.spec, self._session.selection
        verdict = judging.verdict(spec, self.scores)
        lost, asked = judging.lost(spec, self.scores)
        recalled = spec.benchmark in selection.recalled
        if not recalled and not any(name == spec.benchmark for name, _ in selection.planned):
            why = (
                f"no case of {spec.benchmark} is selected; `xling gate` judges a stored run, and"
                " `xling runs` lists them"
            )
            verdict = replace(verdict, reason=why)
        elif lost:
            what = f"{lost} of {asked} scores are missing: they met a fault"
            if recalled:
                what = (
                    f"{lost} of {asked} scores are missing: their answers are not in the store, and"
                    " were not asked for, as their tests are not selected; run all of them"
                )
            verdict = Verdict(
                case=spec.id,
                outcome="error",
                estimate=verdict.estimate,
                threshold=spec.threshold,
                reason=what if lost > 0 else f"{-lost} scores more than the {asked} planned",
            )
        else:
            verdict = self._trusted(verdict)
        return verdict

    def _trusted(self, verdict: Verdict) -> Verdict:
        """Return *verdict* if what finds the labels behind it does well enough, and measure that.

        A fault while it is measured is an error of the gate, and leaves the run incomplete.
        """
        try:
            return self._session.trusting.verdict(verdict, gap=self.spec.kind == "gap")
        except XlingError as fault:
            self._properties.append((FAULT, str(fault)))
            reason = f"what it rests on could not be measured: {fault}"
            return replace(verdict, outcome="error", reason=reason)

    def scores(self, language: str) -> list[Score]:
        """Return the scores in a language, of this gate's benchmark and metric."""
        from pytest_xling.store.runs import scores  # noqa: PLC0415

        spec, session = self.spec, self._session
        with session.database.read() as connection:
            return scores(
                connection,
                session.run_id,
                benchmark=spec.benchmark,
                metric=spec.metric,
                language=language,
            )

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
            ("xling_reason", printable(verdict.reason)),
            ("xling_n", str(made.n)),
            ("xling_unscored", str(made.unscored)),
            ("xling_signature", made.signature),
            *(
                (f"xling_{name}", f"{number:.6g}")
                for name in ("value", "low", "high", "p", "p_holm")
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
            if verdict.threshold.on_inconclusive == "warn" or self._stopped:
                pytest.skip(message)
        pytest.fail(message, pytrace=False)
