"""A thresholds file is changed where it has to be, and nowhere else."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import pytest

from pytest_xling.config.thresholds_edit import replace_text, with_limits
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TEXT = """\
# Gates.
defaults: {min_n: 10}   # a few

benchmarks:
  culture:
    # What it is about.
    no_answer:
      max_rate: 0.20  # clean

    # Another.
    wrong_language:
      max_rate: 2e-1
      languages:
        bal: {on_inconclusive: warn}

    emoji: {max_rate: 0.5}   # flow
  health:
    sim_sent: {max_gap: 0.05}
"""


def _edited(text: str, changes: Mapping[str, float]) -> str:
    """Change the limits at places such as ``culture emoji max_rate``."""
    return with_limits(
        text, {("benchmarks", *place.split()): new for place, new in changes.items()}
    )


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param(
            {
                "culture no_answer max_rate": 0.4,
                "culture wrong_language max_rate": 0.25,
                "culture emoji max_rate": 0.75,
                "health sim_sent max_gap": 0.1,
            },
            [
                "-      max_rate: 0.20  # clean",
                "+      max_rate: 0.4  # clean",
                "-      max_rate: 2e-1",
                "+      max_rate: 0.25",
                "-    emoji: {max_rate: 0.5}   # flow",
                "+    emoji: {max_rate: 0.75}   # flow",
                "-    sim_sent: {max_gap: 0.05}",
                "+    sim_sent: {max_gap: 0.1}",
            ],
            id="numbers are replaced where they stand",
        ),
        pytest.param(
            {
                "culture no_answer languages no max_rate": 0.5,
                "culture no_answer languages hi max_rate": 0.6,
                "culture wrong_language languages bal max_rate": 0.3,
                "culture wrong_language languages sw max_rate": 0.3,
                "culture emoji languages sw max_rate": 1.0,
            },
            [
                "+      languages:",
                '+        "no": {max_rate: 0.5}',
                "+        hi: {max_rate: 0.6}",
                "-        bal: {on_inconclusive: warn}",
                "+        bal: {max_rate: 0.3, on_inconclusive: warn}",
                "+        sw: {max_rate: 0.3}",
                "-    emoji: {max_rate: 0.5}   # flow",
                "+    emoji: {languages: {sw: {max_rate: 1}}, max_rate: 0.5}   # flow",
            ],
            id="languages are added below their metric, in front of the next one's comment",
        ),
        pytest.param(
            {"health bertscore floor": 0.75},
            ["+    bertscore:", "+      floor: 0.75"],
            id="metrics are begun",
        ),
        pytest.param({}, [], id="nothing to change"),
    ],
)
def test_what_changes(changes: Mapping[str, float], expected: list[str]) -> None:
    """Comments, order and all other lines stay."""
    lines = difflib.ndiff(TEXT.splitlines(), _edited(TEXT, changes).splitlines())
    assert expected == [f"{line[0]}{line[2:]}" for line in lines if line[:1] in "+-"]


def test_how_a_file_begins_and_ends() -> None:
    """Of an empty one all is written, and no newline is added to another."""
    written = "benchmarks:\n  new:\n    emoji:\n      max_rate: 0.1\n"
    assert written == _edited("", {"new emoji max_rate": 0.1})
    assert (TEXT, TEXT.rstrip()) == (with_limits(TEXT, {}), with_limits(TEXT.rstrip(), {}))


def test_unusual_yaml_is_left_to_ruamel() -> None:
    """An anchor cannot be replaced as text; what comes out still says what it should."""
    text = "benchmarks:\n  a:\n    emoji: {max_rate: &x 0.5}\n    apology: {max_rate: *x}\n"
    after = _edited(text, {"a apology max_rate": 0.7})
    assert "apology: {max_rate: 0.7}" in after
    assert "emoji: {max_rate: &x 0.5}" in after or "emoji: {max_rate: 0.5}" in after


def test_a_limit_that_others_share_is_not_changed_for_them() -> None:
    """An alias would take the change along to another language; a merged mapping gets its own."""
    text = "benchmarks:\n  a:\n    emoji:\n      languages:\n        hi: &low {max_rate: .1}\n"
    with pytest.raises(ConfigError, match="written by an anchor that other limits share"):
        _edited(text + "        zh: *low\n", {"a emoji languages hi max_rate": 0.9})
    merged = "x: &base {max_rate: 0.1}\nbenchmarks:\n  a:\n    emoji: {<<: *base, min_n: 3}\n"
    after = _edited(merged, {"a emoji max_rate": 0.9})
    assert "x: &base {max_rate: 0.1}" in after
    assert "0.9" in after


def test_replacing_is_refused_where_somebody_was_faster(tmp_path: Path) -> None:
    """What another program wrote is not lost, nothing is left lying about; errors name the file."""
    path = tmp_path / "t.yaml"
    path.write_text("b", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"t\.yaml was changed meanwhile; nothing is written"):
        replace_text(path, "c", read="a")
    assert ["b"] == [file.read_text() for file in tmp_path.iterdir()]
    with pytest.raises(ConfigError, match=r"cannot write .*t\.yaml: No such file"):
        replace_text(tmp_path / "missing" / "t.yaml", "a", read="")
    replace_text(path, "c", read="b")
    assert ["c"] == [file.read_text() for file in tmp_path.iterdir()]


def test_links_and_modes_are_kept(tmp_path: Path) -> None:
    """What a link points to is replaced; a new file has the usual mode."""
    target, link, new = tmp_path / "real.yaml", tmp_path / "t.yaml", tmp_path / "n.yaml"
    target.write_text("a", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    replace_text(link, "b", read="a")
    replace_text(new, "n", read="")
    assert link.is_symlink()
    assert ("b", 0o640) == (target.read_text(), target.stat().st_mode & 0o777)
    assert new.stat().st_mode & 0o400
