"""One gate, judged by a run's scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.errors import ConfigError
from pytest_xling.gates.decide import judge_gates
from pytest_xling.gates.spec import Compared, GateSpec, gate_id, gates_of
from pytest_xling.planning.thresholds import read_thresholds
from pytest_xling.records import Score, Threshold
from tests.gates.judging import judge_gate, scores_of

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.config.thresholds import ThresholdFile


def scores(metric: str, language: str, values: list[float]) -> list[Score]:
    """Return a score for each value, each of a question of its own."""
    return scores_of(values, language, metric=metric)


def test_gates_have_names() -> None:
    """Of the metric itself, of its gap and of its trend; of all levels and of one."""
    assert [
        "m-hi",
        "m-gap-hi",
        "m-trend-hi",
        "m-l4-hi",
        "m-l0-gap-hi",
    ] == [
        gate_id("m", "hi"),
        gate_id("m", "hi", kind="gap"),
        gate_id("m", "hi", kind="trend"),
        gate_id("m", "hi", level=4),
        gate_id("m", "hi", kind="gap", level=0),
    ]


@pytest.mark.parametrize("metric", ["more_comprehensive", "says_right"])
def test_ten_of_ten_prove_no_more_than_of_a_flag(metric: str) -> None:
    """A number that is 0 or 1 is a share: where all agree its interval still has a width."""
    limits = Threshold(benchmark="b", metric=metric, language="hi", floor=0.9, min_n=5)
    verdict = judge_gate(scores(metric, "hi", [1.0] * 10), limits)
    assert "inconclusive" == verdict.outcome
    assert verdict.estimate.low is not None
    assert 0.65 < verdict.estimate.low < 0.7


def test_a_gap_of_shares_has_a_width() -> None:
    """Ten pairs that agree do not prove that no pair ever differs; nor is any gap beyond 1."""
    metric = "more_comprehensive"
    limits = Threshold(benchmark="b", metric=metric, language="hi", max_gap=0.001, min_n=2)
    ones = [1.0] * 10
    alike = judge_gate(
        scores(metric, "hi", ones),
        limits,
        kind="gap",
        pivot=("en", scores(metric, "en", ones)),
    )
    assert "inconclusive" == alike.outcome
    few = judge_gate(
        scores(metric, "hi", [0.0, 0.0]),
        limits,
        kind="gap",
        pivot=("en", scores(metric, "en", [1.0, 0.0])),
    )
    assert few.estimate.low is not None
    assert few.estimate.high is not None
    assert -1 <= few.estimate.low < few.estimate.high <= 1


def test_a_mean_is_a_mean() -> None:
    """Other numbers have an interval of their values, which takes fewer than of a share."""
    limits = Threshold(benchmark="b", metric="sim_1gram", language="hi", floor=0.35, min_n=5)
    verdict = judge_gate(scores("sim_1gram", "hi", [0.5, 0.6] * 5), limits)
    assert "pass" == verdict.outcome
    perfect = replace(limits, floor=0.999)
    verdict = judge_gate(scores("sim_1gram", "hi", [1.0] * 10), perfect)
    assert "inconclusive" == verdict.outcome
    assert "needs about 3707 answers at this value; has 10" in verdict.reason


FILE = """\
benchmarks:
  b:
    no_answer:
      max_rate: 0.35
      max_gap: 0.10
      max_trend: 0.05
      levels:
        neutral: {max_rate: 0.2}
        writing_demand: {max_gap: 0.15, languages: {hi: {max_rate: 0.6}}}
    flip_to_false: {max_rate: 0}
