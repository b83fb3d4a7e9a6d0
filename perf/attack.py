"""What a hostile or broken server does to a run: one line a mode.

    python perf/attack.py [MODE ...]

Each mode is a run of 12 cases against the scripted server of the tests, given up after 5 s without
an answer and stopped after 90 s. The table shows requests the server saw, the exit status, seconds
and the largest memory of any process of the run. Exit 1 where a key got out.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from perf.throughput import make_project  # noqa: E402  the path is set above
from tests.servers.openai_server import spawned, stats  # noqa: E402  as above

CASES = 12
LIMIT_S = 90
KEY = "sk-proj-Tn0tARealKey0123456789"
ABSURD = '{"prompt_tokens": -5, "completion_tokens": 99999999999}'
MODES: dict[str, dict[str, Any]] = {
    "well": {},
    "429 storm": {"fail_first": 20, "fail_mode": "429", "retry_after": "0.1"},
    "429 for ever": {"mode": "429"},
    "500 storm": {"mode": "500"},
    "drips": {"mode": "drip"},
    "100 MB answer": {"mode": "big"},
    "1 GB gzip bomb": {"mode": "bomb", "size_mb": 1024},
    "301": {"mode": "301"},
    "302": {"mode": "302"},
    "307": {"mode": "307"},
    "308": {"mode": "308"},
    "redirect loop": {"mode": "307", "location": ""},
    "no usage": {"usage": "none"},
    "absurd usage": {"usage": ABSURD},
    "Retry-After in a year": {"mode": "429", "retry_after": "31536000"},
    "HTML with 200": {"mode": "html"},
    "half JSON": {"mode": "half_json"},
    "tool_calls": {"mode": "tool_call"},
    "key in an answer": {"mode": "key_answer"},
    "key in a 200 error": {"mode": "key_error"},
    "key in a 400": {"mode": "key_400"},
    "key in a redirect": {"mode": "key_redirect"},
}


def attack(folder: Path, url: str) -> tuple[int | None, float, float]:
    """Run pytest in *folder* and return exit status, seconds and peak memory in MB."""
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=junit.xml"),
        *("--model=m", "--langs=en", "--xling-timeout=4"),
        *("--xling-price=m=1000,2000", "--xling-max-cost=100", "--xling-report=report.html"),
        str(folder / "benchmarks"),
    ]
    environment = os.environ | {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
    started = time.perf_counter()
    pid = os.fork()
    if not pid:
        os.chdir(folder)
        out = os.open("out.txt", os.O_CREAT | os.O_WRONLY)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execvpe(command[0], command, environment)  # noqa: S606  our own command
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        seconds = time.perf_counter() - started
        if ended:
            return os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss / 1024
        if seconds >= LIMIT_S:
            break
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    _, _, used = os.wait4(pid, 0)
    return None, seconds, used.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What a hostile server does to a run.")
    parser.add_argument("modes", nargs="*", metavar="MODE", help=", ".join(MODES))
    wanted = parser.parse_args().modes or list(MODES)
    if unknown := set(wanted) - MODES.keys():
        parser.error(f"no such mode: {', '.join(sorted(unknown))}")
    leaks = 0
    print(f"{'mode':<24} {'requests':>8} {'exit':>5} {'seconds':>8} {'MB':>6}")
    for name in wanted:
        with tempfile.TemporaryDirectory() as made, spawned(**MODES[name]) as url:
            folder = Path(made)
            make_project(folder, CASES)
            status, seconds, peak_mb = attack(folder, url)
            requests = stats(url)["requests"]
            files = [path for path in folder.rglob("*") if path.is_file()]
            leaking = [path.name for path in files if b"Tn0tARealKey" in path.read_bytes()]
        leaks += len(leaking)
        told = f"  KEY in {', '.join(leaking)}" if leaking else ""
        code = "-" if status is None else str(status)
        print(
            f"{name:<24} {requests:>8} {code:>5} {seconds:>8.1f} {peak_mb:>6.0f}{told}", flush=True
        )
    sys.exit(1 if leaks else 0)


if __name__ == "__main__":
    main()
