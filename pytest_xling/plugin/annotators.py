"""How good the annotators behind gates are: measured on labelled answers before a gate decides."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from pytest_xling.errors import XlingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.evaluation import Evaluation
    from pytest_xling.records import Threshold
    from pytest_xling.store.measurements import Calibration


class Annotators:
    """Measures the annotators behind gates, where nobody has, on the labelled answers bundled.

    Args:
        context: of the session.
        evaluation: annotates.
    """

    def __init__(self, context: Context, evaluation: Evaluation) -> None:
        self._context = context
        self._evaluation = evaluation
        self._faults: dict[tuple[str, str], XlingError] = {}
        """By annotator and language; what failed once is not asked again for every gate."""

    def measure(self, threshold: Threshold, *, gap: bool) -> None:
        """Measure what a gate rests on, where its threshold demands that, and a gate is judged.

        Args:
            threshold: the gate's.
            gap: whether it is of the gap to the pivot language.

        Raises:
            XlingError: an annotator failed while it was measured.
        """
        if threshold.min_judge_f1 is None or self._context.setup.shard is not None:
            return
        missing = self._context.stored_run.unmeasured(threshold, gap=gap)
        if not missing:
            return
        from pytest_xling.analysis.calibration import calibrate  # noqa: PLC0415  imports numpy
        from pytest_xling.analysis.labelled import bundled_labels, task_of  # noqa: PLC0415  likewise

        database = self._context.database
        for annotator, languages in missing.items():
            labelled = bundled_labels(task_of(annotator))
            measuring = partial(
                calibrate, database=database, annotator=annotator, labelled=labelled
            )
            for language in (code for code in languages if code in labelled.languages):
                with self._once(annotator, language):
                    self._evaluation.call(partial(measuring, languages=[language]))

    def vouch(self, threshold: Threshold, *, gap: bool) -> None:
        """Measure what a gate rests on, and ask judges that were measured earlier again.

        A judge that is paid is asked about some of the answers it was measured on, once in a run
        and language, where it was not since the gate's scores were made, in whichever run.

        Args:
            threshold: the gate's.
            gap: whether it is of the gap to the pivot language.

        Raises:
            XlingError: an annotator failed.
        """
        self.measure(threshold, gap=gap)
        setup, run = self._context.setup, self._context.stored_run
        paid = any(judge.paid for judge in setup.roles.get("judge", ()))
        if threshold.min_judge_f1 is None or not paid:
            return
        from pytest_xling.analysis.drift import judge_again  # noqa: PLC0415  imports numpy

        measured: dict[tuple[str, str], list[Calibration]] = {}
        for calibration in run.unvouched(threshold, gap=gap):
            place = (calibration.annotator, calibration.language)
            measured.setdefault(place, []).append(calibration)
        again = partial(
            judge_again,
            database=self._context.database,
            run_id=self._context.run_id,
        )
        for place, calibrations in measured.items():
            with self._once(*place):
                self._evaluation.call(partial(again, measured=calibrations))

    @contextmanager
    def _once(self, annotator: str, language: str) -> Iterator[None]:
        """Ask an annotator in a language, unless that has failed before: then fail again."""
        if (fault := self._faults.get((annotator, language))) is not None:
            raise fault
        try:
            yield
        except XlingError as error:
            self._faults[annotator, language] = error
            raise

    def are_doubted(self, threshold: Threshold | None) -> bool:
        """Tell whether a raised flag rests on an annotator that is not trusted to decide.

        Where it cannot be measured it is not; its gate then says what happened.
        """
        if threshold is None or threshold.min_judge_f1 is None:
            return False
        try:
            self.measure(threshold, gap=False)
        except XlingError:
            return True
        return self._context.stored_run.is_doubted(threshold)
