"""thresholds.yaml: the most specific wins, and mistakes are found before a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_xling import registry
from pytest_xling.config.thresholds import ThresholdFile, read
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.records import ALL_LANGUAGES, Threshold
from pytest_xling.text.stance import LEVELS

REPOSITORY = Path(__file__).resolve().parents[2]
METRICS = {
    name: registry.load("metric", name)
    for name in ("wrong_language", "repetition", "answer_length", "sim_sent")
}


def _code(name: str) -> str:
    return find(name).code


def _read(folder: Path, content: str) -> ThresholdFile:
    path = folder / "thresholds.yaml"
    path.write_text(content, encoding="utf-8")
    return read(
        path,
        benchmarks=("culture", "health"),
        metrics=METRICS,
        language_code=_code,
    )


FLAG = "benchmarks:\n  culture:\n    wrong_language: "


def _complaint(folder: Path, content: str) -> str:
    with pytest.raises(ConfigError) as caught:
        _read(folder, content)
    return str(caught.value).replace(f"{folder}/", "")


LAYERED = """\
defaults: {alpha: 0.1, min_n: 30}
benchmarks:
  culture:
    defaults: {min_n: 40}
    wrong_language:
      max_rate: 0.05
      languages:
        hi: {max_rate: 0.1}
        iw: {on_inconclusive: warn}
      models:
        "gpt-*": {max_rate: 0.02}
        "gpt-4*":
          min_n: 50
          languages:
            hi:
              max_rate: 0.03
    answer_length:
      models:
        embedded: {ceiling: 100}
  health:
    wrong_language: {max_rate: 0, alpha: 0.01}
"""


@pytest.mark.parametrize(
    ("language", "model", "expected"),
    [
        ("sw", "m", (0.05, 0.1, 40, "fail", 6)),
        ("hi", "m", (0.1, 0.1, 40, "fail", 8)),
        ("he", "m", (0.05, 0.1, 40, "warn", 6)),
        ("hi", "gpt-3", (0.02, 0.1, 40, "fail", 11)),
        ("sw", "gpt-4o", (0.02, 0.1, 50, "fail", 11)),
        ("hi", "gpt-4o", (0.03, 0.1, 50, "fail", 16)),
        ("hi", "GPT-4o", (0.1, 0.1, 40, "fail", 8)),
    ],
)
def test_most_specific_wins(
    tmp_path: Path, language: str, model: str, expected: tuple[float, float, int, str, int]
) -> None:
    """Key by key: defaults, benchmark, metric, language, model, model and language."""
    threshold = _read(tmp_path, LAYERED).resolve("culture", "wrong_language", language, model)
    assert threshold is not None
    assert expected == (
        threshold.max_rate,
        threshold.alpha,
        threshold.min_n,
        threshold.on_inconclusive,
        int(threshold.origin.removeprefix("thresholds.yaml:")),
    )


def test_resolved_threshold(tmp_path: Path) -> None:
    """A threshold names what it is for; keys that nobody says keep the record's defaults."""
    expected = Threshold(
        benchmark="health",
        metric="wrong_language",
        language="hi",
        max_rate=0.0,
        alpha=0.01,
        min_n=30,
        origin="thresholds.yaml:21",
    )
    assert expected == _read(tmp_path, LAYERED).resolve("health", "wrong_language", "hi", "m")


def test_nothing_said(tmp_path: Path) -> None:
    """No threshold for what is not mentioned, nor for models a limit is not meant for."""
    file = _read(tmp_path, LAYERED)
    assert file.resolve("culture", "repetition", "hi", "m") is None
    assert file.resolve("other", "wrong_language", "hi", "m") is None
    assert file.resolve("culture", "answer_length", "hi", "gpt-4o") is None
    assert file.resolve("culture", "answer_length", "hi", "embedded") is not None
    assert ("answer_length", "wrong_language") == file.metrics("culture")
    assert () == file.metrics("other")


def test_later_pattern_wins(tmp_path: Path) -> None:
    """Of two patterns that match, the one further down holds."""
    file = _read(
        tmp_path,
        "benchmarks:\n  culture:\n    repetition:\n      models:\n"
        "        gpt-4o: {max_rate: 0.1}\n        '*': {max_rate: 0.2}\n",
    )
    threshold = file.resolve("culture", "repetition", "hi", "gpt-4o")
    assert threshold is not None
    assert 0.2 == threshold.max_rate


