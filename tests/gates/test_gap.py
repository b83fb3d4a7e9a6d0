"""Gaps between languages: paired, tested, and undecided where they cannot be told apart."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from pytest_xling.errors import EvaluationError
from pytest_xling.gates.differences import gap_estimate
from pytest_xling.gates.estimate import Measure
from pytest_xling.gates.judge import judge
from pytest_xling.records import Estimate, Score, Threshold
from pytest_xling.stats.tango import RateDifference
from tests.gates.judging import scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.interfaces.metric import Better, MetricKind
    from pytest_xling.records import Verdict


def _scores(
    values: Sequence[float | None], language: str, *, condition: str = "", signature: str = "s|v1"
) -> list[Score]:
    return scores_of(values, language, condition=condition, signature=signature)


def _estimate(
    scores: Sequence[Score],
    pivot_scores: Sequence[Score],
    *,
    better: Better = "higher",
    alpha: float = 0.05,
    kind: MetricKind = "number",
    margin: float = 0.0,
    widest: float | None = None,
) -> Estimate:
    return gap_estimate(
        scores,
        pivot_scores,
        Measure(
            metric="m",
            language="hi",
            share=kind == "flag",
            better=better,
            bounds=(None if widest is None else 0.0, widest),
            alpha=alpha,
            limits=(margin,),
        ),
        pivot="en",
    )


THRESHOLD = Threshold(benchmark="health", metric="m", language="hi", max_gap=0.1, min_n=10)
EN = [0.9, 0.8, 0.95, 0.7, 0.85, 0.6, 0.75, 0.9, 0.8, 0.88, 0.92, 0.66]
HI = [0.7, 0.75, 0.8, 0.6, 0.8, 0.5, 0.5, 0.85, 0.6, 0.7, 0.75, 0.6]


def _judge(estimate: Estimate, **limits: float) -> Verdict:
    threshold = replace(THRESHOLD, **limits)  # type: ignore[arg-type]  # numbers all of them
    return judge(estimate, threshold, case="m-gap-hi", kind="gap")


def test_gap_is_that_of_the_paired_t_test() -> None:
    """The mean of the differences and its interval, as scipy has them.

    The upper end leaves room for answers not seen that lost all that English has.
    """
    found = _estimate(_scores(HI, "hi"), _scores(EN, "en"))
    expected = stats.ttest_rel(EN, HI)
    interval = expected.confidence_interval(0.95)
    assert (12, 0, "en", "s|v1") == (found.n, found.unscored, found.pivot, found.signature)
    assert interval.low == pytest.approx(found.low)
    assert sum(EN) / 12 - sum(HI) / 12 == pytest.approx(found.value)
    assert found.value is not None
    most = sum(EN) / 12 - found.value
    assert found.value + (1 - 0.025 ** (1 / 12)) * most == pytest.approx(found.high)


def test_where_low_is_better_more_is_worse() -> None:
    """The gap of an error rate is the language's minus the pivot's."""
    higher = _estimate(_scores(HI, "hi"), _scores(EN, "en"))
    lower = _estimate(_scores(HI, "hi"), _scores(EN, "en"), better="lower")
    assert higher.value is not None
    assert lower.value is not None
    assert -higher.value == pytest.approx(lower.value)


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(12)), st.sampled_from([0.05, 0.2]))
def test_order_does_not_matter(order: list[int], alpha: float) -> None:
    """Scores come as answers did: pairs are found by sample."""
    scores = _scores(HI, "hi")
    shuffled = [scores[number] for number in order]
    expected = _estimate(scores, _scores(EN, "en"), alpha=alpha)
    assert expected == _estimate(shuffled, _scores(EN, "en"), alpha=alpha)


def test_conditions_are_averaged_within_a_sample() -> None:
    """Repeats first, then the temperatures both have; one difference per sample."""
    hindi = [
        *_scores([0.5, 0.4], "hi"),
        *_scores([0.7, 0.4], "hi", condition="r1"),
        *_scores([0.1, 0.2], "hi", condition="t1"),
    ]
    english = [
        *_scores([0.8, 0.9], "en"),
        *_scores([0.4, None], "en", condition="t1-r2"),
        *_scores([0.0, 0.0], "en", condition="t0.5"),
    ]
    found = _estimate(hindi, english)
    # q0: 0.8 - 0.6 at 0, and 0.4 - 0.1 at 1; q1: 0.9 - 0.4 at 0 only.
    assert ((0.2 + 0.3) / 2 + 0.5) / 2 == pytest.approx(found.value)
    assert (2, 0) == (found.n, found.unscored)


def test_samples_without_a_partner_are_left_out_and_counted() -> None:
    """Unscored, missing in the pivot, or scored there at another temperature only."""
    hindi = [*_scores([0.5, None, 0.7, 0.8, 0.9], "hi")]
    english = [*_scores([0.8, 0.9, None, 0.9], "en"), *_scores([0.1] * 5, "en", condition="t1")]
    found = _estimate(hindi, english)
    assert (2, 3) == (found.n, found.unscored)
    assert (0.3 + 0.1) / 2 == pytest.approx(found.value)


@pytest.mark.parametrize(
    ("hindi", "english", "reason"),
    [
        (_scores([0.5], "hi"), [], "no answers in en to compare with"),
        ([], _scores([0.5], "en"), "no answers"),
        (_scores([None], "hi"), _scores([0.5], "en"), "none of 1 answers could be scored; too sh"),
        (_scores([0.5], "hi"), _scores([None], "en"), "en: none of 1 answers could be scored; to"),
        (
            _scores([0.5], "hi"),
            _scores([0.5], "en", condition="t1"),
            "no question has a value both here and in en at one temperature",
        ),
        (
            [replace(_scores([0.5], "hi")[0], sample_id="other", cluster="q0")],
            _scores([0.5], "en"),
            "no id here is also one of en; versions of a question share their id",
        ),
    ],
)
def test_no_pairs_have_a_reason(hindi: list[Score], english: list[Score], reason: str) -> None:
    """No value, never 0; and no gate passes on that."""
    found = _estimate(hindi, english)
    assert (None, None, None, 0, len(hindi)) == (
        found.value,
        found.low,
        found.high,
        found.n,
        found.unscored,
    )
    assert found.reason.startswith(reason)
    verdict = _judge(found)
    assert ("inconclusive", found.reason) == (verdict.outcome, verdict.reason)


@pytest.mark.parametrize(
    ("hindi", "english", "said"),
    [
        (_scores([0.5], "es"), _scores([0.5], "en"), "does not belong"),
        (_scores([0.5], "hi"), _scores([0.5], "es"), "does not belong"),
        (_scores([0.5, 0.6], "hi"), _scores([0.5], "en", signature="s|v2"), "different ways"),
        (_scores([0.5], "hi") * 2, _scores([0.5], "en"), "2 scores for one answer"),
        (_scores([math.nan], "hi"), _scores([0.5], "en"), "gave nan"),
        (_scores([0.5], "hi"), _scores([math.inf], "en"), "gave inf"),
        (_scores([0.5], "hi", condition="x"), _scores([0.5], "en"), "is no condition"),
    ],
)
def test_scores_that_cannot_be_compared(
    hindi: list[Score], english: list[Score], said: str
) -> None:
    """Numbers made in different ways, and what is no number, stop the gate."""
    with pytest.raises(EvaluationError, match=said):
        _estimate(hindi, english)


def _made(gap: float, low: float | None, high: float | None, n: int = 50) -> Estimate:
    return Estimate(
        metric="m", language="hi", value=gap, low=low, high=high, n=n, unscored=0, pivot="en"
    )


def test_few_pairs_do_not_pass() -> None:
    """Fewer than min_n fail where they are clear; they never pass, nor does one pair alone."""
    assert "fail" == _judge(_made(0.5, 0.4, 0.6, n=9)).outcome
    few = _judge(_made(0.0, -0.01, 0.01, n=9))
    assert "inconclusive" == few.outcome
    assert few.reason.endswith("too few questions in both languages: needs 10, has 9")
    one = _judge(_estimate(_scores([0.1], "hi"), _scores([0.9], "en")), min_n=1)
    assert "inconclusive" == one.outcome
    assert "0.800 worse than en on 1 question; no spread is known; needs 2 questions" == one.reason


def test_reason_of_a_failure() -> None:
    """The gap, on how many samples, its interval and what was allowed."""
    verdict = _judge(_made(0.15, 0.11, 0.19))
    expected = (
        "0.150 worse than en on 50 questions (gap's 95% interval 0.110 to 0.190); may be 0.1 worse:"
        " exceeded"
    )
    assert expected == verdict.reason
    better = _judge(replace(_made(-0.15, -0.2, -0.1), unscored=2))
    assert better.reason.startswith("0.150 better than en on 50 questions, 2 without a partner (")


def test_what_would_decide() -> None:
    """How many samples, and which gap these would have found with 80 % power."""
    found = _estimate(_scores(HI, "hi"), _scores(EN, "en"))
    verdict = _judge(found)
    assert "inconclusive" == verdict.outcome
    differences = [e - h for e, h in zip(EN, HI, strict=True)]
    sd = stats.tstd(differences)
    least = 0.1 + sd * TTestPower().solve_power(nobs=12, alpha=0.05, power=0.8)
    assert f"detects gaps from {least:.3f} on with 80% power" in verdict.reason
    assert found.value is not None
    assert found.low is not None
    needed = math.ceil(12 * ((found.value - found.low) / (found.value - 0.1)) ** 2)
    assert f"needs about {needed} questions at this value; has 12" in verdict.reason


@pytest.mark.parametrize("off", [0.0, 6e-8])
def test_equal_answers_prove_as_much_as_their_number(off: float) -> None:
    """A dozen similarities of 1 on both sides, but for the last bits, pass no margin they cannot.

    Half of the next ones may be as far apart as can be: that takes more of them to rule out.
    """
    here, there = _scores([1.0 - off] * 12, "hi"), _scores([1.0] * 12, "en")
    found = _estimate(here, there, widest=1.0)
    assert 1 - 0.025 ** (1 / 12) == pytest.approx(found.high, abs=1e-6)
    assert 1.0 == pytest.approx(found.p)
    verdict = _judge(found, max_gap=0.1)
    assert "inconclusive" == verdict.outcome
    assert verdict.reason.startswith("no worse than en on 12 questions")
    said = re.search(r"needs about (\d+) questions at this value; has 12$", verdict.reason)
    assert said is not None
    assert "pass" == _judge(found, max_gap=0.3).outcome
    for many, outcome in ((int(said[1]), "pass"), (int(0.85 * int(said[1])), "inconclusive")):
        more = _scores([1.0 - off] * many, "hi"), _scores([1.0] * many, "en")
        assert outcome == _judge(_estimate(*more, widest=1.0), max_gap=0.1).outcome


@pytest.mark.parametrize(("here", "there"), [(0.9, 1.0), (0.1 + 0.2, 0.5), (0.5, 0.1 + 0.2)])
def test_the_same_difference_everywhere(here: float, there: float) -> None:
    """Others may have lost all there is; of errors nobody knows how far they may be."""
    found = _estimate(_scores([here] * 12, "hi"), _scores([there] * 12, "en"))
    assert there - here == pytest.approx(found.value)
    assert there - here + (1 - 0.025 ** (1 / 12)) * here == pytest.approx(found.high)
    errors = _scores([here] * 12, "hi"), _scores([there] * 12, "en")
    unknown = _estimate(*errors, better="lower")
    assert (None, None, None) == (unknown.low, unknown.high, unknown.p)
    verdict = _judge(unknown, max_gap=0.15)
    assert "inconclusive" == verdict.outcome
    assert verdict.reason.endswith("12 questions; all differences are equal: no spread is known")


def test_ties_but_for_one() -> None:
    """One question that differs from the others is a spread, but a dozen prove no more by it."""
    found = _estimate(_scores([0.5] * 11 + [0.4], "hi"), _scores([0.5] * 12, "en"))
    interval = stats.ttest_rel([0.5] * 12, [0.5] * 11 + [0.4]).confidence_interval(0.95)
    assert interval.low == pytest.approx(found.low)
    equal = _estimate(_scores([0.5] * 12, "hi"), _scores([0.5] * 12, "en"))
    assert found.high is not None
    assert equal.high is not None
    assert found.high > equal.high > 0.1
    assert "inconclusive" == _judge(found).outcome == _judge(equal).outcome


def test_the_same_difference_everywhere_may_decide() -> None:
    """Where it is known how far others can be: the worse for sure, or too few to say."""
    for many, outcome in ((12, "inconclusive"), (60, "fail")):
        sides = _scores([0.3] * many, "hi"), _scores([0.5] * many, "en")
        found = _estimate(*sides, margin=0.1, widest=1.0)
        assert outcome == _judge(found, max_gap=0.1).outcome
        assert (found.p is not None and found.p < 0.05) == (outcome == "fail")


def test_where_nothing_differs_there_is_nothing_to_find() -> None:
    """Then p is 1, so that a family is not thought to have one gate less; nothing is shown."""
    found = _estimate(_scores([0.5] * 12, "hi"), _scores([0.5] * 12, "en"))
    assert (0.0, 1.0) == (found.value, found.p)
    end = 0.5 * (1 - 0.025 ** (1 / 12))
    assert (-end, end) == pytest.approx((found.low, found.high))
    assert "inconclusive" == _judge(found).outcome


def test_flags_that_agree_leave_room() -> None:
    """A dozen answers without a flag on either side do not prove a gap below a hundredth."""
    none = _scores([0.0] * 12, "hi"), _scores([0.0] * 12, "en")
    flags = _estimate(*none, better="lower", kind="flag")
    assert 0.0 == flags.value
    assert "inconclusive" == _judge(flags, max_gap=0.01).outcome
    assert "pass" == _judge(flags, max_gap=0.4).outcome


def test_candidate_answers_to_one_question_are_no_evidence_of_their_own() -> None:
    """Five samples of a question are one of the pairs that decide."""

    def candidates(raised: Sequence[float], language: str) -> list[Score]:
        return [
            replace(one, sample_id=f"q{question}-a{answer}", cluster=f"q{question}")
            for question, value in enumerate(raised)
            for answer in range(5)
            for one in _scores([value], language)
        ]

    raised = [1.0, 0.0] * 6
    found = _estimate(candidates(HI, "hi"), candidates(EN, "en"))
    expected = _estimate(_scores(HI, "hi"), _scores(EN, "en"))
    assert (expected.n, expected.unscored) == (found.n, found.unscored)
    assert (expected.value, expected.low, expected.high) == pytest.approx(
        (found.value, found.low, found.high)
    )
    flags = _estimate(candidates(raised, "hi"), candidates([0.0] * 12, "en"), kind="flag")
    assert 12 == flags.n


def _shares(first: int, second: int, both: int, neither: int) -> tuple[list[Score], list[Score]]:
    """Return flags in Hindi and English: raised only here, only there, in both, in neither."""
    here = [1.0] * first + [0.0] * second + [1.0] * both + [0.0] * neither
    there = [0.0] * first + [1.0] * second + [1.0] * both + [0.0] * neither
    return _scores(here, "hi"), _scores(there, "en")


def test_pairs_that_differ_are_told_with_mcnemars_p() -> None:
    """How many are worse only here, how many only in English, and the exact p."""
    found = _estimate(*_shares(9, 2, 5, 44), better="lower", kind="flag", margin=0.1)
    p = stats.binomtest(2, 11).pvalue
    assert f"worse only here 9, only in en 2: McNemar p = {p:.2g}".replace("0.0", ".0") == (
        found.tested
    )
    reason = _judge(found).reason
    assert reason.startswith(
        "11.7 pp worse than en on 60 questions (gap's 95% interval 1.0 to 23.5 pp); "
    )
    assert "; worse only here 9, only in en 2: McNemar p = .065; may be 10.0 pp worse;" in reason


def test_where_high_is_better_the_lower_share_is_worse() -> None:
    """Right only in English is worse here."""
    found = _estimate(*_shares(2, 9, 5, 44), better="higher", kind="flag")
    assert found.tested.startswith("worse only here 9, only in en 2: ")
    assert "" == _estimate(*_shares(2, 9, 5, 44)).tested


@pytest.mark.slow
@pytest.mark.parametrize(
    ("questions", "collapse", "passes", "fails"),
    [(18, 0.04, 0.0, 0.48), (24, 0.02, 0.0, 0.53), (60, 0.04, 0.0, 0.1), (100, 0.04, 0.02, 0.09)],
)
def test_a_gap_by_answers_that_seldom_collapse(
    questions: int, collapse: float, passes: float, fails: float
) -> None:
    """How often it is judged wrongly on either side, as docs/planning.md says."""
    rng = np.random.default_rng(15)
    runs, outcomes = 1000, Counter[tuple[bool, str]]()
    for ours in (True, False):
        usual = 0.0 if ours else 0.07
        gap = usual * (1 - collapse) + (0.95 if ours else usual - 0.95) * collapse
        max_gap = gap - 0.001 if ours else gap + 0.001
        for _ in range(runs):
            rare = rng.random(questions) < collapse
            english, other = rng.normal([[0.95], [0.95 - usual]], 0.02, (2, questions))
            (other if ours else english)[rare] = 0.0
            found = _estimate(
                _scores(other.tolist(), "hi"),
                _scores(english.tolist(), "en"),
                margin=max_gap,
                widest=1.0,
            )
            outcomes[ours, _judge(found, max_gap=max_gap).outcome] += 1
    for said, (ours, outcome) in ((passes, (True, "pass")), (fails, (False, "fail"))):
        off = 3 * (said * (1 - said) / runs) ** 0.5 + 0.005
        assert said == pytest.approx(outcomes[ours, outcome] / runs, abs=off)


def test_p_is_of_the_distance_from_the_margin() -> None:
    """By the distribution the interval is from, so that both say the same."""
    hindi, english = _scores(HI, "hi"), _scores(EN, "en")
    differences = [e - h for e, h in zip(EN, HI, strict=True)]
    expected = stats.ttest_1samp(differences, 0.04).pvalue
    assert expected == pytest.approx(_estimate(hindi, english, margin=0.04).p, rel=1e-3)


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(*[st.integers(0, 12)] * 4).filter(lambda counts: sum(counts) > 10),
    st.sampled_from([0.05, 0.1, 0.3]),
)
def test_fails_alone_just_where_p_is_below_alpha(
    counts: tuple[int, int, int, int], margin: float
) -> None:
    """And the gap beyond the margin: the interval and p agree."""
    found = _estimate(*_shares(*counts), better="lower", kind="flag", margin=margin)
    assert found.p is not None
    assert found.value is not None
    fails = found.p < 0.05 and found.value > margin
    assert fails == (_judge(found, max_gap=margin).outcome == "fail")


@pytest.mark.parametrize(("worse", "better"), [(29, 9), (31, 9), (11, 3), (9, 2), (8, 2)])
def test_where_no_gap_is_allowed_it_is_mcnemars_test(worse: int, better: int) -> None:
    """The interval leaves 0 out just where McNemar's chi-squared is significant, at any alpha.

    To fail the exact test has to find it as well.
    """
    shares = _shares(worse, better, 5, 60)
    expected = stats.chi2.sf((worse - better) ** 2 / (worse + better), 1)
    n = worse + better + 65
    pairs = RateDifference(difference=(worse - better) / n, differing=(worse + better) / n, pairs=n)
    exact = 2 * pairs.exact_p()
    for alpha in (0.05, 0.001):
        found = _estimate(*shares, better="lower", kind="flag", alpha=alpha)
        assert n == found.n
        assert found.low is not None
        assert (expected < alpha) == (found.low > 0)
        p = max(expected, exact) if expected < alpha else expected
        assert p == pytest.approx(found.p, rel=1e-3)
        verdict = judge(found, replace(THRESHOLD, max_gap=0.0, alpha=alpha), case="g", kind="gap")
        assert (p < alpha) == (verdict.outcome == "fail")


def test_beyond_by_the_interval_but_not_by_the_exact_test() -> None:
    """Few pairs differ: Tango's interval is beyond the margin oftener than it says."""
    found = _estimate(*_shares(8, 0, 0, 192), better="lower", kind="flag", margin=0.02)
    verdict = _judge(found, max_gap=0.02)
    assert found.low is not None
    assert found.low > 0.02
    assert "inconclusive" == verdict.outcome
    assert "not beyond it by the exact test, one-sided p = .0" in verdict.reason


