"""Workers whose controller was killed ask nothing more."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.integration.project import wait_until, write_questions
from tests.servers.openai_server import spawned, stats

if TYPE_CHECKING:
    from tests.integration.project import Project

pytest.importorskip("xdist", reason="these tests run pytest-xdist")

QUESTIONS, CONNECTIONS = 400, 8
DELAY_S = 0.1


def _lives(pid: int) -> bool:
    """Tell whether a process is there and no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks processes up in /proc")
def test_orphans_ask_nothing_more(project: Project) -> None:
    """Of four hundred questions hardly more than those in flight are asked after kill -9."""
    write_questions(project, count=QUESTIONS, languages=("en",))
    with spawned(delay_s=DELAY_S) as url:
        project.environment.update(OPENAI_BASE_URL=url)
        process = project.popen(
            "--model=m", "--langs=en", f"--xling-max-connections={CONNECTIONS}", "-n2", "-q"
        )
        wait_until(lambda: stats(url)["requests"] >= 3 * CONNECTIONS, process)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        workers = [int(pid) for pid in children.split()]
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        at_kill = stats(url)["requests"]
        until = time.monotonic() + 300
        while any(map(_lives, workers)) and time.monotonic() < until:
            time.sleep(0.05)
        asked = stats(url)["requests"]
        assert not any(map(_lives, workers))
        process.communicate()
    assert len(workers) >= 2
    # What all connections ask in half a second; before, they went on for two seconds and more.
    assert asked - at_kill <= CONNECTIONS * (0.5 / DELAY_S + 1)
    assert asked < QUESTIONS / 2
