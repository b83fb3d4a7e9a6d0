"""What the plugin costs where it is installed but no model is named, beside bare pytest.

    python perf/inert.py [--rounds N]

One trivial test is run, and collected, by pytest as it is and by pytest with both of the plugin's
entry points blocked (``-p no:xling -p no:xling_short``), which keeps it from being imported. The
two take turns in one go, so that whatever else the machine does meets both. Wall and CPU time and
the peak of resident memory are those of each process, as the kernel counts them. Exit status 1:
more than 50 ms or 5 MB over bare.

Both the best and the median of the rounds are judged. The best is what the plugin costs where
nothing disturbs it, the median what it usually costs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

MAX_MS = 50.0
MAX_MB = 5.0
BARE = ("-p", "no:xling", "-p", "no:xling_short")
COMMANDS = {
    "one test": ("-q", "test_plain.py"),
    "--collect-only": ("-q", "--collect-only", "test_plain.py"),
}
PLAIN = """
def test_plain():
    assert True
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one process took."""

    wall_ms: float
    cpu_ms: float
    peak_mb: float


def cost_of(command: list[str], *, cwd: Path) -> Cost:
    """Run *command* and return what it took."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "XLING_"))}
    # Compiled files are kept, as on a user's machine: it is not compilation that is measured.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            sys.exit(f"{command} ended {process.returncode}:\n{output.read().decode()[-2000:]}")
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kibibytes elsewhere
    return Cost(
        wall_ms=1e3 * wall,
        cpu_ms=1e3 * (used.ru_utime + used.ru_stime),
        peak_mb=used.ru_maxrss * unit / 1e6,
    )


def measure(options: tuple[str, ...], *, cwd: Path, rounds: int) -> dict[str, list[Cost]]:
    """Return the costs of *rounds* runs with and without the plugin, taking turns."""
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    commands = {"bare": [*pytest, *BARE, *options], "loaded": [*pytest, *options]}
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for command in commands.values():
        cost_of(command, cwd=cwd)  # the first run of each compiles and fills the disk cache
    for number in range(rounds):
        order = list(commands) if number % 2 else list(reversed(commands))
        for name in order:
            costs[name].append(cost_of(commands[name], cwd=cwd))
    return costs


def report(label: str, costs: dict[str, list[Cost]]) -> bool:
    """Print one command's figures; tell whether the plugin keeps within its limits."""
    kept = True
    for what, field, limit in (
        ("wall ms", "wall_ms", MAX_MS),
        ("CPU ms", "cpu_ms", MAX_MS),
        ("peak MB", "peak_mb", MAX_MB),
    ):
        for how, summarise in (("best", min), ("median", statistics.median)):
            bare, loaded = (
                summarise([getattr(cost, field) for cost in costs[name]])
                for name in ("bare", "loaded")
            )
            over = loaded - bare > limit
            kept = kept and not over
            print(
                f"{label:<16} {what:<8} {how:<7} {bare:>8.1f} {loaded:>8.1f} {loaded - bare:>+8.1f}"
                f"   at most {limit:g}{'   EXCEEDED' if over else ''}"
            )
    return kept


def main() -> None:
    """Measure and print; exit 1 if the plugin costs too much."""
    parser = argparse.ArgumentParser(description="What the plugin costs when loaded but unused.")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    print(f"{rounds} rounds each, taking turns; Python {sys.version.split()[0]}")
    print(f"{'':<16} {'':<8} {'':<7} {'bare':>8} {'loaded':>8} {'more':>8}")
    kept = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        (folder / "test_plain.py").write_text(PLAIN, encoding="utf-8")
        for label, options in COMMANDS.items():
            kept &= report(label, measure(options, cwd=folder, rounds=rounds))
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