def test_mcnemars_exact_test_is_told_and_decides_nothing() -> None:
    """Eleven pairs worse here, three in English: the exact p says .057, the mid-p .035."""
    found = _estimate(*_shares(11, 3, 5, 481), better="lower", kind="flag")
    verdict = _judge(found, max_gap=0.0)
    assert "fail" == verdict.outcome
    assert "McNemar mid-p = .035; may be 0.0 pp worse: exceeded" in verdict.reason
    allowed = _estimate(*_shares(11, 3, 5, 481), better="lower", kind="flag", margin=0.01)
    assert "McNemar p = .057" in allowed.tested


def test_repeats_do_not_widen_the_interval() -> None:
    """They narrow it by as much as means of repeats vary less than single pairs."""
    here = [[1.0, 0.0, 0.0, 0.0]] * 6 + [[0.0, 0.0, 1.0, 0.0]] * 6
    there = [[0.0, 1.0, 0.0, 0.0]] * 3 + [[0.0] * 4] * 9

    def repeats(answers: list[list[float]], language: str) -> list[Score]:
        return [
            one
            for number in range(4)
            for one in _scores(
                [answer[number] for answer in answers],
                language,
                condition=f"t1-r{number}" if number else "t1",
            )
        ]

    found = _estimate(repeats(here, "hi"), repeats(there, "en"), better="lower", kind="flag")
    # Of twelve questions the means vary less than single pairs do: they are worth more than twelve.
    means = [(sum(a) - sum(b)) / 4 for a, b in zip(here, there, strict=True)]
    single = sum(
        sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / 4
        for a, b in zip(here, there, strict=True)
    )
    centre = 12 * (sum(means) / 12) ** 2
    pairs = 12 * (single - centre + 1) / (sum(d * d for d in means) - centre + 1)
    assert 24 < pairs < 48
    expected = RateDifference(difference=sum(means) / 12, differing=single / 12, pairs=pairs)
    assert expected.interval() == pytest.approx((found.low, found.high))
    once = _estimate(*_shares(3, 1, 0, 8), better="lower", kind="flag")
    assert once.high is not None
    assert found.high is not None
    assert found.high < once.high