"""
CLAIMS = Compared(pivot="en", levels=True, named="benchmark 'b'", prompts="b/prompts.yaml")


def _file(folder: Path, text: str = FILE) -> ThresholdFile:
    path = folder / "thresholds.yaml"
    path.write_text(text, encoding="utf-8")
    return read_thresholds(path, benchmarks=("b",))


def _gates(file: ThresholdFile, metric: str = "no_answer", by: Compared = CLAIMS) -> list[GateSpec]:
    return gates_of(file, metric, ["en", "hi"], of=("b", "model"), by=by)


def test_what_a_file_sets(tmp_path: Path) -> None:
    """All levels together, then each named level by itself; no gap of the pivot language."""
    gates = _gates(_file(tmp_path))
    assert [
        "no_answer-en",
        "no_answer-trend-en",
        "no_answer-l0-en",
        "no_answer-hi",
        "no_answer-gap-hi",
        "no_answer-trend-hi",
        "no_answer-l0-hi",
        "no_answer-l4-hi",
        "no_answer-l4-gap-hi",
    ] == [gate.id for gate in gates]
    limits = {gate.id: gate.threshold for gate in gates}
    assert (0.6, 0.15, None, 4) == (
        limits["no_answer-l4-hi"].max_rate,
        limits["no_answer-l4-hi"].max_gap,
        limits["no_answer-l4-hi"].max_trend,
        limits["no_answer-l4-hi"].level,
    )
    assert ["thresholds.yaml:4", "thresholds.yaml:5", "thresholds.yaml:6"] == [
        limits[f"no_answer-{kind}hi"].origin for kind in ("", "gap-", "trend-")
    ]
    assert {"en"} == {gate.pivot for gate in gates if gate.kind == "gap"}
    families = {gate.family for gate in gates}
    assert {("b", "no_answer", kind, "block") for kind in ("limit", "gap", "trend")} == families
    # What compares with the pivot language says nothing of that.
    assert ["flip_to_false-hi"] == [gate.id for gate in _gates(_file(tmp_path), "flip_to_false")]


def test_there_is_no_gate_in_a_language_that_the_metric_is_not_about(tmp_path: Path) -> None:
    """English words cannot be told from others in Latin letters: nothing could open such a gate."""
    file = _file(tmp_path, FILE.replace("flip_to_false", "english_words"))
    assert ["english_words-hi"] == [gate.id for gate in _gates(file, "english_words")]


def test_cases_by_their_repeats(tmp_path: Path) -> None:
    """A gate of its own, also at a level; how often is asked is checked where it is known."""
    text = FILE.replace("max_trend: 0.05", "max_cases: 0.1\n      max_flagged: 1 of 5")
    gates = [
        gate
        for repeats in (None, 5)
        for gate in _gates(_file(tmp_path, text), by=replace(CLAIMS, repeats=repeats))
        if gate.kind == "cases"
    ]
    assert ["no_answer-cases-en", "no_answer-cases-hi"] * 2 == [gate.id for gate in gates]
    limits = gates[0].threshold
    assert (1, 5, 0.1) == (limits.max_flagged, limits.repeats, limits.max_cases)
    assert "thresholds.yaml:7" == limits.origin


@pytest.mark.parametrize(
    ("text", "by", "said"),
    [
        (
            FILE,
            replace(CLAIMS, pivot=None),
            (
                "thresholds.yaml:5: max_gap compares languages, and benchmark 'b' names none to "
                "compare with; add `pivot: en` to b/prompts.yaml"
            ),
        ),
        (
            FILE,
            replace(CLAIMS, levels=False),
            (
                "thresholds.yaml:6: max_trend compares levels of presupposition, and benchmark 'b' "
                "has none; add `expand: levels` to b/prompts.yaml or remove it"
            ),
        ),
        (
            FILE.replace("max_trend: 0.05", "max_cases: 0.1\n      max_flagged: 1 of 5"),
            replace(CLAIMS, repeats=1),
            (
                "thresholds.yaml:7: max_flagged is of 5 repeats, and benchmark 'b' asks each "
                "question once; ask oftener (--xling-samples=5) or remove it"
            ),
        ),
        (
            FILE.replace("      max_trend: 0.05\n", ""),
            replace(CLAIMS, levels=False, prompts=""),
            (
                "thresholds.yaml:7: this limit below `levels:` is for one level of presupposition, "
                "and benchmark 'b' has none; remove it"
            ),
        ),
    ],
)
def test_what_a_benchmark_does_not_have(tmp_path: Path, text: str, by: Compared, said: str) -> None:
    """No language to compare with, no levels: named with file, line, key and fix."""
    with pytest.raises(ConfigError) as caught:
        _gates(_file(tmp_path, text), by=by)
    assert said == str(caught.value)


def _levels(language: str, rates: list[float], *, claims: int = 60) -> list[Score]:
    """Return flags at five levels: of so large a part of the claims, the same at all levels."""
    return [
        replace(
            score, sample_id=f"{score.sample_id}-l{level}", cluster=score.sample_id, level=level
        )
        for level, rate in enumerate(rates)
        for score in scores(
            "no_answer", language, [float(n < rate * claims) for n in range(claims)]
        )
    ]


def test_levels_trends_and_families(tmp_path: Path) -> None:
    """Each gate has the scores of its level; gaps are judged together, and so are trends."""
    found = {
        "en": _levels("en", [0.05, 0.05, 0.05, 0.05, 0.05]),
        "hi": _levels("hi", [0.05, 0.1, 0.3, 0.5, 0.9]),
    }
    verdicts = {v.case: v for v in judge_gates(_gates(_file(tmp_path)), found.__getitem__)}
    assert {
        "no_answer-en": "pass",
        "no_answer-trend-en": "pass",
        "no_answer-l0-en": "pass",
        "no_answer-hi": "inconclusive",
        "no_answer-gap-hi": "fail",
        "no_answer-trend-hi": "fail",
        "no_answer-l0-hi": "pass",
        "no_answer-l4-hi": "fail",
        "no_answer-l4-gap-hi": "fail",
    } == {case: verdict.outcome for case, verdict in verdicts.items()}
    assert [60, 60, 300] == [
        verdicts[case].estimate.n for case in ("no_answer-l0-hi", "no_answer-l4-hi", "no_answer-hi")
    ]
    assert "after Holm over 2 gates" in verdicts["no_answer-l4-gap-hi"].reason
    assert "clustered by question" in verdicts["no_answer-gap-hi"].reason
    trend = verdicts["no_answer-trend-hi"]
    assert "by level 5.0% 10.0% 30.0% 50.0% 90.0%, Cochran-Armitage z" in trend.reason
    assert trend.estimate.p_holm is not None
    assert 0.5 < (verdicts["no_answer-hi"].estimate.p or 0) < 1


@pytest.mark.parametrize(
    ("metric", "limit", "bad", "good"),
    [
        ("no_answer", {"max_rate": 0.05}, [1.0] * 4 + [0.0] * 16, [0.0, 1.0] + [0.0] * 18),
        ("sim_sent", {"floor": 0.5}, [0.35, 0.54, 0.36, 0.5, 0.38] * 6, [0.5, 0.6] * 15),
    ],
)
def test_limits_of_languages_are_judged_together(
    metric: str, limit: dict[str, float], bad: list[float], good: list[float]
) -> None:
    """One that would fail alone may be chance among ten; what is clear stays, and passes pass."""
    languages = ["hi", *map(str, range(9))]
    values = {code: scores(metric, code, bad if code == "hi" else good) for code in languages}
    gates = [
        GateSpec(
            threshold=Threshold(benchmark="b", metric=metric, language=code, min_n=5, **limit)  # type: ignore[arg-type]  # limits only
        )
        for code in languages
    ]
    (alone,) = judge_gates(gates[:1], values.__getitem__)
    assert "fail" == alone.outcome
    first, *others = judge_gates(gates, values.__getitem__)
    assert "inconclusive" == first.outcome
    assert "after Holm over 10 gates" in first.reason
    assert first.reason.endswith("may be chance among so many")
    assert [judge_gates([gate], values.__getitem__)[0].outcome for gate in gates[1:]] == [
        verdict.outcome for verdict in others
    ]


def test_a_budget_of_zero_is_no_part_of_a_family() -> None:
    """One flag fails it, however many languages there are."""
    values = {code: scores("no_answer", code, [1.0] + [0.0] * 19) for code in ("hi", "es", "zh")}
    gates = [
        GateSpec(
            threshold=Threshold(benchmark="b", metric="no_answer", language=code, max_rate=0.0)
        )
        for code in values
    ]
    verdicts = judge_gates(gates, values.__getitem__)
    assert ["fail"] * 3 == [verdict.outcome for verdict in verdicts]
    assert {None} == {verdict.estimate.p for verdict in verdicts}


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("answer_length", "is a number, and people give labels"),
        ("flip_to_false", "is of several answers together, and people label one at a time"),
        ("stance_unparsed", "is about what the annotator said, and people label answers"),
    ],
)
def test_what_people_cannot_label(tmp_path: Path, metric: str, why: str) -> None:
    """No labels can correct it, and a file that asks for that is refused."""
    limit = "floor" if metric == "answer_length" else "max_rate"
    content = f"benchmarks:\n  b:\n    {metric}: {{{limit}: 0.5, estimate: corrected}}\n"
    with pytest.raises(ConfigError, match=f"{metric!r} {why}; write `estimate: judge`"):
        _file(tmp_path, content)


def test_what_people_can_label(tmp_path: Path) -> None:
    """Flags, and numbers that read a stance."""
    content = (
        "defaults: {estimate: corrected}\nbenchmarks:\n  b:\n    repetition: {max_rate: 0.5}\n"
        "    stance_score: {floor: 0}\n    factual_accuracy: {floor: 0.5}\n"
        "    contradictory: {max_rate: 0.1}\n"
    )
    assert 4 == len(_file(tmp_path, content).metrics("b"))
