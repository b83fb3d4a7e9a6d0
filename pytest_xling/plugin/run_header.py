"""Begin a run, or go on with one; and what the header says of it: name, parties, store."""

from __future__ import annotations

import hashlib
import platform
import re
import secrets
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.config.shaping import changed_settings
from pytest_xling.engine.leases import status_now, this_process
from pytest_xling.errors import ConfigError
from pytest_xling.files.whole import display_path
from pytest_xling.planning.shards import LIMITS, SHARDS, shard_of
from pytest_xling.records import RunRecord
from pytest_xling.store.cases import by_case
from pytest_xling.store.runs import add_run, find_run, go_on
from pytest_xling.text.numbers import age_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from pytest_xling.config.settings import Settings
    from pytest_xling.plugin.context import Context
    from pytest_xling.plugin.setup import Setup
    from pytest_xling.store.database import Database

LIBRARIES = ("pytest-xling", "pytest", "openai", "xllamacpp", "tiktoken", "py3langid", "pycld2")


def header(context: Context, *, continues: str) -> list[str]:
    """Say what is about to be asked of whom, and where it is kept."""
    setup, settings = context.setup, context.setup.settings
    cases = {b.name: setup.plans[f] for f, b in setup.benchmarks.items()}
    languages = sorted({case.sample.language for plan in cases.values() for case in plan})
    release = f", version {settings.model_version}" if settings.model_version else ""
    thresholds = "none" if settings.thresholds is None else display_path(settings.thresholds)
    store = settings.store
    kept = display_path(store) if isinstance(store, Path) else store
    lines = (
        f"model {setup.model}{release}; languages {', '.join(languages)}",
        f"benchmarks {', '.join(f'{name} ({len(plan)} cases)' for name, plan in cases.items())}",
        f"thresholds {thresholds}; store {kept}",
        f"run {context.run_id}" if context.run_id else "",
        "" if setup.shard is None else f"{setup.shard}; no gate is judged",
        continues,
        _in_store(context),
        _asked_beside(settings),
        setup.patience(),
        *setup.notices(),
    )
    return [f"xling: {line}" for line in lines if line]


def begin_run(context: Context) -> str:
    """Put the session's run into the store, and its name into the context.

    Returns:
        A line that says so where an earlier run is gone on with; "" where it is new.

    Raises:
        ConfigError: the run of that name is complete, still being made, or was told otherwise.
        StoreError: the store cannot be written.
    """
    context.began = time.monotonic()
    setup, settings, now = context.setup, context.setup.settings, datetime.now(UTC)
    name, shard = settings.run_name or _made_up_name(setup.model, now), setup.shard
    context.run_id = name if shard is None else shard.named(name)
    record = RunRecord(
        run_id=context.run_id,
        model=setup.model,
        created_at=now.isoformat(timespec="milliseconds"),
        status="running",
        settings={
            **settings.as_json(),
            "pivots": dict(setup.pivots),
            "benchmark_languages": setup.benchmark_languages(),
            LIMITS: _digest(settings.thresholds),
        },
        versions=_library_versions(),
        git=_git_state(context.config.rootpath),
        seed=settings.seed,
        owner=this_process(),
        seen_at=time.time(),
        whole=setup.whole(),
    )
    began, line = _begin(context.database, record, setup)
    context.since = settings.answers_since(datetime.fromisoformat(began).timestamp())
    return line


def _begin(database: Database, run: RunRecord, setup: Setup) -> tuple[str, str]:
    """Put *run* into the store; where it has one of that name that did not end, go on with it.

    Returns:
        When the run began, and a line that says that it goes on; "" where it is new.

    Raises:
        ConfigError: the run of that name is complete, still being made, or was told otherwise.
        StoreError: the store cannot be written.
    """
    if setup.settings.run_name is None:
        with database.write() as connection:
            add_run(connection, run)
        return run.created_at, ""
    # Before the lock: all questions are planned for it.
    with database.read() as connection:
        known = setup.replies(connection, since=0.0)
        asked = {(case.benchmark, case.id): key for case, key, _ in setup.requests(known)}
    with database.write() as connection:
        earlier = find_run(connection, run.run_id)
        if earlier is None:
            add_run(connection, run)
            return run.created_at, ""
        answered = _answered(connection, earlier, run, asked)
        if parts := earlier.settings.get(SHARDS):  # it was merged of them
            run = replace(run, settings={**run.settings, SHARDS: parts})
        go_on(connection, run)
    line = f"continues run {run.run_id}: {answered:,} of {len(asked):,} answered"
    return earlier.created_at, line


