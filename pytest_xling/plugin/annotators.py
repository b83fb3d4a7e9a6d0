"""How good the annotators of gates are: measured on labelled answers before a gate decides."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.errors import XlingError
from pytest_xling.registry import load
from pytest_xling.text.numbers import amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_xling.engine.run import Run
    from pytest_xling.gates.evidence import GateAnnotator, Signed
    from pytest_xling.gates.spec import GateSpec
    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.evaluation import Evaluation
    from pytest_xling.records import Threshold
    from pytest_xling.store.measurements import Calibration

    Doubt: TypeAlias = tuple[GateAnnotator, str]


class Annotators:
    """Measures the annotators of gates, where nobody has, on the labelled answers bundled."""

    def __init__(self, context: Context, evaluation: Evaluation) -> None:
        self._context = context
        self._evaluation = evaluation
        self._faults: dict[tuple[str, str], XlingError] = {}
        """By annotator and language; what failed once is not asked again for every gate."""

    def measure(self, threshold: Threshold, *, gap: bool) -> None:
        """Measure what a gate rests on, unless this is a shard, which judges none.

        Args:
            threshold: the gate's, which demands that.
            gap: whether it is of the gap to the pivot language.

        Raises:
            XlingError: an annotator failed while it was measured.
        """
        if self._context.setup.shard is None:
            self._measure(self._context.stored_run.unmeasured(threshold, gap=gap))

    def _measure(self, missing: Mapping[str, Sequence[str]]) -> None:
        """Measure annotators in the languages that are said, where labelled answers come along."""
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

    def foretell(self, gates: Sequence[GateSpec]) -> list[str]:
        """Say which gates cannot decide by the annotators they will rest on, before all is asked.

        What asks nobody is measured for it, where it has not been; a judge is not asked yet.

        Returns:
            A line for each benchmark, and one for each annotator and language that is doubted.
        """
        gates = [gate for gate in gates if gate.threshold.min_judge_f1 is not None]
        if not gates or self._context.setup.shard is not None:
            return []
        from pytest_xling.analysis.labelled import bundled_labels, task_of  # noqa: PLC0415  likewise
        from pytest_xling.gates.evidence import annotators_of_gates, why_doubted  # noqa: PLC0415  likewise

        context, labelled = self._context, cache(bundled_labels)
        signed = self._signatures({gate.metric for gate in gates})

        def annotators() -> list[list[GateAnnotator]]:
            with context.database.read() as connection:
                return annotators_of_gates(
                    connection,
                    context.run_id,
                    [(gate.threshold, gate.kind == "gap") for gate in gates],
                    pivot=context.setup.pivots.get,
                    signed=lambda _, metric: signed[metric],
                )

        def is_to_be_measured(each: GateAnnotator) -> bool:
            unknown = each.measured is None and not each.changed
            return unknown and each.language in labelled(task_of(each.annotator)).languages

        local: dict[str, dict[str, None]] = {}
        for each in chain.from_iterable(annotators()):
            if is_to_be_measured(each) and load("annotator", each.annotator).asks is None:
                local.setdefault(each.annotator, {})[each.language] = None
        self._measure({annotator: list(languages) for annotator, languages in local.items()})

        shut: dict[str, list[list[Doubt]]] = {}
        for gate, rests_on in zip(gates, annotators(), strict=True):
            known = [each for each in rests_on if not is_to_be_measured(each)]
            doubts = [
                (each, lacks) for each in known if (lacks := why_doubted(each, gate.threshold))
            ]
            if doubts:
                shut.setdefault(gate.benchmark, []).append(doubts)
        return [line for benchmark, of in shut.items() for line in _foretold(benchmark, of)]

    def _signatures(self, metrics: Iterable[str]) -> dict[str, list[Signed]]:
        """Return by metric the annotators it rests on that can be measured, as they are now."""
        factory = self._context.setup.factory
        signed: dict[str, list[Signed]] = {}
        for name in metrics:
            metric = factory.make("metric", name)
            signed[name] = [
                (
                    need,
                    self._evaluation.call(partial(_signature, need)),
                    getattr(metric, "text_in", None),
                )
                for need in metric.needs
                if load("annotator", need).calibrated
            ]
        return signed

    def validate(self, spec: GateSpec) -> None:
        """Measure what a gate rests on, and ask judges that were measured earlier again.

        A judge that is paid is asked about some of the answers it was measured on, once in a run
        and language, where it was not since the gate's scores were made, in whichever run.

        Raises:
            XlingError: an annotator failed.
        """
        threshold, gap = spec.threshold, spec.kind == "gap"
        self.measure(threshold, gap=gap)
        setup, run = self._context.setup, self._context.stored_run
        if not any(judge.paid for judge in setup.roles.get("judge", ())):
            return
        from pytest_xling.analysis.drift import judge_again  # noqa: PLC0415  imports numpy

        measured: dict[tuple[str, str], list[Calibration]] = {}
        for calibration in run.due_for_recheck(threshold, gap=gap):
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


async def _signature(annotator: str, run: Run) -> str:
    signature, _ = await run.annotated(annotator, [])
    return signature


def _foretold(benchmark: str, gates: Sequence[Sequence[Doubt]]) -> list[str]:
    """Word that gates cannot decide, why, and what to do: a line for each."""
    doubts = list(chain.from_iterable(gates))
    rests = "it rests" if len(gates) == 1 else "they rest"
    return [
        f"{benchmark}: {amount(len(gates), 'gate')} cannot decide, by what {rests} on:",
        *dict.fromkeys(f"  {lacks}" for _, lacks in doubts),
        *dict.fromkeys(_remedy(annotator.annotator) for annotator, _ in doubts),
    ]


def _remedy(annotator: str) -> str:
    """Say what to do where an annotator is not trusted."""
    task = annotator.partition("_")[0]
    judge = "--xling-judge=MODEL"
    if load("annotator", annotator).asks is None:
        judge = f"{judge} --xling-param={task}=llm"
    labels = f"xling calibrate {task} --labels=FILE"
    return f"  so name a better judge ({judge}), or measure it on labels of your own ({labels})"
