"""What annotators share that ask a judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_xling.errors import ConfigError
from pytest_xling.interfaces.annotator import AskingAnnotator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.interfaces.annotator import Ask
    from pytest_xling.judging.asking import Question
    from pytest_xling.judging.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingAnnotator(AskingAnnotator):
    """Asks a judge for a label, with its reasoning."""

    called = "the judge"
    asks = "judge"

    temperature: float | None = 0.0
    """None leaves it to the model: some take no other."""
    max_tokens: int = 2048
    """Of a chat model's reply, with what it thinks before."""
    max_chars: int = 50_000
    """No judge is asked about texts that are longer."""
    structured: bool = True
    """Ask by JSON schema, too, where the judge's provider takes one."""

    def __post_init__(self) -> None:
        """Refuse limits that leave nothing."""
        for field, value in (("max_tokens", self.max_tokens), ("max_chars", self.max_chars)):
            if value < 1:
                msg = f"{self.name}: {field} must be at least 1, not {value}"
                raise ConfigError(msg)

    def too_long(self, texts: Mapping[str, str]) -> str:
        """Say which of *texts*, by name, no judge is asked about for its length; "" for none."""
        return too_long(texts, max_chars=self.max_chars)

    async def judge(self, question: Question, ask: Ask) -> Verdict:
        """Return the judge's verdict.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        # Imported when there is something to judge: where all verdicts are in the store it is not.
        from pytest_xling.judging.asking import judged  # noqa: PLC0415

        params = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return await judged(question, ask=ask, params=params, structured=self.structured)


def too_long(texts: Mapping[str, str], *, max_chars: int) -> str:
    """Say which of *texts*, by name, has more than *max_chars* characters; "" for none."""
    for name, text in texts.items():
        if len(text) > max_chars:
            return f"the {name} has {len(text)} characters, more than {max_chars}"
    return ""