def test_norwegian(tmp_path: Path) -> None:
    """The code `no` is a language, without quotes, and so is a name in a list of languages."""
    path = tmp_path / "thresholds.yaml"
    path.write_text(
        "required_languages: [no, hi]\n"
        "benchmarks:\n  culture:\n    repetition:\n      languages:\n        no: {max_rate: 0.3}\n",
        encoding="utf-8",
    )
    file = read(
        path,
        benchmarks=("culture",),
        metrics=METRICS,
        language_code={"no": "no", "hi": "hi"}.__getitem__,
    )
    threshold = file.resolve("culture", "repetition", "no", "m")
    assert threshold is not None
    assert 0.3 == threshold.max_rate
    assert ("no", "hi") == file.required_languages("culture")[0]


def _metric(body: str, metric: str = "wrong_language") -> str:
    return f"benchmarks:\n  culture:\n    {metric}:\n      {body}\n"


WHERE = "thresholds.yaml:4: benchmarks.culture.wrong_language."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("benchmark: {}", "thresholds.yaml:1: benchmark: unknown key 'benchmark'. Did you mean"),
        ("benchmarks: {}", "thresholds.yaml:1: benchmarks: expected `key: value` lines"),
        ("benchmarks: [a]", "thresholds.yaml:1: benchmarks: expected `key: value` lines"),
        (
            "benchmarks:\n  cultur: {repetition: {max_rate: 1}}",
            (
                "thresholds.yaml:2: benchmarks.cultur: unknown benchmark 'cultur'."
                " Did you mean 'culture'? Known: culture, health"
            ),
        ),
        ("benchmarks:\n  culture:\n", "thresholds.yaml:2: benchmarks.culture: expected"),
        (
            _metric("max_rate: 0.1", "wrong_lang"),
            (
                "thresholds.yaml:3: benchmarks.culture.wrong_lang: unknown metric 'wrong_lang'."
                " Did you mean 'wrong_language'?"
            ),
        ),
        (
            _metric("maxrate: 0.1"),
            WHERE + "maxrate: unknown key 'maxrate'. Did you mean 'max_rate'",
        ),
        (
            _metric("max_rate: 5"),
            WHERE + "max_rate: expected a rate from 0 to 1, not 5; for 5 % wri",
        ),
        (_metric("max_rate: -0.1"), WHERE + "max_rate: expected a rate from 0 to 1"),
        (_metric("max_rate: true"), WHERE + "max_rate: expected a number, not True"),
        (_metric("max_rate: '0.1'"), WHERE + "max_rate: expected a number, not '0.1'"),
        (_metric("max_rate: 5%"), WHERE + "max_rate: expected a number, not '5%'"),
        (_metric("max_rate:"), WHERE + "max_rate: expected a number, not None"),
        (_metric("max_rate: .nan"), WHERE + "max_rate: expected a number, not nan"),
        (_metric("max_rate: .inf"), WHERE + "max_rate: expected a number, not inf"),
        *(
            (
                _metric(f"max_flagged: {value}"),
                WHERE + "max_flagged: expected such as `1 of 5`, at most one flagged of five",
            )
            for value in ("1 of 0", "0 of 1", "5 of 5", "1", "1 in 5", "-1 of 5")
        ),
        (
            _metric("max_flagged: 1 of 5"),
            WHERE + "max_flagged: max_flagged says which cases are bad; say which share of them may"
            " be: max_cases: 0.05",
        ),
        (
            _metric("max_cases: 0.1\n      languages: {hi: {max_flagged: 0 of 5}}"),
            WHERE + "max_cases: max_cases says how many cases may be bad; say which are: max_flag",
        ),
        (_metric("max_cases: 5"), WHERE + "max_cases: expected a rate from 0 to 1, not 5; for 5 %"),
        (
            _metric("max_cases: 0.1", "answer_length"),
            "thresholds.yaml:4: benchmarks.culture.answer_length.max_cases: max_cases does not fit",
        ),
        (_metric("floor: 0.1"), WHERE + "floor: floor does not fit a flag metric; use max_rate"),
        (
            _metric("max_rate: 0.1", "answer_length"),
            "thresholds.yaml:4: benchmarks.culture.answer_length.max_rate: max_rate does not fit a",
        ),
        (_metric("alpha: 0"), WHERE + "alpha: expected a number above 0 and up to 0.5"),
        (_metric("alpha: 0.6"), WHERE + "alpha: expected a number above 0 and up to 0.5"),
        (_metric("min_n: 0"), WHERE + "min_n: expected a whole number of at least 1, not 0"),
        (_metric("min_n: 1.5"), WHERE + "min_n: expected a whole number of at least 1, not 1.5"),
        (
            _metric("on_inconclusive: no"),
            WHERE + "on_inconclusive: expected estimate, fail or warn, not 'no'",
        ),
        (_metric("tier: warn"), WHERE + "tier: expected advisory or block, not 'warn'"),
        (
            _metric("on_inconclusive: [fail]"),
            WHERE + "on_inconclusive: expected estimate, fail or warn",
        ),
        (
            _metric("alpha: 0.1"),
            "thresholds.yaml:3: benchmarks.culture.wrong_language: says no lim",
        ),
        (_metric("languages:"), WHERE + "languages: expected `key: value` lines"),
        (
            _metric("languages: {hindu: {max_rate: 0.1}}"),
            WHERE + "languages.hindu: unknown language 'hindu'",
        ),
        (_metric("languages: {hi: 0.1}"), WHERE + "languages.hi: expected `key: value` lines"),
        (
            _metric("languages:\n        he: {max_rate: 0.1}\n        iw: {max_rate: 0.1}"),
            (
                "thresholds.yaml:6: benchmarks.culture.wrong_language.languages.iw: the same"
                " language as 'he'; keep one of them"
            ),
        ),
        (_metric("languages: {hi: {models: {m: {}}}}"), WHERE + "languages.hi.models: unknown key"),
        (_metric("models: [m]"), WHERE + "models: expected `key: value` lines"),
        (_metric("models: {m: {rate: 1}}"), WHERE + "models.m.rate: unknown key 'rate'"),
        (
            _metric("max_rate: 0.1\n      max_rate: 0.2"),
            "thresholds.yaml:5: key 'max_rate' is given twice",
        ),
        (
            _metric("floor: 3\n      ceiling: 2", "answer_length"),
            "thresholds.yaml:5: benchmarks.culture.answer_length.ceiling: floor 3 is above ceilin",
        ),
        (
            _metric("floor: 3\n      languages:\n        hi: {ceiling: 2}", "answer_length"),
            "thresholds.yaml:6: benchmarks.culture.answer_length.languages.hi.ceiling: floor 3",
        ),
        (
            _metric("floor: 3\n      models:\n        m: {ceiling: 2}", "answer_length"),
            "thresholds.yaml:6: benchmarks.culture.answer_length.models.m.ceiling: floor 3",
        ),
        (
            _metric("max_gap: 5", "answer_length"),
            (
                "thresholds.yaml:4: benchmarks.culture.answer_length.max_gap: max_gap says how much"
                " worse a language may be, and neither end of this metric is the worse, or"
            ),
        ),
        (
            _metric("floor: 1\n      languages:\n        hi: {max_gap: 5}", "answer_length"),
            "thresholds.yaml:6: benchmarks.culture.answer_length.languages.hi.max_gap: max_gap sa",
        ),
        (_metric("max_gap: 5"), WHERE + "max_gap: expected a rate from 0 to 1, not 5; for 5 % wri"),
        (_metric("max_gap: -0.1"), WHERE + "max_gap: expected a rate from 0 to 1, not -0.1"),
        (_metric("max_gap: .nan"), WHERE + "max_gap: expected a number, not nan"),
        (_metric("maxgap: 0.1"), WHERE + "maxgap: unknown key 'maxgap'. Did you mean 'max_gap'?"),
        (
            _metric("max_gap: -1", "sim_sent"),
            "thresholds.yaml:4: benchmarks.culture.sim_sent.max_gap: expected a number of at least",
        ),
        (
            _metric("min_n: 3", "sim_sent"),
            (
                "thresholds.yaml:3: benchmarks.culture.sim_sent: says no limit; add floor or"
                " ceiling or max_gap or max_drop"
            ),
        ),
        (
            _metric("min_n: 3", "answer_length"),
            "thresholds.yaml:3: benchmarks.culture.answer_length: says no limit; add floor or ceil",
        ),
        (
            "defaults: {max_gap: 0.1}",
            "thresholds.yaml:1: defaults.max_gap: max_gap belongs to a metric; write it below one",
        ),
        (
            "defaults: {max_rate: 0.1}",
            "thresholds.yaml:1: defaults.max_rate: max_rate belongs to a metric; write it below",
        ),
        ("defaults: {alfa: 0.1}", "thresholds.yaml:1: defaults.alfa: unknown key 'alfa'. Did you"),
        (
            "benchmarks:\n  culture:\n    defaults: {min_n: no}",
            "thresholds.yaml:3: benchmarks.culture.defaults.min_n: expected a number, not 'no'",
        ),
        (
            "run:\n  langs: [no, hi]\n  max_cost: 2.5\n  wat: 1",
            (
                "thresholds.yaml:1: run: options are not given in this file; write them below "
                "[pytest] in pytest's ini file: xling_langs = no,hi; xling_max_cost = 2.5 (there "
                "is no wat)"
            ),
        ),
        ("run:", "thresholds.yaml:1: run: options are not given in this file; write them"),
        (
            f"{FLAG}{{max_rate: 0.1, overall: {{max_cases: 0.1}}}}",
            "thresholds.yaml:3: benchmarks.culture.wrong_language.overall.max_cases: max_cases is",
        ),
        (
            f"{FLAG}{{overall: {{max_drop: 10%}}}}",
            "thresholds.yaml:3: benchmarks.culture.wrong_language.overall.max_drop: max_drop of",
        ),
        (
            f"{FLAG}{{overall: {{max_rate: 0}}}}",
            "thresholds.yaml:3: benchmarks.culture.wrong_language.overall.max_rate: a budget of 0",
        ),
        (
            f"{FLAG}{{overall: {{max_rate: 0.1, on_inconclusive: estimate}}}}",
            "thresholds.yaml:3: benchmarks.culture.wrong_language.overall.on_inconclusive: `estima",
        ),
        (
            f"{FLAG}{{max_rate: 0.1, overall: {{min_n: 30}}}}",
            "thresholds.yaml:3: benchmarks.culture.wrong_language.overall: says no limit; add",
        ),
        (
            f"{FLAG}{{max_rate: 0.1, overall: 0.05}}",
            "thresholds.yaml:3: benchmarks.culture.wrong_language.overall: expected `key: value`",
        ),
        ("weights: {xx: 1}", "thresholds.yaml:1: weights.xx: unknown language 'xx'"),
        ("weights: {hi: -1}", "thresholds.yaml:1: weights.hi: expected a number of at least 0"),
        ("weights: {hi: true}", "thresholds.yaml:1: weights.hi: expected a number of at least 0"),
        ("weights: {hi: 0, zh: 0}", "thresholds.yaml:1: weights: no language has a weight above 0"),
        ("weights: {hi: 1, hindi: 2}", "thresholds.yaml:1: weights.hindi: 'hi' has a weight alre"),
        ("weights: [hi]", "thresholds.yaml:1: weights: expected `key: value`"),
    ],
)
def test_refused(tmp_path: Path, content: str, expected: str) -> None:
    """Every mistake is named with file, line, key path and what to write."""
    assert _complaint(tmp_path, content).startswith(expected)