def _answered(
    connection: Connection,
    earlier: RunRecord,
    run: RunRecord,
    asked: Mapping[tuple[str, str], bytes],
) -> int:
    """Return how many cases are answered already, where *earlier* can be gone on with.

    Raises:
        ConfigError: it cannot; says why.
    """
    name, status = earlier.run_id, status_now(earlier)
    other = "choose another --xling-run-name"
    if status == "running":
        msg = f"run {name!r} is being made by another process; wait for its end, or {other}"
        raise ConfigError(msg)
    # CI repeats jobs: a shard may be made again, and asks for nothing then.
    if status in {"complete", "stopped"} and shard_of(run) is None:
        msg = f"the store has a run named {name!r} already, and it is {status}; {other}"
        raise ConfigError(msg)
    if SHARDS in earlier.settings and earlier.settings.get(LIMITS) != run.settings.get(LIMITS):
        msg = (
            f"run {name!r} was made in shards with another thresholds file: they are judged by the "
            "one they were made with. Take back what was changed in it, or judge the run by "
            f"another afterwards: `xling gate {name} --thresholds FILE`"
        )
        raise ConfigError(msg)
    refused = f"run {name!r} is {status}, and to go on with it nothing may change: "
    if changes := changed_settings(earlier.settings, run.settings):
        msg = f"{refused}{'; '.join(changes)}. Say the same as then, or {other}"
        raise ConfigError(msg)
    keys = by_case(connection, name, "response_key")
    here = {place: key for place, key in keys.items() if place[0] in run.whole}
    if changed := sorted(place for place, key in here.items() if asked.get(place) != key):
        benchmark, case = changed[0]
        msg = (
            f"{refused}{len(changed):,} of its {len(here):,} answered cases ask something else now "
            f"or are gone, such as {case} of {benchmark}. Take back what was changed in its data "
            f"or prompts, or {other}"
        )
        raise ConfigError(msg)
    return len(here)


def _in_store(context: Context) -> str:
    """Say how many of the answers are not asked for, and how old they are; "" without any."""
    if not context.run_id:
        return ""
    made, planned = context.setup.stored_answers(context.database, since=context.since)
    if not made:
        return ""
    age = age_text(time.time() - min(made))
    return (
        f"{len(made):,} of {planned:,} answers are in the store, the oldest {age} old "
        "(--xling-max-age=0 asks for all anew)"
    )


def _asked_beside(settings: Settings) -> str:
    """Say who else takes part, where it was said; "" where it was not."""
    said, repeats = settings.parameters, settings.shared("judge_repeats")
    parts = {
        "judge": " and ".join(settings.judge) or None,
        "each asked": None if repeats == 1 else f"{repeats} times",
        "translator": settings.translator,
        "evidence from": settings.search,
        "encoder": said.get("encoder"),
        "stances by": said.get("stance"),
        "empathy by": said.get("empathy"),
        "claims checked by": said.get("support"),
        "text in": "English" if settings.shared("text_in") == "english" else None,
    }
    return "; ".join(f"{name} {value}" for name, value in parts.items() if value is not None)


def _digest(file: Path | None) -> str | None:
    """Return what tells the contents of a thresholds file from those of others."""
    return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def _made_up_name(model: str, now: datetime) -> str:
    """Return a name that says when and what, and is new: ``20261121-094103-gpt-4o-3f2a``."""
    short = re.sub(r"[^A-Za-z0-9.]+", "-", model).strip("-")[:32]
    return f"{now:%Y%m%d-%H%M%S}-{short}-{secrets.token_hex(2)}"


def _library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that shape numbers."""
    versions = {"python": platform.python_version()}
    for library in LIBRARIES:
        try:
            versions[library] = version(library)
        except PackageNotFoundError:
            continue
    return versions


def _git_state(folder: Path) -> str:
    """Return the commit of the repository around *folder*, with ``-dirty`` if it has changed."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(  # noqa: S603  a fixed command
            command, capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
