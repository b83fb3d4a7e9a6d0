"""How far the judges and classifiers that gates rest on agree with labelled answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from pytest_xling.gates.evidence import behind_gates, doubted
from pytest_xling.registry import names
from pytest_xling.reports.matrix import Cell, Column
from pytest_xling.reports.pivot import named_pivot
from pytest_xling.text.numbers import Figures, with_ends

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.gates.evidence import Behind
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord, Threshold, Verdict

AGREEMENT: Final = "macro F1 and its 95% interval"
_IN_VAIN: Final = "Not good enough for gates that rest on them, which so decide nothing"


def judges_behind(
    connection: Connection, run: RunRecord, verdicts: Iterable[Verdict]
) -> list[Behind]:
    """Return what the gates of a run rest on, sorted by annotator, aspect and language.

    Gates of metrics that are not known here are left out.

    Args:
        connection: to the store.
        run: the run.
        verdicts: of its gates.
    """
    gates = _known(verdicts)
    each_once = {id(each): each for behind in _behind(connection, run, gates) for each in behind}
    return sorted(each_once.values(), key=lambda each: (each.annotator, each.aspect, each.language))


def doubted_behind(
    connection: Connection, run: RunRecord, verdicts: Iterable[Verdict]
) -> dict[str, list[str]]:
    """Return by annotator the languages in which gates demand more of it, and decide nothing.

    Args:
        connection: to the store.
        run: the run.
        verdicts: of its gates.
    """
    gates = [
        (threshold, gap)
        for threshold, gap in _known(verdicts)
        if threshold.min_judge_f1 is not None
    ]
    doubts: dict[str, set[str]] = {}
    for (threshold, _), behind in zip(gates, _behind(connection, run, gates), strict=True):
        for each in behind:
            if doubted(each, threshold):
                name = ": ".join(filter(None, (each.annotator, each.aspect)))
                doubts.setdefault(name, set()).add(each.language)
    return {name: sorted(languages) for name, languages in sorted(doubts.items())}


def _behind(
    connection: Connection, run: RunRecord, gates: Sequence[tuple[Threshold, bool]]
) -> list[list[Behind]]:
    return behind_gates(connection, run.run_id, gates, pivot=partial(named_pivot, run))


def _known(verdicts: Iterable[Verdict]) -> list[tuple[Threshold, bool]]:
    """Return what gates demand of metrics that are known here, and whether they are of a gap."""
    known = names("metric")
    return [(v.threshold, bool(v.estimate.pivot)) for v in verdicts if v.threshold.metric in known]


def agreement(behind: Sequence[Behind]) -> list[Column]:
    """Return how far each annotator agrees with labels, by language: macro F1 with its interval."""
    columns: dict[tuple[str, str], dict[str, Cell]] = {}
    for each in behind:
        quality = each.measured and each.measured.quality
        cell = Cell(value="not measured", interval="")
        if quality:
            f1 = quality.macro_f1
            figures = Figures(share=False, digits=2)
            cell = Cell(value=figures.value(f1.value), interval=figures.interval(f1.low, f1.high))
        columns.setdefault((each.annotator, each.aspect), {})[each.language] = cell
    return [
        Column(name=annotator, demands=(aspect,) if aspect else (), cells=cells)
        for (annotator, aspect), cells in columns.items()
    ]


def notes(behind: Sequence[Behind], doubts: Mapping[str, Sequence[str]]) -> list[str]:
    """Say what rests on annotators in vain, and on which labels they were measured.

    Args:
        behind: the annotators.
        doubts: of whom gates demand more, in which languages.
    """
    in_vain = "; ".join(f"{name} in {' '.join(codes)}" for name, codes in doubts.items())
    sources: dict[str, dict[str, dict[str, None]]] = {}
    for each in behind:
        if each.measured is not None:
            name = each.measured.source.rpartition("@")[0]
            whose = (
                f"your raters' {name}" if each.measured.human else f"{name}, a language model's,"
            )
            labels = f"{whose} of {each.measured.created_at[:10]}"
            of_annotator = sources.setdefault(each.annotator, {})
            of_annotator.setdefault(labels, {})[each.language] = None
    listed = []
    for annotator, of_annotator in sources.items():
        parts = (f"{labels} in {' '.join(codes)}" for labels, codes in of_annotator.items())
        listed.append(f"{annotator}: {', '.join(parts)}")
    asked = [
        f"{each.aspect} {each.language} {check.right_now} of {check.n}".strip()
        + ("" if check.right_now == check.right_then else f" (was {check.right_then})")
        for each in behind
        if (check := each.checked) is not None
    ]
    return [
        *([f"{_IN_VAIN}: {in_vain}."] if in_vain else []),
        *([f"Labels: {'; '.join(listed)}."] if listed else []),
        *([f"Asked again before the gates, and right about: {', '.join(asked)}."] if asked else []),
        *(
            f"{each.annotator} in {each.language}: {each.changed}."
            for each in behind
            if each.changed
        ),
    ]


def as_row(behind: Behind) -> dict[str, JsonValue]:
    """Return how far an annotator agrees with people, as numbers; None where nobody knows."""
    who: dict[str, JsonValue] = {
        "annotator": behind.annotator,
        "aspect": behind.aspect,
        "language": behind.language,
        "changed": behind.changed,
    }
    if behind.measured is None:
        numbers = ("n", "f1", "f1_low", "f1_high", "kappa", "labels", "human", "measured")
        return who | dict.fromkeys(numbers)
    quality = behind.measured.quality
    return who | {
        "n": quality.n,
        **with_ends("f1", quality.macro_f1),
        "kappa": quality.kappa.value,
        "labels": behind.measured.source,
        "human": behind.measured.human,
        "measured": behind.measured.created_at,
    }