def test_answers_to_one_claim_are_no_pairs_of_their_own() -> None:
    """Five levels of a claim that flip together are one piece of evidence."""

    def levels(scores: list[Score]) -> list[Score]:
        return [
            replace(one, sample_id=f"{one.sample_id}-l{level}", cluster=one.sample_id, level=level)
            for one in scores
            for level in range(5)
        ]

    hindi, english = _shares(4, 0, 0, 20)
    found = _estimate(levels(hindi), levels(english), better="lower", kind="flag")
    expected = "worse only here 20, only in en 0: McNemar p = .12, clustered by question"
    assert f"{expected} (sign flips)" == found.tested


def test_repeats_without_a_partner_make_no_pair() -> None:
    """Paired by condition: what one side lacks is not counted."""
    hindi = [*_scores([1.0] * 12, "hi"), *_scores([1.0] * 12, "hi", condition="r1")]
    english = [*_scores([0.0] * 12, "en"), *_scores([None] * 12, "en", condition="r1")]
    found = _estimate(hindi, english, better="lower", kind="flag")
    assert found.tested.startswith("worse only here 12, only in en 0: ")


def test_a_drop_is_a_gap_under_another_name() -> None:
    """To the last bit; only what it is compared with is told elsewhere, in words of runs."""
    gap = _estimate(_scores(HI, "hi"), _scores(EN, "en"))
    measure = Measure(metric="m", language="hi", limits=(0.0,))
    drop = gap_estimate(_scores(HI, "hi"), _scores(EN, "hi"), measure, baseline="base-1")
    assert gap == replace(drop, pivot="en", baseline="")
    limits = replace(THRESHOLD, max_gap=None, max_drop=0.13)
    alone = gap_estimate(_scores([0.1], "hi"), _scores([0.9], "hi"), measure, baseline="base-1")
    within, beyond, near, few, one = (
        judge(estimate, threshold, case="m-drop-hi", kind="drop")
        for estimate, threshold in (
            (drop, replace(limits, max_drop=0.35)),
            (drop, replace(limits, max_drop=0.05)),
            (drop, limits),
            (drop, replace(limits, min_n=13)),
            (alone, replace(limits, min_n=1)),
        )
    )
    assert ["pass", "fail", *["inconclusive"] * 3] == [
        verdict.outcome for verdict in (within, beyond, near, few, one)
    ]
    start = "0.130 worse than base-1 on 12 questions (drop's 95% interval "
    assert beyond.reason.startswith(start)
    assert "detects drops from" in near.reason
    assert few.reason.endswith("too few questions in both runs: needs 13, has 12")
    last = "0.800 worse than base-1 on 1 question; no spread is known; needs 2 questions"
    assert last == one.reason
