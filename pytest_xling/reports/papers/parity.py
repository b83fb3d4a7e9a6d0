"""Found in Translation's Table 4: consistency with the pivot language, by groups of languages."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.gates.estimate import check_scores
from pytest_xling.gates.pairing import sample_means
from pytest_xling.languages import find, training_languages
from pytest_xling.reports.papers.paper_table import PaperTable
from pytest_xling.reports.papers.samples import choose_benchmark
from pytest_xling.reports.pivot import pivot_of
from pytest_xling.reports.sheet import Sheet
from pytest_xling.store.measurements import noise_of
from pytest_xling.store.runs import get_run
from pytest_xling.store.scores import metric_steps, scores_by_place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.records import Score
    from pytest_xling.reports.papers.paper_table import Row

HALVES: Final[Mapping[str, tuple[str, ...]]] = {
    "information": ("information_precision", "information_recall", "information"),
    "empathy": ("empathy_consistency",),
}
"""The metrics of each half of the table."""
GROUPINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "script": ("Latin", "Indic", "PArb", "Oth1"),
    "family": ("Rom", "Slav", "IA", "Drav", "Oth2"),
    "training": ("in", "out"),
}
"""The groups, in the paper's order; those of the first two stand in the table of languages."""
ALL: Final = "all"
_FIGURES: Final[Mapping[str, str]] = {
    "score": "F",
    "noise_floor": "floor",
    "precision": "prec.",
    "recall": "recall",
    "mean_f": "mean F",
}
"""What the figures of a row are called: so short that all groups fit 80 columns. One that no row
has is left out."""
_SAME: Final = "same"
"""What the score of empathy is called."""
_SAID: Final[Mapping[str, str]] = {
    "F": "F: harmonic mean of the means of precision and of recall, as in the paper",
    "mean F": "mean F: mean of the questions' own F",
    "floor": (
        "floor: what is left of an English answer that was translated and back (xling calibrate "
        "translation); no score can be expected above it"
    ),
    _SAME: "same: answers with the same profile of empathy as the pivot language's answer",
    "langs": "langs: how many languages a figure is the mean of, each weighing the same",
}
PARITY_COLUMNS: Final = (
    "model", "consistency", "pivot", "language", *GROUPINGS, *_FIGURES, "languages", "n",
    "unscored", "reason",
)  # fmt: skip


def parity_rows(
    connection: Connection,
    run_id: str,
    *,
    benchmark: str | None = None,
    by: str | None = None,
    training: str | None = None,
) -> list[Row]:
    """Return Table 4: of each half the mean over languages, those of their groups, each language.

    A row of a language has its code, and the groups it is in. A row of a group has only that group,
    and the row of all languages the code ``all``. ``score`` is

    - of ``information``, the *corpus F*: the harmonic mean of the means over questions of precision
      and of recall. ``mean_f`` is another number, the mean of the questions' own F.
    - of ``empathy``, the part of questions whose answer has the profile of the pivot's.

    A mean is of the questions that have a value, each the mean of its repeats; ``n`` is how many
    have all that the score needs, ``unscored`` how many answers lack some of it, and ``reason``
    why. A group's figures are means over its languages that have a score, ``languages`` of them,
    each weighing the same: the printed averages follow from the printed groups by their sizes.
    ``noise_floor`` is the score of English answers that were translated into the language and back
    (the paper's Table 1), where ``xling calibrate translation`` has measured it.

    Args:
        connection: to the store.
        run_id: the run, or ``latest``.
        benchmark: needed where several benchmarks of the run were scored for one half.
        by: one of the ``GROUPINGS``; all that are known if None.
        training: the languages that the model was trained on, as
            :func:`pytest_xling.languages.training_languages` reads them.

    Raises:
        ConfigError: the run was not scored for this, *benchmark* is needed or unknown, or
            *training* is needed, unknown or of no use.
        EvaluationError: scores of one metric were made in different ways.
        StoreError: no such run.
    """
    if by == "training" and training is None:
        msg = (
            "--by=training needs --training: the languages that the model was trained on, such as "
            "--training=en,de,fr, or the name of a model family, such as --training=llama-3.1"
        )
        raise ConfigError(msg)
    if training is not None and by not in {None, "training"}:
        msg = f"--training means nothing with --by={by}; leave one of them out"
        raise ConfigError(msg)
    trained = None if training is None else training_languages(training)
    groupings = [by] if by else ["script", "family", *([] if trained is None else ["training"])]
    run = get_run(connection, run_id)
    scored = {
        step.metric
        for step in metric_steps(connection, run.run_id)
        if benchmark in {None, step.benchmark}
    }
    rows: list[Row] = []
    for half, metrics in HALVES.items():
        if scored.isdisjoint(metrics):
            continue
        steps = choose_benchmark(connection, run.run_id, metrics, benchmark=benchmark)
        of_half: Row = {"model": run.model, "consistency": half}
        of_half["pivot"] = pivot = pivot_of(run, steps[0].benchmark)
        by_language: defaultdict[str, dict[str, list[Score]]] = defaultdict(dict)
        noise_floors: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
        for (_, metric, code), scores in scores_by_place(connection, run.run_id, steps).items():
            check_scores(scores, metric=metric, language=code)
            by_language[code][metric] = scores
            signature = next((score.signature for score in scores), "")
            if (noise := noise_of(connection, signature=signature, language=code)) is not None:
                noise_floors[code][metric] = noise.matched.value
        languages: list[Row] = [
            {"language": code}
            | {key: group for key, group in _groups(code, trained).items() if key in groupings}
            | _figures(half, by_language[code])
            | {"noise_floor": _score(half, noise_floors[code])}
            for code in sorted(by_language.keys() - {pivot})
        ]
        groups: list[Row] = [
            {key: group, **_averages([row for row in languages if row[key] == group])}
            for key in groupings
            for group in GROUPINGS[key]
        ]
        every: list[Row] = [{"language": ALL, **_averages(languages)}, *groups, *languages]
        rows += [{name: {**of_half, **row}.get(name) for name in PARITY_COLUMNS} for row in every]
    if not rows:  # then this says what is missing
        needed = [metric for metrics in HALVES.values() for metric in metrics]
        choose_benchmark(connection, run.run_id, needed, benchmark=benchmark)
    return rows


