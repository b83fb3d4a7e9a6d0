"""--xling-update-thresholds: after a complete run the file says what the run would pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.project import write_questions

if TYPE_CHECKING:
    from tests.integration.project import Outcome, Project

THRESHOLDS = """\
# Ours.
defaults: {min_n: 3}
benchmarks:
  bread:
    no_answer: {max_rate: 0.99}   # loose
    answer_length:
      ceiling: 5000
"""
SCRIPT = "rules:\n" + "".join(
    f"  - {{when: {{sample_id: 'q*{digit}'}}, text: 'Bread rises {'from gas ' * digit} in it.'}}\n"
    for digit in range(10)
)


PROPOSED = "-    no_answer: {max_rate: 0.99}   # loose"


@pytest.fixture
def tuned(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Twelve questions in English, answered in as many words as their number says."""
    for name in ("CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    for data in (project.root / "benchmarks" / "bread" / "data").glob("*.jsonl"):
        data.unlink()
    write_questions(project, languages=("en",), count=12)
    project.write("thresholds.yaml", THRESHOLDS)
    return project


def _run(project: Project, *arguments: str) -> Outcome:
    return project.run(project.script(SCRIPT), "--langs=en", *arguments)


def test_the_file_says_what_the_run_would_pass(tuned: Project) -> None:
    """The diff is shown, comments stay, and a second run, with workers, changes nothing."""
    first = _run(tuned, "--xling-update-thresholds")
    after = (tuned.root / "thresholds.yaml").read_text()
    assert 0 == first.code, first.out + first.err
    assert PROPOSED in first.out
    assert "thresholds.yaml is changed" in first.out
    assert "# Ours." in after
    assert "max_rate: 0.99" not in after
    assert "ceiling: 5000" not in after
    again = _run(tuned, "--xling-update-thresholds", "-n2")
    assert 0 == again.code, again.out + again.err
    assert "says so already: nothing to change" in again.out
    assert after == (tuned.root / "thresholds.yaml").read_text()


def test_a_language_that_was_not_asked_keeps_its_limit(tuned: Project) -> None:
    """The base of the file stays as it is where --langs leaves one out."""
    write_questions(tuned, languages=("en", "hi"), count=12)
    first = _run(tuned, "--xling-update-thresholds")
    after = (tuned.root / "thresholds.yaml").read_text()
    assert 0 == first.code, first.out + first.err
    assert "{languages: {en: {max_rate: 0." in after
    assert "max_rate: 0.99}   # loose" in after
    assert "      ceiling: 5000\n      languages:\n        en: {ceiling: " in after


@pytest.mark.slow
def test_ci_refuses_unless_forced(tuned: Project) -> None:
    """A run must not move the gates it is judged by where nobody looks."""
    for name in ("CI", "GITHUB_ACTIONS"):
        tuned.environment.clear()
        tuned.environment[name] = "true"
        refused = _run(tuned, "--xling-update-thresholds")
        assert 4 == refused.code
        assert f"is refused in CI ({name} is set)" in refused.err
        assert THRESHOLDS == (tuned.root / "thresholds.yaml").read_text()
        assert not tuned.store.exists()
    forced = _run(tuned, "--xling-update-thresholds=force")
    assert 0 == forced.code, forced.out + forced.err
    assert THRESHOLDS != (tuned.root / "thresholds.yaml").read_text()


def test_only_after_a_complete_run(tuned: Project) -> None:
    """A run that -x ended has not seen all there is."""
    tuned.write("thresholds.yaml", THRESHOLDS.replace("{max_rate: 0.99}", "{max_rate: 0}"))
    before = (tuned.root / "thresholds.yaml").read_text()
    script = SCRIPT.replace("rules:\n", "rules:\n  - {when: {sample_id: q0003}, text: ''}\n")
    stopped = tuned.run(tuned.script(script), "--langs=en", "-x", "--xling-update-thresholds")
    assert 0 != stopped.code
    assert "thresholds not updated: the run is " in stopped.out
    assert before == (tuned.root / "thresholds.yaml").read_text()


@pytest.mark.parametrize("chosen", ["--xling-limit=6", "-kq0001 or q0002 or q0003 or gate"])
def test_not_after_a_part_of_the_questions(tuned: Project, chosen: str) -> None:
    """Fewer questions would make looser limits: says what was left out, exit 3."""
    some = _run(tuned, "--xling-update-thresholds", chosen)
    assert 3 == some.code, some.out + some.err
    assert "thresholds not updated: run '" in some.out
    assert "of bread it has en " in some.out
    assert " of 12 cases" in some.out
    assert THRESHOLDS == (tuned.root / "thresholds.yaml").read_text()


def test_without_a_file(tuned: Project) -> None:
    """There is nothing to update."""
    (tuned.root / "thresholds.yaml").unlink()
    refused = _run(tuned, "--xling-update-thresholds")
    assert 4 == refused.code
    assert "there is no thresholds.yaml; name one with --xling-thresholds" in refused.err
