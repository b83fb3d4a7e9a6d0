"""What people's ratings depend on, as tables: the layout of CaLMQA's Tables 18 to 23."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.analysis.rating_scheme import ASPECTS
from pytest_xling.analysis.ratings import RANK
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.clmm import NoFit
from pytest_xling.stats.p_values import stars

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from pytest_xling.analysis.ratings import Family, RatingsModel
    from pytest_xling.stats.clmm import Clmm, Coefficient

_SMALLEST_P = 1e-4
_CODES = "*** p < .001, ** p < .01, * p < .05"


def ratings_object(model: RatingsModel, *, scale: tuple[int, int]) -> dict[str, Any]:
    """Return everything, not rounded; without a model ``reason`` says why there is none."""
    fit = model.fit
    made: dict[str, Any] = {
        "formula": model.formula,
        "method": model.method,
        "scale": list(scale),
        "counts": [
            {"of": name, "n": given.total(), "mean": _mean(given), "ratings": _all(given, scale)}
            for name, given in model.counts.items()
        ],
        "answers": [{"model": model, **choices} for model, choices in model.remarks.items()],
        "reason": fit.reason if isinstance(fit, NoFit) else "",
        "notes": list(model.notes),
    }
    if isinstance(fit, NoFit):
        return made | {"fit": None}
    return made | {
        "fit": {
            "n": fit.n,
            "log_likelihood": fit.log_likelihood,
            "aic": fit.aic,
            "r2_marginal": fit.r2_marginal,
            "r2_conditional": fit.r2_conditional,
            "random": [
                {"name": term.name, "groups": term.groups, "variance": term.sd**2, "sd": term.sd}
                for term in fit.random
            ],
            "fixed": [_coefficient(each) for each in fit.fixed],
            "thresholds": [_coefficient(each) for each in fit.thresholds],
            "means": [
                {
                    "of": family.name,
                    "level": mean.name,
                    "estimate": mean.estimate,
                    "se": mean.se,
                    "low": mean.low,
                    "high": mean.high,
                }
                for family in model.families
                for mean in family.means
            ],
            "contrasts": [
                {
                    "of": family.name,
                    "first": pair.first,
                    "second": pair.second,
                    "estimate": pair.estimate,
                    "se": pair.se,
                    "z": pair.z,
                    "p": pair.p,
                }
                for family in model.families
                for pair in family.contrasts
            ],
        }
    }


def _coefficient(each: Coefficient) -> dict[str, str | float]:
    return {"name": each.name, "estimate": each.estimate, "se": each.se, "z": each.z, "p": each.p}


def _all(given: Counter[int], scale: tuple[int, int]) -> dict[str, int]:
    return {str(value): given[value] for value in range(scale[0], scale[1] + 1)}


def _mean(given: Counter[int]) -> float | None:
    return sum(given.elements()) / given.total() if given else None


def ratings_sheets(model: RatingsModel, *, scale: tuple[int, int]) -> list[Sheet]:
    """Return the counts, and the model's parts or why there is none."""
    fit = model.fit
    counted = _counts(model.counts, scale)
    if isinstance(fit, NoFit):
        notes = (f"No model: {fit.reason}.", *model.notes)
        return [
            Sheet(title="Ratings", columns=counted, left=1, notes=notes),
            *_answers(model.remarks),
        ]
    return [
        Sheet(title="Ratings", columns=counted, left=1),
        *_answers(model.remarks),
        *_effects(model, fit),
        *(sheet for family in model.families for sheet in _compared(family)),
    ]


def _counts(counts: Mapping[str, Counter[int]], scale: tuple[int, int]) -> dict[str, list[str]]:
    values = range(scale[0], scale[1] + 1)
    means = [_mean(given) for given in counts.values()]
    return {
        "of": list(counts),
        **{str(value): [str(given[value]) for given in counts.values()] for value in values},
        "n": [str(given.total()) for given in counts.values()],
        "mean": ["–" if mean is None else f"{mean:.2f}" for mean in means],
    }