OVERALL = """\
weights: {hi: 3, zh: 1, sw: 0}
defaults: {min_n: 30, on_inconclusive: estimate}
benchmarks:
  culture:
    wrong_language:
      max_rate: 0.1
      min_n: 40
      overall: {max_rate: 0.05}
      models:
        "gpt-*": {max_rate: 0.2, alpha: 0.1}
"""


def test_all_together_have_limits_of_their_own(tmp_path: Path) -> None:
    """How to judge comes from the metric and its models, and no bound does."""
    file = _read(tmp_path, OVERALL)
    together = file.resolve("culture", "wrong_language", ALL_LANGUAGES, "gpt-5")
    assert together is not None
    assert (0.05, 0.1, 40) == (together.max_rate, together.alpha, together.min_n)
    assert "fail" == together.on_inconclusive
    alone = file.resolve("culture", "wrong_language", "hi", "gpt-5")
    assert alone is not None
    assert (0.2, "estimate", ()) == (alone.max_rate, alone.on_inconclusive, alone.weights)


def test_shares_are_those_of_the_weights(tmp_path: Path) -> None:
    """Of the languages that are asked; one of weight 0 has none, and one without is a mistake."""
    file = _read(tmp_path, OVERALL)
    assert (("hi", 0.75), ("zh", 0.25)) == file.shares("culture", ["hi", "zh", "sw"])
    assert (("zh", 1.0),) == file.shares("culture", ["zh"])
    with pytest.raises(ConfigError, match=r"thresholds.yaml:1: weights: es is asked and has no"):
        file.shares("culture", ["es", "hi"])
    same = _read(tmp_path, OVERALL.replace("weights: {hi: 3, zh: 1, sw: 0}", ""))
    assert (("es", 0.5), ("hi", 0.5)) == same.shares("culture", ["es", "hi"])


