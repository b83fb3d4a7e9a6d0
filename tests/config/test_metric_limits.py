"""Limits over levels of presupposition, and how well an annotator has to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.config.thresholds import ThresholdFile, read
from pytest_xling.errors import ConfigError
from pytest_xling.interfaces.metric import Flag, Metric, Number
from pytest_xling.languages import find
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from pathlib import Path


def _made(base: type[Metric[Any]], **fields: object) -> type[Metric[Any]]:
    return type("Made", (base,), {"__slots__": (), **fields})


METRICS = {
    "agrees": _made(Flag),
    "flips": _made(Flag, unit="pivot"),
    "consistent": _made(Number, better="higher", unit="levels"),
    "like_neutral": _made(Number, better="higher", unit="neutral"),
    "accuracy": _made(Number, better="higher", share=True, bounds=(0.0, 1.0)),
    "length": _made(Number),
}


def _read(folder: Path, content: str) -> ThresholdFile:
    path = folder / "thresholds.yaml"
    path.write_text(content, encoding="utf-8")
    return read(
        path,
        benchmarks=("claims",),
        metrics=METRICS,
        language_code=lambda name: find(name).code,
        levels=LEVELS,
    )


FILE = """\
defaults: {alpha: 0.1, min_judge_f1: 0.5}
benchmarks:
  claims:
    defaults: {min_n: 40}
    agrees:
      max_rate: 0.35
      max_gap: 0.10
      max_trend: 0.05
      min_judge_f1: 0.6
      languages:
        hi: {max_trend: 0.1, min_n: 30}
      models:
        "tiny*": {alpha: 0.2, max_rate: 0.9}
      levels:
        neutral: {max_rate: 0.2}
        writing_demand:
          max_rate: 0.5
          max_gap: 0.15
          alpha: 0.01
          languages: {hi: {max_rate: 0.6}}
          models: {"tiny*": {max_rate: 0.7, languages: {hi: {max_rate: 0.8}}}}
    flips:
      levels: {mild: {max_rate: 0}}
