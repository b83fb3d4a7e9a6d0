"""Measure how often intervals by a judge and few labels hold, and how wide they are.

    python perf/corrected.py --runs 2000
    python perf/corrected.py --runs 1000 --settings 150 --together drop
    python perf/corrected.py --runs 300 --settings 60 --together drop --numbers

Tables are over judges (sensitivity and specificity from .6 to .99), designs, ICCs, rates, numbers
of labels; then comes PPI where it is at home, then the worst settings of all (docs/corrected.md).
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from tests.stats.judged_numbers import Numbers, measure_numbers
from tests.stats.judged_runs import Kind, Setting, draw, measure_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.stats.judged_numbers import Shape
    from tests.stats.judged_runs import Design, Measured

    Cell = dict[str, tuple[float, float, float]]
    """By kind of interval: the share wholly above, the share wholly below, and the mean width."""

RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
LABELS = (20, 30, 50, 100, 200, 400)
JUDGES = ((0.6, 0.6), (0.6, 0.99), (0.99, 0.6), (0.85, 0.93), (0.99, 0.99))
ICCS = ((0.0, 4, 400), (0.2, 4, 400), (0.5, 4, 1000), (0.5, 10, 400))
DESIGNS: tuple[Design, ...] = ("random", "equal", "neyman")
NUMBERED = (20, 50, 200, 400)
NUMBER_ICCS = ((0.0, 4), (0.5, 4), (0.5, 10))
KINDS = ("corrected", "alone", "wilson", "ppi", "judge")


def settings() -> Iterator[Setting]:
    """Yield all settings."""
    for rate, labels, judge, (icc, repeats, answers), design in itertools.product(
        RATES, LABELS, JUDGES, ICCS, DESIGNS
    ):
        yield Setting(
            rate=rate,
            labels=labels,
            sensitivity=judge[0],
            specificity=judge[1],
            icc=icc,
            judge_icc=icc / 2,
            design=design,
            answers=answers,
            repeats=repeats,
        )


def together(kind: Kind) -> Iterator[list[Setting]]:
    """Yield settings of two runs, or five levels: alike, or each level a quarter worse."""
    count, step = (5, 0.25) if kind == "slope" else (2, 0.5)
    for last, changes in itertools.product(settings(), (False, True)):
        answers = last.answers // 2 if kind == "slope" else last.answers
        repeats = max(1, last.repeats // 2) if kind == "slope" else last.repeats
        rates = [last.rate * (1 + step * at * changes) for at in reversed(range(count))]
        if last.labels <= answers and max(rates) < 1:
            yield [replace(last, rate=rate, answers=answers, repeats=repeats) for rate in rates]


def numbers(kind: Kind) -> Iterator[list[Numbers]]:
    """Yield settings of numbers likewise: alike, or .4 standard deviations worse in all."""
    count, answers = {"mean": (1, 400), "slope": (5, 200)}.get(kind, (2, 400))
    shapes: tuple[Shape, ...] = ("five points", "all over", "stances")
    for shape, labels, like, (icc, repeats), stratified, worse in itertools.product(
        shapes, NUMBERED, (0.3, 0.9), NUMBER_ICCS, (False, True), (0.0, 0.4)
    ):
        made = Numbers(
            shape=shape,
            labels=labels,
            like=like,
            icc=icc,
            repeats=max(1, repeats * answers // 400),
            answers=answers,
            stratified=stratified,
        )
        # What may be below 0 has no ratio; what is hardly ever the same no strata.
        fits = not (stratified and shape == "all over") and not (
            kind == "ratio" and shape == "stances"
        )
        if fits and labels <= answers and not (kind == "mean" and worse):
            step = worse / max(count - 1, 1)
            yield [replace(made, worse=step * at) for at in range(count)]


def show_together(
    kind: Kind, every: Sequence[object], measure: Callable[..., Measured], *, runs: int, many: int
) -> None:
    """Print how often what is made of several holds, and the settings in which it does least."""
    order = np.random.default_rng(0).permutation(len(every))
    measured = [
        (measure(kind, every[number], runs=runs, seed=int(number)), every[number])
        for number in order[:many]
    ]
    # Where most runs lack labels of a stratum, too few are left to tell.
    told = [(cell, of) for cell, of in measured if cell.decided >= runs / 4]
    held = [100 * (1 - cell.below - cell.above) for cell, _ in told]
    side = 100 * max(max(cell.below, cell.above) for cell, _ in told)
    width = [cell.width for cell, _ in told]
    print(f"{kind}, {len(told)} settings: {np.mean(held):.1f} {min(held):.1f} {side:.1f}", end=" ")
    print(f"{np.mean(width):.2f} {max(width):.2f}")
    for number in np.argsort(held)[:8]:
        print(f"{held[number]:.1f}", *told[number])


def show_means(*, runs: int) -> None:
    """Print what missed below and above, and the width, of means of independent numbers."""
    shapes: tuple[Shape, ...] = ("five points", "all over", "95 % ones")
    for shape, like in itertools.product(shapes, (0.3, 0.9)):
        cells = [
            measure_numbers(
                "mean",
                [Numbers(shape=shape, labels=labels, like=like, repeats=1)],
                runs=runs,
                seed=0,
            )
            for labels in (20, 50, 200)
        ]
        figures = (f"{100 * c.below:.1f}, {100 * c.above:.1f}; {c.width:.2f}" for c in cells)
        print(f"| {shape} | {like} | " + " | ".join(figures) + " |")


def measure(setting: Setting, *, runs: int, seed: int) -> Cell:
    """Measure one setting."""
    drawn = draw(setting, runs=runs, seed=seed)
    return {
        kind: (
            float((low > setting.rate + 1e-12).mean()),
            float((high < setting.rate - 1e-12).mean()),
            float((high - low).mean()),
        )
        for kind, (low, high) in drawn.intervals().items()
    }


def _held(cell: Cell, kind: str) -> float:
    return 100 * (1 - cell[kind][0] - cell[kind][1])


def _show(title: str, cells: dict[Setting, Cell], key: Callable[[Setting], object]) -> None:
    groups: defaultdict[object, list[Cell]] = defaultdict(list)
    for setting, cell in cells.items():
        groups[key(setting)].append(cell)
    print(f"\n{title}: mean and least coverage of each kind, most on a side, width to alone's")
    for group, members in groups.items():
        line = []
        for kind in KINDS:
            having = [cell for cell in members if kind in cell]
            if having:
                held = [_held(cell, kind) for cell in having]
                side = 100 * max(max(cell[kind][:2]) for cell in having)
                width = [cell[kind][2] / cell["alone"][2] for cell in having]
                line.append(
                    f"{kind} {np.mean(held):.1f} {min(held):.1f} {side:.1f}"
                    f" {np.mean(width):.2f} {max(width):.2f}"
                )
        print(f"{group!s:24}" + " | ".join(line))


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--settings", type=int, default=1000, help="so many, drawn by chance")
    parser.add_argument("--together", choices=get_args(Kind), help="of several rates")
    parser.add_argument("--numbers", action="store_true", help="of numbers instead of rates")
    arguments = parser.parse_args()
    kind, runs, many = arguments.together, arguments.runs, arguments.settings
    if kind and arguments.numbers:
        show_together(kind, list(numbers(kind)), measure_numbers, runs=runs, many=many)
    elif kind:
        show_together(kind, list(together(kind)), measure_together, runs=runs, many=many)
    elif arguments.numbers:
        show_means(runs=runs)
    if kind or arguments.numbers:
        return 0
    order = np.random.default_rng(0).permutation(len(every := list(settings())))
    cells = {
        every[number]: measure(every[number], runs=arguments.runs, seed=int(number))
        for number in sorted(order[: arguments.settings])
    }
    _show("all", cells, lambda _: "all")
    _show("rate", cells, lambda setting: setting.rate)
    _show("labels", cells, lambda setting: setting.labels)
    _show("judge", cells, lambda setting: (setting.sensitivity, setting.specificity))
    _show("ICC", cells, lambda setting: (setting.icc, setting.repeats, setting.answers))
    _show("design", cells, lambda setting: setting.design)
    plain = [Setting(rate=rate, labels=labels) for rate in RATES for labels in (30, 100, 200)]
    _show(
        "random samples, sensitivity .85, specificity .93, ICC 0",
        {setting: measure(setting, runs=2 * arguments.runs, seed=0) for setting in plain},
        lambda setting: (setting.rate, setting.labels),
    )
    print("\nleast coverage, and widest to Wilson's of the labels alone")
    for setting in sorted(cells, key=lambda setting: _held(cells[setting], "corrected"))[:12]:
        print(f"{_held(cells[setting], 'corrected'):.2f}", cells[setting]["corrected"][:2], setting)
    ratio = {s: c["corrected"][2] / c["wilson"][2] for s, c in cells.items()}
    for setting in sorted(cells, key=lambda setting: -ratio[setting])[:5]:
        print(f"{ratio[setting]:.3f}", setting)
    return 0


if __name__ == "__main__":
    sys.exit(main())