GAPS = """\
benchmarks:
  health:
    sim_sent:
      max_gap: 0.02
      languages:
        hi: {max_gap: 0.05, floor: 0.9}
      models:
        tiny: {max_gap: 1.5}
    wrong_language:
      max_rate: 0.1
      max_gap: 0
"""


def test_gaps_are_resolved_as_other_limits(tmp_path: Path) -> None:
    """Alone or beside limits of the level; the most specific wins."""
    file = _read(tmp_path, GAPS)

    def said(metric: str, language: str, model: str = "m") -> tuple[object, ...]:
        limits = file.resolve("health", metric, language, model)
        assert limits is not None
        return limits.max_gap, limits.floor, limits.max_rate, limits.has_level

    assert (0.02, None, None, False) == said("sim_sent", "zh")
    assert (0.05, 0.9, None, True) == said("sim_sent", "hi")
    assert (1.5, None, None, False) == said("sim_sent", "zh", "tiny")
    assert (0.0, None, 0.1, True) == said("wrong_language", "zh")


DROPS = """\
benchmarks:
  health:
    sim_sent:
      max_drop: 0.02
      languages: {hi: {max_drop: 0.05}}
    wrong_language: {max_rate: 0.1, max_drop: 0}
"""


def test_drops_are_resolved_as_other_limits(tmp_path: Path) -> None:
    """Alone, beside others and by language; they limit nothing of the metric itself."""
    file = _read(tmp_path, DROPS)

    def said(metric: str, language: str) -> tuple[object, ...]:
        limits = file.resolve("health", metric, language, "m")
        assert limits is not None
        return limits.max_drop, limits.max_rate, limits.max_gap, limits.has_level

    assert (0.02, None, None, False) == said("sim_sent", "zh")
    assert (0.05, None, None, False) == said("sim_sent", "hi")
    assert (0.0, 0.1, None, True) == said("wrong_language", "zh")
    limits = file.resolve("health", "wrong_language", "zh", "m")
    assert limits is not None
    assert "thresholds.yaml:6" == file.origin(limits, "m", "max_drop")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (_metric("max_drop: 5", "answer_length"), "max_drop says how much worse a model may be"),
        (_metric("max_drop: 5"), "max_drop: expected a rate from 0 to 1, not 5; for 5 % write 0.0"),
        (
            _metric("max_drop: 110%"),
            WHERE
            + "max_drop: expected a share of the baseline from 0% to 100%, such as 10%, not '",
        ),
        (_metric("max_drop: -5%"), WHERE + "max_drop: expected a share of the baseline from 0%"),
        (_metric("max_drop: '10'"), WHERE + "max_drop: expected a number, not '10'"),
        (_metric("max_gap: 10%", "sim_sent"), "max_gap: expected a number, not '10%'"),
        (_metric("max_drop: -1", "sim_sent"), "max_drop: expected a number of at least 0, not -1"),
        ("defaults: {max_drop: 0.1}", "max_drop belongs to a metric; write it below one"),
        (_metric("maxdrop: 0.1"), "unknown key 'maxdrop'. Did you mean 'max_drop'?"),
    ],
)
def test_drops_that_are_refused(tmp_path: Path, content: str, said: str) -> None:
    """As gaps are, but for metrics that compare with the pivot language already."""
    assert said in _complaint(tmp_path, content)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("floor: 90", "floor: expected a number of at least -1 and at most 1, as this metric's"),
        (
            "ceiling: -3",
            "ceiling: expected a number of at least -1 and at most 1, as this metric's",
        ),
        (
            "max_gap: 2.5",
            "max_gap: expected a number of at least 0 and at most 2, as this metric's",
        ),
        (
            "max_drop: 3",
            "max_drop: expected a number of at least 0 and at most 2, as this metric's",
        ),
    ],
)
def test_limits_beyond_what_a_number_can_be(tmp_path: Path, body: str, said: str) -> None:
    """No answer could keep them, or none break them."""
    assert WHERE.replace("wrong_language", "sim_sent") + said in _complaint(
        tmp_path, _metric(body, "sim_sent")
    )