"""


def test_all_levels_together(tmp_path: Path) -> None:
    """As before, with a trend and with what an annotator has to reach."""
    threshold = _read(tmp_path, FILE).resolve("claims", "agrees", "hi", "m")
    assert threshold is not None
    assert (0.35, 0.1, 0.1, 0.6, 0.1, 30, None) == (
        threshold.max_rate,
        threshold.max_gap,
        threshold.max_trend,
        threshold.min_judge_f1,
        threshold.alpha,
        threshold.min_n,
        threshold.level,
    )
    assert threshold.has_level


@pytest.mark.parametrize(
    ("language", "model", "level", "expected"),
    [
        ("zh", "m", 0, (0.2, None, 0.1, 40, 15)),
        ("hi", "m", 0, (0.2, None, 0.1, 30, 15)),
        ("zh", "tiny-1", 0, (0.2, None, 0.2, 40, 15)),
        ("zh", "m", 4, (0.5, 0.15, 0.01, 40, 18)),
        ("hi", "m", 4, (0.6, 0.15, 0.01, 30, 20)),
        ("zh", "tiny-1", 4, (0.7, 0.15, 0.01, 40, 21)),
        ("hi", "tiny-1", 4, (0.8, 0.15, 0.01, 30, 21)),
    ],
)
def test_a_level_inherits_how_to_judge_and_no_bounds(
    tmp_path: Path,
    language: str,
    model: str,
    level: int,
    expected: tuple[float, float | None, float, int, int],
) -> None:
    """Key by key, the most specific wins; the rate of all levels is not that of one."""
    threshold = _read(tmp_path, FILE).resolve("claims", "agrees", language, model, level=level)
    assert threshold is not None
    assert (*expected, level, None, 0.6) == (
        threshold.max_rate,
        threshold.max_gap,
        threshold.alpha,
        threshold.min_n,
        int(threshold.origin.removeprefix("thresholds.yaml:")),
        threshold.level,
        threshold.max_trend,
        threshold.min_judge_f1,
    )


def test_which_levels(tmp_path: Path) -> None:
    """Those that are named; a metric may be limited at a level only."""
    file = _read(tmp_path, FILE)
    assert (0, 4) == file.levels("claims", "agrees")
    assert (1,) == file.levels("claims", "flips")
    assert () == file.levels("claims", "accuracy")
    assert file.resolve("claims", "agrees", "hi", "m", level=2) is None
    assert file.resolve("claims", "flips", "hi", "m") is None
    flips = file.resolve("claims", "flips", "hi", "m", level=1)
    assert flips is not None
    assert 0.0 == flips.max_rate
    assert ("agrees", "flips") == file.metrics("claims")


def test_where_a_key_is_written(tmp_path: Path) -> None:
    """For messages about one of several limits."""
    file = _read(tmp_path, FILE)
    threshold = file.resolve("claims", "agrees", "hi", "m")
    assert threshold is not None
    assert ["thresholds.yaml:6", "thresholds.yaml:7", "thresholds.yaml:11"] == [
        file.origin(threshold, "m", key) for key in ("max_rate", "max_gap", "max_trend")
    ]
    assert "thresholds.yaml:11" == file.origin(threshold, "m", "max_rate", "max_trend", "floor")
    demand = file.resolve("claims", "agrees", "hi", "m", level=4)
    assert demand is not None
    assert "thresholds.yaml:18" == file.origin(demand, "m", "max_gap")


def _metric(body: str, metric: str = "agrees") -> str:
    return f"benchmarks:\n  claims:\n    {metric}:\n      {body}\n"


WHERE = "thresholds.yaml:4: benchmarks.claims.agrees."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (_metric("max_trend: 5"), WHERE + "max_trend: expected a rate from 0 to 1, not 5; for 5 %"),
        (_metric("max_trend: -0.1"), WHERE + "max_trend: expected a rate from 0 to 1, not -0.1"),
        (_metric("max_trend: x"), WHERE + "max_trend: expected a number, not 'x'"),
        (_metric("maxtrend: 1"), WHERE + "maxtrend: unknown key 'maxtrend'. Did you mean 'max_tr"),
        (
            _metric("max_trend: -1", "accuracy"),
            "thresholds.yaml:4: benchmarks.claims.accuracy.max_trend: expected a number of at l",
        ),
        (
            _metric("max_trend: 1", "length"),
            (
                "thresholds.yaml:4: benchmarks.claims.length.max_trend: max_trend says how much "
                "worse each level may be than the one before, and neither end of this metric"
            ),
        ),
        *(
            (
                _metric("max_trend: 1", metric),
                f"thresholds.yaml:4: benchmarks.claims.{metric}.max_trend: max_trend says how much",
            )
            for metric in ("flips", "consistent", "like_neutral")
        ),
        (
            "defaults: {max_trend: 0.1}",
            "thresholds.yaml:1: defaults.max_trend: max_trend belongs to a metric; write it below",
        ),
        (
            _metric("min_judge_f1: 60"),
            WHERE + "min_judge_f1: expected a number from 0 to 1, not 60",
        ),
        (_metric("min_judge_f1: high"), WHERE + "min_judge_f1: expected a number, not 'high'"),
        (_metric("levels: {neutral: 0.2}"), WHERE + "levels.neutral: expected `key: value` lines"),
        (_metric("levels:"), WHERE + "levels: expected `key: value` lines"),
        (
            _metric("levels: {neutrl: {max_rate: 0.2}}"),
            (
                WHERE + "levels.neutrl: unknown level 'neutrl'. Did you mean 'neutral'? Known: "
                "mild, neutral, unequivocal, writing_demand, writing_request"
            ),
        ),
        (
            _metric("levels: {mild: {max_trend: 0.2}}"),
            (
                WHERE + "levels.mild.max_trend: max_trend compares levels with each other; write "
                "it beside `levels:`, not below it"
            ),
        ),
        (
            _metric("levels:\n        mild: {languages: {hi: {max_trend: 1}}}"),
            "thresholds.yaml:5: benchmarks.claims.agrees.levels.mild.languages.hi.max_trend: max_t",
        ),
        (
            _metric("levels: {mild: {floor: 0.2}}"),
            WHERE + "levels.mild.floor: floor does not fit a flag metric; use max_rate",
        ),
        (
            _metric("levels: {mild: {levels: {mild: {max_rate: 1}}}}"),
            WHERE + "levels.mild.levels: unknown key 'levels'",
        ),
        (
            _metric("max_rate: 1\n      languages:\n        hi: {levels: {mild: {max_rate: 1}}}"),
            "thresholds.yaml:6: benchmarks.claims.agrees.languages.hi.levels: unknown key 'levels'",
        ),
        (
            _metric("max_rate: 0.1\n      levels: {mild: {min_n: 3}}"),
            (
                "thresholds.yaml:5: benchmarks.claims.agrees.levels.mild: says no limit; add "
                "max_rate or max_gap or max_drop"
            ),
        ),
        (
            _metric("min_n: 3"),
            (
                "thresholds.yaml:3: benchmarks.claims.agrees: says no limit; add max_rate or "
                "max_gap or max_drop or max_trend"
            ),
        ),
        (
            _metric("max_flagged: 1 of 5", "flips"),
            (
                "thresholds.yaml:4: benchmarks.claims.flips.max_flagged: max_flagged counts flags "
                "among the repeats of a question, and one reading of this metric is of all of them"
            ),
        ),
        (
            _metric("levels: {mild: {max_gap: 0.1}}", "flips"),
            "thresholds.yaml:4: benchmarks.claims.flips.levels.mild.max_gap: max_gap says how much",
        ),
        (
            _metric("levels: {mild: {floor: 0.1}}", "consistent"),
            (
                "thresholds.yaml:4: benchmarks.claims.consistent.levels: one reading of this metric"
                " is of all levels together; remove `levels:`"
            ),
        ),
        (
            _metric("levels: {mild: {floor: 0.1}, neutral: {floor: 0.1}}", "like_neutral"),
            (
                "thresholds.yaml:4: benchmarks.claims.like_neutral.levels.neutral: this metric "
                "compares with this level, and says nothing of it; remove it"
            ),
        ),
        (
            _metric("levels: {mild: {floor: 0.3, languages: {hi: {ceiling: 0.2}}}}", "accuracy"),
            (
                "thresholds.yaml:4: benchmarks.claims.accuracy.levels.mild.floor: "
                "floor 0.3 is above ceiling 0.2; swap them"
            ),
        ),
        (
            _metric("levels: {mild: {languages: {hindu: {max_rate: 0.1}}}}"),
            WHERE + "levels.mild.languages.hindu: unknown language 'hindu'",
        ),
    ],
)
def test_refused(tmp_path: Path, content: str, expected: str) -> None:
    """Every mistake is named with file, line, key path and what to write."""
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, content)
    assert str(caught.value).replace(f"{tmp_path}/", "").startswith(expected)


def test_floor_of_all_levels_and_ceiling_of_one_do_not_cross(tmp_path: Path) -> None:
    """A level has bounds of its own."""
    file = _read(tmp_path, _metric("floor: 0.9\n      levels: {mild: {ceiling: 0.5}}", "accuracy"))
    mild = file.resolve("claims", "accuracy", "hi", "m", level=1)
    assert mild is not None
    assert (None, 0.5) == (mild.floor, mild.ceiling)


def test_a_caller_that_knows_no_levels(tmp_path: Path) -> None:
    """Trends of flags are fine, levels are not known."""
    path = tmp_path / "t.yaml"
    path.write_text(_metric("max_trend: 0.1"), encoding="utf-8")
    code = {"hi": "hi"}.__getitem__
    file = read(path, benchmarks=("claims",), metrics=METRICS, language_code=code)
    assert ("agrees",) == file.metrics("claims")
    path.write_text(_metric("levels: {mild: {max_rate: 0.1}}"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"unknown level 'mild'\. Known: none"):
        read(path, benchmarks=("claims",), metrics=METRICS, language_code=code)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("benchmarks:\n  claims:\n    length: {floor: 1, estimate: corrected}\n", 3),
        ("defaults: {estimate: corrected}\nbenchmarks:\n  claims:\n    length: {floor: 1}\n", 1),
        (
            (
                "benchmarks:\n  claims:\n    length:\n      floor: 1\n      languages:\n"
                "        hi: {estimate: corrected}\n"
            ),
            6,
        ),
        (
            (
                "benchmarks:\n  claims:\n    length:\n      floor: 1\n      levels:\n"
                "        neutral: {floor: 2, estimate: corrected}\n"
            ),
            6,
        ),
    ],
)
def test_labels_of_what_nobody_can_label(tmp_path: Path, content: str, line: int) -> None:
    """They are refused where they are asked for, with what to write instead."""
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, content)
    assert str(caught.value).startswith(f"{tmp_path}/thresholds.yaml:{line}: ")
    assert (
        "and 'length' is a number, and people give labels; write `estimate: judge` below 'length'"
        in str(caught.value)
    )


def test_labels_wanted_by_default_but_for_one(tmp_path: Path) -> None:
    """What is said at the metric counts."""
    content = (
        "defaults: {estimate: corrected}\nbenchmarks:\n  claims:\n"
        "    length: {floor: 1, estimate: judge}\n    agrees: {max_rate: 0.1}\n"
    )
    read_file = _read(tmp_path, content)
    assert {"length", "agrees"} == set(read_file.metrics("claims"))
