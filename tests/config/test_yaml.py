"""Files are read as YAML 1.2, with lines, and what is wrong is said with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_xling.config.yaml import MAX_NODES, YamlFile, read_yaml
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_xling.config.yaml import Place


def _read(folder: Path, content: str | bytes) -> YamlFile:
    path = folder / "t.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_yaml(path)


def _complaint(folder: Path, content: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        _read(folder, content)
    return str(caught.value).replace(str(folder), "").lstrip("/")


def test_values_are_plain(tmp_path: Path) -> None:
    """Nothing of ruamel's types is left: each value has exactly Python's own type."""
    file = _read(
        tmp_path,
        "s: text\ni: 3\nf: 1e-3\nb: true\nn: ~\nl: [1, two]\nm: {x: 0x1f}\nt: |\n  a\n  b\n"
        "a: &anchor true\nr: *anchor\no: &n 4\np: &f 0.5\n",
    )
    expected = {
        "s": "text",
        "i": 3,
        "f": 0.001,
        "b": True,
        "n": None,
        "l": [1, "two"],
        "m": {"x": 31},
        "t": "a\nb\n",
        "a": True,
        "r": True,
        "o": 4,
        "p": 0.5,
    }
    assert expected == file.data
    assert {key: type(value) for key, value in expected.items()} == {
        key: type(value) for key, value in file.data.items()
    }


def test_norwegian_is_not_false(tmp_path: Path) -> None:
    """`no`, `on` and a date are text, as YAML 1.2 has it."""
    file = _read(tmp_path, "no: {max: no}\non: off\nday: 2026-01-31\n")
    assert {"no": {"max": "no"}, "on": "off", "day": "2026-01-31"} == file.data


def test_key_paths(tmp_path: Path) -> None:
    """Each leads to its value and line; one that leads nowhere to None and its parent's line."""
    file = _read(tmp_path, "# note\na:\n  b: 1\n\n  c:\n    - x\n    - {y: 6}\nd: {e: 2}\n")
    expected: dict[Place, tuple[int, object]] = {
        ("a",): (2, {"b": 1, "c": ["x", {"y": 6}]}),
        ("a", "b"): (3, 1),
        ("a", "c"): (5, ["x", {"y": 6}]),
        ("a", "c", 1): (7, {"y": 6}),
        ("a", "c", 1, "y"): (7, 6),
        ("a", "c", 0, "z"): (6, None),
        ("a", "nothing"): (2, None),
        ("nothing", "at all"): (1, None),
        ("d", "e"): (8, 2),
        (): (1, file.data),
    }
    assert expected == {place: (file.line(*place), file.get(*place)) for place in expected}
    assert str(file.error("a", "b", what="too small")).endswith("t.yaml:3: a.b: too small")


def test_merge_keys(tmp_path: Path) -> None:
    """`<<` merges, what is written beside it wins, and merged keys have their parent's line."""
    file = _read(tmp_path, "base: &b {p: 1, q: 2}\nuse:\n  <<: *b\n  q: 3\n")
    assert {"p": 1, "q": 3} == file.data["use"]
    assert (2, 4) == (file.line("use", "p"), file.line("use", "q"))


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_bom_and_line_ends(tmp_path: Path, newline: str) -> None:
    """A byte order mark and the line ends of other systems change nothing."""
    content = "a: 1\nb:\n  c: ü\n".replace("\n", newline)
    file = _read(tmp_path, b"\xef\xbb\xbf" + content.encode())
    assert {"a": 1, "b": {"c": "ü"}} == file.data
    assert 3 == file.line("b", "c")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "t.yaml: the file is empty"),
        ("# only a comment\n", "t.yaml: the file is empty"),
        ("- a\n", "t.yaml:1: expected `key: value` lines at the top level, not a list"),
        ("text\n", "t.yaml:1: expected `key: value` lines at the top level, not the value 'text'"),
        ("a: 1\nb: 2\na: 3\n", "t.yaml:3: key 'a' is given twice"),
        ("a:\n  b: 1\n  b: 1\n", "t.yaml:3: key 'b' is given twice"),
        ("a: [1\nb: 2\n", "t.yaml:2: not valid YAML"),
        ("a:\n\t- b\n", "t.yaml:2: not valid YAML: found character '\\t'"),
        ("a: *b\n", "t.yaml:1: not valid YAML: found undefined alias"),
        ("x: 1\na: &a {<<: *a}\n", "t.yaml:2: not valid YAML: an alias (*name) stands within"),
        ("x: 1\na: &a\n  <<: [*a]\n", "t.yaml:2: not valid YAML: an alias (*name) stands within"),
        ("a: &a [*a]\n", "t.yaml:1: not valid YAML: an alias (*name) stands within"),
        ("a: 1\n---\nb: 2\n", "t.yaml:2: not valid YAML"),
        ("a: 1\nb: \x01\n", "t.yaml:2: character '\\x01' is not allowed"),
        ("a: 1\n2: b\n", "t.yaml:2: key 2 is not text; write it in quotes"),
        ("a: 1\n~: b\n", "t.yaml:2: key None is not text"),
        ("? [a]\n: b\n", "t.yaml:1: key ('a',) is not text"),
        ("a: !!python/name:os.system x\n", "t.yaml:1: the tag 'tag:yaml.org,2002:python/name"),
        ("a: !!binary aGk=\n", "t.yaml:1: such a value is not supported"),
        ("a: 1\nb: !!set {x}\n", "t.yaml:2: such a value is not supported"),
        ('a: "\\ud800"\n', "t.yaml:1: holds half a surrogate pair"),
        ('"\\ud800": a\n', "t.yaml:1: holds half a surrogate pair"),
        ("%YAML 1.1\n---\na: no\n", "t.yaml:1: only YAML 1.2 is read"),
        ("a: " + "[" * 60 + "]" * 60, "t.yaml:1: nested too deeply"),
        ("a: " + "[" * 500, "t.yaml: nested too deeply"),
        (b"a: 1\nb: \xff\n", "t.yaml:2: not UTF-8 (byte 0xff); save the file as UTF-8"),
        ("a: 1\n".encode("utf-16"), "t.yaml:1: not UTF-8 (byte 0xff)"),
    ],
)
def test_refused(tmp_path: Path, content: str | bytes, expected: str) -> None:
    """What is wrong is one ConfigError that names the file, the line and the fix."""
    assert _complaint(tmp_path, content).startswith(expected)


def test_alias_bomb(tmp_path: Path) -> None:
    """Aliases that multiply are stopped before they fill the memory."""
    levels = [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 9)]
    content = "\n".join(["l0: &l0 [x]", *levels])
    assert f"more than {MAX_NODES:,} values" in _complaint(tmp_path, content)


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there, and a folder, are named with the reason."""
    with pytest.raises(ConfigError, match=r"gone.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "gone.yaml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_yaml(tmp_path)


def test_name_is_relative_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages name a file as one would type it."""
    monkeypatch.chdir(tmp_path)
    assert "t.yaml" == _read(tmp_path, "a: 1").name
