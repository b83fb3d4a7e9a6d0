"""How a run grows with its cases: cold and warm, beside plain pytest, in one go.

    python perf/scale.py [--cases 1000 10000 100000]

The scripted provider answers at once, so all that is timed is ours and pytest's. A linear product
shows the same milliseconds a case in every row.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from perf.throughput import PLAIN, make_project, timed


def command(*options: str) -> list[str]:
    """Return the command of a run."""
    fixed = ["-q", "-p", "no:cacheprovider", "--junitxml=junit.xml"]
    return [sys.executable, "-m", "pytest", *fixed, *options]


def main() -> None:
    """Time runs of growing size."""
    parser = argparse.ArgumentParser(description="How a run grows with its cases.")
    parser.add_argument("--cases", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("-n", dest="workers", default="0", help="xdist workers of the warm run")
    arguments = parser.parse_args()
    print(f"{'cases':>8} {'plain s':>9} {'cold s':>9} {'warm s':>9}   ms a case over plain")
    for cases in arguments.cases:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_project(folder, cases)
            (folder / "test_plain.py").write_text(PLAIN.format(prompts=cases), encoding="utf-8")
            run = command("--model=scripted", "--langs=en", str(folder / "benchmarks"))
            off = ("-p", "no:xling", "-p", "no:xling_short")
            plain, _ = timed(command(*off, "test_plain.py"), cwd=folder, base_url="")
            cold, _ = timed(run, cwd=folder, base_url="")
            warm, _ = timed([*run, f"-n{arguments.workers}"], cwd=folder, base_url="")
        print(
            f"{cases:>8,} {plain:>9.2f} {cold:>9.2f} {warm:>9.2f}   "
            f"cold {1000 * (cold - plain) / cases:.2f}, warm {1000 * (warm - plain) / cases:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
