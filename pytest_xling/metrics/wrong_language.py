"""Whether an answer is in another language than its question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from pytest_xling.errors import ConfigError, did_you_mean
from pytest_xling.interfaces.metric import Flag
from pytest_xling.languages import find
from pytest_xling.records import Answer, Reading

if TYPE_CHECKING:
    from pytest_xling.languages import Language

__all__ = ["WrongLanguage"]

Rule: TypeAlias = Literal["evidence", "calmqa"]

_CLEAR = Reading(value=0.0)
_NO_LETTERS = Reading(value=None, reason="the answer holds no letters")
_ONLY_NAMES = "no letters besides names, code, formulas and numbers"
_OTHER_SCRIPT = 0.1
"""With a smaller share of letters in the language's own script, a text is written in another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongLanguage(Flag[Answer]):
    """Flags answers that are not in the language of the question.

    By the rule ``evidence`` an answer is flagged if it is written in another script, or if an
    identifier finds another language with confidence; with too little to go by there is no value.
    By the rule ``calmqa`` the identifier is always believed (CaLMQA §3.1, App. C.1), which makes
    the paper's figures and flags a quarter of right answers of ten characters. By either, answers
    in languages that cannot be identified reliably get None.

    Attributes:
        rule: ``evidence`` or ``calmqa``.
        letters: how many letters it takes, code, formulas and names set aside; those of scripts
            without capitals count twice.
        script_letters: the same, where nearly all are of another script.
        cld2_letters: the same, where CLD2 decides.
        lead: how many nats langid's language must lead over the expected one.
    """

    name = "wrong_language"
    version = "2"

    rule: Rule = "evidence"
    letters: int = 20
    script_letters: int = 15
    cld2_letters: int = 100
    lead: float = 15.0

    def __post_init__(self) -> None:
        """Refuse a rule there is none of, and limits that limit nothing."""
        if self.rule not in get_args(Rule):
            msg = (
                f"wrong_language: rule must be {' or '.join(get_args(Rule))}, not {self.rule!r}."
                f"{did_you_mean(self.rule, get_args(Rule))}"
            )
            raise ConfigError(msg)
        for name in ("letters", "script_letters", "cld2_letters", "lead"):
            if not getattr(self, name) > 0:
                msg = f"wrong_language: {name} must be above 0, not {getattr(self, name)}"
                raise ConfigError(msg)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the rule goes by."""
        return ("language_id",) if self.rule == "calmqa" else ("language_evidence",)

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        expected = find(answer.language)
        if not expected.identifiable:
            reason = f"{expected.english_name} cannot be identified reliably (CaLMQA §3.1)"
            return Reading(value=None, reason=reason)
        if self.rule == "calmqa":
            return _by_calmqa(answer.annotations["language_id"].value, expected)
        return self._by_evidence(answer.annotations["language_evidence"].value, expected)

    def _by_evidence(self, seen: Any, expected: Language) -> Reading:  # noqa: ANN401  JSON
        letters, language = seen["letters"], seen["language"]
        other_script = seen["own"] < _OTHER_SCRIPT
        if seen["weight"] < (self.script_letters if other_script else self.letters):
            reason = f"{letters} letters: too few to tell the language" if letters else _ONLY_NAMES
            return Reading(value=None, reason=reason)
        if other_script:
            nearest = (
                "" if language in {None, expected.code} else f" nearest to {_named(language)},"
            )
            reason = f"written in {seen['script']} letters,{nearest} expected "
            return Reading(value=1.0, reason=reason + _named(expected.code))
        if language is None or (seen["by"] == "cld2" and seen["weight"] < self.cld2_letters):
            reason = f"{letters} letters: CLD2 cannot tell whether this is {expected.english_name}"
            return Reading(value=None, reason=reason)
        if language == expected.code:
            return _CLEAR
        if seen["lead"] is not None and seen["lead"] < self.lead:
            other = _named(language)
            reason = f"{letters} letters: too few to tell {expected.english_name} from {other}"
            return Reading(value=None, reason=reason)
        return _wrong(language, by=seen["by"], expected=expected)


def _by_calmqa(seen: Any, expected: Language) -> Reading:  # noqa: ANN401  JSON
    if seen["language"] is None:
        return _NO_LETTERS
    if seen["language"] == expected.code:
        return _CLEAR
    return _wrong(seen["language"], by=seen["by"], expected=expected)


def _wrong(language: str, *, by: str, expected: Language) -> Reading:
    reason = f"detected {_named(language)} by {by}, expected {_named(expected.code)}"
    return Reading(value=1.0, reason=reason)


def _named(code: str) -> str:
    """Return the English name with the code, or the code alone for languages not in our table."""
    try:
        return f"{find(code).english_name} ({code})"
    except ConfigError:
        return repr(code)