def _groups(code: str, trained: Collection[str] | None) -> Row:
    language = find(code)
    return {
        "script": language.script_group or None,
        "family": language.family_group or None,
        "training": None if trained is None else "in" if code in trained else "out",
    }


def _figures(half: str, by_metric: Mapping[str, Sequence[Score]]) -> Row:
    """Return what one language has."""
    values = {metric: _question_means(scores) for metric, scores in by_metric.items()}
    means = {metric: math.fsum(of.values()) / len(of) for metric, of in values.items() if of}
    row: Row = {}
    if half == "information":
        needed = HALVES[half][:2]
        precision, recall, mean_f = (means.get(metric) for metric in HALVES[half])
        row |= {"precision": precision, "recall": recall, "mean_f": mean_f}
    else:
        needed = HALVES[half]
    row["score"] = _score(half, means)
    complete = set.intersection(*(set(values.get(metric, {})) for metric in needed))
    reasons: dict[tuple[str, str], str] = {}
    for metric in needed:
        for score in by_metric.get(metric, ()):
            if score.value is None:
                answer = score.sample_id, score.condition
                reasons.setdefault(answer, score.reason or "no reason given")
    counts = Counter(reasons.values())
    listed = [
        f"{counts[reason]}× {reason}" for reason in sorted(counts, key=lambda r: (-counts[r], r))
    ]
    listed += [f"not scored with {metric}" for metric in needed if metric not in by_metric]
    return row | {"n": len(complete), "unscored": len(reasons), "reason": "; ".join(listed) or None}


def _score(half: str, means: Mapping[str, float | None]) -> float | None:
    """Return the score of a half, of the means of its metrics."""
    first, second, *_ = (means.get(metric) for metric in (*HALVES[half], ""))
    return _harmonic(first, second) if half == "information" else first


def _question_means(scores: Sequence[Score]) -> dict[str, float]:
    """Return the mean of each question's answers: repeats, then temperatures."""
    return {
        sample: math.fsum(by_temperature.values()) / len(by_temperature)
        for (_, sample), by_temperature in sample_means(scores).items()
    }


