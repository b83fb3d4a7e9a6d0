"""How a run grows with its cases: time, memory, store and report, beside plain pytest, in one go.

    python perf/scale.py [--cases 1000 10000 100000] [-n 4] [--shards 8]

The scripted provider answers at once, so all that is timed is ours and pytest's. A linear product
shows the same milliseconds a case in every row. *Memory* is the largest sum, at any time, of what
all processes of the run have for themselves and their share of what they have together (PSS), and
*largest* the most that one of them had.
With ``--shards`` the same run is made in so many parts, one after the other, and merged.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from perf.throughput import PLAIN, make_project, timed

SAMPLE_S = 0.5


class PeakMemory:
    """Watches the children of this process.

    *mb* is the most they ever took together, *largest* the most that one of them took.
    """

    def __init__(self) -> None:
        self.mb = self.largest = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> PeakMemory:  # noqa: PYI034  no class is derived from it
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_S):
            each = [_pss_mb(pid) for pid in _descendants(os.getpid())]
            self.mb = max(self.mb, sum(each))
            self.largest = max(self.largest, *each, 0.0)


def _descendants(pid: int) -> set[int]:
    """Return the processes that *pid* started, and those that they did (Linux)."""
    parents: dict[int, int] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may end at any time
            fields = file.read_text(encoding="utf-8").rpartition(")")[2].split()
            parents[int(file.parent.name)] = int(fields[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def _pss_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1000
    return 0.0


def command(*options: str) -> list[str]:
    """Return the command of a run."""
    fixed = ["-q", "-p", "no:cacheprovider", "--junitxml=junit.xml"]
    return [sys.executable, "-m", "pytest", *fixed, *options]


def main() -> None:
    """Measure runs of growing size."""
    parser = argparse.ArgumentParser(description="How a run grows with its cases.")
    parser.add_argument("--cases", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("-n", dest="workers", default="0", help="xdist workers of the runs")
    parser.add_argument("--shards", type=int, default=0, help="make the run in parts, too")
    arguments = parser.parse_args()
    workers = f"-n{arguments.workers}"
    print(
        f"{'cases':>8} {'plain s':>8} {'cold s':>8} {'warm s':>8}   ms a case over plain     "
        f"{'memory MB: plain':>16} {'cold':>6} {'warm':>6} {'largest':>8} {'store MB':>9} "
        f"{'HTML MB':>8}"
    )
    for cases in arguments.cases:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make_project(folder, cases)
            (folder / "test_plain.py").write_text(PLAIN.format(prompts=cases), encoding="utf-8")
            report = folder / "report.html"
            run = command(
                "--model=scripted", "--langs=en", workers, f"--xling-report={report}",
                str(folder / "benchmarks"),
            )  # fmt: skip
            off = ("-p", "no:xling", "-p", "no:xling_short", workers)
            with PeakMemory() as plain_memory:
                plain, _ = timed(command(*off, "test_plain.py"), cwd=folder, base_url="")
            with PeakMemory() as cold_memory:
                cold, _ = timed(run, cwd=folder, base_url="")
            with PeakMemory() as warm_memory:
                warm, _ = timed(run, cwd=folder, base_url="")
            store, html = (
                sum(file.stat().st_size for file in folder.glob(pattern)) / 1e6
                for pattern in (".xling/store.sqlite*", "report.html")
            )
        each = 1000 / cases
        memory = f"{plain_memory.mb:>16,.0f} {cold_memory.mb:>6,.0f} {warm_memory.mb:>6,.0f}"
        largest = max(cold_memory.largest, warm_memory.largest)
        print(
            f"{cases:>8,} {plain:>8.1f} {cold:>8.1f} {warm:>8.1f}   "
            f"cold {each * (cold - plain):5.2f}, warm {each * (warm - plain):5.2f}   "
            f"{memory} {largest:>8,.0f} {store:>9.1f} {html:>8.1f}",
            flush=True,
        )
        if arguments.shards:
            print(in_shards(cases, arguments.shards, workers), flush=True)


def in_shards(cases: int, shards: int, workers: str) -> str:
    """Make a run in parts and merge it without workers; say how long, and with how much memory."""
    told = ("--model=scripted", "--langs=en", "--xling-run-name=night")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_project(folder, cases)
        seconds, mb = [], []
        for number in range(1, shards + 1):
            own = (f"--xling-shard={number}/{shards}", f"--xling-store={number}.sqlite")
            with PeakMemory() as memory:
                took, _ = timed(
                    command(*told, workers, *own, "benchmarks"), cwd=folder, base_url=""
                )
            seconds.append(took)
            mb.append(memory.mb)
        stores = [f"{number}.sqlite" for number in range(1, shards + 1)]
        judged = ["--pytest", "--langs=en", "-q", "-n0", "--junitxml=junit.xml", "benchmarks"]
        merge = [sys.executable, "-m", "pytest_xling.cli", "merge", *stores, *judged]
        with PeakMemory() as memory:
            took, _ = timed(merge, cwd=folder, base_url="")
    return (
        f"{cases:>8,} in {shards} shards: {sum(seconds):.0f} s, {max(mb):,.0f} MB at the most; "
        f"merged with -n0: {took:.0f} s, {memory.mb:,.0f} MB"
    )


if __name__ == "__main__":
    main()
