"""Measure what finds the labels behind gates, and trust none that errs too often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.errors import XlingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.plugin.evaluation import Evaluation
    from pytest_xling.records import Threshold, Verdict
    from pytest_xling.store.database import Database

__all__ = ["Trusting"]


class Trusting:
    """Knows of the annotators behind a run's gates how well they do.

    Args:
        database: gives the store.
        run_id: gives the run's name.
        evaluation: gives what annotates.
        pivots: by benchmark the language others are compared with.
    """

    def __init__(
        self,
        *,
        database: Callable[[], Database],
        run_id: Callable[[], str],
        evaluation: Callable[[], Evaluation],
        pivots: Callable[[], Mapping[str, str]],
    ) -> None:
        self._database = database
        self._run_id = run_id
        self._evaluation = evaluation
        self._pivots = pivots
        self._faults: dict[tuple[str, str], XlingError] = {}

    def verdict(self, verdict: Verdict, *, gap: bool) -> Verdict:
        """Return *verdict* with what is known of the annotators behind it, inconclusive if too bad.

        Args:
            verdict: what the scores say.
            gap: whether it is of the gap to the pivot language.

        Raises:
            XlingError: an annotator failed while it was measured.
        """
        from pytest_xling.analysis.trust import trusted  # noqa: PLC0415

        if verdict.threshold.min_judge_f1 is None:
            return verdict
        self._measure(verdict.threshold, gap=gap)
        with self._database().read() as connection:
            pivot = self._pivots().get(verdict.threshold.benchmark)
            return trusted(connection, self._run_id(), verdict, pivot=pivot)

    def doubted(self, threshold: Threshold | None) -> bool:
        """Tell whether a raised flag rests on an annotator that is not trusted to decide.

        Where it cannot be measured it is not; its gate then says what happened.
        """
        from pytest_xling.analysis.trust import doubts, languages_judged  # noqa: PLC0415

        if threshold is None or threshold.min_judge_f1 is None:
            return False
        try:
            self._measure(threshold, gap=False)
        except XlingError:
            return True
        pivot = self._pivots().get(threshold.benchmark)
        languages = languages_judged(threshold, pivot=pivot, gap=False)
        with self._database().read() as connection:
            found = doubts(connection, self._run_id(), threshold, languages=languages)
            return any(doubt.reason for doubt in found)

    def _measure(self, threshold: Threshold, *, gap: bool) -> None:
        """Measure what has not been measured, on the labelled answers that come along."""
        from pytest_xling.analysis.trust import languages_judged, unmeasured  # noqa: PLC0415

        pivot = self._pivots().get(threshold.benchmark)
        languages = languages_judged(threshold, pivot=pivot, gap=gap)
        with self._database().read() as connection:
            missing = unmeasured(connection, self._run_id(), threshold, languages=languages)
        if missing:
            self._calibrate(missing)

    def _calibrate(self, missing: Mapping[str, Sequence[str]]) -> None:
        from pytest_xling.analysis.labelled import bundled_labels  # noqa: PLC0415

        labelled = bundled_labels()
        for annotator, wanted in missing.items():
            for language in (code for code in wanted if code in labelled.languages):
                # Who is broken is not asked again for every gate.
                if (fault := self._faults.get((annotator, language))) is not None:
                    raise fault
                try:
                    self._evaluation().calibrate(annotator, labelled, [language])
                except XlingError as error:
                    self._faults[annotator, language] = error
                    raise
