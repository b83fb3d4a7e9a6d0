"""Turn the readings of a case into an outcome pytest knows, with a message people can use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_xling.errors import ConfigError, EvaluationError, did_you_mean
from pytest_xling.languages import find
from pytest_xling.text.display import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pytest_xling.engine.run import Result
    from pytest_xling.records import Reading, Response, Sample

__all__ = ["CaseOutcome", "judge_case"]

Decision: TypeAlias = Literal["pass", "fail", "tolerated", "unscored"]

QUESTION_CHARS = 300
ANSWER_CHARS = 700


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What to do with a case.

    ``fail`` fails it; ``tolerated`` is a flag within an error budget: expected to fail, and the
    rate gate decides; ``unscored`` means that none of the metrics had anything to say.
    """

    decision: Decision
    message: str = ""


def judge_case(
    result: Result,
    flags: Sequence[str],
    *,
    has_budget: Callable[[str], bool],
    scored: Collection[str] | None = None,
) -> CaseOutcome:
    """Decide on a case by the *flags* it asserts.

    Args:
        result: an evaluated job without a fault.
        flags: names of flag metrics.
        has_budget: whether a metric's gate tolerates some flagged samples (``max_rate`` > 0).
        scored: the metrics the benchmark is scored with; one of them that is not about this case
            raises nothing. None: those that have a reading here.

    Raises:
        ConfigError: a flag was not among the metrics the benchmark's test file names.
    """
    response = result.response
    if response is None:
        msg = f"case {result.job.case_id} has no response to judge"
        raise EvaluationError(msg)
    raised: list[str] = []
    unscored: list[str] = []
    for flag in flags:
        reading = result.readings.get(flag)
        if reading is None:
            known = tuple(result.readings if scored is None else scored)
            if flag in known:
                continue
            msg = (
                f"{flag!r} is not among the metrics of this test file's xling marker."
                f"{did_you_mean(flag, known)} It has: {', '.join(known)}"
            )
            raise ConfigError(msg)
        if reading.value is None:
            unscored.append(f"{flag}: {reading.reason}")
        elif reading.value:
            raised.append(flag)
    if raised:
        tolerated = all(has_budget(flag) for flag in raised)
        return CaseOutcome(
            decision="tolerated" if tolerated else "fail",
            message=_evidence(result.job.sample, response, result.readings, raised),
        )
    if unscored and len(unscored) == len([flag for flag in flags if flag in result.readings]):
        return CaseOutcome(decision="unscored", message="; ".join(unscored))
    return CaseOutcome(decision="pass")


def _judged(sample: Sample) -> list[str]:
    """Show the answer or the claim a model was asked about, where it was asked about one."""
    said = f", which is {sample.reference}" if sample.reference else ""
    return [
        f"  {name}{said}: {printable(sample.prompt[field], limit=QUESTION_CHARS)}"
        for field, name in (("answer", "given answer"), ("claim", "claim"))
        if field in sample.prompt
    ]


def _evidence(
    sample: Sample, response: Response, readings: Mapping[str, Reading], raised: Sequence[str]
) -> str:
    """Show what was flagged and why, with question and answer."""
    language = find(sample.language)
    lines = [f"{flag}: {printable(readings[flag].reason, limit=QUESTION_CHARS)}" for flag in raised]
    question = printable(sample.prompt.get("question", ""), limit=QUESTION_CHARS)
    text = response.text
    if text is not None and text.strip():
        answer = printable(text, limit=ANSWER_CHARS)
        size = f" ({len(text):,} characters)" if len(text) > ANSWER_CHARS else ""
    else:
        answer, size = f"none ({response.stop_reason})", ""
    lines += [
        f"  language: {language.english_name} ({language.code})",
        f"  question: {question}",
        *_judged(sample),
        f"  answer{size}: {answer}",
    ]
    return "\n".join(lines)
