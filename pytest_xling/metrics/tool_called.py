"""Whether a model calls the tool that it should."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_xling.interfaces.metric import Flag
from pytest_xling.records import Answer, Reading

TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(Flag[Answer]):
    """Flags answers that do not call the tool that the row names under ``tool``, or any at all."""

    name = "tool_called"
    version = "1"
    reads_calls = True

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        called = [call.name for call in answer.response.tool_calls]
        expected = answer.sample.prompt.get(TOOL)
        if expected in called or (expected is None and called):
            return Reading(value=0.0)
        instead = f"called {', '.join(called)}" if called else "called no tool"
        return Reading(value=1.0, reason=f"{instead}, not {expected}" if expected else instead)
