"""The command as a whole: help, mistakes, streams."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from pytest_xling.cli import COMMANDS, WITHOUT_STORE, main
from pytest_xling.cli.printing import print_json, write_csv

if TYPE_CHECKING:
    from tests.cli.conftest import Xling

ROOT = Path(__file__).resolve().parents[2]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XLING_")}
    return kept | {"PYTHONPATH": str(ROOT)}


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest_xling.cli", *arguments]


def test_help_names_every_command(xling: Xling) -> None:
    """Each command has a line of help and a module with help of its own."""
    text = xling("--help").out
    for name in COMMANDS:
        assert f"    {name} " in text
        said = xling(name, "--help", code=0)
        assert f"usage: xling {name}" in said.out
        assert (name in WITHOUT_STORE) != ("--xling-store FILE" in said.out)


def test_version_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    """So that scripts can read it."""
    assert 0 == main(["--version"])
    assert capsys.readouterr().out.startswith("xling ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["shwo"], "unknown command 'shwo'. Did you mean 'show'?"),
        (
            ["--store", "s", "runs"],
            "unknown option '--store' before the command. Did you mean '--x",
        ),
        (["explain", "q1-hi"], "For a case, such as q01-hi, name its run, too: --run latest"),
        (["export", "run-1", "-o", "."], ". is a folder; name a file"),
        (["export", "run-1", "-o", "nowhere/run.json"], "No such file or directory"),
        (["table", "surfaces", "run-1"], "invalid choice: 'surfaces'"),
        (["table", "length", "run-1", "--language", "zh"], "no answers in the language 'zh'"),
        (["show"], "the following arguments are required: RUN"),
        (["runs", "--jsno"], "unrecognized arguments: --jsno"),
        (["gate", "run-1"], "the following arguments are required: --thresholds"),
        (["show", "run1"], "the store has no run 'run1'. Did you mean 'run-1'?"),
        (["export", "nothing-like-it"], "`xling runs` lists them"),
    ],
)
def test_mistakes_exit_with_4(xling: Xling, arguments: list[str], said: str) -> None:
    """Wrong usage and wrong names say so on stderr, and print no result."""
    found = xling(*arguments, code=4)
    assert f"xling: error: {said}" in found.err or said in found.err
    assert "Traceback" not in found.err
    assert "" == found.out


def test_no_command_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing was asked for: show what there is."""
    assert 4 == main([])
    assert "commands:" in capsys.readouterr().out


def test_the_store_may_be_named_anywhere(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before or after the command, or in the environment; the command line wins."""
    monkeypatch.setenv("XLING_STORE", str(store))
    assert 0 == main(["runs"])
    monkeypatch.setenv("XLING_STORE", "/nowhere/store.sqlite")
    assert 0 == main(["--xling-store", str(store), "runs"])
    assert 0 == main(["runs", f"--xling-store={store}"])
    capsys.readouterr()
    assert 4 == main(["runs"])
    assert "there is no store at /nowhere/store.sqlite" in capsys.readouterr().err


def test_the_usual_store_is_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Looking for it does not make it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XLING_STORE", raising=False)
    assert 4 == main(["runs"])
    said = capsys.readouterr().err
    assert f"there is no store at .xling/store.sqlite in {tmp_path}; go to the folder" in said
    assert [] == list(tmp_path.iterdir())


def test_another_file_is_no_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A text file is refused, and left as it is."""
    file = tmp_path / "store.sqlite"
    file.write_text("not a database, but long enough to have a header\n" * 40)
    before = file.read_bytes()
    assert 4 == main(["runs", "--xling-store", str(file)])
    assert "not an SQLite file" in capsys.readouterr().err
    assert before == file.read_bytes()


def test_a_closed_pipe_is_quiet(store: Path) -> None:
    """`xling export … | head -c 1` ends without a traceback."""
    process = subprocess.Popen(
        _command("export", "run-1", "--texts", "--xling-store", str(store)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert b"" == process.stderr.read()
    process.stderr.close()
    assert 141 == process.wait(timeout=300)


def test_output_is_utf8_in_any_locale(store: Path) -> None:
    """A C locale does not break Hindi, nor the exit code."""
    done = subprocess.run(
        _command("show", "run-1", "--xling-store", str(store)),
        env=_environment() | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        capture_output=True,
        check=True,
    )
    assert "रोटी ताज़ा कैसे रहे?" in done.stdout.decode("utf-8")


def test_loading_the_command_is_light() -> None:
    """Help needs neither the store nor numpy."""
    code = (
        "import sys; from pytest_xling.cli import main; main(['--help']);"
        "print([m for m in ('sqlalchemy', 'numpy', 'rich', 'ruamel') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=_environment(), capture_output=True, text=True, check=True
    )
    assert "[]" == done.stdout.splitlines()[-1]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_read_only_store_is_read(store: Path, xling: Xling) -> None:
    """A copy where nothing can be written, such as a CI artefact, is listed as ever."""
    before = xling("runs")  # and everything is imported by now
    # Not tmp_path: nobody but its owner may enter that.
    with TemporaryDirectory() as name:
        folder, copy = Path(name), Path(name) / "store.sqlite"
        copy.write_bytes(store.read_bytes())
        copy.chmod(0o444)
        folder.chmod(0o555)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65534)  # root may write anywhere
        try:
            xling.store = copy
            said = xling("runs")
        finally:
            os.seteuid(was)
            folder.chmod(0o755)
        assert [copy] == list(folder.iterdir())
    assert before == said
    assert 0 == said.code


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs"],
        ["show", "latest"],
        ["report", "latest", "-o", "r.html"],
        ["export", "latest", "-o", "out.json"],
    ],
)
def test_a_folder_that_cannot_be_searched(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each command says so in one line: exit 4, no traceback."""
    stat = Path.stat

    def denied(path: Path, **how: bool) -> os.stat_result:
        if ".locked" in path.parts[:-1]:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **how)

    monkeypatch.setattr(Path, "stat", denied)
    monkeypatch.chdir(tmp_path)
    assert 4 == main([*arguments, "--xling-store=.locked/store.sqlite"])
    said = capsys.readouterr()
    assert "Permission denied; make it accessible, or name another" in said.err
    assert 1 == len(said.err.splitlines())


def test_what_is_printed_for_programs_is_inert(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON that a terminal does not obey, CSV that a spreadsheet does not run."""
    print_json({"answer": "a\x9b2J\u202eb\U000e0041"})
    assert '{\n  "answer": "a\\u009b2J\\u202eb\\udb40\\udc41"\n}\n' == capsys.readouterr().out
    write_csv(sys.stdout, ["model", "mean"], [{"model": "=cmd|x", "mean": -0.5}])
    assert "model,mean\n'=cmd|x,-0.5\n" == capsys.readouterr().out
