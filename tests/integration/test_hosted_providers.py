"""anthropic: and google: models, asked by a whole run over real sockets."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.providers.hosted import SERVICES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.project import Project
    from tests.providers.hosted import Service
    from tests.servers.openai_server import OpenaiServer

KEY = "AIzaSyTn0tARealKey0123456789"
ASKED = 3
"""Questions in Hindi."""


@pytest.fixture(params=["anthropic", "google"])
def service(request: pytest.FixtureRequest) -> Service:
    """Each service whose client is installed."""
    chosen = SERVICES[request.param]
    if find_spec(chosen.provider.module) is None:  # not imported here: the run does
        pytest.skip("needs an extra")
    return chosen


@pytest.fixture
def server(project: Project, service: Service) -> Iterator[OpenaiServer]:
    """A server that echoes, fails first, and lets only the key in."""
    busy = {"fail_first": 1, "fail_mode": "429", "retry_after": "0.1"}
    with service.serving(echo=True, key=KEY, **busy) as served:
        project.environment.update({service.url_variable: served.url, service.key_variable: KEY})
        yield served


@pytest.mark.slow
def test_a_run_asks_each_question_once_and_keeps_the_answers(
    project: Project, service: Service, server: OpenaiServer
) -> None:
    """After a 429 it goes on; the key is in no output, no report and no store."""
    project.write("thresholds.yaml", "benchmarks: {bread: {no_answer: {max_rate: 0.75, min_n: 1}}}")
    options = (
        f"--model={service.provider.name}:{service.model}",
        "--langs=hi",
        "-n2",
        "--xling-report=report.html",
    )
    first = project.run(*options, "-rA", "-v", "--showlocals", code=0)
    assert f"answers: asked {ASKED}\n" in first.out
    assert {"429": 1, "200": ASKED} == server.stats()["statuses"]
    again = project.run(*options, code=0)
    assert f"asked 0; {ASKED} from the store" in again.out
    assert ASKED + 1 == server.requests
    kept = [path for path in project.root.rglob("*") if path.is_file()]
    assert {"store.sqlite", "report.html"} <= {path.name for path in kept}
    assert [] == [path.name for path in kept if KEY.encode() in path.read_bytes()]
    assert KEY not in first.out + first.err + again.out + again.err


def test_no_key_is_told_before_anything_is_asked(project: Project, service: Service) -> None:
    """Exit 4, with the variable to set."""
    said = project.refused(f"--model={service.provider.name}:{service.model}", "--langs=hi")
    assert f"set {service.key_variable}" in said