def test_a_share_in_percent(tmp_path: Path) -> None:
    """Of numbers from 0 to 1 it is said how it is written; of others there is no other end."""
    path = tmp_path / "thresholds.yaml"
    metrics = {"accuracy": registry.load("metric", "factual_accuracy")}

    def complaint(content: str) -> str:
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            read(path, benchmarks=("culture",), metrics=metrics, language_code=_code)
        return str(caught.value)

    assert complaint(_metric("floor: 90", "accuracy")).endswith("not 90; for 90 % write 0.9")
    assert complaint(_metric("floor: 900", "accuracy")).endswith("as this metric's are, not 900")
    slightly = complaint(_metric("floor: 1.0000001", "accuracy"))
    assert "at most 1, as this metric's are, not 1.0000001; for 1.0000001 % write" in slightly
    file = _read(tmp_path, _metric("ceiling: 900", "answer_length"))
    assert ("answer_length",) == file.metrics("culture")
    least = _complaint(tmp_path, _metric("floor: -1", "answer_length"))
    assert "expected a number of at least 0, as this metric's are, not -1" in least


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("max_rate: 1.0000001", "from 0 to 1, not 1.0000001; "),
        ("{max_rate: 0.1, alpha: 0.50000001}", "up to 0.5, not 0.50000001; "),
    ],
)
def test_a_number_just_beyond_is_said_as_it_is_written(
    tmp_path: Path, body: str, said: str
) -> None:
    """Rounded, it would be refused for what is asked for."""
    assert said in _complaint(tmp_path, _metric(body))


