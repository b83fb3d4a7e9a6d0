"""What people's ratings depend on, as tables: the layout of CaLMQA's Tables 18 to 23."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_xling.analysis.rating_scheme import ASPECTS
from pytest_xling.analysis.ratings import RANK
from pytest_xling.reports.sheet import Sheet
from pytest_xling.stats.clmm import NoFit
from pytest_xling.stats.p_values import stars
from pytest_xling.text.numbers import NONE, number

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_xling.analysis.ratings import Family, RatingsModel
    from pytest_xling.stats.clmm import Clmm, Coefficient, Contrast

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
                "ratings": {str(value): tally[value] for value in _values(scale)},
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
                {"of": family.name, **asdict(pair)}
                for family in model.families
                for pair in family.contrasts
            ],
        }
    }


def _plain(each: object, *names: str) -> dict[str, Any]:
    return {name: getattr(each, name) for name in names}


def _values(scale: tuple[int, int]) -> range:
    return range(scale[0], scale[1] + 1)


def _mean_rating(tally: Counter[int]) -> float | None:
    return sum(tally.elements()) / tally.total() if tally else None


def ratings_sheets(model: RatingsModel, *, scale: tuple[int, int]) -> list[Sheet]:
    """Return the counts, and the model's parts or why there is none."""
    fit = model.fit
    tallies = model.counts.values()
    columns = {
        "of": list(model.counts),
        **{str(value): [str(tally[value]) for tally in tallies] for value in _values(scale)},
        "n": [str(tally.total()) for tally in tallies],
        "mean": [number(_mean_rating(tally), 2) for tally in tallies],
    }
    notes = (f"No model: {fit.reason}.", *model.notes) if isinstance(fit, NoFit) else ()
    counts = Sheet(title="Ratings", columns=columns, left=1, notes=notes)
    sheets = [counts, *_answers(model.remarks)]
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
    if not asked:
        return []
    columns = {"of": list(remarks)} | {
        name: [_shares(counts.get(name), scheme[name]) for counts in remarks.values()]
        for name in asked
    }
    notes = tuple(f"{name}: {'/'.join(scheme[name])}, in %." for name in asked)
    return [Sheet(title="Answers", columns=columns, left=1, notes=notes)]


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
        fit.random,
        {
            "group": lambda term: term.name,
            "groups": lambda term: str(term.groups),
            "variance": lambda term: f"{term.sd**2:.4f}",
            "SD": lambda term: f"{term.sd:.4f}",
        },
    )
    notes = (_CODES, *quality, *model.notes)
    fixed = [(each.name, each) for each in fit.fixed]
    between = [(each.name, each) for each in fit.thresholds]
    return [
        *([random] if fit.random else []),
        _estimates("Fixed effects", fixed, name="coefficient", digits=4, notes=notes),
        _estimates("Thresholds", between, name="between", digits=4, p=False),
    ]


def _compared(family: Family) -> list[Sheet]:
    means = Sheet.of(
        f"Estimated marginal means: {family.name}",
        family.means,
        {
            "level": lambda mean: mean.name,
            "mean": lambda mean: f"{mean.estimate:.3f}",
            "SE": lambda mean: f"{mean.se:.3f}",
            "95 %": lambda mean: f"{mean.low:.3f} to {mean.high:.3f}",
        },
        notes=["Log odds, from the mean of the thresholds; higher is better rated."],
    )
    pairs = [(f"{pair.first} – {pair.second}", pair) for pair in family.contrasts]
    note = f"p is adjusted by Tukey's method for a family of {len(family.means)} means."
    title = f"Contrasts: {family.name}"
    return [means, _estimates(title, pairs, name="contrast", digits=3, notes=[note])]


def _estimates(
    title: str,
    estimates: Sequence[tuple[str, Coefficient | Contrast]],
    *,
    name: str,
    digits: int,
    p: bool = True,
    notes: Iterable[str] = (),
) -> Sheet:
    """Return a line for each estimate, below its *name* what it is called."""
    columns: dict[str, Callable[[tuple[str, Coefficient | Contrast]], str]] = {
        name: lambda row: row[0],
        "estimate": lambda row: f"{row[1].estimate:.{digits}f}",
        "SE": lambda row: f"{row[1].se:.{digits}f}",
        "z": lambda row: f"{row[1].z:.3f}",
    }
    if p:
        columns["p"] = lambda row: _p(row[1].p)
    return Sheet.of(title, estimates, columns, notes=notes)


def _p(p: float) -> str:
    return f"{'<.0001' if p < _SMALLEST_P else f'{p:.4f}'}{stars(p)}"
