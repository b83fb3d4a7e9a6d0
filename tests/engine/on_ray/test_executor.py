"""Batches on Ray: the numbers of the local thread, whatever dies or breaks meanwhile."""

from __future__ import annotations

import os
import pickle
import signal
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pytest

from pytest_xling.engine.executor import Executor
from pytest_xling.engine.on_ray.batch_actor import (
    Attempts,
    BatchActor,
    Task,
    package_digest,
    unpickle,
)
from pytest_xling.errors import ConfigError, EvaluationError
from pytest_xling.records import Answer, AnswerSet, Reading, Response, Sample
from pytest_xling.registry import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import ModuleType

    from pytest_xling.engine.executor import Runnable
    from pytest_xling.engine.on_ray import Cluster

    Batches: TypeAlias = Sequence[Sequence[Any]]

pytestmark = [
    pytest.mark.slow,
    # Ray meets its own deprecations, and leaves files open.
    pytest.mark.filterwarnings("ignore:::ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
WORDS = (
    *("bread", "water", "salt", "oven", "dough", "flour", "crust", "yeast"),
    *("bake", "slice", "warm", "knead", "rise", "loaf", "rye"),
)


def text(number: int) -> str:
    """Return an answer of some words."""
    return " ".join(WORDS[(number * step) % len(WORDS)] for step in range(3, 12)) + "."


def answer(number: int) -> Answer:
    """Return an answer to a claim."""
    prompt = {"question": "Is bread good?", "claim": "Bread needs yeast.", "level": "1"}
    sample = Sample(id=f"q{number}", benchmark="b", language="en", prompt=prompt, reference="false")
    return Answer(sample=sample, response=Response(text=text(number), stop_reason="stop"))


def answer_set(number: int) -> AnswerSet:
    """Return two answers to compare."""
    return AnswerSet(answers=(answer(number), answer(number + 7)))


ANSWERS = [[answer(n) for n in range(start, start + 4)] for start in (0, 4)]
SETS = [[answer_set(n) for n in range(start, start + 8)] for start in (0, 8)]
TEXTS = [[(text(n), "en") for n in range(start, start + 4)] for start in (0, 4)]


async def outcomes_of(
    executor: Callable[[], Executor], made: Runnable, batches: Batches
) -> list[list[Any]]:
    """Return what an executor makes of *batches*, in their order."""
    with closing(executor()) as opened:
        by_index = {index: outcomes async for index, outcomes in opened.outcomes(made, batches)}
    return [by_index[index] for index in range(len(batches))]


@pytest.fixture(scope="module")
def on_ray(cluster: Cluster) -> Callable[[], Executor]:
    """Runs batches on actors that stay."""
    from pytest_xling.engine.on_ray import RayExecutor  # noqa: PLC0415  imports Ray

    cluster.start_pool()
    return partial(RayExecutor, cluster)


def probe_texts(*texts: str) -> list[list[tuple[str, str]]]:
    """Return a batch of each text."""
    return [[(each, "en")] for each in texts]


def _numbers(outcome: object) -> object:
    if isinstance(outcome, Reading):
        return [outcome.value]
    if isinstance(outcome, dict):
        return {key: value for key, value in outcome.items() if isinstance(value, float)}
    return outcome


@pytest.mark.parametrize(
    ("kind", "name", "batches"),
    [
        ("metric", "repetition", ANSWERS),
        ("metric", "sim_1gram", SETS),
        ("metric", "sim_sent", SETS),
        ("metric", "sim_lda_20", SETS),
        ("annotator", "language_id", TEXTS),
        ("annotator", "stance_reader", ANSWERS),
    ],
)
async def test_actors_give_the_same_numbers(
    on_ray: Callable[[], Executor],
    kind: Literal["metric", "annotator"],
    name: str,
    batches: Batches,
) -> None:
    """As the local thread, to 1e-6: surface, encoder, topics, languages and the stance reader."""
    made = load(kind, name)()
    local = await outcomes_of(Executor, made, batches)
    for ours, theirs in zip(local, await outcomes_of(on_ray, made, batches), strict=True):
        assert [_numbers(each) for each in ours] == [
            pytest.approx(_numbers(each), abs=1e-6) for each in theirs
        ]


async def test_actors_that_die_are_started_anew(
    on_ray: Callable[[], Executor], tmp_path: Path
) -> None:
    """One that is killed costs its batch's time; one that is killed each time, its batch."""
    once = f"die {tmp_path / 'died'}"
    batches = probe_texts("a", once, "die", *map(str, range(20)))
    outcomes = await outcomes_of(on_ray, load("annotator", "probe")(), batches)
    errors = {index: each for index, (each,) in enumerate(outcomes) if not isinstance(each, int)}
    assert [2] == list(errors)
    assert "died 3 times over the same batch of 1" in str(errors[2])
    assert (tmp_path / "died").exists()


async def test_the_process_that_counts_attempts_may_die(
    on_ray: Callable[[], Executor], cluster: Cluster, ray: ModuleType
) -> None:
    """It is started anew, and counts from the beginning: what always dies is still given up."""
    _, attempts = cluster.worker_arguments()
    os.kill(ray.get(attempts.__ray_call__.remote(lambda _: os.getpid())), signal.SIGKILL)
    probe = load("annotator", "probe")()
    *done, (fatal,) = await outcomes_of(on_ray, probe, probe_texts(*"abc", "die"))
    assert all(isinstance(pid, int) for (pid,) in done)
    assert "died 3 times over the same batch of 1" in str(fatal)


def answered_by(digest: str, attempts: Any) -> Any:  # noqa: ANN401  whatever an actor sends
    """Return what an actor with the package of a digest makes of a batch."""
    task = pickle.dumps(Task.of(load("metric", "repetition")()))
    return unpickle(BatchActor(digest, attempts).run("b", task, pickle.dumps(ANSWERS[0])))


@pytest.mark.usefixtures("cluster")
def test_batches_that_nobody_counts_are_faults(ray: ModuleType) -> None:
    """Where that process cannot be started again, each of their inputs has a fault that says so."""
    attempts: Any = ray.remote(Attempts).options(num_cpus=0).remote()
    ray.kill(attempts)
    faults = answered_by(package_digest(), attempts)
    assert len(ANSWERS[0]) == len(faults)
    assert all(isinstance(fault, EvaluationError) for fault in faults)
    assert "the process on Ray that counts how often a batch is begun is gone" in str(faults[0])


async def test_what_is_raised_there_is_raised_here(on_ray: Callable[[], Executor]) -> None:
    """As locally a bug costs its scores, and what a metric lacks is said; Ray meets neither."""
    probe = load("annotator", "probe")()
    ((broken,),) = await outcomes_of(on_ray, probe, probe_texts("raise flour"))
    assert isinstance(broken, EvaluationError)
    assert "'probe' broke: ZeroDivisionError: flour (" in str(broken)
    lacking = load("metric", "sim_sent")(encoder="/no/such/model")
    with pytest.raises(ConfigError, match="/no/such/model"):
        await outcomes_of(on_ray, lacking, SETS)


def test_another_version_is_refused(cluster: Cluster) -> None:
    """An actor whose package has other code says so, whatever it is given."""
    _, attempts = cluster.worker_arguments()
    with pytest.raises(ConfigError, match="is not the one that runs here"):
        answered_by("of older code", attempts)
