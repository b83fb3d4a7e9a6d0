"""Measure how often intervals by a judge and few labels hold, and how wide they are.

    python perf/corrected.py --runs 2000
    python perf/corrected.py --runs 1000 --settings 150 --together drop

Tables are over judges (sensitivity and specificity from .6 to .99), designs, ICCs, rates, numbers
of labels; then comes PPI where it is at home, then the worst settings of all (docs/corrected.md).
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tests.stats.judged_runs import Setting, draw, measure_together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.stats.judged_runs import Design, Kind

    Cell = dict[str, tuple[float, float, float]]
    """By kind of interval: the share wholly above, the share wholly below, and the mean width."""

RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
LABELS = (20, 30, 50, 100, 200, 400)
JUDGES = ((0.6, 0.6), (0.6, 0.99), (0.99, 0.6), (0.85, 0.93), (0.99, 0.99))
ICCS = ((0.0, 4, 400), (0.2, 4, 400), (0.5, 4, 1000), (0.5, 10, 400))
DESIGNS: tuple[Design, ...] = ("random", "equal", "neyman")
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


def show_together(kind: Kind, *, runs: int, many: int) -> None:
    """Print how often drops, ratios or slopes hold, and the settings in which they do least."""
    order = np.random.default_rng(0).permutation(len(every := list(together(kind))))
    measured = [
        (measure_together(kind, every[number], runs=runs, seed=int(number)), every[number])
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
    parser.add_argument("--together", choices=("drop", "ratio", "slope"), help="of several rates")
    arguments = parser.parse_args()
    if arguments.together:
        show_together(arguments.together, runs=arguments.runs, many=arguments.settings)
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
