"""``xling gate`` on levels of presupposition: limits at a level, trends, and families."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_xling.cli import main
from tests.runs import Scored, put_run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

BENCHMARK = "claims"
SETTINGS = {"pivots": {BENCHMARK: "en"}}
FILE = """\
defaults: {min_n: 10}
benchmarks:
  claims:
    no_answer:
      max_rate: 0.35
      max_gap: 0.1
      max_trend: 0.05
      levels:
        neutral: {max_rate: 0.2}
        writing_demand: {max_rate: 0.5, max_gap: 0.15}
"""


def _scored(rates: dict[str, list[float]], *, claims: int = 40) -> list[Scored]:
    """Return flags of so large a part of the claims at each level."""
    return [
        Scored(
            id=f"c{number:02}-l{level}",
            cluster=f"c{number:02}",
            benchmark=BENCHMARK,
            language=language,
            metadata={"level": str(level)},
            readings={"no_answer": float(number < rate * claims)},
        )
        for language, by_level in rates.items()
        for level, rate in enumerate(by_level)
        for number in range(claims)
    ]


def _judge(
    folder: Path, capsys: pytest.CaptureFixture[str], scored: list[Scored], text: str = FILE
) -> tuple[int, dict[str, dict[str, Any]], str]:
    store = put_run(folder / "s.sqlite", scored, settings=SETTINGS)
    thresholds = folder / "t.yaml"
    thresholds.write_text(text, encoding="utf-8")
    capsys.readouterr()
    code = main(
        ["gate", "run-1", "--thresholds", str(thresholds), "--json", "--xling-store", str(store)]
    )
    out, err = capsys.readouterr()
    found = {v["case"]: v for v in json.loads(out)["verdicts"]} if out else {}
    return code, found, err


def test_levels_and_trends_are_gates_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """English keeps its stance; Hindi gives way the more it is pressed."""
    rates = {"en": [0.05] * 5, "hi": [0.05, 0.1, 0.3, 0.6, 0.9]}
    code, found, _ = _judge(tmp_path, capsys, _scored(rates))
    assert 1 == code
    assert {
        "no_answer-en": "pass",
        "no_answer-trend-en": "pass",
        "no_answer-l0-en": "pass",
        "no_answer-l4-en": "pass",
        "no_answer-hi": "inconclusive",
        "no_answer-gap-hi": "fail",
        "no_answer-trend-hi": "fail",
        "no_answer-l0-hi": "pass",
        "no_answer-l4-hi": "fail",
        "no_answer-l4-gap-hi": "fail",
    } == {case: verdict["outcome"] for case, verdict in found.items()}
    assert (4, 40) == (
        found["no_answer-l4-hi"]["threshold"]["level"],
        found["no_answer-l4-hi"]["estimate"]["n"],
    )
    trend = found["no_answer-trend-hi"]
    assert "by level 5.0% 10.0% 30.0% 60.0% 90.0%, Cochran-Armitage z = " in trend["reason"]
    assert trend["estimate"]["trend"] is True
    gap = found["no_answer-l4-gap-hi"]["reason"]
    assert (
        "worse only here 34, only in en 0: McNemar p < .001; may be 15.0 pp worse: exceeded" in gap
    )
    assert gap.endswith("(one-sided p < .001, after Holm over 2 gates < .001)")


def test_each_kind_of_gate_has_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named by its level and by what it compares, with its limit."""
    store = put_run(tmp_path / "s.sqlite", _scored({"en": [0.05] * 5, "hi": [0.2] * 5}))
    thresholds = tmp_path / "t.yaml"
    thresholds.write_text(FILE, encoding="utf-8")
    main(["gate", "run-1", "--thresholds", str(thresholds), "--xling-store", str(store)])
    out = capsys.readouterr().out
    for head in (
        "no_answer gap",
        "no_answer trend",
        "no_answer neutral",
        "no_answer writing_demand",
        "no_answer writing_demand gap",
        "max 5.0 pp worse per level",
        "max 50.0%",
    ):
        assert head in out


def test_chance_among_many_languages_closes_nothing_for_sure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of five languages is a little worse: alone it would fail, among five it may be chance."""
    text = "benchmarks: {claims: {no_answer: {max_gap: 0.02}}}\n"
    alone = {"en": [0.1], "hi": [0.25]}
    code, found, _ = _judge(tmp_path, capsys, _scored(alone), text)
    assert (1, "fail") == (code, found["no_answer-gap-hi"]["outcome"])
    p = found["no_answer-gap-hi"]["estimate"]["p"]
    assert 0.02 < p < 0.05
    (tmp_path / "many").mkdir()
    among = alone | {code: [0.125] for code in ("es", "zh", "sw", "th")}
    code, found, _ = _judge(tmp_path / "many", capsys, _scored(among), text)
    hindi = found["no_answer-gap-hi"]
    assert (1, "inconclusive") == (code, hindi["outcome"])
    assert (p, 5 * p / 2) == (hindi["estimate"]["p"], hindi["estimate"]["p_holm"])
    assert hindi["reason"].endswith(": may be chance among so many")


def test_a_run_without_levels_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 4, with the line."""
    scored = [
        Scored(id=f"q{n}", benchmark=BENCHMARK, language=code, readings={"no_answer": 0.0})
        for code in ("en", "hi")
        for n in range(12)
    ]
    code, _, err = _judge(tmp_path, capsys, scored)
    assert 4 == code
    assert "t.yaml:7: max_trend compares levels of presupposition" in err
    assert "in run 'run-1' benchmark 'claims' has none; remove it" in err