def _answers(remarks: Mapping[str, Mapping[str, Counter[str]]]) -> list[Sheet]:
    """Return what else was said of each model's answers; nothing where only ratings were given."""
    ranks = {rank for counts in remarks.values() for rank in counts.get(RANK, ())}
    scheme = {aspect.name: list(aspect.choices) for aspect in ASPECTS} | {
        RANK: [str(rank) for rank in range(1, max(map(int, ranks), default=0) + 1)]
    }
    asked = [name for name in scheme if any(name in counts for counts in remarks.values())]
    if not asked:
        return []
    shares = {
        name: [_shares(counts.get(name), scheme[name]) for counts in remarks.values()]
        for name in asked
    }
    notes = [f"{name}: {'/'.join(scheme[name])}, in %." for name in asked]
    return [
        Sheet(title="Answers", columns={"of": list(remarks), **shares}, left=1, notes=tuple(notes))
    ]


def _shares(counts: Counter[str] | None, choices: Sequence[str]) -> str:
    if counts is None:
        return "–"
    return "/".join(f"{100 * counts[choice] / counts.total():.0f}" for choice in choices)


def _effects(model: RatingsModel, fit: Clmm) -> list[Sheet]:
    quality = (
        f"{model.formula}, logit link, {model.method}.",
        f"{fit.n} ratings, log-likelihood {fit.log_likelihood:.2f}, AIC {fit.aic:.2f}.",
        f"R²: {fit.r2_marginal:.3f} marginal, {fit.r2_conditional:.3f} conditional.",
    )
    random = Sheet(
        title="Random intercepts",
        columns={
            "group": [term.name for term in fit.random],
            "groups": [str(term.groups) for term in fit.random],
            "variance": [f"{term.sd**2:.4f}" for term in fit.random],
            "SD": [f"{term.sd:.4f}" for term in fit.random],
        },
        left=1,
    )
    fixed = Sheet(
        title="Fixed effects",
        columns=_table(fit.fixed, head="coefficient")
        | {"p": [f"{_p(each.p)}{stars(each.p)}" for each in fit.fixed]},
        left=1,
        notes=(_CODES, *quality, *model.notes),
    )
    thresholds = Sheet(title="Thresholds", columns=_table(fit.thresholds, head="between"), left=1)
    return [*([random] if fit.random else []), fixed, thresholds]


def _table(coefficients: Sequence[Coefficient], *, head: str) -> dict[str, list[str]]:
    return {
        head: [each.name for each in coefficients],
        "estimate": [f"{each.estimate:.4f}" for each in coefficients],
        "SE": [f"{each.se:.4f}" for each in coefficients],
        "z": [f"{each.z:.3f}" for each in coefficients],
    }


def _compared(family: Family) -> list[Sheet]:
    means = Sheet(
        title=f"Estimated marginal means: {family.name}",
        columns={
            "level": [mean.name for mean in family.means],
            "mean": [f"{mean.estimate:.3f}" for mean in family.means],
            "SE": [f"{mean.se:.3f}" for mean in family.means],
            "95 %": [f"{mean.low:.3f} to {mean.high:.3f}" for mean in family.means],
        },
        left=1,
        notes=("Log odds, from the mean of the thresholds; higher is better rated.",),
    )
    pairs = Sheet(
        title=f"Contrasts: {family.name}",
        columns={
            "contrast": [f"{pair.first} – {pair.second}" for pair in family.contrasts],
            "estimate": [f"{pair.estimate:.3f}" for pair in family.contrasts],
            "SE": [f"{pair.se:.3f}" for pair in family.contrasts],
            "z": [f"{pair.z:.3f}" for pair in family.contrasts],
            "p": [f"{_p(pair.p)}{stars(pair.p)}" for pair in family.contrasts],
        },
        left=1,
        notes=(f"p is adjusted by Tukey's method for a family of {len(family.means)} means.",),
    )
    return [means, pairs]


def _p(p: float) -> str:
    return "<.0001" if p < _SMALLEST_P else f"{p:.4f}"
