"""What several judges, or one that is asked several times, say together."""

from __future__ import annotations

import asyncio
from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from pytest_xling.errors import XlingError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from pytest_xling.interfaces.annotator import Annotator, Ask, AskingAnnotator
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Answer, Message, Response


async def ask_panel(
    annotator: AskingAnnotator, answers: Sequence[Answer], *, asks: Sequence[Ask]
) -> AsyncIterator[dict[int, JsonValue | XlingError]]:
    """Annotate all *answers* at once; the model's limit holds back what is too much.

    Args:
        annotator: asks a judge, a translator or a search.
        answers: what to annotate.
        asks: whom it asks: each of a panel as often as it votes.
    """

    async def annotate(answer: Answer) -> JsonValue | XlingError:
        noting = [_Noting(ask) for ask in asks]
        try:
            values = await asyncio.gather(*(annotator.annotate(answer, ask) for ask in noting))
        except XlingError as error:
            return error
        value = values[0] if len(values) == 1 else agreed(annotator, values)
        versions = set().union(*(ask.versions for ask in noting))
        if annotator.calibrated and versions and isinstance(value, dict):
            return {**value, "served": sorted(versions)}
        return value

    yield dict(enumerate(await asyncio.gather(*map(annotate, answers))))


def agreed(annotator: Annotator, values: Sequence[JsonValue]) -> JsonValue:
    """Return what a panel says of one answer, as one value of *annotator*.

    Each aspect has the label of the majority with the reasoning of the first who gave it, and how
    many gave which before that; where there is no majority, or no quorum, it has none. ``votes``
    keeps all labels.

    Args:
        annotator: one that is ``calibrated``.
        values: its values of the same answer, one by each judge and time.
    """
    voters: Sequence[Any] = values
    votes = {
        aspect: [annotator.label(value, aspect) for value in voters] for aspect in annotator.aspects
    }
    merged: dict[str, Any] = dict(voters[0])
    reasons: list[str] = []
    reasoning: dict[str, str] = {}
    for aspect, labels in votes.items():
        label = majority(labels)
        key = aspect or annotator.labelled
        speaker = next(
            (value for value, vote in zip(voters, labels, strict=True) if vote == label), None
        )
        if label is None:
            silent = "" if speaker is None else speaker["reason"]
            reasons.append(_why_none(labels, aspect=aspect, silent=silent))
        if speaker is not None and not aspect:
            merged = dict(speaker)
        merged[key] = None if speaker is None else speaker[key]
        reasons_given: Any = {} if speaker is None else {"": speaker.get("reasoning", "")}
        reasons_given = speaker["reasoning"] if aspect and speaker is not None else reasons_given
        reasoning[aspect] = f"{_tally(labels)}. {reasons_given.get(aspect, '')}".strip()
    merged["reason"] = "; ".join(dict.fromkeys(filter(None, reasons)))
    merged["votes"] = votes
    if "reasoning" in merged:
        merged["reasoning"] = reasoning.get("", reasoning)
    if "unparsed" in merged:
        merged["unparsed"] = bool(reasons) and any(value["unparsed"] for value in voters)
    if known := [p for value in voters if (p := value.get("p")) is not None]:
        merged["p"] = fmean(known)
    return merged


def majority(labels: Sequence[str | None]) -> str | None:
    """Return the label that more than half have given of those who gave one; None without.

    Without a quorum there is none either: more than half must have given a label.
    """
    counts = Counter(label for label in labels if label is not None)
    label, count = max(counts.items(), key=lambda item: item[1], default=(None, 0))
    return label if _is_quorum(labels) and 2 * count > counts.total() else None


def votes_in(value: JsonValue, aspect: str = "") -> list[str | None]:
    """Return the labels a panel gave that *value* is from; none where there was no panel."""
    read: Any = value
    votes: list[str | None] = read.get("votes", {}).get(aspect, [])
    return votes


def _is_quorum(labels: Sequence[str | None]) -> bool:
    return 2 * (len(labels) - labels.count(None)) > len(labels)


def _why_none(labels: Sequence[str | None], *, aspect: str, silent: str) -> str:
    """Say why *labels* have no majority; *silent* is the reason of the first who gave none."""
    on = f" on {aspect}" if aspect else ""
    votes_cast = len(labels) - labels.count(None)
    if _is_quorum(labels):
        return f"the judges are split{on}"
    if not votes_cast:
        return silent
    votes = "vote" if votes_cast == 1 else "votes"
    return f"{votes_cast} {votes} of {len(labels)}{on}, and more than half are needed: {silent}"


def _tally(labels: Sequence[str | None]) -> str:
    """Word who said what, such as "agree 2, neutral 1, no label 1"."""
    counts = Counter(label or "no label" for label in labels)
    return ", ".join(f"{label} {count}" for label, count in counts.most_common())


class _Noting:
    """An ask that notes which versions of its model have answered, as the server names them."""

    def __init__(self, ask: Ask) -> None:
        self.style = ask.style
        self.structured = ask.structured
        self.versions: set[str] = set()
        self._ask = ask

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        params: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Response:
        response = await self._ask(messages, params=params or {}, repeat=repeat)
        # Behind it stands what says less: a fingerprint of the server, which changes by itself.
        self.versions.update(response.model_version.split()[:1])
        return response
