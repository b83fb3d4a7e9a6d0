"""Shared by commands that ask models, as a run does, outside of any run."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pytest_xling.cli.opening import settled
from pytest_xling.config.settings import Settings, option
from pytest_xling.engine.executor import Executor
from pytest_xling.engine.models import make_clients
from pytest_xling.engine.run import Run
from pytest_xling.store.database import Database

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from pytest_xling.engine.steps import StepFactory
    from pytest_xling.interfaces.annotator import Role
    from pytest_xling.interfaces.provider import Provider


def given_option(args: argparse.Namespace, name: str) -> Any:  # noqa: ANN401  any option's
    """Return what an option was given, on the command line or in the environment."""
    entry = option(name)
    return getattr(args, entry.dest, None) or os.environ.get(entry.env)


def settled_for_judge(args: argparse.Namespace) -> Settings:
    """Return the settings of a command that asks a judge at most, and no model under test.

    The judge, or the first of several, stands for that one.

    Raises:
        ConfigError: an option is wrong.
    """
    judge = given_option(args, "judge")
    options = dict(vars(args)) | {Settings.model.dest: judge.split(",")[0] if judge else "embedded"}
    return settled(options)


@asynccontextmanager
async def measuring(
    settings: Settings,
    provider: Provider,
    roles: Mapping[Role, Sequence[Provider]],
    factory: StepFactory,
    *,
    executor: Callable[[], Executor] = Executor,
) -> AsyncIterator[tuple[Run, Database]]:
    """Give what annotates and scores, and the store where all of it is kept at once.

    Args:
        settings: settled.
        provider: of the model under test.
        roles: who judges and translates, checked.
        factory: makes metrics and annotators.
        executor: makes what runs them, and models that run here.
    """
    runs_on = executor()
    tested, others = make_clients(settings, provider, roles, model=settings.model, executor=runs_on)
    database = Database(settings.store)
    try:
        run = Run(
            run_id="",
            database=database,
            tested=tested,
            roles=others,
            factory=factory,
            executor=runs_on,
        )
        try:
            yield run, database
        finally:
            await run.aclose()
    finally:
        database.close()
