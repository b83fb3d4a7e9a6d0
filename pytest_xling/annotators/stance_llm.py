"""What a judge says of a response's stance towards a claim (UPHILL, section 3.4, appendix A.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, get_args

from pytest_xling.annotators._stance import needs_of, pair_of, stance_value
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from pytest_xling.annotators import Ask, Role
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer

__all__ = ["StanceLlm"]

TextIn: TypeAlias = Literal["english", "native"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StanceLlm:
    """Has a judge say whether a response agrees with a claim, disagrees, or neither.

    A chat model gives its reasoning, then the stance under a key that no response can know, so
    that what the judge quotes is no stance. Where its reply has none it is asked once more, and
    what cannot be read then is ``unparsed``. A judge that declines, or is filtered, gives no
    stance and is not ``unparsed``.

    A base model only continues a few examples: enough to see that everything runs, no more.
    """

    name: ClassVar[str] = "stance_llm"
    version: ClassVar[str] = "2"
    libraries: ClassVar[tuple[str, ...]] = ()
    asks: ClassVar[Role] = "judge"

    text_in: TextIn = "native"
    """``english``: claim and response in English, the response translated."""
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
                msg = f"stance_llm: {field} must be at least 1, not {value}"
                raise ConfigError(msg)
        if self.text_in not in get_args(TextIn):
            msg = f"stance_llm: text_in must be english or native, not {self.text_in!r}"
            raise ConfigError(msg)

    @property
    def needs(self) -> tuple[str, ...]:
        """The translation, where texts are read in English."""
        return needs_of(self.text_in)

    def looks_at(self, answer: Answer) -> JsonValue:
        """Return the claim and the response a judge is shown, or why it is shown none."""
        pair = pair_of(answer, text_in=self.text_in)
        if isinstance(pair, str):
            return {"reason": pair}
        return {"claim": pair.claim, "response": pair.response, "language": pair.language}

    async def annotate(self, answer: Answer, ask: Ask) -> JsonValue:
        """Return the stance a judge finds in *answer*, and its reasoning.

        Raises:
            ConfigError: the judge's model can only translate.
            ProviderFault, BudgetExceeded: the judge did not answer.
        """
        pair = pair_of(answer, text_in=self.text_in)
        if isinstance(pair, str):
            return stance_value(None, reason=pair)
        for what, text in (("claim", pair.claim), ("response", pair.response)):
            if len(text) > self.max_chars:
                reason = f"the {what} has {len(text)} characters, more than {self.max_chars}"
                return stance_value(None, reason=f"no stance: {reason}")
        # Imported when there is something to judge: a run that finds all stances kept needs it not.
        from pytest_xling.annotators._judging import judged  # noqa: PLC0415
        from pytest_xling.annotators._stance_llm_prompts import stance_question  # noqa: PLC0415

        verdict = await judged(
            stance_question(pair, language=find(pair.language).english_name),
            ask=ask,
            params={"temperature": self.temperature, "max_tokens": self.max_tokens},
            structured=self.structured,
        )
        return stance_value(
            next((stance for stance in STANCES if stance == verdict.label), None),
            reason=f"no stance: {verdict.wrong}" if verdict.wrong else "",
            reasoning=verdict.reasoning,
            unparsed=verdict.unparsed,
        )
