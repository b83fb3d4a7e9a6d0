"""Copies of a model on Ray: the answers of one that runs here, whatever dies meanwhile."""

from __future__ import annotations

import asyncio
import pickle
import threading
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_xling.engine.on_ray.batch_actor import package_digest
from pytest_xling.engine.on_ray.model_actor import ModelActor
from pytest_xling.errors import ConfigError, PermanentFault, TransientFault
from pytest_xling.providers.hf import HfProvider
from pytest_xling.providers.hf.worker import MAX_ROWS
from pytest_xling.registry import load
from tests.providers.hf_asking import ask, asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from pytest_xling.engine.on_ray import Cluster
    from pytest_xling.interfaces.provider import Movable
    from pytest_xling.records import Response

pytestmark = [
    # Ray meets its own deprecations, and leaves files open.
    pytest.mark.filterwarnings("ignore:::ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
REQUESTS = [asking("the cat " * count, max_tokens=8) for count in range(1, 9)]


@pytest.fixture(scope="module")
def beside(cluster: Cluster) -> Cluster:
    """The cluster, with room beside the actors of other tests."""
    return replace(cluster, cores=0.0, namespace="models", owned=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with random weights."""
    from tests.providers import hf_models  # noqa: PLC0415  needs torch

    return hf_models.llama(tmp_path_factory.mktemp("models") / "llama", template=hf_models.TEMPLATE)


def on_copies(cluster: Cluster, provider: Movable) -> None:
    """Have copies on Ray answer for *provider*, as a run does."""
    from pytest_xling.engine.on_ray import RayExecutor  # noqa: PLC0415  imports Ray

    cluster.start_copies(provider)
    with closing(RayExecutor(cluster)) as executor:
        executor.place(provider)


@pytest.fixture(scope="module")
def moved(beside: Cluster, model: Path) -> Iterator[HfProvider]:
    """The model, in two processes on Ray."""
    provider = HfProvider(str(model), device="cpu")
    on_copies(beside, provider)
    yield provider
    asyncio.run(provider.aclose())


@pytest.mark.slow
def test_copies_give_the_same_answers_and_faults(moved: HfProvider, model: Path) -> None:
    """As one process does, and none is loaded here; a prompt that is too long is told alike."""
    requests = [*REQUESTS, asking("water " * 200)]

    async def asked() -> list[Response | BaseException]:
        return await asyncio.gather(*map(moved.generate, requests), return_exceptions=True)

    assert 2 * MAX_ROWS == moved.max_connections
    *answers, there = asyncio.run(asked())
    assert not any(thread.name.startswith("xling-hf") for thread in threading.enumerate())
    *expected, here = ask(model, requests)
    texts = [getattr(each, "text", each) for each in answers]
    assert texts == [getattr(each, "text", each) for each in expected]
    assert all(texts)
    assert isinstance(there, PermanentFault)
    assert isinstance(here, PermanentFault)
    assert str(here) == str(there)


@pytest.mark.slow
async def test_a_copy_that_dies_is_started_anew(
    moved: HfProvider, beside: Cluster, ray: ModuleType
) -> None:
    """What it was asked is a passing fault, which the engine asks again."""

    async def answered() -> Response:
        while True:
            with suppress(TransientFault):
                return await moved.generate(REQUESTS[0])
            await asyncio.sleep(0.1)

    before = await answered()
    for actor in beside.copies(moved):
        ray.kill(actor, no_restart=False)
    assert before.text == (await answered()).text


@pytest.mark.slow
async def test_an_answer_nobody_waits_for_is_cancelled_there(
    beside: Cluster, tmp_path: Path
) -> None:
    """As -x and Ctrl-C do it; the process is free for others."""
    provider: Movable = load("provider", "waiting")(str(tmp_path))
    on_copies(beside, provider)
    async with asyncio.timeout(120):
        task = asyncio.create_task(provider.generate(REQUESTS[0]))
        while not (tmp_path / "asked").exists():  # noqa: ASYNC110  another process tells
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while not (tmp_path / "cancelled").exists():  # noqa: ASYNC110  likewise
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("package", "identity", "said"),
    [
        ("another", "", "install the same version on all machines"),
        (package_digest(), "another", "on Ray is not the model that is there by this name here"),
    ],
)
async def test_another_package_or_model_is_refused(
    model: Path, package: str, identity: str, said: str
) -> None:
    """Answers are kept under what this process knows; other machines may have other files."""
    actor = ModelActor(package, "hf", {"spec": str(model), "device": "cpu"}, identity)
    answer = pickle.loads(await actor.generate(pickle.dumps(REQUESTS[0])))  # noqa: S301
    assert isinstance(answer, ConfigError)
    assert said in str(answer)
