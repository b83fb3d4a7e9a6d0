"""``overall:`` and ``on_inconclusive: estimate``: all languages together stand behind each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.project import write_questions
from tests.integration.test_same_verdicts import same_verdicts

if TYPE_CHECKING:
    from tests.integration.project import Project

LANGUAGES = ("en", "es", "hi", "zh")
LIMITS = """\
defaults: {min_n: 8, on_inconclusive: estimate}
benchmarks:
  bread:
    wrong_language:
      max_rate: 0.1
      overall: {max_rate: 0.1}
"""
FLAGGED = """\
rules:
  - {{when: {{language: hi, sample_id: "{which}"}}, text: "Because of the steam in the dough."}}
  - {{text: "{{question}}"}}
"""


def _project(project: Project, limits: str = LIMITS) -> None:
    project.write("thresholds.yaml", limits)
    write_questions(project, count=40, languages=LANGUAGES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "code", "outcome", "held"),
    [
        ("q000[0-2]", 0, "inconclusive", "within"),  # 3 of 40: 7.5 %, interval to 20 %
        ("q000[0-5]", 1, "inconclusive", "beyond"),  # 6 of 40: 15 %, interval from 5.7 %
        ("q000*", 1, "fail", ""),  # 10 of 40: 25 %, interval from 12.7 %
    ],
)
def test_one_language_beside_good_ones(
    project: Project, which: str, code: int, outcome: str, held: str
) -> None:
    """Three flags warn, six close by their own estimate, ten fail; all say the same."""
    _project(project)
    ran = project.run(
        project.script(FLAGGED.format(which=which)), f"--langs={','.join(LANGUAGES)}", "-n2"
    )
    assert code == ran.code, ran.out + ran.err
    verdicts = same_verdicts(project)
    assert (outcome, held) == (
        verdicts["wrong_language-hi"].outcome,
        verdicts["wrong_language-hi"].held,
    )
    together = verdicts["wrong_language-all"]
    assert ("pass" if held else "inconclusive") == together.outcome, together.reason
    assert 160 == together.estimate.n
    assert "all languages" in ran.out
    assert "all" == ran.properties("test_gate[wrong_language-all]")["xling_language"]
    told = project.xling("gate", "latest", "--thresholds", "thresholds.yaml")
    assert code == told.returncode, told.stdout
    if held == "within":
        assert "skipped" == ran.cases["test_gate[wrong_language-hi]"]
        assert "gate open" in ran.out
        assert "its own estimate is within its limit" in " ".join(ran.out.split())


def test_one_language_has_no_gate_of_all(project: Project) -> None:
    """Its own gate says it all; what it cannot prove closes, and says why."""
    _project(project)
    ran = project.run(project.script(FLAGGED.format(which="q000[0-2]")), "--langs=hi", "-n0")
    assert 1 == ran.code, ran.out
    verdicts = same_verdicts(project)
    assert {"wrong_language-hi"} == set(verdicts)
    assert "unbacked" == verdicts["wrong_language-hi"].held


@pytest.mark.slow
def test_weights_must_name_what_is_asked(project: Project) -> None:
    """Before anything is asked; and those given are used."""
    _project(project, f"weights: {{hi: 0.9, es: 0.1}}\n{LIMITS}")
    script = project.script(FLAGGED.format(which="q000*"))
    ran = project.run(script, "--langs=es,hi,zh", "-n0", code=4)
    assert "thresholds.yaml:1: weights: zh is asked and has no weight" in ran.out + ran.err
    ran = project.run(script, "--langs=es,hi", "-n0", code=1)
    together = same_verdicts(project)["wrong_language-all"]
    assert "fail" == together.outcome
    assert together.estimate.value == pytest.approx(0.225)


@pytest.mark.slow
def test_a_flag_is_tolerated_where_only_all_together_have_a_budget(project: Project) -> None:
    """Without limits of single languages a flagged case is expected (xfail)."""
    _project(project, LIMITS.replace("      max_rate: 0.1\n", "", 1))
    ran = project.run(project.script(FLAGGED.format(which="q0000")), "--langs=es,hi,zh", "-n0")
    assert 0 == ran.code, ran.out
    assert {"wrong_language-all"} == set(same_verdicts(project))
    assert "skipped" == ran.cases["test_answer[q0000-hi]"]