def _harmonic(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None:
        return None
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _averages(languages: Sequence[Row]) -> Row:
    """Return the means over the languages that have a score."""
    having = [row for row in languages if row["score"] is not None]
    averages: Row = {
        figure: math.fsum(values) / len(values)
        for figure in _FIGURES
        if (values := _numbers(row.get(figure) for row in having))
        # Of some languages only it would stand beside a score of others.
        and (figure != "noise_floor" or len(values) == len(having))
    }
    averages["languages"] = len(having)
    return averages | {
        key: int(sum(_numbers(r[key] for r in languages))) for key in ("n", "unscored")
    }


def _numbers(values: Iterable[str | float | None]) -> list[float]:
    return [value for value in values if isinstance(value, int | float)]


def parity_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay out the groups, all runs below each other, then each run's languages; half by half."""
    halves = [
        [row for row in rows if row["consistency"] == half]
        for half in dict.fromkeys(row["consistency"] for row in rows)
    ]
    groups = [[row for row in half if row["language"] in {None, ALL}] for half in halves]
    languages = [
        [row for row in half if row["run"] == run and row["language"] not in {None, ALL}]
        for half in halves
        for run in dict.fromkeys(row["run"] for row in half)
    ]
    return [
        *(_groups_sheet(of_half) for of_half in groups if of_half),
        *(_languages_sheet(of_run) for of_run in languages if of_run),
    ]


def _groups_sheet(rows: Sequence[Row]) -> Sheet:
    """Lay one half out as the paper does: a column per group."""
    figures = _figures_of(rows)
    by_run: dict[str, dict[str, Row]] = {}
    for row in rows:
        head = next((str(row[key]) for key in GROUPINGS if row[key] is not None), "Avg")
        head = head.capitalize() if head in GROUPINGS["training"] else head
        by_run.setdefault(str(row["run"]), {})[head] = row
    heads = list(next(iter(by_run.values())))
    lines = [*figures.values(), "langs"]
    columns: dict[str, list[str]] = {}
    if len(by_run) > 1:
        columns["run"] = [cell for run in by_run for cell in (run, *[""] * (len(lines) - 1))]
    columns[""] = lines * len(by_run)
    left = len(columns)
    for head in heads:
        columns[head] = [
            cell
            for groups in by_run.values()
            for cell in (
                *(_number(groups[head][figure]) for figure in figures),
                str(groups[head]["languages"]),
            )
        ]
    named = "" if len(by_run) > 1 else f"{_of_run(rows[0])}; "
    return Sheet(
        title=f"{named}{rows[0]['consistency']} consistency (Table 4)",
        columns=columns,
        left=left,
        notes=tuple(said for line, said in _SAID.items() if line in lines),
    )


def _languages_sheet(rows: Sequence[Row]) -> Sheet:
    figures = _figures_of(rows)
    groupings = [key for key in GROUPINGS if any(row[key] is not None for row in rows)]
    if len(groupings) == 1:
        order = [*GROUPINGS[groupings[0]], "None"]
        rows = sorted(rows, key=lambda row: order.index(str(row[groupings[0]])))
    columns = {"language": [f"{row['language']} {_name(row)}" for row in rows]}
    columns |= {key: [str(row[key] or "–") for row in rows] for key in groupings}
    left = len(columns)
    columns |= {head: [_number(row[figure]) for row in rows] for figure, head in figures.items()}
    columns |= {
        "n": [str(row["n"]) for row in rows],
        "no\nvalue": [str(row["unscored"]) for row in rows],
    }
    languages_of: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["reason"]:
            languages_of[str(row["reason"])].append(str(row["language"]))
    return Sheet(
        title=f"{_of_run(rows[0])}; {rows[0]['consistency']} consistency with {rows[0]['pivot']}",
        columns=columns,
        left=left,
        notes=tuple(
            f"no value in {', '.join(codes)}: {reason}" for reason, codes in languages_of.items()
        ),
    )


def _figures_of(rows: Sequence[Row]) -> dict[str, str]:
    having = {key for key in _FIGURES for row in rows if row[key] is not None} | {"score"}
    names = {key: name for key, name in _FIGURES.items() if key in having}
    return names | ({"score": _SAME} if rows[0]["consistency"] == "empathy" else {})


def _of_run(row: Row) -> str:
    return f"run {row['run']}, model {row['model']}"


def _name(row: Row) -> str:
    return find(str(row["language"])).english_name


def _number(value: str | float | None) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else "–"


PARITY_TABLES: Final[Mapping[str, PaperTable]] = {
    "parity": PaperTable(
        about="information and empathy as in the pivot language, by groups (Table 4)",
        rows=parity_rows,
        columns=PARITY_COLUMNS,
        sheets=parity_sheets,
        options=frozenset({"by", "training"}),
        together=True,
    ),
}
