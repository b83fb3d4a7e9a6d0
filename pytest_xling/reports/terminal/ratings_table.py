"""What people's ratings depend on, as tables: the layout of CaLMQA's Tables 18 to 23."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.analysis.rating_scheme import ASPECTS
from pytest_xling.analysis.ratings import RANK
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.clmm import Coefficient, NoFit
from pytest_xling.stats.p_values import stars
from pytest_xling.text.numbers import NONE

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from pytest_xling.analysis.ratings import Family, RatingsModel
    from pytest_xling.stats.clmm import Clmm, Contrast

_SMALLEST_P = 1e-4
_NUMBERS = ("estimate", "se", "z", "p")
_CODES = "*** p < .001, ** p < .01, * p < .05"


def ratings_object(model: RatingsModel, *, scale: tuple[int, int]) -> dict[str, Any]:
    """Return everything, not rounded; without a model ``reason`` says why there is none."""
    fit = model.fit
    summary: dict[str, Any] = {
        "formula": model.formula,
        "method": model.method,
        "scale": list(scale),
        "counts": [
            {
                "of": name,
                "n": tally.total(),
                "mean": _mean_rating(tally),
                "ratings": _counts_by_rating(tally, scale),
            }
            for name, tally in model.counts.items()
        ],
        "answers": [{"model": model, **choices} for model, choices in model.remarks.items()],
        "reason": fit.reason if isinstance(fit, NoFit) else "",
        "notes": list(model.notes),
    }
    if isinstance(fit, NoFit):
        return summary | {"fit": None}
    return summary | {
        "fit": {
            **_plain(fit, "n", "log_likelihood", "aic", "r2_marginal", "r2_conditional"),
            "random": [
                {"name": term.name, "groups": term.groups, "variance": term.sd**2, "sd": term.sd}
                for term in fit.random
            ],
            "fixed": [_plain(each, "name", *_NUMBERS) for each in fit.fixed],
            "thresholds": [_plain(each, "name", *_NUMBERS) for each in fit.thresholds],
            "means": [
                {"of": family.name, "level": mean.name}
                | _plain(mean, "estimate", "se", "low", "high")
                for family in model.families
                for mean in family.means
            ],
            "contrasts": [
                {"of": family.name} | _plain(pair, "first", "second", *_NUMBERS)
                for family in model.families
                for pair in family.contrasts
            ],
        }
    }


def _plain(each: object, *names: str) -> dict[str, Any]:
    return {name: getattr(each, name) for name in names}


def _counts_by_rating(tally: Counter[int], scale: tuple[int, int]) -> dict[str, int]:
    return {str(value): tally[value] for value in range(scale[0], scale[1] + 1)}


def _mean_rating(tally: Counter[int]) -> float | None:
    return sum(tally.elements()) / tally.total() if tally else None


def ratings_sheets(model: RatingsModel, *, scale: tuple[int, int]) -> list[Sheet]:
    """Return the counts, and the model's parts or why there is none."""
    fit = model.fit
    values = range(scale[0], scale[1] + 1)
    rows = [
        [
            name,
            *(str(tally[value]) for value in values),
            str(tally.total()),
            NONE if (mean := _mean_rating(tally)) is None else f"{mean:.2f}",
        ]
        for name, tally in model.counts.items()
    ]
    notes = (f"No model: {fit.reason}.", *model.notes) if isinstance(fit, NoFit) else ()
    heads = ("of", *map(str, values), "n", "mean")
    sheets = [Sheet.of("Ratings", heads, rows, left=1, notes=notes), *_answers(model.remarks)]
    if not isinstance(fit, NoFit):
        sheets += _effects(model, fit)
        sheets += [sheet for family in model.families for sheet in _compared(family)]
    return sheets


def _answers(remarks: Mapping[str, Mapping[str, Counter[str]]]) -> list[Sheet]:
    """Return what else was said of each model's answers; nothing where only ratings were given."""
    ranks = {rank for counts in remarks.values() for rank in counts.get(RANK, ())}
    scheme = {aspect.name: list(aspect.choices) for aspect in ASPECTS} | {
        RANK: [str(rank) for rank in range(1, max(map(int, ranks), default=0) + 1)]
    }
    asked = [name for name in scheme if any(name in counts for counts in remarks.values())]
    rows = [
        [model, *(_shares(counts.get(name), scheme[name]) for name in asked)]
        for model, counts in remarks.items()
    ]
    notes = [f"{name}: {'/'.join(scheme[name])}, in %." for name in asked]
    return [Sheet.of("Answers", ["of", *asked], rows, left=1, notes=notes)] if asked else []


def _shares(counts: Counter[str] | None, choices: Sequence[str]) -> str:
    if counts is None:
        return NONE
    return "/".join(f"{100 * counts[choice] / counts.total():.0f}" for choice in choices)


def _effects(model: RatingsModel, fit: Clmm) -> list[Sheet]:
    quality = (
        f"{model.formula}, logit link, {model.method}.",
        f"{fit.n} ratings, log-likelihood {fit.log_likelihood:.2f}, AIC {fit.aic:.2f}.",
        f"R²: {fit.r2_marginal:.3f} marginal, {fit.r2_conditional:.3f} conditional.",
    )
    random = Sheet.of(
        "Random intercepts",
        ("group", "groups", "variance", "SD"),
        [
            (each.name, str(each.groups), f"{each.sd**2:.4f}", f"{each.sd:.4f}")
            for each in fit.random
        ],
        left=1,
    )
    heads = ("estimate", "SE", "z")
    fixed = [(*_cells(each, 4), _p(each.p)) for each in fit.fixed]
    notes = (_CODES, *quality, *model.notes)
    between = [_cells(each, 4) for each in fit.thresholds]
    return [
        *([random] if fit.random else []),
        Sheet.of("Fixed effects", ("coefficient", *heads, "p"), fixed, left=1, notes=notes),
        Sheet.of("Thresholds", ("between", *heads), between, left=1),
    ]


def _cells(each: Coefficient | Contrast, digits: int) -> tuple[str, ...]:
    name = each.name if isinstance(each, Coefficient) else f"{each.first} – {each.second}"
    return name, f"{each.estimate:.{digits}f}", f"{each.se:.{digits}f}", f"{each.z:.3f}"


def _compared(family: Family) -> list[Sheet]:
    means = [
        (each.name, f"{each.estimate:.3f}", f"{each.se:.3f}", f"{each.low:.3f} to {each.high:.3f}")
        for each in family.means
    ]
    pairs = [(*_cells(each, 3), _p(each.p)) for each in family.contrasts]
    about_means = "Log odds, from the mean of the thresholds; higher is better rated."
    about_p = f"p is adjusted by Tukey's method for a family of {len(family.means)} means."
    return [
        Sheet.of(
            f"Estimated marginal means: {family.name}",
            ("level", "mean", "SE", "95 %"),
            means,
            left=1,
            notes=[about_means],
        ),
        Sheet.of(
            f"Contrasts: {family.name}",
            ("contrast", "estimate", "SE", "z", "p"),
            pairs,
            left=1,
            notes=[about_p],
        ),
    ]


def _p(p: float) -> str:
    return f"{'<.0001' if p < _SMALLEST_P else f'{p:.4f}'}{stars(p)}"
