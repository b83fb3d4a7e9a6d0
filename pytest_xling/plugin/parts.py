"""What the cases and the gates of a session are evaluated, checked and decided with."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_xling.gates.decide import Decision
    from pytest_xling.plugin.annotators import Annotators
    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.early_stopping import EarlyStopping
    from pytest_xling.plugin.evaluation import Evaluation
    from pytest_xling.plugin.selection import Selection


@dataclass(eq=False)
class Parts:
    """The parts of a session, as its tests need them."""

    context: Context
    selection: Selection
    evaluation: Evaluation
    annotators: Annotators
    stopping: EarlyStopping
    causes_shown: set[str] = field(default_factory=set)
    """Causes that a case of this process has shown in full, of which others were given up."""

    @cached_property
    def decision(self) -> Decision:
        """What decides the gates, once the run is there."""
        from pytest_xling.gates.decide import Decision  # noqa: PLC0415  statistics, for gates only

        return Decision(
            self.context.stored_run,
            family=self.selection.family,
            expected=self.stopping.expected,
            looks=self.stopping.looks,
        )
