"""``xling gate`` with ``max_gap``: a stored run's languages against its pivot language."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.cli import main
from tests.runs import Scored, made_up, put_run

if TYPE_CHECKING:
    from pathlib import Path

MEANS = {
    "en": {"sim_sent": 0.9},
    "es": {"sim_sent": 0.899},
    "hi": {"sim_sent": 0.78},
}


def _judge(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    limits: str,
    scored: list[Scored],
    **options: Any,
) -> tuple[int, dict[str, dict[str, Any]]]:
    store = put_run(folder / "s.sqlite", scored, **options)
    thresholds = folder / "t.yaml"
    thresholds.write_text(f"benchmarks:\n  health-consistency:\n{limits}", encoding="utf-8")
    capsys.readouterr()
    code = main(
        ["gate", "run-1", "--thresholds", str(thresholds), "--json", "--xling-store", str(store)]
    )
    out, err = capsys.readouterr()
    if code == 4:
        return code, {"error": {"said": err}}
    return code, {verdict["case"]: verdict for verdict in json.loads(out)["verdicts"]}


def test_a_language_that_is_worse_closes_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each but the pivot has a gate; Spanish passes, Hindi is beyond the margin."""
    code, found = _judge(
        tmp_path,
        capsys,
        "    sim_sent: {max_gap: 0.03, languages: {es: {max_gap: 0.14}}}\n",
        made_up(MEANS, conditions=("", "t1")),
    )
    assert 1 == code
    outcomes = {case: verdict["outcome"] for case, verdict in found.items()}
    assert {"sim_sent-gap-es": "pass", "sim_sent-gap-hi": "fail"} == outcomes
    hindi = found["sim_sent-gap-hi"]
    assert ("en", 24, 0) == tuple(hindi["estimate"][key] for key in ("pivot", "n", "unscored"))
    end = "may be 0.03 worse: exceeded (one-sided p < .001, after Holm over 2 gates < .001)"
    assert hindi["reason"].endswith(end)


def test_level_and_gap_are_gates_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One entry of the file may ask for both."""
    limits = "    sim_sent: {floor: 0.4, max_gap: 0.5, languages: {hi: {max_gap: 0.01}}}\n"
    code, found = _judge(tmp_path, capsys, limits, made_up(MEANS))
    assert 1 == code
    assert {
        "sim_sent-en": "pass",
        "sim_sent-es": "pass",
        "sim_sent-gap-es": "pass",
        "sim_sent-hi": "pass",
        "sim_sent-gap-hi": "fail",
    } == {case: verdict["outcome"] for case, verdict in found.items()}


def test_the_pivot_is_the_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside Hindi nobody is worse; and what is no pivot has a gate."""
    settings = {"pivots": {"health-consistency": "hi"}}
    limits = "    sim_sent: {max_gap: 0.05}\n"
    code, found = _judge(tmp_path, capsys, limits, made_up(MEANS), settings=settings)
    assert 0 == code
    assert {"sim_sent-gap-en", "sim_sent-gap-es"} == found.keys()
    assert {"hi"} == {verdict["estimate"]["pivot"] for verdict in found.values()}


def test_without_the_pivot_nothing_is_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run without English cannot show that a language is no worse: that closes the gate."""
    scored = [one for one in made_up(MEANS) if one.language != "en"]
    code, found = _judge(tmp_path, capsys, "    sim_sent: {max_gap: 0.5}\n", scored)
    assert 1 == code
    assert ["inconclusive", "inconclusive"] == [v["outcome"] for v in found.values()]
    assert {"no answers in en to compare with"} == {v["reason"] for v in found.values()}


def test_flags_are_better_low(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More contradictions than in English are a gap."""
    scored = [
        Scored(id=f"q{n:02}", language=code, readings={"contradictory": float(n % 10 < raised)})
        for code, raised in (("en", 1), ("es", 1), ("hi", 8))
        for n in range(60)
    ]
    code, found = _judge(tmp_path, capsys, "    contradictory: {max_gap: 0.2}\n", scored)
    assert 1 == code
    assert ["pass", "fail"] == [found[f"contradictory-gap-{c}"]["outcome"] for c in ("es", "hi")]
    assert 0.7 == pytest.approx(found["contradictory-gap-hi"]["estimate"]["value"])


def test_metrics_that_compare_have_no_gate_for_the_pivot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A floor of the similarity to English says nothing of English."""
    scored = [
        replace(one, readings={"cross_sim_sent": None if one.language == "en" else 0.8})
        for one in made_up(MEANS)
    ]
    code, found = _judge(tmp_path, capsys, "    cross_sim_sent: {floor: 0.5}\n", scored)
    assert 0 == code
    assert {"cross_sim_sent-es", "cross_sim_sent-hi"} == found.keys()


def test_numbers_without_a_direction_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither long nor short answers are worse: exit 4, with the line."""
    scored = [Scored(id="q1", language="en", readings={"answer_length": 10.0})]
    code, found = _judge(tmp_path, capsys, "    answer_length: {max_gap: 5}\n", scored)
    assert 4 == code
    assert "t.yaml:3" in found["error"]["said"]
    assert "neither end of this metric is the worse" in found["error"]["said"]
