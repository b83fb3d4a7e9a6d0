"""All that a page says of a run, as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError
from pytest_xling.languages import find, script_name
from pytest_xling.records import ALL_LANGUAGES
from pytest_xling.reports.estimates import estimated, traits_of
from pytest_xling.reports.html.browser import Costs, case_columns
from pytest_xling.reports.html.cells import (
    figures_of,
    table_of,
    verdict_model,
)
from pytest_xling.reports.html.curves import curves_of, stance_figures
from pytest_xling.reports.html.escaping import as_json, compact, cut_to, visible
from pytest_xling.reports.pivot import named_pivot
from pytest_xling.store.runs import DESCRIBED, finished_at
from pytest_xling.store.scores import scores_by_place
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from pytest_xling.analysis.comparison import Change
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import RunRecord, Score, Verdict
    from pytest_xling.reports.estimates import MetricTraits
    from pytest_xling.reports.freshness import Freshness
    from pytest_xling.reports.run_summary import RunSummary
    from pytest_xling.store.scores import MetricStep, Place
    from pytest_xling.text.numbers import Figures

_SCRIPTS: Final = {
    "Arab": "Arabic",
    "Beng": "Bengali",
    "Cyrl": "Cyrillic",
    "Deva": "Devanagari",
    "Grek": "Greek",
    "Gujr": "Gujarati",
    "Guru": "Gurmukhi",
    "Hans": "Chinese",
    "Hant": "Chinese",
    "Hebr": "Hebrew",
    "Jpan": "Japanese",
    "Knda": "Kannada",
    "Kore": "Korean",
    "Latn": "Latin",
    "Mlym": "Malayalam",
    "Taml": "Tamil",
    "Telu": "Telugu",
}
_OTHERS: Final = "other families"
_FAMILIES: Final = {
    "other": _OTHERS,
    "Drav": "Dravidian",
    "IA": "Indo-Aryan and Persian",
    "Oth2": _OTHERS,
    "Rom": "Romance, German and Dutch",
    "Slav": "Slavic",
}
"""The groups of Found in Translation, Table 12, said as what is in them."""


def language_traits(code: str) -> dict[str, JsonValue]:
    """Return what a page has to know of a language; of one our table lacks, its code."""
    try:
        known = find(code)
    except ConfigError:
        return {"name": code, "native": "", "script": "", "family": "", "direction": "auto"}
    return {
        "name": known.english_name,
        "native": known.native_name,
        "script": _SCRIPTS.get(known.script) or script_name(known.script),
        "family": _FAMILIES.get(known.family_group) or _FAMILIES.get(known.family, known.family),
        "direction": known.direction,
    }


def groups_of(
    benchmark: str,
    metrics: Sequence[MetricTraits],
    scores: Mapping[Place, Sequence[Score]],
    *,
    languages: Mapping[str, Mapping[str, JsonValue]],
    figures: Mapping[str, Figures],
) -> dict[str, JsonValue]:
    """Return averages over scripts and over families.

    All answers of a group count alike, and those to one question, in whatever language, as one
    cluster.
    """
    averages: dict[str, JsonValue] = {}
    for trait in ("script", "family"):
        groups: dict[str, list[str]] = {}
        for code, traits in languages.items():
            if traits[trait]:
                groups.setdefault(str(traits[trait]), []).append(code)
        rows: list[JsonValue] = []
        for name, codes in sorted(groups.items(), key=_order):
            cells: dict[str, JsonValue] = {}
            for metric in metrics:
                pooled = [
                    score
                    for code in codes
                    for score in scores.get((benchmark, metric.name, code), ())
                ]
                if pooled:
                    cells[metric.name] = as_json(
                        estimated(metric.name, pooled), figures.get(metric.name)
                    )
            rows.append({"name": name, "languages": codes, "cells": cells})
        averages[trait] = rows
    return averages


def _order(group: tuple[str, list[str]]) -> tuple[bool, int, str]:
    """Put large groups first and that of all others last."""
    name, codes = group
    return name == _OTHERS, -len(codes), name


FORMAT = 1
FINDINGS = 12
_EXCERPT = 600


def report_model(connection: Connection, came_to: RunSummary) -> dict[str, JsonValue]:
    """Return what a page says of a run.

    Args:
        connection: to the store, for its cases.
        came_to: what the run came to.
    """
    run, comparison = came_to.run, came_to.comparison
    verdicts, counts, steps = came_to.gates.verdicts, came_to.answers, came_to.steps
    scores = scores_by_place(connection, run.run_id, steps)
    # A language may have a gate and not one answer.
    codes = {code for _, code in counts} | {v.threshold.language for v in verdicts}
    languages = {code: language_traits(code) for code in sorted(codes)}
    benchmarks = dict.fromkeys([*(name for name, _ in counts), *(s.benchmark for s in steps)])
    compared = () if comparison is None else comparison.changes
    changes = {(change.benchmark, change.metric, change.language): change for change in compared}
    costs = Costs()
    cases = case_columns(
        connection,
        run.run_id,
        scores,
        costs=costs,
        signatures=[step.signature for step in steps],
    )
    ended = finished_at(connection, run.run_id)
    return {
        "format": FORMAT,
        "run": _run(run) | {"finished": ended, **_answers(came_to.freshness)},
        "verdict": verdict_model(came_to),
        "baseline": None if comparison is None else visible(comparison.baseline),
        "languages": languages,
        "levels": list(LEVELS),
        "benchmarks": [
            _benchmark(
                connection,
                run,
                name,
                answers={code: n for (bench, code), n in counts.items() if bench == name},
                steps=[step for step in steps if step.benchmark == name],
                scores=scores,
                verdicts=[v for v in verdicts if v.threshold.benchmark == name],
                languages=languages,
                changes=changes,
            )
            for name in benchmarks
        ],
        "findings": [
            {
                "benchmark": ranked.benchmark,
                "standing": ranked.standing,
                "case": ranked.finding.case,
                "metric": ranked.finding.metric,
                "language": ranked.finding.language,
                "reason": cut_to(ranked.finding.reason, _EXCERPT),
                "answer": cut_to(ranked.finding.answer, _EXCERPT),
            }
            for ranked in came_to.findings[:FINDINGS]
        ],
        "cost": {
            "spent_usd": compact(came_to.progress.cost_usd),
            "unpriced": list(came_to.unpriced),
            "seconds": run.seconds,
            "rows": costs.rows(),
        },
        "cases": cases,
        "signatures": [
            {"benchmark": s.benchmark, "metric": s.metric, "signature": visible(s.signature)}
            for s in steps
        ],
    }


def _answers(new: Freshness) -> dict[str, JsonValue]:
    return {"answers": str(new), "other_models": visible(new.other_models)}


def _run(run: RunRecord) -> dict[str, JsonValue]:
    return {
        "id": run.run_id,
        "model": visible(run.model),
        "created": run.created_at,
        "status": run.status,
        "git": visible(run.git),
        "seed": run.seed,
        "settings": {name: said for name, said in run.settings.items() if name != DESCRIBED},
        "versions": dict(run.versions),
    }


def _benchmark(
    connection: Connection,
    run: RunRecord,
    name: str,
    *,
    answers: Mapping[str, int],
    steps: Sequence[MetricStep],
    scores: Mapping[Place, Sequence[Score]],
    verdicts: Sequence[Verdict],
    languages: Mapping[str, Mapping[str, JsonValue]],
    changes: Mapping[Place, Change],
) -> dict[str, JsonValue]:
    pivot = named_pivot(run, name) or ""
    mine = {*answers, *(v.threshold.language for v in verdicts)}
    order = sorted(mine, key=lambda code: (code == ALL_LANGUAGES, code != pivot, code))
    gated = {v.threshold.metric for v in verdicts}
    # Metrics with a gate first, flags before numbers; a gate may be of a metric without a score.
    metrics = [traits_of(metric) for metric in {*(s.metric for s in steps), *gated}]
    metrics.sort(key=lambda m: (m.name not in gated, m.kind != "flag", m.name))
    table = table_of(
        name,
        metrics,
        scores,
        languages=order,
        pivot=pivot,
        verdicts=verdicts,
        changes=changes,
    )
    figures = figures_of(table)
    mine_traits = {code: languages[code] for code in order}
    return {
        "name": name,
        "pivot": pivot if pivot in mine else "",
        "answers": dict(answers),
        "languages": order,
        **table,
        "groups": groups_of(name, metrics, scores, languages=mine_traits, figures=figures),
        "curves": curves_of(name, metrics, scores, languages=order, figures=figures),
        "stances": stance_figures(connection, run, name, scores),
    }
