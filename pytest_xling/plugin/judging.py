"""Judge the gates of a session: whole families, and each family once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pytest_xling.analysis.gate import at_level, judge_gates

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.analysis.drop import Against
    from pytest_xling.analysis.gate import GateKind, GateSpec
    from pytest_xling.planning.plan import Planned
    from pytest_xling.records import Score, Verdict

__all__ = ["Judging"]


class Gates(Protocol):
    """What judging needs to know of what was selected."""

    def family(self, spec: GateSpec) -> list[GateSpec]:
        """Return the gates judged together with *spec*, itself among them, selected or not."""
        ...

    def planned_scores(self, benchmark: str, metric: str) -> Planned:
        """Return how many scores a metric should have, by language and level."""
        ...

    def against(self, spec: GateSpec) -> Against | None:
        """Return the baseline's side of a gate's metric; None where no baseline is named."""
        ...


class Judging:
    """Knows what the gates of a family say together, and how many scores a gate lacks.

    Gates run when all scores are in the store. Where that is not so (a test of the user's own order
    or one that met a fault), nothing is kept and the next gate reads again.
    """

    def __init__(self, selection: Gates) -> None:
        self._selection = selection
        self._judged: dict[tuple[str, str, GateKind], dict[str, Verdict]] = {}
        self._held: dict[tuple[str, str], dict[str, Sequence[Score]]] = {}

    def verdict(self, spec: GateSpec, read: Callable[[str], Sequence[Score]]) -> Verdict:
        """Judge a gate together with its family.

        Args:
            spec: the gate.
            read: gives the scores of its benchmark and metric in a language from the store.
        """
        if spec.family in self._judged:
            return self._judged[spec.family][spec.id]
        family = self._selection.family(spec)
        verdicts = judge_gates(
            family,
            lambda language: self.scores(spec, language, read),
            against=self._selection.against(spec) if spec.kind == "drop" else None,
        )
        judged = {verdict.case: verdict for verdict in verdicts}
        languages = {name for gate in family for name in (gate.language, gate.pivot) if name}
        held = self._held.get((spec.benchmark, spec.metric), {})
        if languages <= held.keys():
            self._judged[spec.family] = judged
        return judged[spec.id]

    def lost(self, spec: GateSpec, read: Callable[[str], Sequence[Score]]) -> tuple[int, int]:
        """Return how many scores a gate lacks (below 0: has too many), and how many it should have.

        Args:
            spec: the gate.
            read: as for :meth:`verdict`.
        """
        level = spec.threshold.level
        asked = found = 0
        for language in filter(None, (spec.language, spec.pivot)):
            planned = self._selection.planned_scores(spec.benchmark, spec.metric)
            asked += sum(
                count
                for (one, at), count in planned.items()
                if one == language and level in {None, at}
            )
            found += len(at_level(self.scores(spec, language, read), level))
        return asked - found, asked

    def scores(
        self, spec: GateSpec, language: str, read: Callable[[str], Sequence[Score]]
    ) -> Sequence[Score]:
        """Return a metric's scores in a language; those of the metric last asked for are held."""
        place = (spec.benchmark, spec.metric)
        if place not in self._held:
            self._held = {place: {}}  # gates come metric by metric, and scores may be many
        held = self._held[place]
        if language in held:
            return held[language]
        found = read(language)
        planned = self._selection.planned_scores(*place)
        if len(found) == sum(n for (one, _), n in planned.items() if one == language):
            held[language] = found
        return found