def test_negative_zero_is_zero(tmp_path: Path) -> None:
    """Else a report would print a budget of -0.0%."""
    file = _read(tmp_path, _metric("max_rate: -0.0"))
    threshold = file.resolve("culture", "wrong_language", language="en", model="m")
    assert threshold is not None
    assert "0.0" == str(threshold.max_rate)


def test_limits_that_cross_only_together(tmp_path: Path) -> None:
    """Two patterns that are fine alone but contradict each other for one model are refused."""
    file = _read(
        tmp_path,
        _metric("models:\n        'a*': {floor: 3}\n        '*b': {ceiling: 2}", "answer_length"),
    )
    assert file.resolve("culture", "answer_length", "hi", "a") is not None
    with pytest.raises(ConfigError, match="floor 3 is above ceiling 2"):
        file.resolve("culture", "answer_length", "hi", "ab")


def test_our_own_file() -> None:
    """The repository's thresholds are valid for the metrics there are, and gate every language."""
    metrics = {name: registry.load("metric", name) for name in registry.names("metric")}
    file = read(
        REPOSITORY / "thresholds.yaml",
        benchmarks=(
            "conversation",
            "crosslingual",
            "culture",
            "empathy",
            "health-consistency",
            "health-correctness",
            "health-verifiability",
            "information",
            "monolingual",
            "presupposition",
        ),
        metrics=metrics,
        language_code=_code,
        levels=LEVELS,
    )
    assert (
        "answer_length",
        "language_consistency",
        "no_answer",
        "repetition",
        "wrong_language",
    ) == file.metrics("culture")
    for benchmark in file.benchmarks:
        for metric in file.metrics(benchmark):
            threshold = file.resolve(benchmark, metric, "hi", "embedded")
            assert threshold is not None
            if threshold.has_level:
                assert metrics[metric].kind == ("number" if threshold.max_rate is None else "flag")
